"""Logs in zip and tar archives: hostile names, bombs, damage, nesting, and nothing written to disk."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest
from attachments import LOG, Pipe, read_bytes, read_path, zipped

from strata_diag.intake import limits, logs_in_stream

OTHER = b"strata generate: no VRAM is left for the expert cache: it needs at least 274 slots\n"


def tarred(members: list[tarfile.TarInfo | tuple[str, bytes]], form: int = tarfile.PAX_FORMAT) -> bytes:
    """A tar archive with these members."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
                continue
            info = tarfile.TarInfo(member[0])
            info.size = len(member[1])
            archive.addfile(info, io.BytesIO(member[1]))
    return buffer.getvalue()


def test_every_file_of_a_zip_is_read_under_its_name(tmp_path: Path) -> None:
    """Folders are no files, and the archive's name needs no ending."""
    path = tmp_path / "bundle"
    path.write_bytes(zipped([("engine/", b""), ("engine/strata.log", LOG), ("b.txt", OTHER)]))
    found = read_path(path)
    assert [(one.name, one.data) for one in found] == [("bundle!engine/strata.log", LOG), ("bundle!b.txt", OTHER)]
    assert not any(one.notices for one in found)


def test_a_zip_from_a_pipe_is_read() -> None:
    """A zip can't be read in one go, so it is kept aside without a name."""
    (found,) = read_bytes(zipped({"a.log": LOG}))
    assert (found.name, found.data) == ("-!a.log", LOG)


def test_a_zip_from_a_pipe_may_not_be_endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept aside is bounded."""
    monkeypatch.setattr(limits, "LARGEST_SPOOL", 100)
    (found,) = read_bytes(zipped({"a.log": LOG}))
    assert found.skipped
    assert found.kinds == ["limit"]


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
def test_every_file_of_a_tar_is_read(form: int) -> None:
    """All forms of tar, plain and packed, in one go."""
    data = tarred([("engine/strata.log", LOG), ("b.txt", OTHER), ("empty.log", b"")], form)
    for packed in (data, gzip.compress(data)):
        found = read_bytes(packed, "logs.tar")
        assert [(one.name, one.data) for one in found] == [
            ("logs.tar!engine/strata.log", LOG),
            ("logs.tar!b.txt", OTHER),
            ("logs.tar!empty.log", b""),
        ]


def test_archives_lie_in_each_other() -> None:
    """Names tell the way in."""
    inner = tarred([("strata.log", LOG)])
    found = read_bytes(zipped({"first.tar.gz": gzip.compress(inner), "second.log.gz": gzip.compress(OTHER)}), "all.zip")
    assert [(one.name, one.data) for one in found] == [
        ("all.zip!first.tar.gz!strata.log", LOG),
        ("all.zip!second.log.gz", OTHER),
    ]


def test_twenty_archives_in_each_other_are_not_opened() -> None:
    """Depth is bounded, and said."""
    data = LOG
    for _ in range(20):
        data = zipped({"inner.zip": data})
    (found,) = read_bytes(data)
    assert found.skipped
    assert found.kinds == ["limit"]
    assert found.name.count("!") == limits.DEEPEST


def test_names_lead_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths that point out of the archive are only shown: no file appears anywhere."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    names = ["../../evil.log", "/etc/cron.d/evil", "C:\\Windows\\evil.log", "..\\..\\evil.log", "a\x1b[2J\n.log", "CON"]
    for data in (zipped([(name, LOG) for name in names]), tarred([(name, LOG) for name in names])):
        found = read_bytes(data)
        assert [one.data for one in found] == [LOG] * len(names)
        assert found[0].name.endswith("!../../evil.log")
    assert [path for path in tmp_path.rglob("*") if path != folder] == []


def test_members_with_the_same_name_are_all_read() -> None:
    """The second gets a number."""
    with pytest.warns(UserWarning, match="Duplicate name"):
        archive = zipped([("a.log", LOG), ("a.log", OTHER)])
    for data in (archive, tarred([("a.log", LOG), ("a.log", OTHER)])):
        found = read_bytes(data)
        assert [(one.name, one.data) for one in found] == [("-!a.log", LOG), ("-!a.log (2)", OTHER)]


def test_links_and_devices_are_named_and_not_followed() -> None:
    """A link in an archive could point at any file of this machine."""
    links = []
    for name, kind in (("s", tarfile.SYMTYPE), ("h", tarfile.LNKTYPE), ("d", tarfile.CHRTYPE), ("f", tarfile.FIFOTYPE)):
        info = tarfile.TarInfo(name)
        info.type = kind
        info.linkname = "/etc/passwd"
        links.append(info)
    found = read_bytes(tarred([*links, ("a.log", LOG)]))
    assert [one.data for one in found] == [LOG, b""]
    assert found[1].skipped
    assert [text.split()[0] for _, text in found[1].notices] == ["s", "h", "d", "f"]


def test_a_link_in_a_zip_is_named_and_not_followed() -> None:
    """Unix zips may hold links."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        info = zipfile.ZipInfo("latest.log")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    (found,) = read_bytes(buffer.getvalue())
    assert found.skipped
    assert "latest.log is a link" in found.words


def test_encrypted_members_are_named() -> None:
    """The rest of the archive is read."""
    data = bytearray(zipped({"secret.log": LOG, "open.log": OTHER}))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + offset] |= 1
    found = read_bytes(bytes(data))
    assert [one.data for one in found if not one.skipped] == [OTHER]
    assert "secret.log is encrypted" in found[-1].words


def test_many_encrypted_members_are_counted() -> None:
    """A thousand notices would be none."""
    data = bytearray(zipped([(f"{n}.log", LOG) for n in range(50)]))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = -1
        while (place := data.find(mark, place + 1)) >= 0:
            data[place + offset] |= 1
    (found,) = read_bytes(bytes(data))
    assert len(found.notices) == limits.NOTICES_NAMED + 1
    assert found.notices[-1][1] == "42 more files are encrypted"


def test_a_wrong_checksum_costs_no_line() -> None:
    """Damaged bytes inside a member are said, and all that is there is used."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a.log", LOG)
    data = bytearray(buffer.getvalue())
    place = data.index(b"engine started")
    data[place] ^= 0x20
    (found,) = read_bytes(bytes(data))
    assert found.data == LOG.replace(b"engine started", b"Engine started")
    assert found.kinds == ["damaged"]


def test_damage_in_one_member_leaves_the_others() -> None:
    """A deflated member with overwritten bytes ends where it breaks."""
    good = os.urandom(3000).hex().encode()
    data = bytearray(zipped({"a.log": good, "b.log": OTHER}))
    data[400:500] = bytes(100)
    found = read_bytes(bytes(data))
    assert [one.name for one in found] == ["-!a.log", "-!b.log"]
    assert found[0].kinds == ["damaged"]
    assert (found[1].data, found[1].notices) == (OTHER, [])


@pytest.mark.parametrize("keep", [30, 200, 400])
def test_a_cut_zip_says_so(keep: int) -> None:
    """Its list of files stands at its end."""
    (found,) = read_bytes(zipped({"a.log": LOG, "b.log": OTHER})[:keep])
    assert found.skipped
    assert found.kinds == ["damaged"]
    assert "send it again" in found.words


def test_an_unknown_method_of_packing_is_a_notice() -> None:
    """A zip may be packed by what Python can't read."""
    data = bytearray(zipped({"a.log": LOG}))
    data[data.index(b"PK\x03\x04") + 8] = 98
    data[data.index(b"PK\x01\x02") + 10] = 98
    (found,) = read_bytes(bytes(data))
    assert (found.data, found.kinds) == (b"", ["damaged"])
    assert "compression" in found.words


def test_a_zip_bomb_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """One member of very many bytes, out of very few."""
    monkeypatch.setattr(limits, "RATIO_FROM", 1024 * 1024)
    found = read_bytes(zipped({"bomb.log": bytes(32 * 1024 * 1024), "a.log": LOG}))
    assert [one.kinds for one in found] == [["limit"], []]
    assert len(found[0].data) < 17 * 1024 * 1024
    assert found[1].data == LOG


def test_ten_thousand_members_are_bounded() -> None:
    """The first are read, the rest is one notice."""
    found = read_bytes(zipped([(f"{number}.log", b"x\n") for number in range(10_000)]), "many.zip")
    assert len(found) == limits.MOST_LOGS + 1
    assert (found[-1].name, found[-1].kinds) == ("many.zip", ["limit"])


@pytest.mark.parametrize("make", [zipped, tarred])
def test_entries_that_are_no_logs_are_bounded_too(make: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand folders are not walked for ever."""
    monkeypatch.setattr(limits, "MOST_MEMBERS", 5)
    if make is zipped:
        data = zipped([(f"{number}/", b"") for number in range(10)])
    else:
        info = tarfile.TarInfo("folder")
        info.type = tarfile.DIRTYPE
        data = tarred([info] * 10)
    (found,) = read_bytes(data)
    assert (found.skipped, found.kinds) == (True, ["limit"])


def test_a_zip_whose_list_of_files_is_forged_costs_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list is refused before it is read."""
    monkeypatch.setattr(limits, "LARGEST_DIRECTORY", 10_000)
    (found,) = read_bytes(zipped([("n" * 200 + str(number), b"") for number in range(100)]))
    assert found.skipped
    assert "list of files is larger" in found.words


def test_a_tar_with_a_huge_header_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name of megabytes is no name; what came before it is kept."""
    monkeypatch.setattr(limits, "LARGEST_TAR_HEADER", 64 * 1024)
    found = read_bytes(tarred([("a.log", LOG), ("n" * 200_000, OTHER)], tarfile.GNU_FORMAT))
    assert [one.data for one in found] == [LOG, b""]
    assert "headers of a member are larger" in found[-1].words


@pytest.mark.parametrize("share", range(1, 10))
def test_a_cut_tar_gives_what_is_there(share: int) -> None:
    """At whatever place: never an exception, and the loss is said."""
    data = tarred([("a.log", LOG * 20), ("b.log", OTHER * 20)])
    found = read_bytes(gzip.compress(data)[: -(share * 3)])
    logs = [one for one in found if not one.skipped]
    assert (LOG * 20).startswith(logs[0].data)
    assert any("damaged" in one.kinds for one in found)


@pytest.mark.parametrize("data", [zipped({}), zipped([("folder/", b"")])])
def test_an_archive_without_files_says_so(data: bytes) -> None:
    """Nothing disappears in silence."""
    (found,) = read_bytes(data, "empty")
    assert (found.name, found.skipped) == ("empty", True)
    assert found.words == "there is no file in it"


def test_pictures_in_an_archive_are_said_to_be_pictures() -> None:
    """Only their heads are read."""
    found = read_bytes(zipped([("photo.png", b"\x89PNG\r\n\x1a\n" + bytes(100_000)), ("a.log", LOG)]))
    assert [one.skipped for one in found] == [True, False]
    assert "PNG picture" in found[0].words
    assert len(found[0].data) == limits.HEAD_BYTES


def test_a_member_that_is_not_read_does_not_hide_the_next() -> None:
    """A reader may leave off in the middle of a log."""
    data = tarred([("a.log", LOG * 5000), ("b.log", OTHER)])
    rest = [(one.name, one.stream.read(10)) for one in logs_in_stream("-", Pipe(data))]
    assert rest == [("-!a.log", LOG[:10]), ("-!b.log", OTHER[:10])]


def test_an_archive_that_is_left_early_is_closed() -> None:
    """No file stays open behind a reader that stops at the first log."""
    for one in logs_in_stream("-", Pipe(zipped({"a.log": LOG, "b.log": OTHER}))):
        assert one.stream.read() == LOG
        break
