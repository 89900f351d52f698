"""From chunks of bytes to blocks of whole lines that read as a person would read them.

Comes in: chunks in any encoding. Goes out: `Block`s, cut at line feeds, each twice: `raw` as it was written and `clean`
without colours, NULs and cursor movements, line for line the same. UTF-16 and UTF-32 are turned into UTF-8 on the way;
every other encoding keeps its bytes (all patterns rest on ASCII literals) and is decoded line by line where somebody looks.
Never splits a line between blocks, never holds more than a few blocks, whatever the length of a line.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

from strata_diag.linetext import (
    DIRT,
    HEAD_BYTES,
    KEPT_HALF,
    LONGEST_LINE,
    clean,
    decode_line,
    detect_encoding,
    redraws,
    shorten,
)
from strata_diag.model import Evidence, Notice
from strata_diag.record import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    ReadInto = Callable[[memoryview], int]

    class Readable(Protocol):
        """What the `source` stage hands over."""

        read_into: ReadInto


PENDING_LIMIT = 4 * LONGEST_LINE
READ_BYTES = 256 * 1024  # read at once: as fast as more, and it stays in the processor's cache
BLOCK_BYTES = 64 * 1024  # a pipe hands over a line at a time: blocks are gathered, so that lines have neighbours
LONG_LINES_NAMED = 8  # in notices of their own; the rest is counted
CONTEXT_LINES = 3
SHOWN_CHARACTERS = 4000  # of a line that is kept as evidence

_LINE_FEED = 10


class Block:
    """Whole lines of a log: `data[:end]`, in a buffer that is filled anew once the block is no neighbour any more.

    before: the block in front of it. `raw` and `clean` are copies, made when somebody asks, with the same number of lines, and
    the block's own from then on. Lines are counted when somebody asks too, and each byte is counted once.
    """

    __slots__ = ("_before", "_clean", "_counted", "_first_line", "_lines", "_open_end", "_raw", "_whole", "data", "end")

    def __init__(self, before: Block | None, data: bytes | bytearray, end: int) -> None:
        self._before = before
        self._first_line = 1
        self._counted = self._lines = 0  # up to where lines were counted for the numbers asked for, and how many
        self._whole = -1  # lines that end in it, once somebody asked for the last
        self._open_end = data[end - 1] != _LINE_FEED
        self.data = data
        self.end = end
        self._raw: bytes | None = None
        self._clean: bytes | None = None
        if any(data.find(mark, 0, end) >= 0 for mark in DIRT):
            self._clean = clean(self.raw)
            self.data, self.end = self._clean, len(self._clean)

    @property
    def first_line(self) -> int:
        """The 1-based number of its first line."""
        if self._before is not None:
            self._first_line = self._before.last_line + 1
            self._before = None
        return self._first_line

    @property
    def last_line(self) -> int:
        """The number of its last line."""
        if self._whole < 0:  # the counter stays where it is: lines further up may still be asked for
            self._whole = self._lines + self.data.count(b"\n", self._counted, self.end)
        return self.first_line + self._whole - 1 + self._open_end

    def line_at(self, offset: int) -> int:
        """The number of the line that starts at this offset of `data`."""
        if offset < self._counted:
            return self.first_line + self.data.count(b"\n", 0, offset)
        self._lines += self.data.count(b"\n", self._counted, offset)
        self._counted = offset
        return self.first_line + self._lines

    @property
    def is_plain(self) -> bool:
        """Whether `data` is what was written."""
        return self._clean is None

    @property
    def raw(self) -> bytes:
        """The lines as they were written."""
        if self._raw is None:
            self._raw = bytes(memoryview(self.data)[: self.end])
            if self._clean is None:
                self.data = self._raw  # from now on its own, whatever comes into the buffer
        return self._raw

    @property
    def clean(self) -> bytes:
        """The lines without colours, NULs and cursor movements; the same object as `raw` where there are none."""
        return self.raw if self._clean is None else self._clean


class Window(NamedTuple):
    """A block with its neighbours, so that the lines around a finding can be shown. Valid until the next one is asked for."""

    previous: Block | None
    block: Block
    following: Block | None


class _Chunks:
    """An iterable of chunks as a source."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._rest = b""

    def read_into(self, view: memoryview) -> int:
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = chunk
        given, self._rest = self._rest[: len(view)], self._rest[len(view) :]
        view[: len(given)] = given
        return len(given)


def _transcoded(first: bytes, read_into: ReadInto, encoding: str) -> Iterator[bytes]:
    """UTF-16 or UTF-32 as UTF-8."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    yield decoder.decode(first).encode("utf-8", "replace")
    buffer = memoryview(bytearray(READ_BYTES))
    while count := read_into(buffer):
        yield decoder.decode(buffer[:count]).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")


class Reader:
    """Reads one log. Iterate it once for `Window`s; `encoding`, `line_count` and `notices` are complete afterwards.

    source: what has `read_into(view) -> count` (0: the end), or chunks of bytes.
    """

    def __init__(self, source: Iterable[bytes] | Readable) -> None:
        self._read: ReadInto = source.read_into if hasattr(source, "read_into") else _Chunks(source).read_into
        self.encoding = "utf-8"
        self.line_count = 0
        self.notices: list[Notice] = []
        self.head = b""
        self._long_lines = 0

    def __iter__(self) -> Iterator[Window]:
        previous: Block | None = None
        current: Block | None = None
        for block in self._blocks():
            if current is not None:
                yield Window(previous, current, block)
                self.line_count = block.first_line - 1  # known before the buffer of `current` is filled anew
            previous, current = current, block
        if current is not None:
            self.line_count = current.last_line
            yield Window(previous, current, None)

    def _blocks(self) -> Iterator[Block]:
        """Blocks in three buffers that take turns: one is filled while its two forerunners are still looked at."""
        # the first is small, since most logs are: fresh memory costs more than reading them does
        buffers = [bytearray(HEAD_BYTES + BLOCK_BYTES), bytearray(), bytearray()]
        pending = self._begin()
        ended = False
        turn = filled = 0
        block: Block | None = None
        while not ended:
            if filled and len(buffers[turn]) < READ_BYTES:
                buffers[turn] = bytearray(READ_BYTES + PENDING_LIMIT)
            buffer = buffers[turn]
            buffer[: len(pending)] = pending
            filled, ended = self._fill(buffer, len(pending))
            cut = filled if ended else buffer.rfind(b"\n", 0, filled) + 1
            pending = bytes(memoryview(buffer)[cut:filled])
            if len(pending) > PENDING_LIMIT:
                pending = shorten(pending)
            if cut:
                self._notice_long_lines(block, buffer, cut)
                block = Block(block, buffer, cut)
                yield block
                turn = (turn + 1) % len(buffers)
        self._sum_up_long_lines()

    def _fill(self, buffer: bytearray, start: int) -> tuple[int, bool]:
        """Read until there is enough for a block: (filled bytes, whether the log has ended)."""
        filled, limit = start, min(start + READ_BYTES, len(buffer))
        with memoryview(buffer) as view:
            while filled - start < BLOCK_BYTES and filled < limit:
                count = self._read(view[filled:limit])
                if not count:
                    return filled, True
                filled += count
        return filled, False

    def _notice_long_lines(self, before: Block | None, data: bytearray, size: int) -> None:
        position = 0
        while size - position > LONGEST_LINE:
            end = data.rfind(b"\n", position, position + LONGEST_LINE + 1)
            if end < 0:
                self._long_lines += 1
                if self._long_lines <= LONG_LINES_NAMED:
                    line = (before.last_line if before else 0) + 1 + data.count(b"\n", 0, position)
                    length = f"line {line} is longer than {LONGEST_LINE // 1024} KiB"
                    kept = f"only its first and last {KEPT_HALF // 1024} KiB were read"
                    self.notices.append(Notice("truncated-line", f"{length}; {kept}"))
                end = data.find(b"\n", position, size)
                if end < 0:
                    return
            position = end + 1

    def _sum_up_long_lines(self) -> None:
        if self._long_lines > LONG_LINES_NAMED:
            more = self._long_lines - LONG_LINES_NAMED
            self.notices.append(
                Notice("truncated-line", f"{more} more lines are longer than {LONGEST_LINE // 1024} KiB")
            )

    def _begin(self) -> bytes:
        """Find the encoding; what was read for that is the first pending text. What is no UTF-8 superset is turned into it."""
        first = bytearray(HEAD_BYTES)
        filled = 0
        with memoryview(first) as view:
            while filled < HEAD_BYTES and (count := self._read(view[filled:])):
                filled += count
        self.head = bytes(first[:filled])
        self.encoding, skip = detect_encoding(self.head)
        if not self.encoding.startswith(("utf-16", "utf-32")):
            return self.head[skip:]
        self._read = _Chunks(_transcoded(self.head[skip:], self._read, self.encoding)).read_into
        return b""


def shown_again(raw: str) -> list[str]:
    """The redraws of an untouched line, as evidence keeps it."""
    return redraws(clean(raw.encode("utf-8", "replace")))


def evidence(
    window: Window, start: int, end: int, text: str, match_start: int, *, line: int | None = None, context: bool = True
) -> Evidence:
    """The line at these offsets of the window's clean bytes, with the lines around it.

    text: the redraw that matched; match_start: where in it, 0-based; line: its number where it is known already; context:
    whether the lines around it will be shown.
    """
    block = window.block
    number = block.line_at(start) if line is None else line
    if block.is_plain and end - start == len(text) <= SHOWN_CHARACTERS:
        raw = text  # the usual line: one redraw, one byte a character
    else:
        raw = raw_text(written_line(block, start, end, number))
    around = (_before(window, start), _after(window, end)) if context else ((), ())
    shown, column = _part_around(text, match_start)
    return Evidence(number, shown, raw, column, *around)


def written_line(block: Block, start: int, end: int, line: int) -> bytes:
    """The untouched bytes of the line at these offsets of the block's clean bytes; line: its 1-based number."""
    return bytes(block.data[start:end]) if block.is_plain else _nth_line(block.raw, line - block.first_line)


def raw_text(written: bytes) -> str:
    """An untouched line as evidence keeps it."""
    return decode_line(shorten(written)).rstrip("\r")[:SHOWN_CHARACTERS]


def evidence_again(line: int, raw: str, text: str, match_start: int) -> Evidence:
    """Evidence for a line that is known by an earlier one, `raw` being its untouched text."""
    shown, column = _part_around(text, match_start)
    return Evidence(line, shown, raw, column)


def _part_around(text: str, start: int) -> tuple[str, int]:
    """What is kept of a text that matches from `start` on, and the 1-based place of the match in it."""
    shown = text.strip()
    column = max(start - (len(text) - len(text.lstrip())), 0)
    first = column - SHOWN_CHARACTERS // 2 if column >= SHOWN_CHARACTERS - SHOWN_CHARACTERS // 4 else 0
    return shown[first : first + SHOWN_CHARACTERS], column - first + 1


def _nth_line(data: bytes, index: int) -> bytes:
    start = 0
    for _ in range(index):
        start = data.find(b"\n", start) + 1
    end = data.find(b"\n", start)
    return data[start : len(data) if end < 0 else end]


def _before(window: Window, start: int) -> tuple[str, ...]:
    lines = _last_lines(window.block.clean, start, CONTEXT_LINES)
    if len(lines) < CONTEXT_LINES and window.previous is not None:
        earlier = window.previous.clean
        lines = _last_lines(earlier, len(earlier), CONTEXT_LINES - len(lines)) + lines
    return tuple(_shown(line) for line in lines)


def _after(window: Window, end: int) -> tuple[str, ...]:
    lines = _first_lines(window.block.clean, end + 1, CONTEXT_LINES)
    if len(lines) < CONTEXT_LINES and window.following is not None:
        lines += _first_lines(window.following.clean, 0, CONTEXT_LINES - len(lines))
    return tuple(_shown(line) for line in lines)


def _last_lines(data: bytes, end: int, count: int) -> list[bytes]:
    """The last lines of `data[:end]`, where `end` is the start of a line or the end of the data."""
    lines: list[bytes] = []
    stop = end - 1 if data[end - 1 : end] == b"\n" else end
    while len(lines) < count and stop >= 0 and end > 0:
        start = data.rfind(b"\n", 0, stop) + 1
        lines.append(data[start:stop])
        end, stop = start, start - 1
    return lines[::-1]


def _first_lines(data: bytes, start: int, count: int) -> list[bytes]:
    lines: list[bytes] = []
    while len(lines) < count and start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        lines.append(data[start:end])
        start = end + 1
    return lines


def _shown(line: bytes) -> str:
    return redraws(line)[0][:SHOWN_CHARACTERS]


def tail_before(window: Window, line: int, count: int) -> tuple[tuple[int, str], ...]:
    """The last `count` non-blank lines before a 1-based line number, oldest first, as (line, text)."""
    found: list[tuple[int, str]] = []
    for block in (window.block, window.previous):
        if block is None or len(found) >= count:
            break
        data = block.clean
        end = _offset_of(block, line)
        number = block.first_line + data.count(b"\n", 0, end) - (1 if end and data[end - 1 : end] == b"\n" else 0)
        position = end - 1 if end and data[end - 1 : end] == b"\n" else end
        while position > 0 and len(found) < count:
            start = data.rfind(b"\n", 0, position) + 1
            if data[start:position].strip():
                found.append((number, _shown(data[start:position])))
            number -= 1
            position = start - 1
    return tuple(reversed(found))


def _offset_of(block: Block, line: int) -> int:
    """Where a line starts in a block's clean bytes; its end where the line lies behind it."""
    if line > block.last_line:
        return len(block.clean)
    position = 0
    for _ in range(line - block.first_line):
        position = block.clean.find(b"\n", position) + 1
    return position
