"""Which files of a folder or an archive belong together: an engine's logs, and what the system tells beside them.

Comes in: files as they were read, from anywhere. Goes out: a group for each engine's log that has files beside it. What a file
is decides its content: one in which rules know the system's lines and no engine's is the system's, whatever its name. Only files
of the same folder, or of the same place in an archive, are put together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from strata_diag.engines import EVERYBODY
from strata_diag.ruleset import RuleSet
from strata_diag.streams.events import ENDED_FROM_OUTSIDE, events_of, is_of_system
from strata_diag.streams.identity import starts_of
from strata_diag.streams.overlap import copies_of
from strata_diag.streams.records import Start, Stream


class Group(NamedTuple):
    """An engine's log and the files beside it.

    certain: whether other logs of engines lie there, too, so that only what a pid or the time ties to this one may join it.
    """

    log: Stream
    beside: tuple[Stream, ...]
    certain: bool


def companions(streams: Iterable[Stream], *, rules: RuleSet) -> tuple[Group, ...]:
    """The logs that have files beside them, in the order given; a file may stand beside several logs.

    `join(group.log, group.beside, rules=rules, certain=group.certain)` then gives the log's diagnosis. A log without any file
    beside it is in no group: its own diagnosis holds.
    """
    folders: dict[str, list[Stream]] = {}
    for stream in streams:
        folders.setdefault(folder_of(stream.name), []).append(stream)
    return tuple(group for members in folders.values() for group in _groups(members, rules))


def is_system_log(stream: Stream, rules: RuleSet) -> bool:
    """Whether a file is the machine's word, or that of what runs programs on it, rather than an engine's log."""
    ends = {(event.finding.rule, event.finding.line) for event in events_of(stream, rules) if event.subject.told_end}
    findings = [finding for trace in stream.traces for finding in trace.findings if finding.lines]
    told = [
        finding for finding in findings if is_of_system(finding.rule, rules) or (finding.rule, finding.line) in ends
    ]
    own = [finding for finding in findings if finding not in told and finding.cause not in ENDED_FROM_OUTSIDE]
    return bool(told) and not any(_is_engines(finding.rule, rules) for finding in own)


def _is_engines(rule: str, rules: RuleSet) -> bool:
    """Whether a rule's pack knows the lines of engines, rather than those of everybody."""
    known = rules.engines.get(rules.by_id[rule].pack, ())
    return bool(known) and EVERYBODY not in known


def _groups(members: Sequence[Stream], rules: RuleSet) -> Iterable[Group]:
    system: list[Stream] = []
    logs: list[Stream] = []
    for stream in members:
        (system if is_system_log(stream, rules) else logs).append(stream)
    for log in logs:
        starts = starts_of(log)
        copies = [other for other in logs if other is not log and _holds_more(other, starts)]
        beside = (*system, *copies)
        if beside:
            yield Group(log, beside, certain=len(logs) - len(copies) > 1)


def _holds_more(other: Stream, starts: Sequence[Start]) -> bool:
    """Whether another file holds the lines of a log's starts, and lines behind them."""
    found = copies_of(starts, other)
    return any(copy.last < other.diagnosis.line_count for copy in found if copy is not None)


def folder_of(name: str) -> str:
    """The folder of a file, or its place in an archive (`bundle.zip!logs/engine.log`)."""
    plain = name.replace("\\", "/")
    return plain[: max(plain.rfind("/"), plain.rfind("!")) + 1]
