"""From whatever the caller has to bytes in a buffer of the reader.

Comes in: a path, bytes, text, or a binary stream. Goes out: a name for messages and bytes, into a buffer that the reader uses
again, whatever the size. The only stage that opens files. Raises SourceError for a log that can't be read, and for nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from io import FileIO

from strata_diag.errors import SourceError
from strata_diag.record import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, BinaryIO

    Target = bytes | str | os.PathLike[str] | BinaryIO

CHUNK_BYTES = 256 * 1024

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


class Source:
    """A log to be read once: its name in messages, and its bytes in order."""

    def __init__(self, name: str, read_into: Callable[[memoryview], int]) -> None:
        self.name = name
        self.read_into = read_into

    @property
    def chunks(self) -> Iterator[bytes]:
        """The bytes as chunks of at most CHUNK_BYTES, for whoever brings no buffer."""
        buffer = memoryview(bytearray(CHUNK_BYTES))
        while count := self.read_into(buffer):
            yield bytes(buffer[:count])


class NamedPath(os.PathLike[str]):
    """A path and nothing more: what `pathlib` costs at its import is twice the start of Python."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __fspath__(self) -> str:
        return self._name


def open_source(target: Target) -> Source:
    """Open a log. A `str` is the log's own text, never a path.

    Raises SourceError for a path that is missing, a folder or not permitted, and while reading.
    """
    if isinstance(target, bytes):
        return Source("<bytes>", _Held(target).read_into)
    if isinstance(target, str):
        return Source("<text>", _Held(target.encode("utf-8", "replace")).read_into)
    if isinstance(target, os.PathLike):
        name = os.fspath(target)
        return Source(name, _Stream(name, _open(name), close=True).read_into)
    name = str(getattr(target, "name", "<stream>"))
    return Source(name, _Stream(name, target, close=False).read_into)


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


class _Held:
    """Bytes that the caller holds."""

    def __init__(self, data: bytes) -> None:
        self._rest = memoryview(data)

    def read_into(self, view: memoryview) -> int:
        count = min(len(view), len(self._rest))
        view[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


class _Stream:
    """A binary stream of anybody's make; closed at its end where we opened it."""

    def __init__(self, name: str, stream: BinaryIO, *, close: bool) -> None:
        self._name = name
        self._stream = stream
        self._close = close
        self._ended = False
        # `readinto1` and `read1` hand over what a pipe holds now instead of waiting for a full buffer
        self._into: Any = getattr(stream, "readinto1", None) or (
            stream.readinto if isinstance(stream, FileIO) else None
        )
        self._read: Any = getattr(stream, "read1", getattr(stream, "read", None))

    def read_into(self, view: memoryview) -> int:
        if self._ended:
            return 0
        try:
            count = self._into(view) if self._into else self._copied(view)
        except SourceError:
            self._done()
            raise
        except Exception as error:  # noqa: BLE001 - a cut gzip raises EOFError, a broken one zlib.error, a plugin's anything
            self._done()
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise SourceError(self._name, reason, "check the drive or the pipe it comes from") from None
        if not count:
            self._done()
        return int(count or 0)

    def _done(self) -> None:
        self._ended = True
        if self._close:
            self._stream.close()

    def _copied(self, view: memoryview) -> int:
        chunk = self._read(len(view))
        if isinstance(chunk, str):
            raise SourceError(
                self._name, "is open as text", "open it in binary mode (`rb`), or hand over the text itself"
            )
        view[: len(chunk)] = chunk
        return len(chunk)
