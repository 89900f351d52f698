"""A log's diagnosis with what the files beside it tell of its runs.

Comes in: the log and the other files, as they were read. Goes out: a diagnosis. Events of other files that are tied to a run join
its findings, and the run is resolved anew, by the same steps: what a rule explains gives way to it, information claims its line,
readiness takes back what came before it. A run to which nothing is tied keeps its verdict as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from strata_diag import remedy, resolve, source, suspects
from strata_diag.api import Trace, default_rules
from strata_diag.errors import SourceError
from strata_diag.model import Diagnosis, Finding, Notice, RunDiagnosis, Status, Verdict
from strata_diag.ruleset import RuleSet
from strata_diag.streams.bonds import Refusal, bond
from strata_diag.streams.events import events_of
from strata_diag.streams.identity import starts_of
from strata_diag.streams.lines import written
from strata_diag.streams.overlap import Overlap, copies_of
from strata_diag.streams.reading import read_companion, read_log
from strata_diag.streams.records import Bond, Event, Joined, Start, Stream

MOST_TOLD = 3  # lines of one file of which a notice says why they were joined, or were not


class Refused(NamedTuple):
    """A line of another file that one would expect to be joined, and why it is not."""

    line: int
    file: str
    why: str


def diagnose_together(
    target: source.Target,
    beside: Iterable[source.Target | Stream],
    *,
    rules: RuleSet | None = None,
    exit_code: int | None = None,
    timed_out: bool | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Diagnosis:
    """`diagnose` of a log, with files beside it: a kernel's log, a container's, a journal.

    beside: whatever `diagnose` takes, or files that were read already. One that can't be read is a notice. The rest, and what
    is raised because of the log itself, is as in `strata_diag.diagnose`.
    """
    used = rules or default_rules()
    log = read_log(target, rules=used, exit_code=exit_code, timed_out=timed_out, facts=facts)
    streams: list[Stream] = []
    unread: list[Notice] = []
    for one in beside:
        try:
            streams.append(one if isinstance(one, Stream) else read_companion(one, rules=used))
        except SourceError as error:
            unread.append(Notice("stream", f"not read: {error}"))
    found = join(log, streams, rules=used)
    return found._replace(notices=(*found.notices, *unread)) if unread else found


def join(log: Stream, beside: Sequence[Stream], *, rules: RuleSet, certain: bool = False) -> Diagnosis:
    """The diagnosis of a log with what other files tell of its runs.

    certain: whether only what a pid or the time ties to it may join, as where several logs lie beside one file.
    """
    starts = starts_of(log)
    earlier = len(log.traces) - len(starts)
    joined: dict[int, list[Joined]] = {}
    refused: list[Refused] = []
    notices: list[Notice] = []
    for stream in beside:
        notices += _own_notices(stream, rules)
        for number, one in _joined(starts, stream, rules, refused, certain=certain):
            joined.setdefault(earlier + number, []).append(one)
    runs = tuple(
        _resolved(trace, joined[number], rules, notices) if number in joined else trace.diagnosis
        for number, trace in enumerate(log.traces)
    )
    if earlier and (joined or refused):
        notices.append(Notice("stream", f"only the last {len(starts)} starts were compared with other files"))
    notices += _notices(joined, refused, runs)
    if not joined:
        return _with_notices(log.diagnosis, notices)
    last = runs[-1]
    return _with_notices(log.diagnosis._replace(verdict=last.verdict, remedies=last.remedies, runs=runs), notices)


def _joined(
    starts: Sequence[Start], stream: Stream, rules: RuleSet, refused: list[Refused], *, certain: bool
) -> Iterator[tuple[int, Joined]]:
    """The events of a file, each with the number of the run that it is tied to best."""
    copies = copies_of(starts, stream)
    told = {text for start in starts for text in start.lines.values()}
    known = [
        start._replace(containers=start.containers | copy.containers) if copy else start
        for start, copy in zip(starts, copies, strict=True)
    ]
    for event in events_of(stream, rules):
        if written(event.finding.evidence.text).message.strip() in told:
            continue  # the log tells it itself
        found = [
            bond(event, start, stream, rules, follows=_follows(event, copy), certain=certain)
            for start, copy in zip(known, copies, strict=True)
        ]
        tied = [(one.strength, -one.distance, number, one) for number, one in enumerate(found) if isinstance(one, Bond)]
        if tied:
            _, _, number, best = max(tied)
            yield number, _as_finding(event, stream.name, best)
        elif found and isinstance(found[-1], Refusal) and found[-1].why:
            refused.append(Refused(event.finding.line, stream.name, found[-1].why))


def _follows(event: Event, copy: Overlap | None) -> bool | None:
    return copy.is_followed_by(event.finding.line) if copy else None


def _as_finding(event: Event, file: str, found: Bond) -> Joined:
    def placed(finding: Finding) -> Finding:
        return finding._replace(evidence=finding.evidence._replace(file=file, place=found.place))

    return Joined(placed(event.finding), tuple(placed(claim) for claim in event.claims), found)


def _resolved(trace: Trace, joined: Sequence[Joined], rules: RuleSet, notices: list[Notice]) -> RunDiagnosis:
    """A run with the findings that joined it, as `api` closes one."""
    claims = {(claim.evidence.file, claim.line, claim.rule): claim for one in joined for claim in one.claims}
    findings = [*trace.findings, *(one.finding for one in joined), *claims.values()]
    findings.sort(key=lambda finding: (finding.order, finding.line, finding.rule))
    own = {line for finding in trace.findings for line in finding.lines}
    tail = trace.run.tail
    verdict = resolve.resolve(findings, trace.run, rules, ends_alarmingly=suspects.ends_alarmingly(tail, own))
    if verdict.status is Status.UNKNOWN:
        verdict = resolve.with_suspects(verdict, suspects.find_suspects(tail, own, rules))
    if _is_unsure(verdict, joined):
        verdict = verdict._replace(contested=True, lasting=False)
    more, told = rules.extensions.remedies(verdict)
    notices += told
    steps = {step.action: step for step in (*remedy.advise(verdict, trace.run, rules), *more)}
    return trace.diagnosis._replace(verdict=verdict, remedies=tuple(steps.values()))


def _is_unsure(verdict: Verdict, joined: Sequence[Joined]) -> bool:
    """Whether the line that decides is another file's, and nothing sure ties it to the run."""
    same = [one.bond.sure for one in joined if _is_line_of(one, verdict)]
    return bool(same) and not any(same)


def _is_line_of(one: Joined, verdict: Verdict) -> bool:
    evidence = one.finding.evidence
    return bool(verdict.file) and (evidence.file, evidence.line) == (verdict.file, verdict.line)


def _notices(
    joined: Mapping[int, Sequence[Joined]], refused: Sequence[Refused], runs: Sequence[RunDiagnosis]
) -> list[Notice]:
    """What ties other files to the runs, and what a person would have expected of those files and why it is not so."""
    told = dict(_ties(joined, runs))
    files = {file for file, _ in told}
    if runs and runs[-1].verdict.status is not Status.PASS:
        told |= {place: f"was not joined: {why}" for place, why in _first_of_each(refused) if place[0] not in files}
    return [Notice("stream", f"line {line} of {file} {what}") for (file, line), what in told.items()]


def _ties(
    joined: Mapping[int, Sequence[Joined]], runs: Sequence[RunDiagnosis]
) -> Iterator[tuple[tuple[str, int], str]]:
    """For each run, the last one first, and each file the line that decides, or is tied best, and how it is tied."""
    for number, many in sorted(joined.items(), reverse=True):
        verdict = runs[number].verdict
        files: set[str] = set()
        for one in sorted(many, key=lambda one: (not _is_line_of(one, verdict), -one.bond.strength)):
            evidence = one.finding.evidence
            if evidence.file not in files:
                files.add(evidence.file)
                yield (evidence.file, evidence.line), f"was joined {one.bond.how}"


def _first_of_each(refused: Sequence[Refused]) -> Iterator[tuple[tuple[str, int], str]]:
    """At most MOST_TOLD lines of each file, with each reason once."""
    reasons: dict[str, set[str]] = {}
    for line, file, why in refused:
        given = reasons.setdefault(file, set())
        if why not in given and len(given) < MOST_TOLD:
            given.add(why)
            yield (file, line), why


def _own_notices(stream: Stream, rules: RuleSet) -> list[Notice]:
    """What went wrong with a file beside the log, under its name; what is known of the rules is told with the log."""
    if stream.diagnosis.line_count == 0:
        return [Notice("stream", f"{stream.name} is empty")]
    own = [notice for notice in stream.diagnosis.notices if notice not in rules.notices]
    return [
        notice if notice.text.startswith(stream.name) else notice._replace(text=f"{stream.name}: {notice.text}")
        for notice in own
    ]


def _with_notices(found: Diagnosis, notices: Sequence[Notice]) -> Diagnosis:
    return found._replace(notices=tuple(dict.fromkeys((*found.notices, *notices)))) if notices else found
