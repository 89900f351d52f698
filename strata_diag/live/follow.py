"""Files and pipes that grow, as pieces of bytes in order.

A file that is not there yet is waited for. One that is replaced by another of the same name (a rotated log) is read to its
end first, then the new one from its beginning; one that is cut short, or begins with other bytes than before, is read anew.
"""

from __future__ import annotations

import importlib.util
import os
import queue
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from strata_diag.errors import SourceError

PIECE_BYTES = 256 * 1024
HEAD_BYTES = 512  # by which a file that was written anew is known, though it is longer than the old one
POLL_SECONDS = 0.5  # between two looks at a file, where nothing tells that it has changed
MOST_WAITING = 64  # pieces of a pipe that wait to be read; its writer waits beyond

REPLACED = "the file was replaced by another one; it is read from its beginning"
CUT_SHORT = "the file was cut short; it is read from its beginning"
WRITTEN_ANEW = "the file was written anew; it is read from its beginning"


class Piece(NamedTuple):
    """What is new. anew: why everything before it counts no more, empty where it goes on."""

    data: bytes
    anew: str = ""


class FollowedFile:
    """A file that others write. `read` what is new whenever you like; close it in the end."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._file: BinaryIO | None = None
        self._head = b""
        self._position = 0
        self._seen = False  # whether there was a file before this one

    def read(self) -> Iterator[Piece]:
        """Everything that is new by now; nothing where the file is not there. Raises SourceError where it can't be read."""
        try:
            yield from self._anew()
            yield from self._rest()
            while self._is_replaced():
                self.close()
                yield from self._anew()
                yield from self._rest()
        except OSError as error:
            raise SourceError(self.path, error.strerror or str(error), "check the path and the drive") from None

    def close(self) -> None:
        """Close the file; the next `read` opens it from its beginning."""
        if self._file is not None:
            self._file.close()
        self._file, self._head, self._position = None, b"", 0

    def _anew(self) -> Iterator[Piece]:
        """Open the file if need be, or go back to its beginning; says so where something was read before."""
        if self._file is None:
            try:
                self._file = Path(self.path).open("rb", buffering=0)  # noqa: SIM115 - read on by later calls
            except FileNotFoundError:
                return
            if self._seen:
                yield Piece(b"", REPLACED)
            self._seen = True
            return
        shorter = os.fstat(self._file.fileno()).st_size < self._position
        if not shorter and self._begins_as_before(self._file):
            return
        self._file.seek(0)
        self._head, self._position = b"", 0
        yield Piece(b"", CUT_SHORT if shorter else WRITTEN_ANEW)

    def _begins_as_before(self, file: BinaryIO) -> bool:
        file.seek(0)
        head = file.read(len(self._head))
        file.seek(self._position)
        return head == self._head

    def _rest(self) -> Iterator[Piece]:
        while self._file is not None and (data := self._file.read(PIECE_BYTES)):
            self._position += len(data)
            if len(self._head) < HEAD_BYTES:
                self._head += data[: HEAD_BYTES - len(self._head)]
            yield Piece(data)

    def _is_replaced(self) -> bool:
        """Whether another file has the name by now. One that was only removed may still be written to."""
        if self._file is None:
            return False
        try:
            named = Path(self.path).stat()
        except FileNotFoundError:
            return False
        return not os.path.samestat(named, os.fstat(self._file.fileno()))


def follow(path: str) -> Iterator[Piece | None]:
    """What a file holds and what comes, without an end; None whenever nothing is new. Raises SourceError."""
    file = FollowedFile(path)
    try:
        for _ in _looks(path):
            found = False
            for piece in file.read():
                found = True
                yield piece
            if not found:
                yield None
    finally:
        file.close()


def follow_pipe(pipe: BinaryIO) -> Iterator[Piece | None]:
    """What comes through a pipe, to its end; None whenever nothing came for a while. Raises SourceError."""
    waiting: queue.Queue[bytes | OSError] = queue.Queue(MOST_WAITING)
    threading.Thread(target=_drain, args=(pipe.fileno(), waiting), daemon=True).start()
    while True:
        try:
            data = waiting.get(timeout=POLL_SECONDS)
        except queue.Empty:
            yield None
            continue
        if isinstance(data, OSError):
            raise SourceError("standard input", data.strerror or str(data), "check the pipe it comes from")
        if not data:
            return
        yield Piece(data)


def _drain(descriptor: int, waiting: queue.Queue[bytes | OSError]) -> None:
    """Read a pipe to its end. By the system's own call: a stream's lock would be held when the process ends."""
    try:
        while data := os.read(descriptor, PIECE_BYTES):
            waiting.put(data)
    except OSError as error:
        waiting.put(error)
        return
    waiting.put(b"")


def _looks(path: str) -> Iterator[None]:
    """Whenever it is worth looking at a file: at once, when it has changed, and after a while in any case."""
    yield
    if importlib.util.find_spec("watchfiles") is not None:
        yield from _changes(path)
    while True:
        time.sleep(POLL_SECONDS)
        yield


def _changes(path: str) -> Iterator[None]:
    """Ends where the folder of the file is not there, or can't be watched."""
    from watchfiles import watch  # noqa: PLC0415 - an extra, and only for files

    file = Path(path).absolute()
    wait = round(POLL_SECONDS * 1000)
    try:
        for _ in watch(
            file.parent,
            watch_filter=lambda _, changed: Path(changed).name == file.name,
            recursive=False,
            debounce=wait,
            step=50,
            rust_timeout=wait,
            yield_on_timeout=True,
        ):
            yield
    except OSError:
        return
