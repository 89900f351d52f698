"""From a block of bytes to the few lines that a pattern could match.

Comes in: clean bytes, cut at line ends. Goes out: candidate lines with the patterns that nominate them, in order of lines.
The law: scan may be wrong about "maybe", never about "no". A pattern without a literal is tried on every line. No hook
reaches in here, and no regular expression runs.
"""

from __future__ import annotations

from strata_diag.finders import HyperscanFinder, PlainFinder, best_finder
from strata_diag.record import TYPE_CHECKING, NamedTuple
from strata_diag.ruleset import ScanIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strata_diag.finders import Data, Finder
    from strata_diag.ruleset import Pattern

# bytes times literals that plain search has read, from which a native one pays for its import and set-up (some 40 ms)
NATIVE_FROM = 300 * 1024 * 1024
# lines looked at in vain after which other literals are chosen and compiled, some 0.1 s; four times as many for the next time
SHARPEN_FROM = 50_000
SHARPEN_EVERY = 8  # blocks
PATTERN_COST = 4  # how many windows in vain cost as much as one pattern in vain


class Candidate(NamedTuple):
    """A line that may match: its offsets in the block (without the line feed), and the numbers of the patterns to try."""

    start: int
    end: int
    patterns: tuple[int, ...]


class Scanner:
    """Finds candidate lines for a fixed set of patterns; holds nothing of a log, so threads may share it.

    It begins with the plain search, and takes a native one as soon as the plain one has cost as much as that would have: a
    short process never pays for it, a long one hardly for anything else. kept, keep: what a native search compiled before,
    by name, and a place for it.
    """

    def __init__(
        self,
        index: ScanIndex,
        kept: Callable[[str], bytes | None] = lambda _: None,
        keep: Callable[[str, bytes], None] = lambda *_: None,
    ) -> None:
        self._index = index
        self._finder: Finder = PlainFinder(index)
        self._kept, self._keep = kept, keep
        self._is_native = False
        self._spent = 0
        self._blocks = 0
        self._instead: dict[int, tuple[bytes, ...]] = {}
        self._sharpen_from = SHARPEN_FROM

    def expect(self, size: int) -> None:
        """Say that so many bytes are to come: where they are many, the native search is there from the first."""
        self._spent += size * len(self._index.texts)
        if not self._is_native and self._spent > NATIVE_FROM:
            self._finder = best_finder(self._index, self._kept, self._keep)
            self._is_native = True

    def sharpen(self, data: Data, end: int, patterns: Mapping[int, int], pattern_of: Callable[[int], Pattern]) -> None:
        """Search for other literals where the present ones send many lines to the matcher in vain.

        data: a block of the log that is being read; patterns: how often each of them was tried in vain.
        """
        finder = self._finder
        self._blocks += 1
        if not isinstance(finder, HyperscanFinder) or self._blocks % SHARPEN_EVERY:
            return
        if sum(finder.vain.values()) + PATTERN_COST * sum(patterns.values()) < self._sharpen_from:
            return
        from strata_diag.sharpen import costly, sharper_texts  # noqa: PLC0415 - for large logs that are full of near misses

        index = self._index
        tried = {number: sum(patterns.get(one, 0) for one in owners) for number, owners in enumerate(index.patterns)}
        tried = {number: times for number, times in tried.items() if times and number not in self._instead}
        whole = {number: (index.texts[number],) for number in costly(finder.vain)}
        instead = whole | self._instead | sharper_texts(index, pattern_of, bytes(data[:end]), tried)
        if instead != self._instead:
            self._instead = instead
            self._finder = HyperscanFinder(index, instead=instead)
        self._sharpen_from *= 4

    def scan(self, data: Data, end: int | None = None) -> list[Candidate]:
        """The candidate lines of a block, `data[:end]`, in order."""
        end = len(data) if end is None else end
        self.expect(end)
        found = self._finder.hits(data, end)
        if self._index.everywhere:
            return self._with_every_line(data, end, found)
        return self._lines(data, end, found) if found else []

    def _lines(self, data: Data, end: int, found: list[tuple[int, int]]) -> list[Candidate]:
        """The hits, which are in order, line by line."""
        patterns_of = self._index.patterns
        candidates: list[Candidate] = []
        start = stop = -1
        numbers: tuple[int, ...] = ()
        for position, literal in found:
            if position < stop:
                more = patterns_of[literal]
                if more != numbers:
                    numbers = tuple(sorted({*numbers, *more}))
                continue
            if numbers:
                candidates.append(Candidate._make((start, stop, numbers)))
            start = data.rfind(b"\n", 0, position) + 1
            stop = _line_end(data, position, end)
            numbers = patterns_of[literal]
        candidates.append(Candidate(start, stop, numbers))
        return candidates

    def _with_every_line(self, data: Data, end: int, found: list[tuple[int, int]]) -> list[Candidate]:
        nominated = {one.start: one.patterns for one in (self._lines(data, end, found) if found else ())}
        candidates = []
        position = 0
        while position < end:
            stop = _line_end(data, position, end)
            numbers = sorted({*nominated.get(position, ()), *self._index.everywhere})
            candidates.append(Candidate(position, stop, tuple(numbers)))
            position = stop + 1
        return candidates


def _line_end(data: Data, position: int, end: int) -> int:
    found = data.find(b"\n", position, end)
    return end if found < 0 else found
