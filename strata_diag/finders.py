"""Three ways to find which literals stand where in a block of bytes; all of them find the same.

Hyperscan reads a block once for all literals, and where there are many first for one rare window of eight bytes each;
ahocorasick-rs reads it once too, and has wheels where Hyperscan has none; plain `bytes.find` reads it once a literal, needs
no import, and is the fastest for a small log. A hit is (offset inside the literal's occurrence, number of the literal); a
finder may leave out further hits of a literal on a line that it has named.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

WINDOW_BYTES = 8
WINDOWS_FROM = 200  # literals; below it the whole ones are as fast


class Literal(NamedTuple):
    """A byte string to find; lower case where it is caseless."""

    text: bytes
    caseless: bool


Hit = tuple[int, int]


class Finder(Protocol):
    """Finds a fixed set of literals; holds no state between blocks, so threads may share it."""

    def hits(self, data: bytes) -> Iterable[Hit]:
        """Where the literals stand, in any order."""


class PlainFinder:
    """`bytes.find`, literal by literal."""

    def __init__(self, literals: tuple[Literal, ...]) -> None:
        self._exact = [(number, one.text) for number, one in enumerate(literals) if not one.caseless]
        self._caseless = [(number, one.text) for number, one in enumerate(literals) if one.caseless]

    def hits(self, data: bytes) -> Iterable[Hit]:
        """Where the literals stand, once a line."""
        yield from _found(data, self._exact)
        if self._caseless:
            yield from _found(data.lower(), self._caseless)


def _found(data: bytes, literals: list[tuple[int, bytes]]) -> Iterable[Hit]:
    for number, literal in literals:
        position = data.find(literal)
        while position >= 0:
            yield position, number
            end = data.find(b"\n", position)
            position = data.find(literal, end) if end >= 0 else -1


class HyperscanFinder:
    """Hyperscan in block mode. Raises ImportError where it isn't installed."""

    def __init__(self, literals: tuple[Literal, ...], common: Iterable[bytes] = ()) -> None:
        import hyperscan  # noqa: PLC0415 - 28 ms, and missing on some machines

        self._hyperscan = hyperscan
        self._literals = literals
        whole = len(literals) < WINDOWS_FROM
        windows = [one.text for one in literals] if whole else rare_windows(literals, common)
        numbers: dict[tuple[bytes, bool], list[int]] = {}
        for number, window in enumerate(windows):
            # with windows first all are caseless: one pass for both kinds, and the whole literal is looked at afterwards
            key = (window, literals[number].caseless) if whole else (window.lower(), True)
            numbers.setdefault(key, []).append(number)
        self._of_window = list(numbers.values())
        self._certain = whole
        self._database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        flags = [hyperscan.HS_FLAG_CASELESS if caseless else 0 for _, caseless in numbers]
        self._database.compile(
            [text for text, _ in numbers], list(range(len(numbers))), len(numbers), flags, literal=True
        )
        self._scratch = threading.local()

    def hits(self, data: bytes) -> Iterable[Hit]:
        """Where the literals stand, in the order in which Hyperscan reports them."""
        found: list[tuple[int, int]] = []

        def report(number: int, _start: int, end: int, _flags: int, _context: Any) -> None:
            found.append((end - 1, number))

        if not hasattr(self._scratch, "own"):
            self._scratch.own = self._hyperscan.Scratch(self._database)
        self._database.scan(data, match_event_handler=report, scratch=self._scratch.own)
        if self._certain:
            return [(position, literal) for position, number in found for literal in self._of_window[number]]
        return self._whole(data, found)

    def _whole(self, data: bytes, windows: list[tuple[int, int]]) -> Iterable[Hit]:
        """The literals that really stand on the lines of these windows."""
        seen: set[tuple[int, int]] = set()
        for position, number in windows:
            start = data.rfind(b"\n", 0, position) + 1
            if (start, number) in seen:
                continue
            seen.add((start, number))
            end = data.find(b"\n", position)
            line = data[start : len(data) if end < 0 else end]
            lowered = line.lower()
            for literal in self._of_window[number]:
                text, caseless = self._literals[literal]
                if text in (lowered if caseless else line):
                    yield position, literal


class AhoCorasickFinder:
    """ahocorasick-rs, both sides in lower case. Raises ImportError where it isn't installed."""

    def __init__(self, literals: tuple[Literal, ...]) -> None:
        import ahocorasick_rs  # noqa: PLC0415 - an optional package

        numbers: dict[bytes, list[int]] = {}
        for number, one in enumerate(literals):
            numbers.setdefault(one.text.lower(), []).append(number)
        self._literals = literals
        self._of_text = list(numbers.values())
        implementation = ahocorasick_rs.Implementation.DFA
        self._automaton = ahocorasick_rs.BytesAhoCorasick(list(numbers), implementation=implementation)

    def hits(self, data: bytes) -> Iterable[Hit]:
        """Where the literals stand, in order."""
        for number, start, end in self._automaton.find_matches_as_indexes(data.lower(), overlapping=True):
            for literal in self._of_text[number]:
                text, caseless = self._literals[literal]
                if caseless or data[start:end] == text:
                    yield start, literal


def best_finder(literals: tuple[Literal, ...], common: Iterable[bytes] = ()) -> Finder:
    """The fastest finder for large logs that is installed here."""
    if literals:
        try:
            return HyperscanFinder(literals, common)
        except ImportError:
            pass
        try:
            return AhoCorasickFinder(literals)
        except ImportError:
            pass
    return PlainFinder(literals)


def rare_windows(literals: tuple[Literal, ...], common: Iterable[bytes]) -> list[bytes]:
    """For each literal its rarest eight bytes (fewer where it is shorter), by what stands in `common` text.

    Rare is what doesn't stand there at all, then what has few of its three-byte pieces; a common prefix would nominate every
    line.
    """
    pieces: Counter[bytes] = Counter()
    whole: set[bytes] = set()
    for text in common:
        lowered = text.lower()
        pieces.update(lowered[start : start + 3] for start in range(len(lowered) - 2))
        whole.update(lowered[start : start + WINDOW_BYTES] for start in range(len(lowered) - WINDOW_BYTES + 1))
    return [_rare_window(one.text.lower(), pieces, whole) for one in literals]


def _rare_window(text: bytes, pieces: Counter[bytes], whole: set[bytes]) -> bytes:
    starts = range(max(len(text) - WINDOW_BYTES, 0) + 1)

    def frequency(start: int) -> tuple[bool, int, int]:
        window = text[start : start + WINDOW_BYTES]
        counts = [pieces[window[at : at + 3]] for at in range(max(len(window) - 2, 1))]
        return window in whole, min(counts), sum(counts)

    start = min(starts, key=frequency)
    return text[start : start + WINDOW_BYTES]
