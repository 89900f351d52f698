"""`classify FILE --with FILE`: what a person sees, exit codes, and hostile names."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from streams import killed

from strata_diag.cli import main

STRATA = (
    "[strata] 2026-03-11 08:02:00 engine started: /opt/strata/engine/strata --serve --pack /p\n"
    "strata generate: native pack: /p experts (largest blob 2.68 MB), token embedding IQ4_XS in mapped host memory\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an engine's log and two files beside it."""
    (tmp_path / "engine.log").write_text(STRATA, "utf-8")
    (tmp_path / "dmesg.txt").write_text("[48211.1] eth0: link up\n" + killed("strata"), "utf-8")
    (tmp_path / "compose.log").write_text("strata-1 exited with code 137\n", "utf-8")
    return tmp_path


def classify(*arguments: object) -> int:
    """The exit code of `classify` without whatever plugins this machine has."""
    return main(["classify", "--no-plugin", "*", *(str(argument) for argument in arguments)])


def test_a_person_reads_which_file_decides(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The deciding line, what it explains and the notices name their files."""
    dmesg, compose = folder / "dmesg.txt", folder / "compose.log"
    assert classify(folder / "engine.log", "--with", dmesg, "--with", compose) == 1
    shown = capsys.readouterr().out
    for words in (
        "OOM / host-memory",
        f"Deciding line, in {dmesg}",
        ">      2 | [48211.330127] Out of memory",
        f"line 1 of {compose}: The process was killed",
        f"line 2 of {dmesg} was joined by name, strata (pid 20417)",
    ):
        assert words in shown


def test_a_log_alone_is_as_ever(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --with, and with a file that says nothing, the answer is the same."""
    assert classify(folder / "engine.log", "--format", "json") == 3
    alone = capsys.readouterr().out
    (folder / "quiet.txt").write_text("[48211.1] eth0: link up\n", "utf-8")
    assert classify(folder / "engine.log", "--with", folder / "quiet.txt", "--format", "json") == 3
    assert capsys.readouterr().out == alone


def test_a_file_that_cannot_be_read_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The verdict is given all the same; the exit code says that not all was done."""
    assert classify(folder / "engine.log", "--with", folder / "none.txt", "--with", folder / "dmesg.txt") == 2
    shown = capsys.readouterr()
    assert "none.txt: there is no such file" in shown.err
    assert "OOM / host-memory" in shown.out


def test_several_logs_share_the_files_beside_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each log is joined by itself, and the summary names the deciding file."""
    (folder / "other.log").write_text(STRATA, "utf-8")
    assert classify(folder / "engine.log", folder / "other.log", "--with", folder / "dmesg.txt") == 1
    assert capsys.readouterr().out.count(f", by line 2 of {folder / 'dmesg.txt'}") == 2


def test_standard_input_may_be_a_file_beside(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`dmesg | strata-diag classify engine.log --with -`."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(killed("strata").encode())))
    assert classify(folder / "engine.log", "--with", "-", "--format", "json") == 1
    assert json.loads(capsys.readouterr().out)["verdict"]["file"] == "standard input"


def test_redaction_covers_the_files_beside(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names and addresses of a file beside the log are replaced, too, and the verdict stays."""
    private = "[48211.2] user alice@acme-widgets.io logged in from 84.23.11.70\n" + killed("strata")
    (folder / "dmesg.txt").write_text(private, "utf-8")
    assert classify(folder / "engine.log", "--with", folder / "dmesg.txt", "--redact", "--format", "json") == 1
    shown = capsys.readouterr().out
    assert json.loads(shown)["verdict"]["cause"] == "host-memory"
    assert "alice@acme-widgets.io" not in shown
    assert "84.23.11.70" not in shown


def test_a_hostile_name_reaches_no_terminal(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Control characters in the name of a file beside the log are shown, not sent."""
    hostile = folder / "red\x1b[31m.txt"
    hostile.write_text(killed("strata"), "utf-8")
    assert classify(folder / "engine.log", "--with", hostile) == 1
    assert "\x1b" not in capsys.readouterr().out
    assert classify(folder / "engine.log", "--with", hostile, "--format", "markdown") == 1
    assert "\x1b" not in capsys.readouterr().out
