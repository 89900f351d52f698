"""A growing log without what is private, line by line: what `strata-diag watch --redact` shows.

A name that is learnt late stands in the lines before, which are shown by then; `redact` reads a whole file twice for that.
"""

from __future__ import annotations

import codecs

from strata_diag import linetext
from strata_diag.redact import Redactor

LONGEST_HELD = 256 * 1024  # characters of a line without an end that wait for it; a secret at this border may be cut


class LineRedactor:
    """Give it bytes with `add`; it gives complete lines back, as UTF-8."""

    def __init__(self, redactor: Redactor) -> None:
        redactor.begin()
        self._redactor = redactor
        self._head = b""
        self._decoder: codecs.IncrementalDecoder | None = None
        self._pending = ""

    def add(self, data: bytes) -> bytes:
        """The lines that are complete by these bytes, without what is private."""
        self._pending += self._decoded(data)
        cut = self._pending.rfind("\n") + 1
        if not cut and len(self._pending) > LONGEST_HELD:
            cut = len(self._pending)
        whole, self._pending = self._pending[:cut], self._pending[cut:]
        return self._redacted(whole)

    def rest(self) -> bytes:
        """A last line that has no end."""
        if self._decoder is None:
            self._pending += self._begun()
        whole, self._pending = self._pending, ""
        return self._redacted(whole)

    def _redacted(self, whole: str) -> bytes:
        return self._redactor.line(whole).encode("utf-8", "surrogateescape")

    def _decoded(self, data: bytes) -> str:
        if self._decoder is not None:
            return self._decoder.decode(data)
        self._head += data
        if b"\n" not in self._head and len(self._head) < linetext.HEAD_BYTES:
            return ""
        return self._begun()

    def _begun(self) -> str:
        """Find the encoding; the text so far. Bytes that are no text pass through, but in UTF-16 and UTF-32."""
        encoding, skip = linetext.detect_encoding(self._head[: linetext.HEAD_BYTES])
        wide = encoding.startswith(("utf-16", "utf-32"))
        self._decoder = codecs.getincrementaldecoder(encoding if wide else "utf-8")(
            "replace" if wide else "surrogateescape"
        )
        return self._decoder.decode(self._head[skip:])
