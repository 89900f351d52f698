"""Logs in zip and tar archives.

Members are streamed out of the archive one after the other. Nothing is ever written under a name from an archive: a name is
data, shown and nothing else. Links, devices and encrypted members are left out and named.
"""

from __future__ import annotations

import stat
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast

from strata_diag.intake import limits
from strata_diag.intake.records import Attachment, Notes, skipped
from strata_diag.intake.streams import chunks_of, in_place, stream_of

if TYPE_CHECKING:
    import tarfile
    import zipfile

_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_TAR_MAGIC = slice(257, 262)
_ENCRYPTED = 0x1
_BROKEN = "the archive is damaged or cut ({}); what stands behind the damage could not be read; send it again"


class _TooLargeError(Exception):
    """An archive asks for more memory than any real one needs."""


class _BoundedReads:
    """A file that refuses to hand over megabytes at once, as a zip's forged list of files would ask for."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        if size > limits.LARGEST_DIRECTORY:
            raise _TooLargeError(f"its list of files is larger than {limits.LARGEST_DIRECTORY // 1024**2} MiB")
        return self._file.read(size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


class _BoundedHeaders:
    """A stream that counts what is read of it while `left` is set: the headers of one member of a tar."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.left: int | None = None

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        if self.left is not None:
            self.left -= len(data)
            if self.left < 0:
                raise _TooLargeError(f"the headers of a member are larger than {limits.LARGEST_TAR_HEADER // 1024} KiB")
        return data


class _Names:
    """Names for the members of an archive; one that stands in it twice gets a number."""

    def __init__(self, archive: str) -> None:
        self._archive = archive
        self._seen: Counter[str] = Counter()

    def of(self, member: str) -> str:
        self._seen[member] += 1
        count = self._seen[member]
        return f"{self._archive}!{member}" if count == 1 else f"{self._archive}!{member} ({count})"


def read_zip(name: str, head: bytes, stream: BinaryIO) -> Iterable[Attachment] | None:
    """The files in a zip archive."""
    return _zip_members(name, stream) if head.startswith(_ZIP) else None


def _zip_members(name: str, stream: BinaryIO) -> Iterator[Attachment]:
    import zipfile  # noqa: PLC0415 - 10 ms that only a zip pays

    left_out = Notes()
    with ExitStack() as stack:
        file = in_place(stream, left_out)
        if file is not None and file is not stream:
            stack.enter_context(file)
        try:
            archive = zipfile.ZipFile(cast("IO[bytes]", _BoundedReads(file))) if file else None
        except Exception as error:  # noqa: BLE001 - hostile archives raise nearly anything
            archive = None
            left_out.add(
                "damaged", f"the zip is damaged or cut ({error}): its list of files can't be read; send it again"
            )
        if archive is not None:
            yield from _zip_files(name, stack.enter_context(archive), left_out)
    if left_out:
        yield skipped(name, left_out)


def _zip_files(name: str, archive: zipfile.ZipFile, left_out: Notes) -> Iterator[Attachment]:
    names = _Names(name)
    for number, member in enumerate(archive.infolist()):
        if number == limits.MOST_MEMBERS:
            left_out.add("limit", f"the zip holds more than {number} entries; the rest was not read")
            return
        if member.is_dir() or _is_left_out(member, left_out):
            continue
        notes = Notes()
        yield Attachment(names.of(member.filename), stream_of(_zip_member(archive, member, notes)), notes)


def _is_left_out(member: zipfile.ZipInfo, left_out: Notes) -> bool:
    if member.flag_bits & _ENCRYPTED:
        text = f"{member.filename} is encrypted and could not be read; pack it without a password"
        left_out.add_one_of_many("left-out", text, "files are encrypted")
        return True
    if stat.S_ISLNK(member.external_attr >> 16):
        left_out.add_one_of_many("left-out", f"{member.filename} is a link, not a file", "entries are links")
        return True
    return False


def _zip_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, notes: Notes) -> Iterator[bytes]:
    expected = member.CRC
    del member.CRC  # zipfile would raise it away with the end of the log; a wrong sum is told here, after the last byte
    produced = found = 0
    with archive.open(member) as opened:
        for chunk in chunks_of(cast("BinaryIO", opened)):
            yield chunk
            produced += len(chunk)
            found = zlib.crc32(chunk, found)
            if limits.is_too_dense(produced, member.compress_size):
                ratio = f"it holds more than {limits.LARGEST_RATIO} bytes a byte"
                notes.add("limit", f"{ratio}; only its first {produced} bytes were read")
                return
    if found != expected:
        notes.add("damaged", "its checksum is wrong: bytes of it are damaged, so a line may not be what was written")


def read_tar(name: str, head: bytes, stream: BinaryIO) -> Iterable[Attachment] | None:
    """The files in a tar archive, streamed."""
    return _tar_members(name, stream) if head[_TAR_MAGIC] == b"ustar" else None


def _tar_members(name: str, stream: BinaryIO) -> Iterator[Attachment]:
    import tarfile  # noqa: PLC0415 - 15 ms that only a tar pays

    left_out = Notes()
    names = _Names(name)
    bounded = _BoundedHeaders(stream)
    count = 0
    try:
        with tarfile.open(fileobj=cast("BinaryIO", bounded), mode="r|", encoding="utf-8", errors="replace") as archive:
            while (member := _next_member(archive, bounded)) is not None:
                count += 1
                if count > limits.MOST_MEMBERS:
                    left_out.add("limit", f"the tar holds more than {count - 1} entries; the rest was not read")
                    break
                if not member.isfile():
                    if not member.isdir():
                        text = f"{member.name} is a link or a device, not a file"
                        left_out.add_one_of_many("left-out", text, "entries are links or devices")
                    continue
                opened = cast("BinaryIO", archive.extractfile(member))
                yield Attachment(names.of(member.name), opened)
                for _ in chunks_of(opened):  # to its end, so that what is read next are headers
                    pass
    except Exception as error:  # noqa: BLE001 - hostile archives raise nearly anything
        left_out.add("damaged", _BROKEN.format(error))
    if left_out:
        yield skipped(name, left_out)


def _next_member(archive: tarfile.TarFile, bounded: _BoundedHeaders) -> tarfile.TarInfo | None:
    bounded.left = limits.LARGEST_TAR_HEADER
    try:
        return archive.next()
    finally:
        bounded.left = None
