"""Writing a file that others read and write too, so that a crash at any moment leaves the old or the new content whole.

All changes go through `write`, `sync` and `replace`, and these through `os`, so that a test can end the process at each.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator

from strata_diag.tuner.records import HistoryError

LOCK_SECONDS = 10.0  # how long a writer waits for another one
BLOCK_BYTES = 256 * 1024
_BINARY = getattr(os, "O_BINARY", 0)


@contextlib.contextmanager
def locked(path: str, seconds: float = LOCK_SECONDS) -> Iterator[None]:
    """Hold the lock of a file (`<path>.lock` beside it). Raises HistoryError if another process keeps it."""
    from filelock import FileLock, Timeout  # noqa: PLC0415 - only whoever writes pays for it

    lock = FileLock(f"{os.path.realpath(path)}.lock", timeout=seconds)
    with explained(path, "write beside it"):
        try:
            lock.acquire()
        except Timeout:
            advice = "close the other tuner, or try again when it has finished"
            raise HistoryError(f"{path}: another program has been writing for {seconds:g} s; {advice}") from None
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def explained(path: str, doing: str) -> Iterator[None]:
    """Turn what the system refuses into an error for a person."""
    try:
        yield
    except FileNotFoundError:
        raise HistoryError(f"{path}: there is no such file; check the path") from None
    except OSError as error:
        advice = "check the rights and the space on the drive; what was in it before is still there"
        raise HistoryError(f"{path}: can't {doing} ({error.strerror or error}); {advice}") from None


def write(number: int, data: bytes) -> None:
    """Write all of `data` to an open file."""
    view = memoryview(data)
    while view:
        view = view[os.write(number, view) :]


def sync(number: int) -> None:
    """Have an open file's content reach the drive."""
    os.fsync(number)


def replace(new: str, old: str) -> None:
    """Put the file `new` in the place of `old`, in one step, and have that reach the drive too."""
    os.replace(new, old)
    if os.name == "nt":
        return
    folder = os.open(os.path.dirname(old) or ".", os.O_RDONLY)
    try:
        sync(folder)
    finally:
        os.close(folder)


def append(path: str, text: bytes) -> None:
    """Add a line to a file in one write; begins a new one where the last was left unfinished. The lock must be held."""
    number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _BINARY, 0o666)
    try:
        start, end = _seam(number)
        write(number, start + text + end)
        sync(number)
    finally:
        os.close(number)


def _seam(number: int) -> tuple[bytes, bytes]:
    """What must stand before and after a new line: the end of an unfinished one, and this file's own line end."""
    size = os.lseek(number, 0, os.SEEK_END)
    if not size:
        return b"", b"\n"
    os.lseek(number, 0, os.SEEK_SET)
    head = os.read(number, BLOCK_BYTES)
    feed = head.find(b"\n")
    end = b"\r\n" if feed > 0 and head[feed - 1] == ord("\r") else b"\n"
    os.lseek(number, max(size - 1, 0), os.SEEK_SET)
    last = os.read(number, 1)
    if last == b"\n":
        return b"", end
    return (b"\n" if last == b"\r" else end), end


def write_new(path: str, blocks: Iterable[bytes], mode: int) -> None:
    """Write a new file with these blocks and rights, and have it reach the drive."""
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
    try:
        waiting = bytearray()
        for block in blocks:
            waiting += block
            if len(waiting) >= BLOCK_BYTES:
                write(number, bytes(waiting))
                waiting.clear()
        write(number, bytes(waiting))
        sync(number)
    finally:
        os.close(number)
    os.chmod(path, stat.S_IMODE(mode))


def copied(path: str) -> Iterator[bytes]:
    """The content of a file in blocks."""
    with open(path, "rb") as file:
        while block := file.read(BLOCK_BYTES):
            yield block


def leftovers(path: str) -> list[str]:
    """Temporary files that a killed process left beside a file."""
    folder, name = os.path.split(path)
    folder = folder or "."
    return [
        os.path.join(folder, one) for one in os.listdir(folder) if one.startswith(f".{name}.") and one.endswith(".tmp")
    ]
