"""Logs of one place that tell of the same failure take part in each other's diagnosis."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from strata_diag.model import Diagnosis, Notice
from strata_diag.ruleset import RuleSet
from strata_diag.streams import Group, Stream, companions, join
from strata_diag.streams.groups import folder_of, is_system_log
from strata_diag.triage.plan import MOST_JOINED
from strata_diag.triage.records import Result


class Log(NamedTuple):
    """A log as it was read. stream: what joining needs, None where it stands alone."""

    result: Result
    stream: Stream | None


def together(logs: Sequence[Log], rules: RuleSet) -> tuple[tuple[Result, ...], tuple[Notice, ...]]:
    """The results in the same order, each with what the logs beside it tell of its runs; and what was left out."""
    streams = [log.stream for log in logs if log.stream is not None]
    counts = Counter(folder_of(stream.name) for stream in streams)
    notices = [_crowded(place, count) for place, count in counts.items() if count > MOST_JOINED]
    near = [stream for stream in streams if 1 < counts[folder_of(stream.name)] <= MOST_JOINED]
    groups = {id(group.log): group for group in _told_apart(_groups(near, rules, notices), rules)}
    results = [_joined(log, groups.get(id(log.stream)), rules, notices) for log in logs]
    return tuple(results), tuple(notices)


def _crowded(place: str, count: int) -> Notice:
    return Notice("limit", f"{place or os.curdir}: {count} logs are too many to compare; each was diagnosed by itself")


def _groups(streams: Sequence[Stream], rules: RuleSet, notices: list[Notice]) -> tuple[Group, ...]:
    try:
        return companions(streams, rules=rules)
    except Exception as error:  # noqa: BLE001 - the diagnosis of each log by itself still holds
        notices.append(Notice("stream", f"logs were not joined: {_said(error)}"))
        return ()


def _told_apart(groups: Sequence[Group], rules: RuleSet) -> Iterator[Group]:
    """The groups without engines' logs that seem to hold a copy of several others.

    Logs of one engine say much the same, so one that resembles several of them proves nothing about any. What the system, or a
    file that repeats a single log, tells stays.
    """
    times = Counter(id(stream) for group in groups for stream in group.beside)
    for group in groups:
        beside = tuple(stream for stream in group.beside if times[id(stream)] == 1 or is_system_log(stream, rules))
        if beside:
            yield Group(group.log, beside, certain=group.certain or len(beside) < len(group.beside))


def _joined(log: Log, group: Group | None, rules: RuleSet, notices: list[Notice]) -> Result:
    if group is None:
        return log.result
    try:
        found = join(group.log, group.beside, rules=rules, certain=group.certain)
    except Exception as error:  # noqa: BLE001 - as above
        notices.append(Notice("stream", f"{log.result.name} was not joined with what lies beside it: {_said(error)}"))
        return log.result
    return log.result._replace(diagnosis=found, beside=_files_of(found))


def _files_of(found: Diagnosis) -> tuple[str, ...]:
    """The other files whose lines take part in a diagnosis, in order of names."""
    findings = [
        finding
        for run in found.runs
        for finding in (
            *((run.verdict.deciding,) if run.verdict.deciding else ()),
            *run.verdict.chain,
            *run.verdict.harmless,
            *(loser.finding for loser in run.verdict.beaten),
        )
    ]
    return tuple(sorted({finding.evidence.file for finding in findings if finding.evidence.file}))


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
