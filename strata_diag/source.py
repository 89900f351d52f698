"""From whatever the caller has to chunks of bytes.

Comes in: a path, bytes, text, or a binary stream. Goes out: a name for messages and chunks of at most 256 KiB, whatever the
size. The only stage that opens files. Raises SourceError for a log that can't be read, and for nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from strata_diag.errors import SourceError

CHUNK_BYTES = 256 * 1024
Target = bytes | str | os.PathLike[str] | BinaryIO

_MAGIC = (
    (b"\x1f\x8b", "gzip archive"),
    (b"PK\x03\x04", "zip archive"),
    (b"\xfd7zXZ\x00", "xz archive"),
    (b"BZh", "bzip2 archive"),
    (b"\x28\xb5\x2f\xfd", "zstd archive"),
    (b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (b"\x89PNG", "PNG picture"),
    (b"\xff\xd8\xff", "JPEG picture"),
    (b"%PDF-", "PDF document"),
    (b"\x7fELF", "Linux program"),
    (b"MZ\x90", "Windows program"),
    (b"GGUF", "GGUF model file"),
)


class Source(NamedTuple):
    """A log to be read: its name in messages, and its bytes in order, once."""

    name: str
    chunks: Iterator[bytes]


def open_source(target: Target) -> Source:
    """Open a log. A `str` is the log's own text, never a path.

    Raises SourceError for a path that is missing, a folder or not permitted, and while reading.
    """
    if isinstance(target, bytes):
        return Source("<bytes>", _slices(target))
    if isinstance(target, str):
        return Source("<text>", _slices(target.encode("utf-8", "replace")))
    if isinstance(target, os.PathLike):
        name = os.fspath(target)
        return Source(name, _stream_chunks(name, _open(name), close=True))
    name = str(getattr(target, "name", "<stream>"))
    return Source(name, _stream_chunks(name, target, close=False))


def container_kind(head: bytes) -> str:
    """What a file is that starts like this and is no log, such as `gzip archive`; empty for anything else."""
    return next((kind for magic, kind in _MAGIC if head.startswith(magic)), "")


def _open(name: str) -> BinaryIO:
    try:
        if os.path.isdir(name):
            raise SourceError(name, "is a folder", "name the log file itself, such as strata-<model>.log in it")
        return open(name, "rb", buffering=0)
    except FileNotFoundError:
        raise SourceError(
            name, "there is no such file", "check the path; Strata writes strata-<model>.log beside strata-<model>.json"
        ) from None
    except PermissionError:
        raise SourceError(
            name, "permission denied", "read it as a user who may, or copy it to a place of your own"
        ) from None
    except (OSError, ValueError) as error:
        raise SourceError(
            name, str(getattr(error, "strerror", None) or error), "check the path and the drive"
        ) from None


def _slices(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), CHUNK_BYTES):
        yield data[start : start + CHUNK_BYTES]


def _stream_chunks(name: str, stream: BinaryIO, *, close: bool) -> Iterator[bytes]:
    # `read1` hands over what a pipe holds now instead of waiting for a full buffer
    read = getattr(stream, "read1", stream.read)
    try:
        while chunk := _read(read, name):
            yield bytes(chunk)
    finally:
        if close:
            stream.close()


def _read(read: Callable[[int], bytes], name: str) -> bytes:
    try:
        chunk = read(CHUNK_BYTES)
    except Exception as error:  # noqa: BLE001 - a cut gzip raises EOFError, a broken one zlib.error, a plugin's anything
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise SourceError(name, reason, "check the drive or the pipe it comes from") from None
    if isinstance(chunk, str):
        raise SourceError(name, "is open as text", "open it in binary mode (`rb`), or hand over the text itself")
    return chunk
