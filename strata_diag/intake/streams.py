"""Streams made of chunks, peeking at them, and temporary files without a name."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator
from itertools import chain
from typing import IO, BinaryIO, cast

from strata_diag.intake import limits
from strata_diag.intake.records import Notes


class ChunkStream(io.RawIOBase):
    """The bytes of `chunks` as a binary stream that is read once, in order."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        super().__init__()
        self._chunks = chunks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        taken = self._rest[: len(buffer)]
        buffer[: len(taken)] = taken
        self._rest = self._rest[len(taken) :]
        return len(taken)


def stream_of(chunks: Iterator[bytes]) -> BinaryIO:
    """The chunks as a stream."""
    return cast("BinaryIO", ChunkStream(chunks))


def chunks_of(stream: BinaryIO, size: int = limits.CHUNK_BYTES) -> Iterator[bytes]:
    """What a stream holds from here on."""
    while chunk := stream.read(size):
        yield chunk


def peek(stream: BinaryIO) -> tuple[bytes, BinaryIO]:
    """The first bytes of a stream, and a stream that still begins with them."""
    seekable = _is_seekable(stream)
    start = stream.tell() if seekable else 0
    head = read_up_to(stream, limits.HEAD_BYTES)
    if seekable:
        stream.seek(start)
        return head, stream
    return head, stream_of(chain([head], chunks_of(stream)))


def read_up_to(stream: BinaryIO, size: int) -> bytes:
    """`size` bytes, or what there is: a pipe hands over less at a time."""
    parts = []
    while size > 0 and (part := stream.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def in_place(stream: BinaryIO, notes: Notes) -> IO[bytes] | None:
    """The stream if one can go to and fro in it, else a temporary file with its bytes; None where they are too many."""
    if _is_seekable(stream):
        return stream
    spool = tempfile.SpooledTemporaryFile(limits.SPOOL_IN_MEMORY)  # noqa: SIM115 - closed by its reader
    size = 0
    for chunk in chunks_of(stream):
        size += len(chunk)
        if size > limits.LARGEST_SPOOL:
            spool.close()
            notes.add(
                "limit", f"it is larger than {mib(limits.LARGEST_SPOOL)}, too large to be read from here; unpack it"
            )
            return None
        spool.write(chunk)
    spool.seek(0)
    return spool


def mib(size: int) -> str:
    """A size for people: `512 bytes`, `12.0 MiB`."""
    return f"{size} bytes" if size < 100 * 1024 else f"{size / 1024**2:.1f} MiB"


def _is_seekable(stream: BinaryIO) -> bool:
    try:
        return stream.seekable()
    except (AttributeError, ValueError):
        return False
