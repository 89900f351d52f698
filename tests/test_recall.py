"""A remembered start: the same rules without a search for plugins, for exactly as long as nothing has changed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT

from strata_diag import diagnose, hookimpl, load_rules, recall
from strata_diag.plugins import Plugins
from strata_diag.rulepack import cache

LATER = time.time() + 3600


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that no other test fills, and a clock on which every file has settled."""
    monkeypatch.setenv("STRATA_DIAG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(time, "time", lambda: LATER)


def never() -> Plugins:
    """Stands for loading the plugins where that must not be needed."""
    raise AssertionError("the plugins were loaded")


def test_the_second_start_gives_the_rules_of_the_first() -> None:
    """Rules, plugins and notices are those of a whole search, and a log gets the same answer."""
    assert recall.recall(never) is None
    first = load_rules()
    again = recall.recall(never)
    assert again is not None
    assert [rule.id for rule in again.rules] == [rule.id for rule in first.rules]
    assert (again.plugins, again.notices, again.key) == (first.plugins, first.notices, first.key)
    log = ROOT / "corpus" / "strata" / "v100-busy-engine-log.log"
    assert diagnose(log, rules=again).to_dict() == diagnose(log, rules=first).to_dict()


def test_a_changed_file_ends_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder on the path that gains a package, or a pack file with another time, is another start."""
    folder = tmp_path / "packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    load_rules()
    assert recall.recall(never) is not None
    os.utime(folder, (1, 1))
    assert recall.recall(never) is None


def test_what_the_environment_blocks_is_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plugin that is blocked by the environment is not there because an earlier start had it."""
    whole = load_rules()
    monkeypatch.setenv(recall.BLOCK_VARIABLE, "system")
    assert recall.recall(never) is None
    assert len(load_rules().rules) < len(whole.rules)


def test_a_file_that_may_still_change_is_not_relied_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a file is younger than its clock can tell, nothing is remembered."""
    monkeypatch.setattr(time, "time", lambda: 0.0)
    load_rules()
    assert recall.recall(never) is None


def test_rules_that_were_asked_for_by_name_are_not_remembered(tmp_path: Path) -> None:
    """What one caller adds or leaves out is no other's start."""
    load_rules(no_plugins=["system"])
    load_rules([ROOT / "rules"], builtin=False, discover=False)
    assert recall.recall(never) is None


class Seeing:
    """A plugin with something to add at run time."""

    @hookimpl
    def strata_diag_findings(self) -> list[object]:
        return []


def test_a_hook_that_a_plugin_has_loads_it() -> None:
    """A plugin that looks at runs is loaded with the first run, not before, and then does its part."""
    asked: list[str] = []

    class Counting(Plugins):
        def findings(self, run: object, rules: object) -> tuple[list[object], list[object]]:  # type: ignore[override]
            asked.append("findings")
            return [], []

    def load() -> Plugins:
        asked.append("loaded")
        return Counting(discover=False)

    later = recall.LaterPlugins(frozenset({"strata_diag_findings"}), load)
    assert later.remedies(None) == ([], [])  # type: ignore[arg-type]
    assert asked == []
    assert later.findings(None, None) == ([], [])  # type: ignore[arg-type]
    later.findings(None, None)  # type: ignore[arg-type]
    assert asked == ["loaded", "findings", "findings"]


def test_a_damaged_memory_is_no_error(tmp_path: Path) -> None:
    """A memory that was tampered with is as good as none."""
    load_rules()
    (kept,) = (tmp_path / "cache").glob("start-*")
    kept.write_bytes(kept.read_bytes()[:-1] + b"x")
    assert recall.recall(never) is None
    assert load_rules().rules


def test_a_remembered_start_imports_neither_pluggy_nor_regex(tmp_path: Path) -> None:
    """The second start of the command on a log without a match loads none of what the first one needed."""
    log = tmp_path / "quiet.log"
    log.write_text("a line that no rule knows\n", "utf-8")
    code = (
        "import sys; from strata_diag.cli import main; main(['classify', sys.argv[1]]);"
        "print([name for name in ('pluggy', 'regex', 'argparse', 'json', 'pathlib', 'typing', 'importlib.metadata', 'yaml')"
        " if name in sys.modules])"
    )
    environment = {**os.environ, "STRATA_DIAG_CACHE": str(tmp_path / "shared")}
    shown = ""
    for _ in range(2):
        time.sleep(0.1)
        ran = subprocess.run(
            [sys.executable, "-S", "-c", code, str(log)],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env={**environment, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        shown = ran.stdout.splitlines()[-1]
    assert shown == "[]"


def test_short_names_differ_with_every_part() -> None:
    """Two surroundings that differ in one part, or in where a part ends, have files of their own."""
    assert len({cache.short_name(parts) for parts in (("a", "b"), ("ab",), ("a", "c"), ("b", "a"))}) == 4
