"""A second reading of a log, for a few patterns or a few lines: what the first one had no reason to look at.

Comes in: the log, the numbers of patterns and of lines. Goes out: for each pattern which lines hold a literal of it, which it
matches, and in which it gets furthest without matching; for each line its text. Memory stays bounded whatever the size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from strata_diag import linetext, text
from strata_diag.explain.reach import Probe, Reached
from strata_diag.match import Matcher
from strata_diag.model import Notice
from strata_diag.needles import build_index
from strata_diag.ruleset import Pattern, RuleSet
from strata_diag.scan import Scanner

LINES_SHOWN = 8  # that a pattern matches; the rest is counted
LINES_TRIED = 3000  # on which a pattern that matches none is tried piece by piece


class NearMiss(NamedTuple):
    """A line that comes near to a pattern. line: 1-based; literal: the text of the pattern for which the scan hands the line
    over, empty where it has none in the line; nominated: whether the scan hands it over.
    """

    line: int
    reached: Reached
    literal: str
    nominated: bool


class PatternSurvey(NamedTuple):
    """What a log holds of one pattern. nominated, matched: how many lines; lines: the first of those that match; nearest: the
    line in which it gets furthest, where none matches; tried: on how many lines that was looked for; complete: whether on all.
    """

    nominated: int = 0
    matched: int = 0
    lines: tuple[int, ...] = ()
    nearest: NearMiss | None = None
    tried: int = 0
    complete: bool = True


class Survey(NamedTuple):
    """What a second reading found. patterns: by number; lines: the clean bytes of the lines asked for, by 1-based number."""

    patterns: Mapping[int, PatternSurvey]
    lines: Mapping[int, bytes]
    notices: tuple[Notice, ...]


def survey(
    log: text.Readable, rules: RuleSet, numbers: Iterable[int], span: tuple[int, int], lines: Iterable[int] = ()
) -> Survey:
    """Read a log for these patterns between two 1-based lines, and for the text of these lines."""
    reading = _Reading(rules, sorted(set(numbers)), span)
    wanted = sorted(set(lines))
    texts: dict[int, bytes] = {}
    for window in text.Reader(log):
        block = window.block
        if reading.counts:
            reading.take(block)
        texts |= {number: _line(block, number) for number in wanted if block.first_line <= number <= block.last_line}
    found = {number: counted.result() for number, counted in reading.counts.items()}
    return Survey(found, texts, tuple(reading.matcher.notices))


def literal_in(pattern: Pattern, line: bytes | bytearray) -> bytes | None:
    """The literal of a pattern for which the scan hands it this line; None where it does not. Without any it gets every line."""
    held = line.lower() if pattern.caseless else line
    return next((one for one in pattern.literals or (b"",) if one in held), None)


def _line(block: text.Block, number: int) -> bytes:
    """A line of a block, as everybody reads it."""
    start = _offset(block, number)
    end = block.data.find(b"\n", start, block.end)
    return bytes(block.data[start : block.end if end < 0 else end])


def _offset(block: text.Block, number: int) -> int:
    """Where a line begins in a block; 0 for one before it, its end for one behind it."""
    if number > block.last_line:
        return block.end
    start = 0
    for _ in range(number - block.first_line):
        start = block.data.find(b"\n", start, block.end) + 1
    return start


class _Counted:
    """One pattern while the log is read."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.probe = Probe(pattern.source)
        self.nominated = self.matched = self.tried = 0
        self.complete = True
        self.lines: list[int] = []
        self.nearest: NearMiss | None = None

    def result(self) -> PatternSurvey:
        nearest = None if self.matched else self.nearest
        complete = self.complete and not self.probe.gave_up
        return PatternSurvey(self.nominated, self.matched, tuple(self.lines), nearest, self.tried, complete)

    def probe_block(self, block: text.Block, lowered: bytes, part: tuple[int, int]) -> None:
        """Look for the line in which the pattern gets furthest, among those that hold the beginning of it.

        part: the offsets between which the lines of the block are asked for.
        """
        last = -1
        for start, end in self._lines_to_try(block, lowered):
            if start == last or not part[0] <= start < part[1]:
                continue
            last = start
            if self.tried == LINES_TRIED:
                self.complete = False
                return
            self.tried += 1
            line = bytes(block.data[start:end])
            if self.probe.look(linetext.redraws(line)) and self.probe.best is not None:
                literal = literal_in(self.pattern, line)
                number = block.line_at(start)
                self.nearest = NearMiss(number, self.probe.best, (literal or b"").decode(), literal is not None)

    def _lines_to_try(self, block: text.Block, lowered: bytes) -> Iterator[tuple[int, int]]:
        """The lines of a block that hold the beginning of an alternative, where each is long enough; else all of them."""
        beginnings = self.probe.beginnings
        caseless = self.probe.cut.caseless
        data = lowered if caseless else block.data
        sought = (
            [one.lower().encode() if caseless else one.encode() for one in beginnings] if all(beginnings) else [b""]
        )
        for one in sought:
            position = 0
            while (found := data.find(one, position, block.end)) >= 0 and found < block.end:
                start = data.rfind(b"\n", 0, found) + 1
                end = data.find(b"\n", found, block.end)
                end = block.end if end < 0 else end
                yield start, end
                position = end + 1


class _Reading:
    """The patterns of a survey, block by block."""

    def __init__(self, rules: RuleSet, numbers: list[int], span: tuple[int, int]) -> None:
        patterns = [rules.patterns[number] for number in numbers]
        self.matcher = Matcher(rules)
        self.counts = {pattern.number: _Counted(pattern) for pattern in patterns}
        self._scanner = Scanner(build_index(patterns))
        self._span = span

    def take(self, block: text.Block) -> None:
        first, last = self._span
        if block.first_line > last or block.last_line < first:
            return
        for candidate in self._scanner.scan(block.data, block.end):
            number = block.line_at(candidate.start)
            if first <= number <= last:
                self._try(candidate.patterns, bytes(block.data[candidate.start : candidate.end]), number)
        part = _offset(block, first), _offset(block, last + 1)
        unmatched = [counted for counted in self.counts.values() if not counted.matched and counted.complete]
        lowered = bytes(block.data[: block.end]).lower() if any(one.probe.cut.caseless for one in unmatched) else b""
        for counted in unmatched:
            if not counted.probe.gave_up:
                counted.probe_block(block, lowered, part)

    def _try(self, patterns: tuple[int, ...], line: bytes, number: int) -> None:
        hits = {hit.pattern for hit in self.matcher.search(linetext.redraws(line), patterns)}
        for pattern in patterns:
            counted = self.counts[pattern]
            counted.nominated += 1
            if pattern in hits:
                counted.matched += 1
                if len(counted.lines) < LINES_SHOWN:
                    counted.lines.append(number)
