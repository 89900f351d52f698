"""From a block of bytes to the few lines that a pattern could match.

Comes in: clean bytes, cut at line ends. Goes out: candidate lines with the patterns that nominate them, in order of lines.
The law: scan may be wrong about "maybe", never about "no". A pattern without a literal is tried on every line. No hook
reaches in here, and no regular expression runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import NamedTuple

from strata_diag.finders import Finder, Literal, PlainFinder, best_finder
from strata_diag.ruleset import Pattern


class Candidate(NamedTuple):
    """A line that may match: its offsets in the block (without the line feed), and the numbers of the patterns to try."""

    start: int
    end: int
    patterns: tuple[int, ...]


class Scanner:
    """Finds candidate lines for a fixed set of patterns; holds no state between blocks, so threads may share it.

    common: gives text of healthy logs, by which a large log's finder tells rare pieces of a literal from common ones; asked
    only when a large log comes.
    """

    def __init__(self, patterns: Iterable[Pattern], common: Callable[[], Iterable[bytes]] = tuple) -> None:
        numbers: dict[Literal, list[int]] = {}
        everywhere: list[int] = []
        for pattern in patterns:
            if not pattern.literals:
                everywhere.append(pattern.number)
            for literal in pattern.literals:
                numbers.setdefault(Literal(literal, pattern.caseless), []).append(pattern.number)
        self._literals = tuple(numbers)
        self._patterns = tuple(numbers.values())
        self._everywhere = tuple(everywhere)
        self._common = common
        self._plain = PlainFinder(self._literals)

    @cached_property
    def _heavy(self) -> Finder:
        return best_finder(self._literals, self._common())

    def scan(self, data: bytes, *, heavy: bool = False) -> list[Candidate]:
        """The candidate lines of a block, in order. heavy: the log is large, so a native finder pays for its import."""
        nominated: dict[int, set[int]] = {}
        finder = self._heavy if heavy else self._plain
        for position, literal in finder.hits(data):
            start = data.rfind(b"\n", 0, position) + 1
            nominated.setdefault(start, set()).update(self._patterns[literal])
        if self._everywhere:
            position = 0
            while position < len(data):
                nominated.setdefault(position, set()).update(self._everywhere)
                position = _line_end(data, position) + 1
        return [
            Candidate(start, _line_end(data, start), tuple(sorted(nominated[start]))) for start in sorted(nominated)
        ]


def _line_end(data: bytes, position: int) -> int:
    end = data.find(b"\n", position)
    return len(data) if end < 0 else end
