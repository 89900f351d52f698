"""A reader that is given the bytes of a log as they come, instead of asking for them.

Comes in: bytes, cut anywhere. Goes out: the same windows as from `text.Reader`, each as soon as its following block is there,
and the lines that have become complete. A line without its end is held back until the rest of it comes or the log ends.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from strata_diag import linetext, text


class Feed(text.Reader):
    """Give it bytes with `add`, then `finish`. `encoding`, `line_count` and `notices` are complete afterwards."""

    def __init__(self) -> None:
        super().__init__(())
        self._first: bytearray | None = bytearray()  # bytes from which the encoding is not known yet
        self._decoder: codecs.IncrementalDecoder | None = None
        self._pending = bytearray()
        self._fresh = bytearray()
        self._known = 0  # bytes of the pending ones whose lines are among the fresh ones, or were
        self._previous: text.Block | None = None
        self._current: text.Block | None = None

    def copy(self) -> Feed:
        """One that ends here, for a look at the lines that are complete: it takes no more bytes."""
        made = Feed()
        vars(made).update(vars(self))
        made.notices = [*self.notices]
        made._first = None if self._first is None else bytearray(self._first)
        made._pending = bytearray(self._pending)
        return made

    def add(self, data: bytes) -> Iterator[text.Window]:
        """Take the next bytes; the windows that are complete by them."""
        for start in range(0, len(data), text.READ_BYTES):
            yield from self._take(data[start : start + text.READ_BYTES])

    def fresh_lines(self) -> bytes:
        """The lines that have become complete since this was last asked; while the encoding is not known, as they came."""
        held = self._pending if self._first is None else self._first
        cut = held.rfind(b"\n", self._known) + 1
        if cut:
            self._fresh += held[self._known : cut]
            self._known = cut
        found, self._fresh = bytes(self._fresh), bytearray()
        return found

    def finish(self, *, whole: bool = True) -> Iterator[text.Window]:
        """The windows of what is left. whole: with a last line that has no end."""
        if self._first is not None:
            self._pending += self._begun(self._first)
        if whole and self._decoder is not None:
            self._pending += self._decoder.decode(b"", final=True).encode("utf-8", "replace")
        cut = len(self._pending) if whole else self._pending.rfind(b"\n") + 1
        if cut:
            yield from self._block(cut)
        if self._current is not None:
            self.line_count = self._current.last_line
            yield text.Window(self._previous, self._current, None)
        self._sum_up_long_lines()

    def _take(self, data: bytes) -> Iterator[text.Window]:
        if self._first is not None:
            self._first += data
            if len(self._first) < linetext.HEAD_BYTES:
                return
            self._pending += self._begun(self._first)
            self._first, self._known = None, 0
        else:
            self._pending += self._decoded(data)
        if len(self._pending) < text.BLOCK_BYTES:
            return
        cut = self._pending.rfind(b"\n") + 1
        if cut:
            self._fresh += self._pending[self._known : cut]
            yield from self._block(cut)
        if len(self._pending) > text.PENDING_LIMIT:
            self._pending = bytearray(linetext.shorten(self._pending))

    def _begun(self, first: bytearray) -> bytes:
        """Find the encoding; the beginning of the log without its mark."""
        self.head = bytes(first[: linetext.HEAD_BYTES])
        self.encoding, skip = linetext.detect_encoding(self.head)
        if self.encoding.startswith(("utf-16", "utf-32")):
            self._decoder = codecs.getincrementaldecoder(self.encoding)("replace")
        return self._decoded(bytes(first[skip:]))

    def _decoded(self, data: bytes) -> bytes:
        return data if self._decoder is None else self._decoder.decode(data).encode("utf-8", "replace")

    def _block(self, cut: int) -> Iterator[text.Window]:
        """Make a block of the first pending bytes; the window that is complete by it."""
        data = self._pending[:cut]
        del self._pending[:cut]
        self._known = 0
        before = self._current
        self._notice_long_lines(before, data, cut)
        block = text.Block(before, data, cut)
        self.line_count = block.first_line - 1
        if before is not None:
            yield text.Window(self._previous, before, block)
        self._previous, self._current = before, block
