"""From paths to logs: files, folders and patterns, plain logs, encodings, readers of plugins."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from attachments import LOG, Pipe, read_bytes, read_path, zipped

from strata_diag import RuleSet, diagnose
from strata_diag.errors import SourceError
from strata_diag.hookspecs import hookimpl
from strata_diag.intake import Attachment, files_in, limits, logs_in, logs_in_stream
from strata_diag.model import Notice
from strata_diag.plugins import Plugins
from strata_diag.ruleset import NoExtensions

CORPUS = Path(__file__).parent.parent / "corpus"
NOT_PLAIN = {"history-row-no-device.log", "unknown-binary-junk.log"}


class Readers(NoExtensions):
    """The readers of a plugin."""

    def __init__(self, *readers: Any, source: BinaryIO | None = None) -> None:
        self._readers = [("stranger", reader) for reader in readers]
        self._source = source

    def readers(self) -> tuple[list[tuple[str, Any]], list[Notice]]:
        return self._readers, []

    def sources(self, path: str) -> tuple[Any, list[Notice]]:
        return self._source, []


@pytest.mark.parametrize("path", sorted(CORPUS.rglob("*.log")), ids=lambda path: path.name)
def test_every_log_of_the_corpus_passes_as_it_is(path: Path) -> None:
    """No log is taken for anything else, whatever its encoding, colours and quotes."""
    if path.name in NOT_PLAIN:
        return
    (found,) = read_path(path)
    assert (found.name, found.data, found.notices, found.skipped) == (path.name, path.read_bytes(), [], False)


def test_a_plain_log_costs_a_look_at_its_head(tmp_path: Path) -> None:
    """The file itself is handed on, from its first byte."""
    path = tmp_path / "x.log"
    path.write_bytes(LOG * 10_000)
    for found in logs_in(path):
        assert isinstance(found.stream, io.FileIO)
        assert found.stream.tell() == 0
        assert found.stream.read() == LOG * 10_000


def test_a_log_from_a_pipe_passes_whole() -> None:
    """Its head is given back."""
    (found,) = read_bytes(LOG * 10_000, "<stdin>")
    assert (found.name, found.data) == ("<stdin>", LOG * 10_000)


def test_an_empty_file_is_an_empty_log(tmp_path: Path) -> None:
    """Diagnosis says what that means."""
    path = tmp_path / "x.log"
    path.touch()
    (found,) = read_path(path)
    assert (found.data, found.skipped) == (b"", False)


@pytest.mark.parametrize("name", ["missing.log", ".", "nul\0name"])
def test_a_path_that_cannot_be_read_raises(name: str, tmp_path: Path) -> None:
    """Missing, a folder, impossible: one error with the path in it."""
    with pytest.raises(SourceError) as caught:
        list(logs_in(tmp_path / name))
    assert str(tmp_path) in str(caught.value)


def test_a_stream_that_breaks_at_once_raises() -> None:
    """Nothing of it could be read."""

    class Broken(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, _: object) -> int:
            raise OSError(5, "Input/output error")

    with pytest.raises(SourceError, match="Input/output error"):
        list(logs_in_stream("<stdin>", io.BufferedReader(Broken())))


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lambda data: zipped({"a.log": data})])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "gb18030"])
def test_every_encoding_comes_through(encoding: str, pack: Any, rules: RuleSet) -> None:
    """What PowerShell and Chinese Windows write, packed or not, byte for byte."""
    text = f"路径 D:\\模型\\引擎 启动\r\n{LOG.decode()}显卡没有找到\r\n" * 3
    data = text.encode(encoding)
    (found,) = read_bytes(pack(data))
    assert found.data == data
    assert diagnose(found.data, rules=rules).verdict.cause == "no-device"


@pytest.mark.parametrize(
    ("encoding", "first"),
    [
        ("utf-16", 1),
        ("utf-16", 3),
        *((name, count) for name in ("utf-16", "utf-16-le", "utf-16-be") for count in (400, 9000)),
    ],
)
@pytest.mark.parametrize("second", [1, 40])
def test_utf8_behind_utf16_is_read(encoding: str, first: int, second: int) -> None:
    """One program wrote through PowerShell, the next one appended to its file."""
    wide = "路径 strata generate: 1457 MiB of weights loaded 上上\r\n" * first
    narrow = f"路径 {LOG.decode()}" * second
    (found,) = read_bytes(wide.encode(encoding) + narrow.encode())
    assert found.data.decode(encoding).replace("\ufeff", "") == wide + narrow
    assert found.kinds == ["encoding"]


def test_wide_chinese_is_not_taken_for_something_else() -> None:
    """Long lines without an ASCII character hold no NUL either."""
    data = ("上海显卡驱动程序启动失败请检查设备" * 400 + "\r\n[strata] 引擎 started\r\n").encode("utf-16")
    (found,) = read_bytes(data)
    assert (found.data, found.notices) == (data, [])


def test_a_folder_stands_for_all_files_in_it(tmp_path: Path) -> None:
    """In the order of their names, deeper ones after their neighbours, hidden ones too."""
    for name in ("b.log", "a.txt", "z/1.json", "z/.runs/2.json", "c"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(LOG)
    found = [one.path.relative_to(tmp_path).as_posix() for one in files_in([tmp_path])]
    assert found == ["a.txt", "b.log", "c", "z/1.json", "z/.runs/2.json"]


def test_patterns_find_files_and_folders(tmp_path: Path) -> None:
    """For shells that hand them on."""
    (tmp_path / "sub").mkdir()
    for name in ("a1.log", "a2.log", "sub/b.log", "x[1].log"):
        (tmp_path / name).write_bytes(LOG)
    assert [one.path.name for one in files_in([f"{tmp_path}/a*.log"])] == ["a1.log", "a2.log"]
    assert [one.path.name for one in files_in([f"{tmp_path}/**/b.log"])] == ["b.log"]
    assert [one.path.name for one in files_in([f"{tmp_path}/s*"])] == ["b.log"]
    assert [one.path.name for one in files_in([f"{tmp_path}/x[1].log"])] == ["x[1].log"]


def test_a_path_that_leads_nowhere_comes_with_its_error(tmp_path: Path) -> None:
    """The others are found all the same."""
    (tmp_path / "a.log").write_bytes(LOG)
    found = list(files_in([tmp_path / "missing", f"{tmp_path}/*.zip", tmp_path / "a.log", "a\0b"]))
    assert [one.path.name for one in found] == ["missing", "*.zip", "a.log", "a\0b"]
    assert [one.error is None for one in found] == [False, False, True, False]
    assert "nothing fits this pattern" in str(found[1].error)


def test_a_file_that_is_named_twice_comes_once(tmp_path: Path) -> None:
    """By its name, its folder or a pattern."""
    path = tmp_path / "a.log"
    path.write_bytes(LOG)
    assert len(list(files_in([path, tmp_path, str(path), f"{tmp_path}/*"]))) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes need rights there")
def test_links_in_circles_and_special_files_end(tmp_path: Path) -> None:
    """A folder is entered once, a pipe in a folder is not waited for, a broken link is an error."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.log").write_bytes(LOG)
    (tmp_path / "sub" / "up").symlink_to(tmp_path)
    (tmp_path / "sub" / "self").symlink_to(tmp_path / "sub")
    (tmp_path / "gone.log").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    found = list(files_in([tmp_path]))
    assert [(one.path.name, one.error is None) for one in found] == [
        ("gone.log", False),
        ("pipe", False),
        ("a.log", True),
    ]


def test_a_reader_of_a_plugin_comes_first_and_is_looked_into() -> None:
    """It claims a file by its head; what it finds is read like anything else."""

    def reader(name: str, head: bytes, stream: BinaryIO) -> Iterable[Attachment] | None:
        if not head.startswith(b"LOCK"):
            return None
        stream.read(4)
        return [
            Attachment(
                f"{name}!inside", io.BytesIO(stream.read()), [Notice("binary", "unlocked")], facts={"exit_code": 6}
            )
        ]

    found = list(logs_in_stream("a", Pipe(b"LOCK" + gzip.compress(LOG)), Readers(reader)))
    assert [(one.name, one.stream.read(), one.facts["exit_code"]) for one in found] == [("a!inside", LOG, 6)]
    assert found[0].notices[0].text == "unlocked"
    assert [one.stream.read() for one in logs_in_stream("a", Pipe(LOG), Readers(reader))] == [LOG]


def test_a_plain_attachment_of_a_reader_is_not_looked_into() -> None:
    """A plugin may know that it is a log."""
    packed = gzip.compress(LOG)

    def reader(name: str, head: bytes, stream: BinaryIO) -> Iterable[Attachment]:
        return [Attachment(name, io.BytesIO(b"## " + packed), plain=True)]

    (found,) = logs_in_stream("a", Pipe(LOG), Readers(reader))
    assert found.stream.read() == b"## " + packed


def test_a_reader_that_raises_is_a_notice() -> None:
    """At once, and while it reads; the rest goes on."""

    def raising(name: str, head: bytes, stream: BinaryIO) -> Iterable[Attachment]:
        raise RuntimeError("boom")

    def later(name: str, head: bytes, stream: BinaryIO) -> Iterable[Attachment]:
        yield Attachment(f"{name}!1", io.BytesIO(LOG), plain=True)
        raise RuntimeError("boom")

    (found,) = logs_in_stream("a", Pipe(LOG), Readers(raising))
    assert found.stream.read() == LOG
    assert [notice.text for notice in found.notices] == ["the plugin stranger raised in its reader: boom"]
    first, second = logs_in_stream("a", Pipe(LOG), Readers(later))
    assert (first.name, second.name, second.skipped) == ("a!1", "a", True)
    assert second.notices[-1].kind == "plugin"


def test_a_reader_that_finds_itself_for_ever_is_bounded() -> None:
    """Depth counts for plugins too."""

    def endless(name: str, head: bytes, stream: BinaryIO) -> Iterable[Attachment]:
        return [Attachment(name + "!", io.BytesIO(LOG))]

    (found,) = logs_in_stream("a", Pipe(LOG), Readers(endless))
    assert found.skipped
    assert found.name.count("!") == limits.DEEPEST


def test_the_stream_of_a_source_hook_is_honoured(tmp_path: Path) -> None:
    """The older hook hands over a stream, which may be packed."""
    path = tmp_path / "x.bin"
    path.write_bytes(b"anything")
    (found,) = read_path(path, Readers(source=io.BytesIO(gzip.compress(LOG))))
    assert (found.name, found.data) == ("x.bin", LOG)


def test_readers_come_in_through_the_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    """`strata_diag_readers` of a plugin is asked for readers; one that raises is a notice."""

    class Good:
        @hookimpl
        def strata_diag_readers(self) -> list[Any]:
            return [len]

    class Bad:
        @hookimpl
        def strata_diag_readers(self) -> list[Any]:
            raise RuntimeError("boom")

    plugins = Plugins(discover=False)
    plugins._register("good", Good, "1")
    plugins._register("bad", Bad, "1")
    readers, notices = plugins.readers()
    assert readers == [("good", len)]
    assert [notice.text for notice in notices] == ["the plugin bad raised in strata_diag_readers: RuntimeError: boom"]


def test_noise_never_raises() -> None:
    """NULs, colours, control bytes, magic numbers without anything behind them."""
    for start in (
        b"\x1f\x8b\x08",
        b"PK\x03\x04",
        b"\xfd7zXZ\x00",
        b"BZh91AY&SY",
        b"\x28\xb5\x2f\xfd",
        b"7z\xbc\xaf\x27\x1c",
        b"GGUF",
        b"",
    ):
        for rest in (b"", b"\0" * 1000, b"\x1b[31m" * 200, bytes(range(256)) * 40, os.urandom(3000)):
            assert read_bytes(start + rest)
    assert read_bytes(b" " * 257 + b"ustar" + b"\xff" * 2000)
