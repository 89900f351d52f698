"""What other files may know a run by: its pids, programs and containers, and when its lines were written.

Comes in: a log as it was read. Goes out: a `Start` for each of its runs. Only the lines that a diagnosis keeps are looked at:
those that rules know with their neighbours, the last ones of the run, and the first ones of the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from strata_diag.api import Trace
from strata_diag.lazy import later_regex
from strata_diag.streams.clock import Stamp, stamp_of
from strata_diag.streams.lines import Written, written
from strata_diag.streams.names import is_named_after
from strata_diag.streams.records import SYSTEMS, Start, Stream

MOST_STARTS = 64  # runs of a log, its last ones, to which other files may be tied
FRESH_LINES = 8  # of a run's end: a time further up says little about when it ended

# how programs tell their own pid; a pid elsewhere in a line may be anybody's
_OWN_PIDS = (
    later_regex(r"^\(\w[\w. ]{0,60} pid=(\d+)\)"),
    later_regex(r"\b(?:[Ss]tarted|[Ff]inished) (?:server|parent|reloader) process \[(\d+)\]"),
    later_regex(r": +(\d+) (?:Killed|Terminated|Aborted|Segmentation fault|Bus error|Illegal instruction)\b"),
    later_regex(r"^\[?pid[ =:]{1,2}(\d+)\b", ignore_case=True),
    later_regex(
        r"\b(?:engine|server|serving|runner|started|starting)\b.{0,60}?\bpid[ =:]{1,3}(\d+)\b", ignore_case=True
    ),
    later_regex(r"^[IWEF]\d{4} [\d:.]+ +(\d+) \S+:\d+\]"),
)


def starts_of(log: Stream) -> tuple[Start, ...]:
    """The last runs of a log, at most MOST_STARTS, in order."""
    return tuple(_start(log, trace, last=trace is log.traces[-1]) for trace in log.traces[-MOST_STARTS:])


def known_lines(trace: Trace, head: tuple[str, ...] = ()) -> dict[int, str]:
    """The lines of a run that are still known, by number, in order."""
    run = trace.run
    lines = {number: text for number, text in enumerate(head[:-1], 1) if run.first_line <= number <= run.last_line}
    for match in run.matches:
        evidence = match.evidence
        around = ((evidence.line - len(evidence.before), evidence.before), (evidence.line + 1, evidence.after))
        for first, texts in around:
            lines.update(enumerate(texts, first))
        lines[evidence.line] = evidence.text
    lines.update(run.tail)
    return {number: lines[number] for number in sorted(lines) if run.first_line <= number <= run.last_line}


def _start(log: Stream, trace: Trace, *, last: bool) -> Start:
    lines = known_lines(trace, log.head)
    parts = {number: written(text) for number, text in lines.items()}
    engine = "" if trace.diagnosis.engine in SYSTEMS else trace.diagnosis.engine
    known = [parts[match.evidence.line] for match in trace.run.matches]
    programs = _own([part.program for part in parts.values()], [part.program for part in known], engine)
    containers = _own([part.container for part in parts.values()], [part.container for part in known], engine)
    stamps = tuple(_stamps(lines))
    recent = [number for number, _ in trace.run.tail[-FRESH_LINES:]]
    return Start(
        trace=trace,
        engine=engine,
        pids=frozenset(_pids(trace, list(parts.values()), programs)),
        programs=programs | _command(trace.run.details),
        containers=containers,
        stamps=stamps,
        end=stamps[-1][1] if stamps else None,
        fresh=bool(stamps and recent and stamps[-1][0] >= recent[0]),
        lines={number: part.message.strip() for number, part in parts.items()},
        last=last,
    )


def _own(names: list[str], known: list[str], engine: str) -> frozenset[str]:
    """Which of the programs, or containers, that write a log are the engine's, where several do.

    known: those of the lines that rules know. It is the one that wrote most of these, and all that bear the engine's name.
    """
    counts = Counter(name for name in known or names if name).most_common(1)
    return frozenset({name for name, _ in counts} | {name for name in names if name and is_named_after(name, engine)})


def _pids(trace: Trace, parts: list[Written], programs: frozenset[str]) -> Iterator[str]:
    if "pid" in trace.run.details:
        yield trace.run.details["pid"]
    for part in parts:
        if part.pid and part.program in programs:
            yield part.pid
        for form in _OWN_PIDS:
            if (found := form.search(part.message)) is not None:
                yield found[1]


def _command(details: Mapping[str, str]) -> set[str]:
    """The name of the program in the command line that a start was told with."""
    words = details.get("command", "").split()
    name = PurePosixPath(words[0].replace("\\", "/")).name if words else ""
    return {name.removesuffix(".exe")} if name else set()


def _stamps(lines: Mapping[int, str]) -> Iterator[tuple[int, Stamp]]:
    for number, text in lines.items():
        if (stamp := stamp_of(text)) is not None:
            yield number, stamp
