"""Plugins: found, blocked, broken, and what they may add; all through the hooks that the built-in packs use."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from strata_diag import RuleSet, Sighting, diagnose, hookimpl, load_rules
from strata_diag.cli import main

PACK = {
    "pack": "extra",
    "version": 3,
    "about": "a pack of a plugin",
    "rules": [
        {
            "id": "seen",
            "role": "failure",
            "cause": "internal-error",
            "priority": 600,
            "title": "Seen",
            "why": "x",
            "found_by": "extra",
        },
        {
            "id": "read",
            "role": "failure",
            "cause": "network",
            "title": "Read",
            "why": "x",
            "any": [{"regex": "gadget link down"}],
        },
    ],
}


@pytest.fixture(autouse=True)
def _no_start_to_remember(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has plugins of its own, which no kept start knows."""
    monkeypatch.setenv("STRATA_DIAG_CACHE", str(tmp_path / "cache"))


class Good:
    """A plugin with a pack, a finding and nothing else."""

    @hookimpl
    def strata_diag_rule_packs(self) -> list[dict[str, Any]]:
        return [PACK]

    @hookimpl
    def strata_diag_findings(self, run: Any) -> list[Sighting]:
        return [Sighting("extra/seen", run.last_line)] if run.last_line > 3 else []


class Raising:
    """A plugin whose every hook raises."""

    @hookimpl
    def strata_diag_findings(self, run: Any) -> list[Sighting]:
        raise RuntimeError("no idea")

    @hookimpl
    def strata_diag_remedies(self, verdict: Any) -> list[Any]:
        raise ValueError("nor here")

    @hookimpl
    def strata_diag_sources(self, path: str) -> None:
        raise OSError("nor there")


class Lying:
    """A plugin that claims a rule which finds by pattern, and one that doesn't exist."""

    @hookimpl
    def strata_diag_findings(self, run: Any) -> list[Sighting]:
        return [Sighting("memory-guard/report", 1), Sighting("nobody/nothing", 1)]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Entry points that a test puts in by name, in place of the installed ones."""
    plugins: dict[str, Any] = {}

    class Point(EntryPoint):
        def load(self) -> Any:
            found = plugins[self.name]
            if isinstance(found, Exception):
                raise found
            return found

    def points(group: str) -> list[EntryPoint]:
        return [Point(name, "somewhere", group) for name in plugins]

    monkeypatch.setattr("strata_diag.plugins.entry_points", points)
    return plugins


def test_a_plugin_brings_packs_and_findings(installed: dict[str, Any]) -> None:
    """A plugin's pack decides by pattern, and by what the plugin saw itself."""
    installed["extra"] = Good()
    rules = load_rules()
    assert diagnose("gadget link down\n", rules=rules).verdict.rule == "extra/read"
    assert diagnose("a\nb\nc\nd\n", rules=rules).verdict.rule == "extra/seen"


def test_the_builtin_packs_come_through_the_same_door(installed: dict[str, Any]) -> None:
    """The built-in packs are those of a plugin named builtin, which may be left out like any other."""
    installed["extra"] = Good()
    listed = {plugin.name: plugin for plugin in load_rules().plugins}
    assert "cuda-malloc" in listed["builtin"].packs
    assert listed["extra"].packs == ("extra",)
    assert listed["extra"].hooks == ("strata_diag_findings", "strata_diag_rule_packs")


def test_a_plugin_that_raises_is_a_notice_and_the_rest_goes_on(installed: dict[str, Any], tmp_path: Path) -> None:
    """Each hook that raises is named once a log; the verdict is that of the others."""
    installed["extra"], installed["raising"] = Good(), Raising()
    log = tmp_path / "x.log"
    log.write_text("gadget link down\n", "utf-8")
    found = diagnose(log, rules=load_rules())
    assert found.verdict.rule == "extra/read"
    texts = [notice.text for notice in found.notices]
    assert len(texts) == 3
    assert any("the plugin raising raised in strata_diag_findings: RuntimeError: no idea" in text for text in texts)


def test_a_plugin_that_cannot_be_imported_is_a_notice(installed: dict[str, Any]) -> None:
    """A broken import costs its own packs and nothing else."""
    installed["broken"] = ImportError("no module named gadget")
    rules = load_rules()
    assert [plugin.state for plugin in rules.plugins if plugin.name == "broken"] == ["broken"]
    assert "the plugin broken could not be loaded: ImportError" in rules.notices[0].text
    assert len(rules.rules) > 50


def test_a_plugin_with_an_unknown_hook_is_a_notice(installed: dict[str, Any]) -> None:
    """A misspelt hook is told, not ignored."""

    class Misspelt:
        @hookimpl
        def strata_diag_findingz(self, run: Any) -> list[Sighting]:
            return []

    installed["misspelt"] = Misspelt()
    assert "unknown hook" in load_rules().notices[0].text


def test_no_hook_overturns_a_verdict(installed: dict[str, Any]) -> None:
    """A plugin can't claim a rule that finds by pattern, nor one that no pack declares."""
    installed["lying"] = Lying()
    found = diagnose("cudaMalloc failed: out of memory\n", rules=load_rules())
    assert found.verdict.rule == "cuda-malloc/out-of-memory"
    assert [notice.kind for notice in found.notices] == ["plugin", "plugin"]


@pytest.mark.parametrize("how", ["argument", "variable", "all others"])
def test_a_plugin_can_be_blocked(how: str, installed: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A blocked plugin is listed as blocked and brings nothing."""
    installed["extra"] = Good()
    if how != "argument":
        monkeypatch.setenv("STRATA_DIAG_NO_PLUGIN", "extra" if how == "variable" else "*")
    rules = load_rules(no_plugins=["extra"] if how == "argument" else [])
    assert [plugin.state for plugin in rules.plugins] == ["active", "blocked"]
    assert "extra/read" not in rules.by_id


def test_blocking_nobody_is_told(installed: dict[str, Any]) -> None:
    """A misspelt name after --no-plugin is a notice, or a person would believe it worked."""
    assert "there is none of that name" in load_rules(no_plugins=["extar"]).notices[0].text


def test_a_broken_pack_of_a_plugin_is_an_error(installed: dict[str, Any]) -> None:
    """A pack that can't be read stops the load: a missing rule would look like health."""
    from strata_diag import RulePackError

    class Bad:
        @hookimpl
        def strata_diag_rule_packs(self) -> list[dict[str, Any]]:
            return [{"pack": "bad", "version": 1, "abuot": "x"}]

    installed["bad"] = Bad()
    with pytest.raises(RulePackError, match=r"a mapping of the plugin bad:\d+:\d+: unknown key `abuot`"):
        load_rules()


def test_plugins_are_listed_with_versions_hooks_and_packs(
    installed: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """`strata-diag plugins` shows what is there, and what is blocked."""
    installed["extra"] = Good()
    assert main(["plugins"]) == 0
    shown = capsys.readouterr().out
    assert "extra" in shown
    assert "packs: extra (2 rules)" in shown
    assert main(["plugins", "--no-plugin", "extra"]) == 0
    assert "extra  (blocked)" in capsys.readouterr().out
    assert main(["plugins", "--format", "json"]) == 0
    assert '"name": "extra"' in capsys.readouterr().out


def test_a_container_reader_opens_what_it_knows(installed: dict[str, Any], tmp_path: Path) -> None:
    """A plugin may read a container format; the name in messages stays that of the file."""
    import io

    class Boxes:
        @hookimpl
        def strata_diag_sources(self, path: str) -> io.BytesIO | None:
            return io.BytesIO(Path(path).read_bytes()[3:]) if path.endswith(".box") else None

    installed["boxes"] = Boxes()
    box = tmp_path / "a.box"
    box.write_bytes(b"BOXcudaMalloc failed: out of memory\n")
    found = diagnose(box, rules=load_rules())
    assert (found.name, found.verdict.cause) == (str(box), "vram-exhausted")


def test_rules_without_plugins_ask_nobody(rules: RuleSet) -> None:
    """`discover=False` finds no installed plugin."""
    assert [plugin.name for plugin in rules.plugins] == ["builtin"]
