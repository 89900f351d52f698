"""Three ways to find which literals stand where in a block of bytes; all of them find the same.

Hyperscan reads a block once for all literals, and where there are many first for one rare window of eight bytes each;
ahocorasick-rs reads it once too, and has wheels where Hyperscan has none; plain `bytes.find` reads it once a literal that
the block's words don't rule out, needs no import, and is the fastest for a small log. A hit is (offset inside the literal's
occurrence, number of the literal); a finder may leave out further hits of a literal on a line that it has named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from strata_diag.healthy import WINDOW_BYTES, WORDS
from strata_diag.record import TYPE_CHECKING
from strata_diag.ruleset import ScanIndex

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    Hit = tuple[int, int]
    Data = bytes | bytearray

    class Finder(Protocol):
        """Finds a fixed set of literals; holds no state between blocks, so threads may share it."""

        def hits(self, data: Data, end: int) -> list[Hit]:
            """Where the literals stand in `data[:end]`, in order of places."""


NOTHING: Mapping[int, tuple[bytes, ...]] = {}
WINDOWS_FROM = 200  # literals; below it the whole ones are as fast
WORDS_FROM = 40  # literals; below it looking for each is as fast as taking the block to words


class PlainFinder:
    """`bytes.find`, for those literals whose telling words stand in the block."""

    def __init__(self, index: ScanIndex) -> None:
        self._texts = index.texts
        self._caseless = index.caseless
        self._telling = index.telling
        self._words = index.words
        self._pieces = index.pieces

    def hits(self, data: Data, end: int) -> list[Hit]:
        """Where the literals stand, once a line."""
        lowered: Data | None = None
        found: list[Hit] = []
        for number in self._possible(data, end):
            text, caseless = self._texts[number], self._caseless[number]
            if caseless and lowered is None:
                lowered = data.lower()
            held = lowered if caseless and lowered is not None else data
            position = held.find(text, 0, end)
            while position >= 0:
                found.append((position, number))
                line_end = data.find(b"\n", position, end)
                position = held.find(text, line_end, end) if line_end >= 0 else -1
        found.sort()
        return found

    def _possible(self, data: Data, end: int) -> Iterable[int]:
        """The literals that the block's words don't rule out."""
        if len(self._texts) < WORDS_FROM:
            return range(len(self._texts))
        words = {*bytes(data[:end]).translate(WORDS).split()}
        held = {*words, *(b"<" + word[:4] for word in words), *(b">" + word[-4:] for word in words)}
        possible = [
            number
            for key in self._words.keys() & held
            for number in self._words[key]
            if held.issuperset(self._telling[number])
        ]
        joined = b" ".join(words)
        possible += [number for piece, numbers in self._pieces.items() if piece in joined for number in numbers]
        return [*possible, *self._words.get(b"", ())]


class HyperscanFinder:
    """Hyperscan in block mode. Raises ImportError where it isn't installed.

    kept: gives what was compiled before, or None; keep: takes what was compiled now; instead: texts to search for, whole, in
    the place of some literals, by number. vain: how often a literal's window stood without the rest of it.
    """

    def __init__(
        self,
        index: ScanIndex,
        kept: Callable[[str], bytes | None] = lambda _: None,
        keep: Callable[[str, bytes], None] = lambda *_: None,
        instead: Mapping[int, tuple[bytes, ...]] = NOTHING,
    ) -> None:
        import threading  # noqa: PLC0415 - with the package

        import hyperscan  # noqa: PLC0415 - 28 ms, and missing on some machines

        self._hyperscan = hyperscan
        self._certain = len(index.texts) < WINDOWS_FROM
        owners: dict[tuple[bytes, int], list[tuple[bytes, int, int, int]]] = {}
        for number, (text, caseless) in enumerate(zip(index.texts, index.caseless, strict=True)):
            start = 0 if self._certain else index.windows[number]
            needle = text if self._certain else text[start : start + WINDOW_BYTES]
            needles = [(one, one, len(one)) for one in instead.get(number, ())] or [(needle, text, start + len(needle))]
            for searched, whole, before in needles:
                owners.setdefault((searched, caseless), []).append((whole, caseless, before, number))
        self._of_window = tuple(tuple(found) for found in owners.values())
        # short needles make the search for long ones slower than a second pass over the block does
        numbered = [(number, *one) for number, one in enumerate(owners)]
        parts = [[one for one in numbered if (len(one[1]) < WINDOW_BYTES) is short] for short in (True, False)]
        self._databases = [self._compiled(part, kept, keep) for part in parts if part]
        self._scratch = threading.local()
        self.vain: dict[int, int] = {}

    def _compiled(
        self,
        wanted: list[tuple[int, bytes, int]],
        kept: Callable[[str], bytes | None],
        keep: Callable[[str, bytes], None],
    ) -> Any:
        name = f"hyperscan-{getattr(self._hyperscan, '__version__', '')}-{wanted[0][0]}"
        packed = kept(name)
        if packed is not None:
            try:
                return self._hyperscan.loadb(packed, self._hyperscan.HS_MODE_BLOCK)
            except (self._hyperscan.HyperscanError, TypeError):
                pass  # of another processor or version: compiled anew
        database = self._hyperscan.Database(mode=self._hyperscan.HS_MODE_BLOCK)
        numbers, texts, caseless = map(list, zip(*wanted, strict=True))
        flags = [self._hyperscan.HS_FLAG_CASELESS if one else 0 for one in caseless]
        database.compile(texts, numbers, len(wanted), flags, literal=True)
        keep(name, self._hyperscan.dumpb(database))
        return database

    def hits(self, data: Data, end: int) -> list[Hit]:
        """Where the literals stand, in order."""
        found: list[Hit] = []

        def report(number: int, _start: int, stop: int, _flags: int, _context: Any) -> None:
            found.append((stop - 1, number))

        if not hasattr(self._scratch, "own"):
            self._scratch.own = [self._hyperscan.Scratch(database) for database in self._databases]
        for database, scratch in zip(self._databases, self._scratch.own, strict=True):
            database.scan(memoryview(data)[:end], match_event_handler=report, scratch=scratch)
        if not found:
            return found
        found.sort()
        if self._certain:
            return [(position, owner[3]) for position, number in found for owner in self._of_window[number]]
        return self._whole(data, end, found)

    def _whole(self, data: Data, end: int, windows: list[Hit]) -> list[Hit]:
        """The literals that really stand around these windows. A window's hit is the place of its last byte."""
        found: list[Hit] = []
        owners_of = self._of_window
        for position, number in windows:
            for text, caseless, before, literal in owners_of[number]:
                start = position + 1 - before
                if start < 0 or start + len(text) > end:
                    continue
                if data.startswith(text, start) or (caseless and data[start : start + len(text)].lower() == text):
                    found.append((position, literal))
                else:
                    self.vain[literal] = self.vain.get(literal, 0) + 1
        return found


class AhoCorasickFinder:
    """ahocorasick-rs, both sides in lower case. Raises ImportError where it isn't installed."""

    def __init__(self, index: ScanIndex) -> None:
        import ahocorasick_rs  # noqa: PLC0415 - an optional package

        numbers: dict[bytes, list[int]] = {}
        for number, text in enumerate(index.texts):
            numbers.setdefault(text.lower(), []).append(number)
        self._texts = index.texts
        self._caseless = index.caseless
        self._of_text = list(numbers.values())
        implementation = ahocorasick_rs.Implementation.DFA
        self._automaton = ahocorasick_rs.BytesAhoCorasick(list(numbers), implementation=implementation)

    def hits(self, data: Data, end: int) -> list[Hit]:
        """Where the literals stand, in order."""
        found: list[Hit] = []
        whole = bytes(data[:end])
        for number, start, stop in self._automaton.find_matches_as_indexes(whole.lower(), overlapping=True):
            for literal in self._of_text[number]:
                if self._caseless[literal] or whole[start:stop] == self._texts[literal]:
                    found.append((start, literal))
        found.sort()
        return found


def best_finder(
    index: ScanIndex,
    kept: Callable[[str], bytes | None] = lambda _: None,
    keep: Callable[[str, bytes], None] = lambda *_: None,
) -> Finder:
    """The fastest finder for large logs that is installed here."""
    if index.texts:
        try:
            return HyperscanFinder(index, kept, keep)
        except ImportError:
            pass
        try:
            return AhoCorasickFinder(index)
        except ImportError:
            pass
    return PlainFinder(index)
