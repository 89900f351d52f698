"""What another file tells that may be about a run: findings on the system around the engine, and on the end of programs.

Comes in: a file as it was read. Goes out: its events, in order of lines. A pack says in `engines` whose lines it knows; those of
the machine and of what runs programs on it (`SYSTEMS`) may tell of an engine, those of another engine never do. Whom an event is
about its rule captures (`pid`, `victim`, `container`, `unit`), or the line says it in front of its message.
"""

from __future__ import annotations

from collections.abc import Iterator

from strata_diag.api import Trace
from strata_diag.model import DECIDING_ROLES, Evidence, Finding, Role
from strata_diag.ruleset import RuleSet
from strata_diag.streams.clock import Stamp, stamp_of
from strata_diag.streams.lines import subject_of
from strata_diag.streams.records import SYSTEMS, Event, Stream, Subject

MOST_EVENTS = 512  # of a file, its last ones
NEAR_LINES = 300  # between the lines of one report of the kernel, which lists every process of the machine
SAME_RECORD_LINES = 8  # in which `kubectl describe` and `docker inspect` tell how one container ended, and when
ENDED_FROM_OUTSIDE = frozenset({"killed", "host-memory"})  # causes that every pack may tell, whoever's lines it knows


def events_of(stream: Stream, rules: RuleSet) -> tuple[Event, ...]:
    """The events of a file beside the log."""
    found = [event for trace in stream.traces for event in _events(trace, rules)]
    return tuple(_with_neighbours(found[-MOST_EVENTS:]))


def is_of_system(finding_rule: str, rules: RuleSet) -> bool:
    """Whether a rule's pack knows the lines of the machine, or of what runs programs on it."""
    return not SYSTEMS.isdisjoint(rules.engines.get(rules.by_id[finding_rule].pack, ()))


def _events(trace: Trace, rules: RuleSet) -> Iterator[Event]:
    claims: dict[int, list[Finding]] = {}
    for finding in trace.findings:
        if finding.role is Role.INFO:
            claims.setdefault(finding.line, []).append(finding)
    for finding in trace.findings:
        if finding.role not in DECIDING_ROLES or not finding.lines:
            continue
        evidence = finding.evidence
        subject = subject_of(evidence.text, evidence.before, finding.captures)
        from_system = is_of_system(finding.rule, rules)
        if from_system or subject.told_end or finding.cause in ENDED_FROM_OUTSIDE:
            stamp = _stamp(evidence, kernel=from_system or _has_system(trace, rules))
            yield Event(finding, subject, stamp, tuple(claims.get(finding.line, ())))


def _has_system(trace: Trace, rules: RuleSet) -> bool:
    return any(is_of_system(finding.rule, rules) for finding in trace.findings)


def _stamp(evidence: Evidence, *, kernel: bool) -> Stamp | None:
    """When an event was, by its own line, by one that tells when something finished, or by the nearest line above."""
    told = [text for text in (*evidence.before, *evidence.after) if "finished" in text.lower()]
    for text in (evidence.text, *told, *reversed(evidence.before)):
        if (stamp := stamp_of(text, kernel=kernel)) is not None:
            return stamp
    return None


def _with_neighbours(events: list[Event]) -> list[Event]:
    """The events, where those that name nobody, or no time, have them from the nearest one of the same report."""
    named = [event for event in events if event.subject.named]
    timed = [event for event in events if event.stamp is not None]
    return [
        event._replace(
            subject=event.subject if event.subject.named else _subject_beside(event, named),
            stamp=event.stamp or _stamp_beside(event, timed),
        )
        for event in events
    ]


def _subject_beside(event: Event, named: list[Event]) -> Subject:
    mine = event.finding
    near = [
        other
        for other in named
        if other.finding.cause == mine.cause and (mine.role is Role.SYMPTOM or other.finding.rule == mine.rule)
    ]
    nearest = _nearest(event, near, NEAR_LINES)
    return event.subject if nearest is None else nearest.subject


def _stamp_beside(event: Event, timed: list[Event]) -> Stamp | None:
    nearest = _nearest(event, timed, SAME_RECORD_LINES)
    return None if nearest is None else nearest.stamp


def _nearest(event: Event, others: list[Event], within: int) -> Event | None:
    def distance(other: Event) -> int:
        return abs(other.finding.line - event.finding.line)

    nearest = min(others, key=distance, default=None)
    return nearest if nearest is not None and distance(nearest) <= within else None
