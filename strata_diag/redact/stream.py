"""A whole log through a redactor: bytes in, bytes out, in the log's own encoding and with bounded memory.

The encoding is found as every reader of ours finds it; bytes that are none in it pass through as they are, and a log without
secrets comes back byte for byte, but for NULs, which readers leave out. Text is searched in blocks of whole lines. A longer
line is searched in pieces that overlap, so that a secret of up to 4,096 characters is found wherever it stands; a longer one
in such a line may be cut.

A name that is learnt late stands in the lines before, too: a path is read twice, first to learn. A pipe can be read only
once: there a name is replaced from the block on in which it is learnt.
"""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NamedTuple

from strata_diag import linetext, source
from strata_diag.redact.detector import Found
from strata_diag.redact.redactor import Redactor

BLOCK = 256 * 1024  # characters that are searched at once
OVERLAP = 4096  # characters of a longer line behind a piece that are searched with it
CONTEXT = 256  # characters in front of a piece that say what it is


class Place(NamedTuple):
    """Where something private stands: 1-based line, and its kind."""

    line: int
    kind: str


class _Piece(NamedTuple):
    """A text with what was found in `text[start:end]`; the rest is there to be looked at."""

    text: str
    start: int
    end: int
    found: list[Found]


def redact_stream(stream: BinaryIO, redactor: Redactor) -> BinaryIO:
    """A stream that reads what `stream` holds without what is private; one pass. Its name is redacted, too."""
    name = redactor.line(str(getattr(stream, "name", "<stream>")))
    return _reader(redact_chunks(source.open_source(stream).chunks, redactor), name)


def redact_path(path: str | os.PathLike[str], redactor: Redactor) -> BinaryIO:
    """The same of a file, which is read twice: names are known before the first line. Raises SourceError."""
    name = os.fspath(path)
    learn(_chunks_of(name), redactor)
    return _reader(redact_chunks(_chunks_of(name), redactor), redactor.line(name))


def _chunks_of(name: str) -> Iterator[bytes]:
    """The chunks of a file, which is opened when the first is asked for."""
    yield from source.open_source(source.NamedPath(name)).chunks


def learn(chunks: Iterable[bytes], redactor: Redactor) -> None:
    """Read a log only for the names in it."""
    _, _, texts = _decoded(chunks)
    pending = ""
    for piece in texts:
        pending += piece
        if len(pending) >= BLOCK:
            cut = pending.rfind("\n") + 1 or len(pending) - OVERLAP
            redactor.learn(pending[:cut])
            pending = pending[cut:]
    redactor.learn(pending)


def redact_chunks(chunks: Iterable[bytes], redactor: Redactor) -> Iterator[bytes]:
    """The chunks of a log without what is private, in its own encoding, at most about a block each."""
    mark, encoding, texts = _decoded(chunks)
    if mark:
        yield mark
    errors = _errors(encoding)
    for piece in _pieces(texts, redactor):
        before = [one._replace(start=one.start - piece.start, end=one.end - piece.start) for one in piece.found]
        shown = redactor.replaced(piece.text[piece.start : piece.end], before)
        yield shown.encode(encoding, errors)


def places(chunks: Iterable[bytes], redactor: Redactor) -> Iterator[Place]:
    """Where a log holds something private, in order."""
    _, _, texts = _decoded(chunks)
    line = 1
    for piece in _pieces(texts, redactor):
        position = piece.start
        for one in piece.found:
            line += piece.text.count("\n", position, one.start)
            position = one.start
            yield Place(line, one.kind)
        line += piece.text.count("\n", position, piece.end)


def _pieces(texts: Iterable[str], redactor: Redactor) -> Iterator[_Piece]:
    """Whole lines, or overlapping pieces of a line that is longer than a block."""
    redactor.begin()
    pending, start = "", 0  # the first `start` characters have been given out and are context
    for fresh in texts:
        pending += fresh
        while len(pending) - start >= BLOCK + OVERLAP:
            newline = pending.rfind("\n", start, start + BLOCK) + 1
            end = newline or start + BLOCK
            piece = _searched(pending[: end if newline else end + OVERLAP], start, end, redactor)
            yield piece
            kept = piece.end if newline else max(piece.end - CONTEXT, 0)
            pending, start = pending[kept:], piece.end - kept
    if len(pending) > start:
        yield _searched(pending, start, len(pending), redactor)


def _searched(shown: str, start: int, end: int, redactor: Redactor) -> _Piece:
    """What was found from `start` on; a secret that goes over `end` is taken along."""
    found = [one for one in redactor.find(shown) if start <= one.start < end]
    return _Piece(shown, start, max([end, *(one.end for one in found[-1:])]), found)


def _decoded(chunks: Iterable[bytes]) -> tuple[bytes, str, Iterator[str]]:
    """(byte order mark, encoding, text without NULs in pieces) of a log."""
    rest = iter(chunks)
    head = b""
    for chunk in rest:
        head += chunk
        if len(head) >= linetext.HEAD_BYTES:
            break
    encoding, skip = linetext.detect_encoding(head[: linetext.HEAD_BYTES])
    name = "utf-8" if encoding == "utf-8-sig" else encoding
    return head[:skip], name, _texts(head[skip:], rest, name)


def _texts(head: bytes, rest: Iterator[bytes], encoding: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)(_errors(encoding))
    for start in range(0, len(head), source.CHUNK_BYTES):
        yield decoder.decode(head[start : start + source.CHUNK_BYTES]).replace("\x00", "")
    for chunk in rest:
        yield decoder.decode(chunk).replace("\x00", "")
    yield decoder.decode(b"", final=True).replace("\x00", "")


def _errors(encoding: str) -> str:
    """What becomes of bytes that are no text: they are kept, but in UTF-16 and UTF-32, where a byte is no character."""
    return "replace" if encoding.startswith(("utf-16", "utf-32")) else "surrogateescape"


class _Raw(io.RawIOBase):
    """A raw stream over chunks."""

    def __init__(self, chunks: Iterator[bytes], name: str) -> None:
        self._chunks = chunks
        self._rest = b""
        self.name = name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = chunk
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def _reader(chunks: Iterator[bytes], name: str) -> BinaryIO:
    return io.BufferedReader(_Raw(chunks, name), source.CHUNK_BYTES)
