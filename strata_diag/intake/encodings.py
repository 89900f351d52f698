"""Encodings as far as the intake must know them: to read documents, and logs in which two programs wrote differently."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO

from strata_diag.intake.records import Notes
from strata_diag.intake.streams import chunks_of, stream_of
from strata_diag.linetext import HEAD_BYTES, decode_line, detect_encoding

SURE_BYTES = 512  # without a NUL, mostly ASCII: no UTF-16 looks like that, so another program went on in UTF-8
SURE_AT_END = 24  # bytes of the same kind that are enough at the end of a log
ASCII_SHARE = 0.7  # of such bytes that are ASCII

_WIDE = ("utf-16", "utf-32")
_NARROW = re.compile(rb"[\t\n\r\x1b\x20-\x7e\x80-\xff]{%d,}" % SURE_BYTES)
_NARROW_END = re.compile(rb"[\t\n\r\x1b\x20-\x7e\x80-\xff]{1,%d}\Z" % SURE_BYTES)


def text_of(data: bytes) -> str:
    """A whole document as text: every line by itself, since lines may be in different code pages."""
    encoding, skip = detect_encoding(data[:HEAD_BYTES])
    if encoding.startswith(_WIDE):
        return data[skip:].decode(encoding, "replace")
    return "\n".join(decode_line(line) for line in data[skip:].split(b"\n"))


def utf8_stream(head: bytes, stream: BinaryIO) -> BinaryIO:
    """The stream without a byte-order mark, in UTF-8 where it was UTF-16 or UTF-32."""
    encoding, skip = detect_encoding(head[:HEAD_BYTES])
    stream.read(skip)
    return stream_of(_recoded(encoding, stream)) if encoding.startswith(_WIDE) else stream


def _recoded(encoding: str, stream: BinaryIO) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for chunk in chunks_of(stream):
        yield decoder.decode(chunk).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")


def evenly_wide(head: bytes, stream: BinaryIO, notes: Notes) -> BinaryIO:
    """A UTF-16 log to which another program appended UTF-8, as UTF-16 throughout; any other log is handed back untouched.

    The other way round needs no help: UTF-16 behind UTF-8 reads well without its NULs.
    """
    encoding, _ = detect_encoding(head[:HEAD_BYTES])
    return stream_of(_widened(encoding, stream, notes)) if encoding.startswith("utf-16") else stream


def _widened(encoding: str, stream: BinaryIO, notes: Notes) -> Iterator[bytes]:
    pending = b""  # always begins at an even offset
    chunks = chunks_of(stream)
    for chunk in chunks:
        pending += chunk
        narrow = _NARROW.search(pending)
        if narrow and _is_ascii(narrow.group()):
            break
        begun = _NARROW_END.search(pending)
        cut = _even(begun.start() if begun else len(pending)) if len(pending) > SURE_BYTES else 0
        yield pending[:cut]
        pending = pending[cut:]
    else:
        narrow = _NARROW_END.search(pending)
        if not narrow or len(narrow.group()) < SURE_AT_END or not _is_ascii(narrow.group()):
            yield pending
            return
    cut = _even(narrow.start())
    yield pending[:cut]
    notes.add("encoding", f"the log begins as {encoding} and goes on as UTF-8; both parts were read")
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for rest in chain((pending[cut:],), chunks):
        yield decoder.decode(rest).encode(encoding, "replace")
    yield decoder.decode(b"", final=True).encode(encoding, "replace")


def _is_ascii(data: bytes) -> bool:
    return sum(byte < 128 for byte in data[:SURE_BYTES]) > ASCII_SHARE * min(len(data), SURE_BYTES)  # noqa: PLR2004 - ASCII


def _even(place: int) -> int:
    """The end of the UTF-16 unit that this place stands in."""
    return place + place % 2
