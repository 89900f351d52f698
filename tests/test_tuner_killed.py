"""A process that is ended while it changes a history: at every write, sync, rename and removal of a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from conftest import ROOT
from histories import row
from packs import write_packs

from strata_diag import load_rules
from strata_diag.tuner import History, repair_history

KILLED = """
import os, sys
from datetime import datetime
from pathlib import Path
from strata_diag import load_rules
from strata_diag.tuner import History, files, repair_history, undo_repair

what, packs, limits = sys.argv[1], Path(sys.argv[2]), [int(word) for word in sys.argv[3:]]
rules = load_rules([packs], builtin=False, discover=False)
files.BLOCK_BYTES = 256

def ended_at(name, left):
    real = getattr(os, name)
    def called(*arguments, **named):
        left[0] -= 1
        if left[0] == 0:
            if name == "write":
                real(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
            os._exit(9)
        return real(*arguments, **named)
    setattr(os, name, called)

def act(limit):
    left, path = [limit], f"{limit}/history.jsonl"
    for name in ("write", "replace", "fsync", "remove", "chmod"):
        ended_at(name, left)
    if what == "repair":
        repair_history(path, rules=rules, now=datetime(2026, 11, 5))
    elif what == "undo":
        undo_repair(path)
    else:
        History(path, rules=rules).append({"status": "OOM", "reason": "the card is full", "sig": "--new", "filler": "x" * 300})
    os._exit(0)

for limit in limits[:-1]:  # a child each, where the system can make one of a running process
    child = os.fork()
    if child == 0:
        act(limit)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
if len(limits) == 1:
    act(limits[0])
"""
PACK = """\
pack: small
version: 1
about: a pack of a test
rules:
  - {id: busy, role: failure, cause: card-busy, title: Busy, why: Busy, any: [{regex: 'the card is busy'}]}
  - {id: full, role: failure, cause: card-full, title: Full, why: Full, any: [{regex: 'the card is full'}]}
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A small rule set, which a process loads quickly."""
    return write_packs(tmp_path / "packs", small=PACK)


MOST_POINTS = 60  # changes of the drive in one repair, and more


def killed_at(small: Path, folder: Path, what: str, before: bytes) -> list[Path]:
    """The files that a process leaves which is ended at its first change of the drive, its second, and so on to the last."""
    limits = [str(limit) for limit in range(1, MOST_POINTS)]
    for limit in limits:
        (folder / what / limit).mkdir(parents=True)
        (folder / what / limit / "history.jsonl").write_bytes(before)
    words = [sys.executable, "-c", KILLED, what, str(small)]
    calls = [[*words, *limits, "0"]] if hasattr(os, "fork") else [[*words, limit] for limit in limits]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    codes = []
    for call in calls:
        done = subprocess.run(call, capture_output=True, text=True, check=False, cwd=folder / what, env=environment)
        codes += [int(word) for word in done.stdout.split()] if hasattr(os, "fork") else [done.returncode]
    last = codes.index(0)  # the first that was allowed more changes than it makes
    assert set(codes[:last]) == {9}
    assert set(codes[last:]) == {0}
    return [folder / what / limit / "history.jsonl" for limit in limits[: last + 1]]


def small_rows() -> bytes:
    """Rows that the small rule set finds wrong, and some others."""
    rows = [row("pass")]
    rows += [row("no room", reason="the card is busy | the memory guard", sig=f"--{number}") for number in range(4)]
    return b"".join(json.dumps(one).encode() + b"\n" for one in rows) + b'{"status": "PA'


def test_a_repair_that_is_killed_leaves_the_old_or_the_new_file(small: Path, tmp_path: Path) -> None:
    """Ended at any write, sync, rename or removal, the file is whole, every backup is whole, and the next repair succeeds."""
    rules = load_rules([small], builtin=False, discover=False)
    before = small_rows()
    whole = tmp_path / "whole.jsonl"
    whole.write_bytes(before)
    assert repair_history(whole, rules=rules, now=datetime(2026, 11, 5)).changes == 4  # noqa: DTZ001
    after = whole.read_bytes()
    left = [path.read_bytes() for path in killed_at(small, tmp_path, "repair", before)]
    assert set(left) == {before, after}
    assert len(left) > 10
    for path in (tmp_path / "repair").glob("*/history.jsonl"):
        assert all(backup.read_bytes() == before for backup in path.parent.glob("*.bak-*"))
        repair_history(path, rules=rules, now=datetime(2026, 11, 6))  # noqa: DTZ001
        assert [json.loads(one)["status"] for one in path.read_bytes().splitlines()[:-1]] == ["PASS"] + [
            "FAIL_BOOT"
        ] * 4
        assert not list(path.parent.glob(".*.tmp"))


def test_an_undoing_that_is_killed_leaves_the_old_or_the_new_file(small: Path, tmp_path: Path) -> None:
    """The same holds for putting the old words back."""
    before = small_rows()
    path = tmp_path / "whole.jsonl"
    path.write_bytes(before)
    repair_history(path, rules=load_rules([small], builtin=False, discover=False))
    left = {one.read_bytes() for one in killed_at(small, tmp_path, "undo", path.read_bytes())}
    assert left == {path.read_bytes(), before}


def test_adding_a_row_that_is_killed_loses_none(small: Path, tmp_path: Path) -> None:
    """Ended while a row is added, all earlier rows are there, and the next one is on a line of its own."""
    rules = load_rules([small], builtin=False, discover=False)
    for path in killed_at(small, tmp_path, "append", small_rows()):
        History(path, rules=rules).append({"status": "PASS", "sig": "--last"})
        found = [one.sig for one in History(path, rules=rules) if one.readable]
        assert found[:5] == ["--base", "--0", "--1", "--2", "--3"]
        assert found[5:] in (["--last"], ["--new", "--last"])
