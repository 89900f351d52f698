"""`strata-diag history`: what a person and a program read, exit codes, and errors."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CORPUS, ROOT
from histories import PLACE, line

from strata_diag import RuleSet
from strata_diag.cli import main

POISONED = CORPUS / "history" / "poisoned.jsonl"
DAMAGED = CORPUS / "history" / "damaged.jsonl"


@pytest.fixture(autouse=True)
def loaded(monkeypatch: pytest.MonkeyPatch, rules: RuleSet) -> None:
    """The rules of the session: loading them at every call would only take time."""
    monkeypatch.setattr("strata_diag.cli.history.rules_from", lambda _: rules)


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """A copy of the poisoned history."""
    path = tmp_path / "history.jsonl"
    path.write_bytes(POISONED.read_bytes())
    return path


def command(*arguments: object) -> int:
    """The exit code of `history`."""
    return main(["history", *(str(argument) for argument in arguments)])


def test_an_audit_shows_what_is_blocked_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    """A person reads which signatures are blocked wrongly, by which rows, why, and how to mend it; exit code 1."""
    assert command("audit", POISONED) == 1
    shown = capsys.readouterr().out
    for words in (
        "14 rows, 5 signatures",
        "Blocked by the old rule, and should not be (2)",
        "it passed 4 times on this hw, model and engine (last in line 7)",
        "line 13  2026-09-28T21:40:51  says OOM, is CUDA_UNAVAILABLE / no-device",
        "7 rows with a wrong status",
        f"strata-diag history repair {POISONED}",
    ):
        assert words in shown


def test_an_audit_shows_what_could_not_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    """Lines without a row are told with their numbers, and what is blocked rightly is told too."""
    assert command("audit", DAMAGED) == 1
    shown = capsys.readouterr().out
    for words in (
        "Blocked, and should be (2)",
        "4 lines without a row",
        "line 4: the line is no JSON",
        "line 8: a row was cut here, and another one stands in the same line",
        "line 12: the line was cut while it was written",
        "the row says OOM and gives no reason",
    ):
        assert words in shown


def test_a_clean_history_is_exit_code_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is blocked rightly is no fault; an empty history is clean."""
    path = tmp_path / "history.jsonl"
    path.write_bytes(line("pass") + line("no room", sig="--big"))
    assert command("audit", path) == 0
    path.write_bytes(b"")
    assert command("audit", path) == 0
    assert "No signature is blocked." in capsys.readouterr().out


def test_many_unread_lines_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first ones are shown, the rest is a number."""
    path = tmp_path / "history.jsonl"
    path.write_bytes(b"# note\n" * 23 + line("session"))
    assert command("audit", path) == 0
    shown = capsys.readouterr().out
    assert "and 3 more" in shown
    assert "1 row with a right status and a reason that mixes several lines" in shown


def test_an_audit_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    """A program reads the same as one document."""
    assert command("audit", "--format", "json", POISONED) == 1
    content = json.loads(capsys.readouterr().out)
    assert (content["contract"], content["rows"], content["wrong"], content["clean"]) == (1, 14, 7, False)
    assert content["signatures"][0]["passes"] == 4


def test_an_audit_of_one_machine_with_pending_checks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rows are chosen by machine, model and engine, and recheck.json clears what is due."""
    path, due = tmp_path / "history.jsonl", tmp_path / "recheck.json"
    path.write_bytes(line("no room") + line("no device", engine="engine-2"))
    due.write_text('{"pending": [{"reason": "engine_changed"}]}', "utf-8")
    chosen = [word for name, value in PLACE.items() for word in (f"--{name}", value)]
    assert command("audit", path, *chosen) == 0
    assert command("audit", path, *chosen, "--recheck", due) == 1
    assert "a check is due (engine_changed)" in capsys.readouterr().out


def test_a_repair_shows_first(history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --yes nothing is written, every row is shown, and exit code 1 says that changes are due."""
    before = history.read_bytes()
    assert command("repair", history) == 1
    shown = capsys.readouterr().out
    assert "status  OOM -> FAIL_BOOT (no-device)" in shown
    assert "7 rows would be changed; nothing was written. Do it with --yes." in shown
    assert history.read_bytes() == before


def test_a_repair_with_yes_is_done_and_undone(history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --yes the rows are mended beside a backup; --undo shows first, too, and --undo --yes puts them back."""
    before = history.read_bytes()
    assert command("repair", history, "--yes") == 0
    assert "7 rows mended.\nThe file as it was: " in capsys.readouterr().out
    assert command("audit", history) == 0
    assert command("repair", history) == 0
    assert command("repair", history, "--yes") == 0
    assert command("repair", history, "--undo") == 1
    assert command("repair", history, "--undo", "--yes") == 0
    assert command("repair", history, "--undo") == 0
    shown = capsys.readouterr().out
    for words in (
        "Nothing to repair.",
        "Nothing to do.",
        "7 rows would be undone",
        "7 rows put back.",
        "Nothing to undo.",
    ):
        assert words in shown
    assert history.read_bytes() == before


def test_a_repair_in_json(history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A program reads the plan, and what was written."""
    assert command("repair", "--format", "json", history) == 1
    plan = json.loads(capsys.readouterr().out)
    assert (plan["written"], len(plan["changes"]), plan["changes"][0]["cause"]) == (False, 7, "no-device")
    assert command("repair", "--format", "json", "--yes", history) == 0
    done = json.loads(capsys.readouterr().out)
    assert (done["written"], done["count"]) == (True, 7)
    assert Path(done["backup"]).read_bytes() == POISONED.read_bytes()


@pytest.mark.parametrize("words", [["audit"], ["repair"], ["repair", "--yes"], ["audit", "--recheck"]], ids=" ".join)
def test_a_missing_file_is_trouble(words: list[str], history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A path that was mistyped is exit code 2 with what to do, and never an empty history."""
    missing = history.parent / "missing.jsonl"
    given = [*words, missing, history] if words[-1] == "--recheck" else [*words, missing]
    assert command(*given) == 2
    assert "missing.jsonl: there is no such file" in capsys.readouterr().err
    assert command(words[0], history.parent) == 2
    assert "is a folder" in capsys.readouterr().err


def test_help_shows_examples(capsys: pytest.CaptureFixture[str]) -> None:
    """--help says what each part does; without a part it is a usage error."""
    for words in (["--help"], ["audit", "--help"], ["repair", "--help"]):
        with pytest.raises(SystemExit) as stopped:
            command(*words)
        assert stopped.value.code == 0
        assert "strata-diag history repair history.jsonl --yes" in capsys.readouterr().out
    with pytest.raises(SystemExit) as stopped:
        command()
    assert stopped.value.code == 2


def test_a_hostile_history_cannot_reach_the_terminal(tmp_path: Path) -> None:
    """No control code of a label, a signature or a reason is obeyed."""
    path = tmp_path / "history.jsonl"
    evil = "\x1b]0;owned\x07\u202e"
    path.write_bytes(
        line("no device", label=evil, sig=evil, time=evil, hw=evil) + line("session", label=evil, sig=evil)
    )
    for verb in ("audit", "repair"):
        words = [sys.executable, "-m", "strata_diag", "history", verb, "--no-plugin", "*", str(path)]
        done = subprocess.run(words, capture_output=True, check=False, cwd=ROOT)
        shown = done.stdout.decode("utf-8")
        assert done.returncode == 1
        assert "\\x1b]0;owned\\x07\\u202e" in shown
        assert not any(ord(character) < 32 and character != "\n" for character in shown)
