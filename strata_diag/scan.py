"""From a block of bytes to the few lines that a pattern could match.

Comes in: clean bytes, cut at line ends. Goes out: candidate lines with the patterns that nominate them, in order of lines.
The law: scan may be wrong about "maybe", never about "no". A pattern without a literal is tried on every line. No hook
reaches in here, and no regular expression runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from strata_diag.ruleset import Pattern


class Candidate(NamedTuple):
    """A line that may match: its offsets in the block (without the line feed), and the numbers of the patterns to try."""

    start: int
    end: int
    patterns: tuple[int, ...]


class Scanner:
    """Finds candidate lines for a fixed set of patterns; holds no state between blocks, so threads may share it."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        exact: dict[bytes, list[int]] = {}
        caseless: dict[bytes, list[int]] = {}
        everywhere: list[int] = []
        for pattern in patterns:
            if not pattern.literals:
                everywhere.append(pattern.number)
            for literal in pattern.literals:
                (caseless if pattern.caseless else exact).setdefault(literal, []).append(pattern.number)
        self._exact = tuple(exact.items())
        self._caseless = tuple(caseless.items())
        self._everywhere = tuple(everywhere)

    def scan(self, data: bytes) -> list[Candidate]:
        """The candidate lines of a block, in order."""
        nominated: dict[int, set[int]] = {}
        _nominate(data, self._exact, nominated)
        if self._caseless:
            _nominate(data.lower(), self._caseless, nominated)
        if self._everywhere:
            position = 0
            while position < len(data):
                nominated.setdefault(position, set()).update(self._everywhere)
                position = _line_end(data, position) + 1
        return [
            Candidate(start, _line_end(data, start), tuple(sorted(nominated[start]))) for start in sorted(nominated)
        ]


def _nominate(data: bytes, literals: tuple[tuple[bytes, list[int]], ...], nominated: dict[int, set[int]]) -> None:
    for literal, numbers in literals:
        found = data.find(literal)
        while found >= 0:
            start = data.rfind(b"\n", 0, found) + 1
            nominated.setdefault(start, set()).update(numbers)
            found = data.find(literal, _line_end(data, found))  # once a line is enough


def _line_end(data: bytes, position: int) -> int:
    end = data.find(b"\n", position)
    return len(data) if end < 0 else end
