"""Opening a log: every kind of target, its name in messages, its errors, and bounded memory."""

from __future__ import annotations

import gzip
import io
import os
import sys
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import pytest

from strata_diag.errors import SourceError
from strata_diag.source import CHUNK_BYTES, container_kind, open_source

if TYPE_CHECKING:
    from strata_diag.source import Target

LOG = "初始化 CUDA\r\ncudaMalloc failed: out of memory\n".encode()


class OnlyRead:
    """A stream that can do nothing but `read`."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def read(self, size: int) -> bytes:
        return self._data.read(size)


class Failing:
    """A stream that hands over one chunk and then raises."""

    def __init__(self, error: BaseException) -> None:
        self.chunks = iter([b"a line\n"])
        self.error = error
        self.closed = False

    def read(self, size: int) -> bytes:
        for chunk in self.chunks:
            return chunk
        raise self.error

    def close(self) -> None:
        self.closed = True


class OtherPath:
    """A path that is no `pathlib.Path`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __fspath__(self) -> str:
        return str(self._path)


def as_path(data: bytes, folder: Path) -> Target:
    path = folder / "strata.log"
    path.write_bytes(data)
    return path


def as_other_path(data: bytes, folder: Path) -> Target:
    as_path(data, folder)
    return OtherPath(folder / "strata.log")


KINDS: dict[str, Callable[[bytes, Path], Target]] = {
    "bytes": lambda data, _: data,
    "text": lambda data, _: data.decode("utf-8"),
    "path": as_path,
    "path-like": as_other_path,
    "stream": lambda data, _: io.BytesIO(data),
    "stream without read1": lambda data, _: cast("BinaryIO", OnlyRead(data)),
}
kinds = pytest.mark.parametrize("target_of", KINDS.values(), ids=KINDS.keys())


@kinds
def test_every_kind_of_target_gives_its_bytes(target_of: Callable[[bytes, Path], Target], tmp_path: Path) -> None:
    """A path, text, bytes and a stream with the same log give the same bytes, line ends untouched."""
    assert b"".join(open_source(target_of(LOG, tmp_path)).chunks) == LOG


@kinds
@pytest.mark.parametrize("size", [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES + 7])
def test_no_chunk_is_larger_than_the_bound(
    target_of: Callable[[bytes, Path], Target], size: int, tmp_path: Path
) -> None:
    """Whatever the size, chunks stay within the bound, hold something, and together are the whole."""
    data = (b"twenty-three characters" * (size // 23 + 1))[:size]
    chunks = list(open_source(target_of(data, tmp_path)).chunks)
    assert b"".join(chunks) == data
    assert all(0 < len(chunk) <= CHUNK_BYTES for chunk in chunks)


def test_a_large_file_is_never_held_whole(tmp_path: Path) -> None:
    """A file of 64 MB is read with a few chunks of memory."""
    path = tmp_path / "large.log"
    with path.open("wb") as file:
        file.truncate(64_000_000)
    tracemalloc.start()
    try:
        total = sum(len(chunk) for chunk in open_source(path).chunks)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert total == 64_000_000
    assert peak < 8 * CHUNK_BYTES


def test_an_endless_stream_is_read_only_as_far_as_wanted() -> None:
    """Nothing is read ahead of the chunk that is asked for."""

    class Endless:
        calls = 0

        def read(self, size: int) -> bytes:
            self.calls += 1
            return b"x" * size

    stream = Endless()
    chunks = open_source(cast("BinaryIO", stream)).chunks
    assert len(next(chunks)) + len(next(chunks)) == 2 * CHUNK_BYTES
    assert stream.calls == 2


def test_a_pipe_hands_over_what_it_holds() -> None:
    """A short piece in a pipe arrives although the writer has not ended."""
    reading, writing = os.pipe()
    with open(reading, "rb") as stream, open(writing, "wb", buffering=0) as writer:
        chunks = open_source(stream).chunks
        writer.write(b"first")
        assert next(chunks) == b"first"
        writer.write(b"second")
        assert next(chunks) == b"second"


def test_a_text_is_never_taken_for_a_path(tmp_path: Path) -> None:
    """A `str` is the log itself, even where a file of that name exists."""
    path = tmp_path / "strata.log"
    path.write_bytes(b"the content")
    found = open_source(str(path))
    assert b"".join(found.chunks) == str(path).encode()


def test_a_text_with_a_lone_surrogate_can_be_read() -> None:
    """Half a character, as Python decodes odd file names, doesn't stop the reading."""
    assert b"".join(open_source("model \udce9.gguf missing\n").chunks).startswith(b"model ")


class Named(io.BytesIO):
    """A stream with a name."""

    def __init__(self, name: object) -> None:
        super().__init__(b"x")
        self.name = name


@pytest.mark.parametrize(
    ("target", "name"),
    [
        pytest.param(b"x", "<bytes>", id="bytes"),
        pytest.param("x", "<text>", id="text"),
        pytest.param(io.BytesIO(b"x"), "<stream>", id="stream without a name"),
        pytest.param(Named("<stdin>"), "<stdin>", id="standard input"),
        pytest.param(Named(7), "7", id="stream of a file descriptor"),
    ],
)
def test_the_name_says_where_the_log_came_from(target: Target, name: str) -> None:
    """Messages can name every log, whatever it was read from."""
    assert open_source(target).name == name


@pytest.mark.parametrize("target_of", [as_path, as_other_path])
def test_a_path_is_its_own_name(target_of: Callable[[bytes, Path], Target], tmp_path: Path) -> None:
    """A log that was read from a path bears the path as it was given."""
    found = open_source(target_of(LOG, tmp_path))
    assert found.name == str(tmp_path / "strata.log")
    assert list(found.chunks) == [LOG]


not_on_windows = pytest.mark.skipif(sys.platform == "win32", reason="Windows words and allows this otherwise")


def loop(folder: Path) -> Path:
    """A symbolic link to itself."""
    path = folder / "loop.log"
    path.symlink_to(path)
    return path


@pytest.mark.parametrize(
    ("path_of", "reason", "advice"),
    [
        pytest.param(lambda folder: folder / "none.log", "no such file", "path", id="missing"),
        pytest.param(lambda folder: folder, "folder", "log file itself", id="folder"),
        pytest.param(lambda folder: folder / "a\x00b.log", "null", "path", id="NUL in the name"),
        pytest.param(
            lambda folder: folder / ("long" * 2000), "too long", "path", id="name too long", marks=not_on_windows
        ),
        pytest.param(loop, "symbolic links", "path", id="link to itself", marks=not_on_windows),
    ],
)
def test_a_path_that_cannot_be_opened_says_why(
    path_of: Callable[[Path], Path], reason: str, advice: str, tmp_path: Path
) -> None:
    """The error names the path, the reason and what to do, in one line for a person."""
    path = path_of(tmp_path)
    with pytest.raises(SourceError) as caught:
        open_source(path)
    assert caught.value.name == str(path)
    assert reason in caught.value.reason
    assert advice in caught.value.advice
    assert str(caught.value) == f"{path}: {caught.value.reason}; {caught.value.advice}"


def test_a_forbidden_path_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that may not be read is an error of its own, with the advice to copy it."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = as_path(LOG, tmp_path)
    monkeypatch.setattr("strata_diag.source.open", refuse, raising=False)
    with pytest.raises(SourceError, match=r"permission denied.*copy it"):
        open_source(path)


def cut_gzip() -> BinaryIO:
    """A compressed stream that breaks off, as a caller may open it."""
    packed = gzip.compress(b"a line\n" * 9999)
    return cast("BinaryIO", gzip.GzipFile(fileobj=io.BytesIO(packed[: len(packed) // 2])))


def closed() -> BinaryIO:
    """A stream that its caller has closed."""
    stream = io.BytesIO(LOG)
    stream.close()
    return stream


@pytest.mark.parametrize(
    ("stream_of", "reason"),
    [
        pytest.param(lambda: Failing(OSError(5, "Input/output error")), "Input/output error", id="broken drive"),
        pytest.param(lambda: Failing(ValueError("I/O on closed file")), "closed", id="closed while reading"),
        pytest.param(closed, "closed", id="closed before"),
        pytest.param(cut_gzip, "end-of-stream", id="cut gzip"),
        pytest.param(lambda: Failing(zlib.error("invalid block type")), "invalid block type", id="broken gzip"),
        pytest.param(lambda: Failing(RuntimeError("the reader of a plugin")), "the reader of a plugin", id="plugin"),
        pytest.param(lambda: Failing(EOFError()), "EOFError", id="an error without a text"),
    ],
)
def test_an_error_while_reading_is_a_source_error(stream_of: Callable[[], BinaryIO], reason: str) -> None:
    """Whatever a stream raises, the caller meets the one documented error, with what the stream said."""
    with pytest.raises(SourceError) as caught:
        list(open_source(stream_of()).chunks)
    assert reason in caught.value.reason
    assert caught.value.advice


def test_an_interruption_is_not_swallowed() -> None:
    """Ctrl+C while reading stays an interruption."""
    with pytest.raises(KeyboardInterrupt):
        list(open_source(cast("BinaryIO", Failing(KeyboardInterrupt()))).chunks)


@pytest.mark.parametrize("text", ["a line\n", ""], ids=["with a line", "empty"])
def test_a_stream_in_text_mode_is_refused_with_advice(text: str) -> None:
    """A file that was opened without `b` can't show its bytes; the error says how to open it."""
    with pytest.raises(SourceError, match="binary mode"):
        list(open_source(cast("BinaryIO", io.StringIO(text))).chunks)


def test_a_file_is_closed_when_it_has_been_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stage that opens a file closes it, after its end and after an error."""
    opened: list[Failing] = []

    def give(*_: object, **__: object) -> Failing:
        opened.append(Failing(OSError(5, "Input/output error")))
        return opened[-1]

    path = as_path(LOG, tmp_path)
    monkeypatch.setattr("strata_diag.source.open", give, raising=False)
    chunks: Iterator[bytes] = open_source(path).chunks
    assert next(chunks) == b"a line\n"
    assert not opened[0].closed
    with pytest.raises(SourceError) as caught:
        next(chunks)
    assert caught.value.name == str(path)
    assert opened[0].closed


def test_the_stream_of_a_caller_stays_open() -> None:
    """Who opened a stream closes it: standard input must live on."""
    stream = io.BytesIO(LOG)
    assert list(open_source(stream).chunks) == [LOG]
    assert not stream.closed


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        pytest.param(gzip.compress(b"x"), "gzip archive", id="gzip"),
        pytest.param(b"PK\x03\x04\x14\x00", "zip archive", id="zip"),
        pytest.param(b"\xfd7zXZ\x00\x00", "xz archive", id="xz"),
        pytest.param(b"BZh91AY", "bzip2 archive", id="bzip2"),
        pytest.param(b"\x28\xb5\x2f\xfd\x04", "zstd archive", id="zstd"),
        pytest.param(b"7z\xbc\xaf\x27\x1c\x00", "7z archive", id="7z"),
        pytest.param(b"\x89PNG\r\n\x1a\n", "PNG picture", id="screenshot"),
        pytest.param(b"\xff\xd8\xff\xe0", "JPEG picture", id="photograph"),
        pytest.param(b"%PDF-1.7", "PDF document", id="PDF"),
        pytest.param(b"\x7fELF\x02", "Linux program", id="ELF"),
        pytest.param(b"MZ\x90\x00", "Windows program", id="EXE"),
        pytest.param(b"GGUF\x03\x00", "GGUF model file", id="model"),
        pytest.param(b"", "", id="empty"),
        pytest.param(b"PK", "", id="too short to tell"),
        pytest.param(b"strata serve: GGUF loaded", "", id="a log"),
        pytest.param("\ufeffstrata".encode("utf-16-le"), "", id="UTF-16"),
    ],
)
def test_what_is_no_log_is_recognised_by_its_first_bytes(head: bytes, kind: str) -> None:
    """An archive, a picture or a model that was handed over by mistake is named for what it is."""
    assert container_kind(head) == kind
