"""What ties an event of another file to a run of an engine's log, or why nothing does.

Comes in: an event, a run as other files may know it. Goes out: a `Bond`, or a `Refusal`. Three things can tie them, the surer
first: the pid, a name (of the program or the container), the time. A name of another, and a time hours away, part them whatever
the rest says; where the clocks can't be compared the pid or the name decides.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from strata_diag import suspects
from strata_diag.model import Finding, Role, Status
from strata_diag.ruleset import RuleSet
from strata_diag.streams import names
from strata_diag.streams.clock import AGREEING_SECONDS, Stamp, gap
from strata_diag.streams.records import Bond, Event, Start, Stream, Subject

LATE_SECONDS = (
    3600  # after a run's last line in which a process with its pid is still the same; one that idles writes nothing
)
SILENT_SECONDS = 1800  # after the last time in a log whose end tells none
LONGEST_SECONDS = 86400  # the same, for a process with the run's pid
PLACE_SECONDS = 2  # by which two clocks, or a buffer, may turn round the order of lines
EXACT_SECONDS = 10  # within which times must agree that only another zone brings together

FIRST_PID = "1"  # of a container: a log that tells it knows the pids inside, and the machine's log those outside
SILENT_ENDS = frozenset(
    {"killed", "host-memory", "gpu-fault"}
)  # causes by which a program ends without a word of its own
KILLS = frozenset({"killed", "host-memory"})
UNEXPLAINED = frozenset({"killed", "unknown", "boot-unknown"})  # causes that say that a run ended, not why


class Tie(IntEnum):
    """How a subject fits a run; the higher, the surer."""

    STRANGER = 0  # it names another
    NOBODY = 1  # it names nobody, or nobody that can be compared
    COMMON = 2  # an interpreter in which the engine runs, as other programs do; a name that a log of an unknown engine mentions
    NAME = 3
    PID = 4


class Refusal(NamedTuple):
    """Why an event is not joined, for a person who would wonder; empty where nobody would."""

    why: str = ""


class Timing(NamedTuple):
    """How the time of an event lies to a run. kind: agrees | apart | unknown; seconds: after the nearest of its times."""

    kind: str
    seconds: float = 0.0
    zone: bool = False


def bond(
    event: Event, start: Start, stream: Stream, rules: RuleSet, *, follows: bool | None = None, certain: bool = False
) -> Bond | Refusal:
    """What ties an event to a run.

    follows: whether it stands right behind a copy of the run in its file, None where there is no copy. certain: whether nothing
    may be joined that a name alone, or less, ties to it.
    """
    when = timing(event, start)
    timed = when.kind == "agrees"
    tie = tie_of(event.subject, start, stream, agreeing=timed)
    if (refusal := _parted(event, start, tie, when)) is not None:
        return refusal
    how = _told(tie, when, _who(event.subject))
    if follows and tie < Tie.NAME:
        tie, how = Tie.NAME, "by order: it follows the log's last lines there"
    found = Bond(how, place_of(event, start), tie is Tie.PID or not when.zone, tie, abs(when.seconds))
    if tie is Tie.PID or (tie is Tie.NAME and timed):
        return found
    if not (is_open(event.finding, start, rules) and _is_apt(event, start, rules)):
        return Refusal()
    return found if timed or follows else _untimed(event, start, rules, found, certain=certain or follows is False)


def _parted(event: Event, start: Start, tie: Tie, when: Timing) -> Refusal | None:
    """What parts an event from a run: somebody else's name, or a time that can't be the run's."""
    if tie is Tie.STRANGER:
        return Refusal(f"it is about {_who(event.subject)}" if event.subject.named and when.kind != "apart" else "")
    exact = tie is Tie.NAME and abs(when.seconds) <= EXACT_SECONDS and _killed(start)
    if when.zone and tie is not Tie.PID and not exact:
        return Refusal("its time would fit only if one of the clocks were in another zone")
    if when.kind == "apart" and not (tie is Tie.PID and _is_late(when, start)):
        return Refusal(f"it happened {_long(when.seconds)} the log's last line" if tie >= Tie.COMMON else "")
    return None


def _untimed(event: Event, start: Start, rules: RuleSet, found: Bond, *, certain: bool) -> Bond | Refusal:
    """The bond where no time can be compared, and no pid is known: the name decides, and what names nobody is contested.

    It is one with the last run only, and none where nothing uncertain may join.
    """
    if certain or not start.last:
        return Refusal("neither a pid nor a time ties it to this log")
    verdict = start.trace.diagnosis.verdict
    passed = verdict.status is Status.PASS
    silent = passed or verdict.deciding is None or verdict.cause in UNEXPLAINED
    if found.strength == Tie.NAME:
        fits = event.finding.cause in KILLS if passed else silent
        return found._replace(sure=fits and not _ends_alarmingly(start))
    if found.strength == Tie.COMMON and not passed:
        same = verdict.cause == event.finding.cause
        return found._replace(sure=names.runs_in_python(start.engine) and (silent or same))
    if found.strength == Tie.NOBODY and not passed and _is_end(event):
        fits = event.finding.cause in KILLS if verdict.cause == "killed" else silent
        if fits or _is_told_by(event.finding, start, rules):
            return found._replace(sure=False)
    return Refusal("neither a pid, a name nor a time ties it to this log" if event.finding.role is Role.FAILURE else "")


def tie_of(subject: Subject, start: Start, stream: Stream, *, agreeing: bool) -> Tie:
    """How a subject fits a run. agreeing: whether the times agree, without which a pid that differs parts them."""
    if subject.container:
        return _tie_of_container(subject.container, start, stream)
    if not subject.named and (stream.images or stream.containers):
        return _tie_of_only_one(start, stream)
    tie = _tie_of_program(subject.program, start) if subject.program else Tie.NOBODY
    if subject.pid and subject.pid in start.pids and not subject.boxed:
        return tie if tie is Tie.STRANGER and not agreeing else Tie.PID  # pids come round again, names seldom
    differs = bool(subject.pid and start.pids and subject.pid not in start.pids) and FIRST_PID not in start.pids
    elsewhere = subject.boxed or any(names.has_children(name) for name in (start.engine, *start.programs))
    if differs and not (agreeing and elsewhere):
        return Tie.STRANGER
    return tie


def _tie_of_program(program: str, start: Start) -> Tie:
    if any(names.same_program(program, own) for own in start.programs) or names.is_its_own(program, start.engine):
        return Tie.COMMON if names.may_be_its_own(program, start.engine) else Tie.NAME
    fits = (
        names.may_be_its_own(program, start.engine)
        if start.engine
        else names.is_mentioned(program, start.lines.values())
    )
    return Tie.COMMON if fits else Tie.STRANGER


def _tie_of_container(container: str, start: Start, stream: Stream) -> Tie:
    if start.containers:
        return Tie.NAME if container in start.containers else Tie.STRANGER
    if container in start.programs or names.is_named_after(container, start.engine):
        return Tie.NAME
    alone = stream.containers == {container} or len(stream.images) == 1
    return _tie_of_only_one(start, stream) if alone else Tie.STRANGER


def _tie_of_only_one(start: Start, stream: Stream) -> Tie:
    """The tie of a file that speaks of one container: its image may bear the engine's name."""
    if len(stream.containers) > 1 or len(stream.images) > 1:
        return Tie.STRANGER
    named = any(names.is_named_after(name, start.engine) for name in (*stream.images, *stream.containers))
    return Tie.NAME if named else Tie.NOBODY


def timing(event: Event, start: Start) -> Timing:
    """How the time of an event lies to the end of a run, or to the failures in it."""
    if event.stamp is None or start.end is None or (apart := gap(start.end, event.stamp)) is None:
        return Timing("unknown")
    if apart.agrees:
        return Timing("agrees", apart.seconds)
    for stamp in _times_of_failures(start):
        if (near := gap(stamp, event.stamp)) is not None and near.agrees:
            return Timing("agrees", near.seconds)
    if not start.fresh and 0 < apart.seconds <= SILENT_SECONDS:
        return Timing("unknown", apart.seconds)
    if (moved := apart.in_another_zone) is not None:
        return Timing("agrees", moved.seconds, zone=True)
    return Timing("apart", apart.seconds)


def _times_of_failures(start: Start) -> list[Stamp]:
    stamps = dict(start.stamps)
    failing = {finding.line for finding in start.trace.findings if finding.role in {Role.FAILURE, Role.SYMPTOM}}
    return [stamps[line] for line in sorted(failing) if line in stamps]


def place_of(event: Event, start: Start) -> int:
    """The line of the log that an event comes after: the last one that was written before it, the end where no time tells."""
    run = start.trace.run
    if event.stamp is None or start.end is None or timing(event, start).zone:
        return run.last_line
    later = (
        line
        for line, stamp in start.stamps
        if (apart := gap(event.stamp, stamp)) is not None and apart.seconds > PLACE_SECONDS
    )
    following = next(later, run.last_line + 1)
    return max(following - 1, run.first_line)


def is_open(finding: Finding, start: Start, rules: RuleSet) -> bool:
    """Whether a run's own log leaves room for a cause from elsewhere.

    It does where it ends in silence, with a symptom only, with what the finding's rule is declared to explain, or with the same
    cause. A failure of its own of another cause stands.
    """
    verdict = start.trace.diagnosis.verdict
    if verdict.status is Status.PASS:
        return not any(own.role is Role.RUN_END for own in start.trace.findings)
    if verdict.deciding is None or verdict.deciding.role is Role.SYMPTOM or verdict.cause in UNEXPLAINED:
        return True
    return _is_told_by(finding, start, rules)


def _is_apt(event: Event, start: Start, rules: RuleSet) -> bool:
    """Whether an event can end a run that does not say so, tells of its end, or explains what the run says."""
    finding = event.finding
    return finding.cause in SILENT_ENDS or event.subject.told_end or _is_told_by(finding, start, rules)


def _is_told_by(finding: Finding, start: Start, rules: RuleSet) -> bool:
    """Whether the run's own verdict has the cause of a finding, or one that it is declared to explain."""
    verdict = start.trace.diagnosis.verdict
    return verdict.deciding is not None and (
        verdict.cause == finding.cause or related(finding.rule, verdict.deciding.rule, rules)
    )


def related(rule: str, other: str, rules: RuleSet) -> bool:
    """Whether a rule is declared to explain another one."""
    return rule in rules.by_id[other].yields_to or other in rules.by_id[rule].explains


def _is_late(when: Timing, start: Start) -> bool:
    return 0 < when.seconds <= (LATE_SECONDS if start.fresh else LONGEST_SECONDS)


def _is_end(event: Event) -> bool:
    return event.finding.role is Role.FAILURE or event.subject.told_end


def _ends_alarmingly(start: Start) -> bool:
    """Whether a run ends with a line that looks like an error and that no rule knows: then it is not silent."""
    known = {line for finding in start.trace.findings for line in finding.lines}
    return suspects.ends_alarmingly(start.trace.run.tail, known)


def _killed(start: Start) -> bool:
    return start.trace.diagnosis.verdict.cause == "killed"


def _who(subject: Subject) -> str:
    if subject.container:
        return f"the container {subject.container}"
    return " ".join(word for word in (subject.program, f"(pid {subject.pid})" if subject.pid else "") if word)


def _told(tie: Tie, when: Timing, who: str) -> str:
    """A bond in words."""
    by = {Tie.PID: f"by its pid, {who}", Tie.NAME: f"by name, {who}", Tie.COMMON: f"by name, {who}"}.get(tie, "")
    zone = ", with the clocks in different zones" if when.zone else ""
    if when.kind == "agrees":
        seconds = max(round(abs(when.seconds)), 1)
        time = f"by time, within {seconds} s{zone}"
        return f"{by.removesuffix(', ')}, and {time}" if by else time
    if when.kind == "apart":
        return f"{by}, {_long(when.seconds)} the log's last line"
    return (
        f"{by.removesuffix(', ')}; the clocks can't be compared"
        if by
        else "though nothing says that it is about this run"
    )


def _long(seconds: float) -> str:
    """How long before or after, for a person."""
    size = abs(seconds)
    if size < 2 * AGREEING_SECONDS:
        told = f"{size:.0f} s"
    elif size < 2 * LATE_SECONDS:
        told = f"{size / 60:.0f} min"
    else:
        told = f"{size / 3600:.0f} h"
    return f"{told} {'after' if seconds > 0 else 'before'}"
