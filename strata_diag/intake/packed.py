"""Logs packed as one stream: gzip, xz, bzip2 and zstd.

Streams in bounded memory, whatever comes out of them. Of one that is cut or damaged, all that can be unpacked is used.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple, Protocol

from strata_diag.intake import limits
from strata_diag.intake.records import Attachment, Notes, skipped
from strata_diag.intake.streams import mib, stream_of

INSTALL_ZSTD = "pip install strata-diag[zstd]"
_BZIP2_BLOCKS = (b"1AY&SY", b"\x17rE8P\x90")  # what follows `BZh9`: a block, or the end of an empty file
LONGEST_MARK = 10  # bytes that tell a format
_ZSTD_SKIPPABLE = range(0x50, 0x60)  # first byte of a frame that zstd's own tools put in front


class _Decompressor(Protocol):
    """What the decompressors of the standard library have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = ...) -> bytes: ...


class _Format(NamedTuple):
    """A format. starts: whether a stream that begins so is one; make: a new decompressor."""

    name: str
    starts: Callable[[bytes], bool]
    make: Callable[[], Any]


class _BrokenError(Exception):
    """A packed stream is damaged; `saved` was unpacked before the damage."""

    def __init__(self, what: str, saved: bytes) -> None:
        super().__init__(what)
        self.saved = saved


class _Gunzip:
    """zlib's decompressor, which on damage hands over everything that stands in front of it."""

    needs_input = True

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(zlib.MAX_WBITS | 16)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, _max_length: int = -1) -> bytes:
        before = self._inner.copy()
        try:
            return self._inner.decompress(data)  # PACKED_CHUNK bounds what comes out
        except zlib.error as error:
            raise _BrokenError(str(error), _saved(before, data)) from None


def _saved(decompressor: Any, data: bytes) -> bytes:
    """What comes out before the byte that breaks it."""
    parts = []
    for place in range(len(data)):
        try:
            parts.append(decompressor.decompress(data[place : place + 1]))
        except zlib.error:
            break
    return b"".join(parts)


def _bunzip2() -> Any:
    import bz2  # noqa: PLC0415 - only for a log packed so

    return bz2.BZ2Decompressor()


def _unxz() -> Any:
    import lzma  # noqa: PLC0415 - only for a log packed so

    return lzma.LZMADecompressor(memlimit=limits.XZ_MEMORY)


def _unzstd() -> Any:
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore] # noqa: PLC0415 - from Python 3.14 on
    except ImportError:
        from backports import zstd  # noqa: PLC0415 - an extra

    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: limits.ZSTD_WINDOW_LOG})


FORMATS = (
    _Format("gzip", lambda head: head.startswith(b"\x1f\x8b\x08"), _Gunzip),
    _Format("xz", lambda head: head.startswith(b"\xfd7zXZ\x00"), _unxz),
    _Format("bzip2", lambda head: head.startswith(b"BZh") and head[4:10] in _BZIP2_BLOCKS, _bunzip2),
    _Format(
        "zstd",
        lambda head: (
            head.startswith(b"\x28\xb5\x2f\xfd") or (head[1:4] == b"\x2a\x4d\x18" and head[0] in _ZSTD_SKIPPABLE)
        ),
        _unzstd,
    ),
)


def read_packed(name: str, head: bytes, stream: BinaryIO) -> Iterable[Attachment] | None:
    """The log inside a stream of one of the formats, under the name of its file."""
    form = next((form for form in FORMATS if form.starts(head)), None)
    if form is None:
        return None
    notes = Notes()
    try:
        form.make()
    except ImportError:
        advice = f"install what reads it with `{INSTALL_ZSTD}`, or unpack it with `zstd -d`"
        notes.add("compressed", f"this is packed with zstd; {advice}")
        return [skipped(name, notes, head)]
    return [Attachment(name, stream_of(_unpacked(form, stream, notes)), notes)]


def _unpacked(form: _Format, stream: BinaryIO, notes: Notes) -> Iterator[bytes]:
    """The unpacked bytes; a packed file may hold several streams one after the other."""
    consumed = produced = 0
    data = b""
    decompressor: _Decompressor = form.make()
    inside = False  # a stream has begun and not ended
    while True:
        if not data and decompressor.needs_input:
            data = stream.read(limits.PACKED_CHUNK)
            consumed += len(data)
            if not data:
                break
        try:
            made = decompressor.decompress(data, limits.CHUNK_BYTES)
        except Exception as error:  # noqa: BLE001 - each library has its own: OSError, LZMAError, ZstdError, MemoryError
            saved = getattr(error, "saved", b"")
            yield saved
            notes.add("damaged", _broken(form, f"is damaged ({error})", consumed, produced + len(saved)))
            return
        data, inside = b"", True
        produced += len(made)
        yield made
        if limits.is_too_dense(produced, consumed):
            notes.add(
                "limit", _broken(form, f"holds more than {limits.LARGEST_RATIO} bytes a byte", consumed, produced)
            )
            return
        if decompressor.eof:
            inside = False
            data = _next_start(decompressor.unused_data, stream)
            if not data:
                return
            if not form.starts(data):
                notes.add(
                    "damaged", f"something that is no {form.name} follows the end of the packed log; it was left out"
                )
                return
            decompressor = form.make()
    if inside:
        notes.add("damaged", _broken(form, "is cut", consumed, produced))


def _next_start(rest: bytes, stream: BinaryIO) -> bytes:
    """What follows the end of a packed stream, without the NULs that tapes and downloads pad with; empty at the end."""
    while len(rest := rest.lstrip(b"\0")) < LONGEST_MARK:
        more = stream.read(limits.PACKED_CHUNK)
        if not more:
            break
        rest += more
    return rest


def _broken(form: _Format, what: str, consumed: int, produced: int) -> str:
    used = f"the {mib(produced)} that could be unpacked were used" if produced else "nothing of it could be unpacked"
    return f"the {form.name} {what} at byte {consumed} or shortly before; {used}"
