"""Mending a history: what changes and what must not, the backup, the undoing, and being killed at any moment."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from histories import HISTORIES, KINDS, MEMORY_GUARD, NO_DEVICE, NO_ROOM, PLACE, line, meaning, row
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_diag import load_rules
from strata_diag.tuner import (
    Change,
    History,
    HistoryError,
    audit_history,
    bad_signatures,
    files,
    plan_repair,
    repair_history,
    undo_repair,
)  # fmt: skip
from strata_diag.tuner.repair import Selection, plan_undo

RULES = load_rules(discover=False)
WHEN = datetime(2026, 11, 5, 7, 8, 9)  # noqa: DTZ001 - a tuner's own local time
POISONED = next(path for path in HISTORIES if path.stem == "poisoned")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A history of some right and some wrong rows."""
    path = tmp_path / "history.jsonl"
    path.write_bytes(line("pass") + line("no device") + line("session") + line("no room", sig="--big"))
    return path


def planned(path: Path, **more: Any) -> list[Change]:
    """What would change in a file."""
    return list(plan_repair(path, rules=RULES, **more))


def beside(path: Path) -> set[str]:
    """The names of all other files in the folder, but for the lock."""
    return {one.name for one in path.parent.iterdir()} - {path.name, f"{path.name}.lock"}


@pytest.mark.parametrize("history", HISTORIES, ids=lambda one: one.stem)
def test_the_plan_names_the_wrong_rows_of_the_corpus(history: Path) -> None:
    """Exactly the rows that a person calls wrong get another status."""
    assert [one.line for one in planned(history) if one.of_status] == meaning(history)["wrong"]


@pytest.mark.parametrize("history", HISTORIES, ids=lambda one: one.stem)
def test_a_repaired_history_audits_clean_and_can_be_undone(history: Path, tmp_path: Path) -> None:
    """Repairing changes no answer of `bad_signatures`, leaves nothing to repair, and undoing it leaves no trace."""
    before = history.read_bytes()
    path = tmp_path / "history.jsonl"
    path.write_bytes(before)
    answers = [meaning(history)["bad"], [one.cause for one in History(path, rules=RULES)]]
    done = repair_history(path, rules=RULES, now=WHEN)
    assert done.changes > 0
    assert Path(done.backup).read_bytes() == before
    assert planned(path) == []
    assert audit_history(History(path, rules=RULES), rules=RULES).clean
    for place in answers[0]:
        where = {name: place[name] for name in ("hw", "model", "engine")}
        assert bad_signatures(History(path, rules=RULES), **where, rules=RULES) == set(place["sigs"])
    assert [one.cause for one in History(path, rules=RULES)] == answers[1]
    assert undo_repair(path).changes == done.changes
    assert path.read_bytes() == before


def test_a_mended_row_keeps_what_it_said(path: Path) -> None:
    """Status and reason become those of the evidence, the old ones stay in fields of their own, and nothing else changes."""
    old = json.loads(path.read_bytes().splitlines()[1])
    repair_history(path, rules=RULES, now=WHEN)
    new = json.loads(path.read_bytes().splitlines()[1])
    assert new.pop("repaired") == "2026-11-05T07:08:09"
    assert (new.pop("status_before"), new.pop("reason_before"), new.pop("cause_before")) == ("OOM", old["reason"], None)
    assert (new.pop("cause"), new["status"], new["reason"]) == ("no-device", "FAIL_BOOT", NO_DEVICE)
    assert {**new, "status": old["status"], "reason": old["reason"]} == old


def test_a_plan_writes_nothing(path: Path) -> None:
    """A dry run leaves no file behind."""
    before = path.read_bytes()
    assert [(one.line, one.status_before, one.status) for one in planned(path)] == [
        (2, "OOM", "FAIL_BOOT"),
        (3, "OOM", "OOM"),
    ]
    assert (path.read_bytes(), beside(path)) == (before, set())


@pytest.mark.parametrize(
    ("kind", "more", "expected"),
    [
        ("pass", {}, None),
        ("no room", {}, None),
        ("no room, stored as boot failure", {}, "OOM"),
        ("session", {}, "OOM"),
        ("no device", {}, "FAIL_BOOT"),
        ("busy", {}, "FAIL_BOOT"),
        ("waited", {}, None),
        ("nobody knows", {}, None),
        ("word without evidence", {}, "FAIL_BOOT"),
        ("harmless line alone", {}, "FAIL_BOOT"),
        ("no room", {"status": "PASS", "decode_tok_s": None, "pp_tok_s": None}, "OOM"),
        ("busy", {"status": "CUDA_UNAVAILABLE"}, None),
    ],
)
def test_only_what_the_evidence_contradicts_is_changed(
    tmp_path: Path, kind: str, more: dict[str, Any], expected: str | None
) -> None:
    """A right word stays, in four words or in full; a wrong one, one without evidence and a mixed reason are changed."""
    path = tmp_path / "history.jsonl"
    path.write_bytes(line(kind, **more))
    changes = planned(path)
    assert [one.status for one in changes] == ([] if expected is None else [expected])
    assert all(one.why for one in changes)


def test_a_mixed_reason_becomes_the_deciding_line(tmp_path: Path) -> None:
    """Of several joined lines the one stays that says it all; where none does by itself, the reason stays."""
    path = tmp_path / "history.jsonl"
    path.write_bytes(line("session") + line("nobody knows", reason=f"{MEMORY_GUARD} | {KINDS['nobody knows'][1]}"))
    (change,) = planned(path)
    assert (change.line, change.reason) == (1, "strata generate: session state allocation failed")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(json.dumps(row("no device", label="…")), id="escapes"),
        pytest.param(json.dumps(row("no device", label="…"), ensure_ascii=False), id="plain"),
        pytest.param(json.dumps(row("no device", label="…"), separators=(",", ":")), id="compact escapes"),
        pytest.param(json.dumps(row("no device", label="…"), ensure_ascii=False, separators=(",", ":")), id="compact"),
        pytest.param(f"  {json.dumps(row('no device'))} \t", id="blanks around"),
        pytest.param(f'{{"status": "PASS", "la{json.dumps(row("no device"))}', id="behind a cut row"),
        pytest.param(json.dumps(row("no device", speed=float("nan"))), id="NaN"),
    ],
)
def test_every_manner_of_writing_comes_back(tmp_path: Path, text: str) -> None:
    """A row is mended in the manner in which it was written, so that an undone repair leaves the same bytes."""
    path = tmp_path / "history.jsonl"
    before = f"{text}\n{json.dumps(row('pass'))}\r\n".encode()
    path.write_bytes(before)
    assert repair_history(path, rules=RULES).changes == 1
    assert path.read_bytes() != before
    undo_repair(path)
    assert path.read_bytes() == before


def test_an_unusual_manner_keeps_its_values(tmp_path: Path) -> None:
    """A row that was written by hand comes back with the same values, though not with the same blanks."""
    path = tmp_path / "history.jsonl"
    fields = row("no device")
    path.write_text(json.dumps(fields, indent=None, separators=(" , ", " : ")), "utf-8")
    repair_history(path, rules=RULES)
    undo_repair(path)
    assert json.loads(path.read_bytes()) == fields


def test_repairing_twice_keeps_the_first_words(path: Path) -> None:
    """A second repair of the same row, after the rules have learnt more, keeps what the tuner once wrote."""
    repair_history(path, rules=RULES, now=WHEN)
    rows = [json.loads(one) for one in path.read_bytes().splitlines()]
    rows[1]["reason"] = NO_ROOM
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), "utf-8")
    repair_history(path, rules=RULES, now=WHEN)
    again = json.loads(path.read_bytes().splitlines()[1])
    assert (again["status"], again["cause"], again["status_before"]) == ("OOM", "vram-budget", "OOM")
    undo_repair(path)
    assert "repaired" not in path.read_text("utf-8")


def test_undoing_keeps_newer_rows(path: Path) -> None:
    """What was added after a repair stays when the repair is undone."""
    before = path.read_bytes()
    repair_history(path, rules=RULES)
    History(path).append(row("pass", sig="--new"))
    assert [(one.line, one.status) for one in plan_undo(path)] == [(2, "OOM"), (3, "OOM")]
    undo_repair(path)
    assert path.read_bytes() == before + line("pass", sig="--new")
    assert undo_repair(path) == (0, "")


def test_only_chosen_rows_are_mended(path: Path) -> None:
    """A repair may be limited to one machine, model or engine."""
    assert planned(path, selection=Selection(engine="engine-2")) == []
    assert repair_history(path, rules=RULES, selection=Selection(hw="hw-2")) == (0, "")
    assert repair_history(path, rules=RULES, selection=Selection(**PLACE)).changes == 2


def test_backups_are_dated_and_never_overwritten(path: Path) -> None:
    """Two repairs in one second leave two backups; a repair with nothing to do leaves none."""
    first = repair_history(path, rules=RULES, now=WHEN)
    undo_repair(path)
    second = repair_history(path, rules=RULES, now=WHEN)
    third = repair_history(path, rules=RULES, now=WHEN)
    assert Path(first.backup).name == "history.jsonl.bak-20261105-070809"
    assert Path(second.backup).name == "history.jsonl.bak-20261105-070809-2"
    assert third == (0, "")


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights and seldom links")
def test_rights_and_links_stay(path: Path) -> None:
    """The new file has the rights of the old one, and a link to it stays a link."""
    path.chmod(0o640)
    link = path.parent / "link.jsonl"
    link.symlink_to(path)
    repair_history(link, rules=RULES)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert planned(path) == []


@pytest.mark.parametrize(
    "act",
    [lambda path: repair_history(path, rules=RULES), undo_repair, lambda path: list(plan_repair(path, rules=RULES))],
)
def test_a_missing_file_is_an_error_and_leaves_nothing(tmp_path: Path, act: Any) -> None:
    """Nobody repairs what is not there, and no lock is left beside it."""
    with pytest.raises(HistoryError, match="there is no such file"):
        act(tmp_path / "missing.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_a_utf16_history_is_left_alone(path: Path) -> None:
    """What is no UTF-8 can be read, and is not rewritten."""
    path.write_text(path.read_text("utf-8"), "utf-16")
    with pytest.raises(HistoryError, match="UTF-16"):
        repair_history(path, rules=RULES)


def test_a_writer_without_a_lock_loses_no_row(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An older tuner that adds a row in the middle of a repair is noticed, and its row is in the new file and its backup."""
    real = files.copied
    added: list[str] = []

    def disturbed(name: str) -> Iterator[bytes]:
        if not added:
            added.append(name)
            with path.open("ab") as file:
                file.write(line("pass", sig="--late"))
        yield from real(name)

    monkeypatch.setattr(files, "copied", disturbed)
    done = repair_history(path, rules=RULES, now=WHEN)
    assert done.changes == 2
    assert path.read_bytes().endswith(line("pass", sig="--late"))
    assert Path(done.backup).read_bytes().endswith(line("pass", sig="--late"))
    assert beside(path) == {Path(done.backup).name}


def test_a_writer_that_never_stops_is_an_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After some rounds the repair gives up, and nothing is changed or left behind."""
    real = files.copied

    def disturbed(name: str) -> Iterator[bytes]:
        with path.open("ab") as file:
            file.write(line("pass"))
        yield from real(name)

    monkeypatch.setattr(files, "copied", disturbed)
    with pytest.raises(HistoryError, match="others keep writing"):
        repair_history(path, rules=RULES, now=WHEN)
    assert b"repaired" not in path.read_bytes()
    assert beside(path) == set()


def test_a_full_drive_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repair that can't be written is told, and leaves the old file and nothing else."""
    before = path.read_bytes()

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(HistoryError, match="No space left on device"):
        repair_history(path, rules=RULES)
    assert (path.read_bytes(), beside(path)) == (before, set())


@given(st.lists(st.sampled_from([*KINDS, "#", "cut"]), min_size=1, max_size=6))
@settings(max_examples=40)
def test_repairing_and_undoing_any_history_is_nothing(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[str]
) -> None:
    """Any history comes back byte for byte, and once repaired there is nothing left to repair."""
    broken = {"#": b"# a note\r\n", "cut": line("pass")[:-30]}
    before = b"".join(broken.get(kind) or line(kind) for kind in kinds)
    path = tmp_path_factory.mktemp("any") / "history.jsonl"
    path.write_bytes(before)
    repair_history(path, rules=RULES)
    assert planned(path) == []
    undo_repair(path)
    assert path.read_bytes() == before
