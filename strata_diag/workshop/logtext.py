"""A log as text that can be written back: its lines with their line ends, and the encoding that they came in.

Line feeds end lines here, as everywhere: carriage returns, colours and bytes that are no text stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from strata_diag.linetext import HEAD_BYTES, detect_encoding


class LogText(NamedTuple):
    """A decoded log. mark: its byte order mark; lines: each with its line feed, but for a last one that has none."""

    mark: bytes
    encoding: str
    lines: tuple[str, ...]

    def encoded(self, lines: Iterable[str]) -> bytes:
        """Lines in the encoding of this log, with its mark; what the encoding lacks becomes a question mark."""
        text = "".join(lines)
        try:
            return self.mark + text.encode(self.encoding, _errors(self.encoding))
        except UnicodeEncodeError:  # a stand-in for a name can hold a letter that a code page has not
            return self.mark + text.encode(self.encoding, "replace")


def log_text(data: bytes) -> LogText:
    """The text of a log, decoded as every reader of ours does."""
    encoding, skip = detect_encoding(data[:HEAD_BYTES])
    name = "utf-8" if encoding == "utf-8-sig" else encoding
    return LogText(data[:skip], name, whole_lines(data[skip:].decode(name, _errors(name))))


def whole_lines(text: str) -> tuple[str, ...]:
    """The lines of a text, each with its line feed, but for a last one that has none."""
    *ended, rest = text.split("\n")
    return (*(f"{line}\n" for line in ended), *([rest] if rest else []))


def _errors(encoding: str) -> str:
    """What becomes of bytes that are no text: they are kept, but in UTF-16 and UTF-32, where a byte is no character."""
    return "replace" if encoding.startswith(("utf-16", "utf-32")) else "surrogateescape"
