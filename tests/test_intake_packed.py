"""Logs packed as one stream: every format, cut and damaged ones, bombs, and bounded memory."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from attachments import LOG, read_bytes, read_path
from backports import zstd

from strata_diag.intake import limits, logs_in

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstd.compress,
}
LINES = b"".join(b"strata serve: prompt %d tokens = 0 reused, %d generated\n" % (n, n * n % 977) for n in range(4000))


@pytest.mark.parametrize("packer", PACKERS)
def test_a_packed_log_is_read_whatever_its_name(packer: str, tmp_path: Path) -> None:
    """The content tells the format; the log keeps the name of its file."""
    path = tmp_path / "strata.txt"
    path.write_bytes(PACKERS[packer](LINES))
    (found,) = read_path(path)
    assert (found.name, found.data, found.notices) == ("strata.txt", LINES, [])


@pytest.mark.parametrize("packer", PACKERS)
def test_several_streams_after_each_other_are_one_log(packer: str) -> None:
    """Packed files may be joined, and padded with NULs."""
    pack = PACKERS[packer]
    (found,) = read_bytes(pack(LOG) + pack(LINES) + b"\0" * 512)
    assert found.data == LOG + LINES
    assert found.notices == []


@pytest.mark.parametrize("packer", PACKERS)
def test_what_follows_a_packed_log_is_named(packer: str) -> None:
    """Rubbish behind the end is left out and said."""
    (found,) = read_bytes(PACKERS[packer](LOG) + b"<html>rubbish behind the download</html>")
    assert found.data == LOG
    assert found.kinds == ["damaged"]


@pytest.mark.parametrize("packer", PACKERS)
def test_a_packed_log_inside_another_is_unpacked_too(packer: str) -> None:
    """Twice packed is read as well."""
    (found,) = read_bytes(PACKERS[packer](gzip.compress(LOG)))
    assert found.data == LOG


@pytest.mark.parametrize("share", range(2, 20))
def test_a_cut_gzip_gives_what_can_be_saved(share: int) -> None:
    """At whatever place it is cut: a beginning of the log, and a notice that says where it broke."""
    packed = gzip.compress(LINES)
    cut = len(packed) * share // 20
    (found,) = read_bytes(packed[:cut])
    assert LINES.startswith(found.data)
    assert len(found.data) > len(LINES) * (share - 1.5) // 20
    assert found.kinds == ["damaged"]
    assert f"cut at byte {cut}" in found.words


def test_a_gzip_cut_anywhere_in_its_header_or_trailer_is_said() -> None:
    """A header alone is nothing, a cut trailer costs no line."""
    packed = gzip.compress(LOG)
    for cut in range(3, 11):
        (found,) = read_bytes(packed[:cut])
        assert (found.data, found.kinds) == (b"", ["damaged"])
    for cut in range(len(packed) - 8, len(packed)):
        (found,) = read_bytes(packed[:cut])
        assert (found.data, found.kinds) == (LOG, ["damaged"])


def test_a_gzip_with_a_wrong_checksum_loses_no_line() -> None:
    """The sum at the end is wrong: all lines come, with a notice."""
    packed = bytearray(gzip.compress(LOG))
    packed[-6] ^= 0xFF
    (found,) = read_bytes(bytes(packed))
    assert found.data == LOG
    assert "incorrect data check" in found.words


@pytest.mark.parametrize("packer", PACKERS)
def test_damage_in_the_middle_is_a_notice(packer: str) -> None:
    """A packed log with overwritten bytes never raises."""
    packed = bytearray(PACKERS[packer](LINES))
    middle = len(packed) // 2
    packed[middle : middle + 40] = bytes(40)
    (found,) = read_bytes(bytes(packed))
    assert found.kinds == ["damaged"]
    assert found.data[:100] in (b"", LINES[:100])


@pytest.mark.parametrize("packer", PACKERS)
def test_a_bomb_is_stopped(packer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Far more bytes than a log packs into so few are not read to the end, and a notice says so."""
    monkeypatch.setattr(limits, "RATIO_FROM", 2 * 1024 * 1024)
    packed = PACKERS[packer](bytes(24 * 1024 * 1024))
    (found,) = read_bytes(packed)
    assert found.kinds == ["limit"]
    assert 2 * 1024 * 1024 < len(found.data) < 24 * 1024 * 1024


def test_all_that_comes_out_of_a_file_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum over all layers has a limit of its own."""
    monkeypatch.setattr(limits, "MOST_BYTES", 300_000)
    (found,) = read_bytes(gzip.compress(LINES * 10))
    assert len(found.data) <= 300_000
    assert found.kinds == ["limit"]


def test_a_large_packed_log_streams(tmp_path: Path) -> None:
    """Memory does not grow with the log."""
    path = tmp_path / "large.log.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(200):
            file.write(LINES)
    size = 0
    tracemalloc.start()
    try:
        for found in logs_in(path):
            while chunk := found.stream.read(256 * 1024):
                size += len(chunk)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size == 200 * len(LINES)
    assert peak < 8 * 1024 * 1024


def test_without_its_package_zstd_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exact line is in the notice, and nothing is taken for a log."""
    for name in ("backports.zstd", "compression.zstd", "compression"):
        monkeypatch.setitem(sys.modules, name, None)
    import backports

    monkeypatch.delattr(backports, "zstd", raising=False)
    (found,) = read_bytes(zstd.compress(LOG))
    assert found.skipped
    assert "pip install strata-diag[zstd]" in found.words


def test_a_log_that_begins_like_bzip2_is_a_log() -> None:
    """Three letters make no archive."""
    log = b"BZhang started the engine\n" + LOG
    (found,) = read_bytes(log)
    assert found.data == log


def test_an_xz_that_asks_for_too_much_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its dictionary has a limit."""
    monkeypatch.setattr(limits, "XZ_MEMORY", 1024 * 1024)
    (found,) = read_bytes(lzma.compress(LINES, preset=9))
    assert (found.data, found.kinds) == (b"", ["damaged"])
