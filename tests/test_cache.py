"""The cache of compiled rules: equal to compiling, and never trusted more than the packs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from strata_diag import RuleSet
from strata_diag.builtin import rules_folder
from strata_diag.rulepack import PackSource, cache, load_packs
from strata_diag.rulepack.load import compile_packs

CAUSES = (
    "causes:\n"
    "  none: {status: PASS, title: x, lasting: false, retry: now, attribution: user}\n"
    "  unknown: {status: UNKNOWN, title: x, lasting: false, retry: now, attribution: user}\n"
)
PACK = (
    "pack: own\nversion: 1\nabout: x\nrules:\n  - {id: one, role: info, title: One, why: y, any: [{regex: 'abcdef'}]}\n"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small pack, and an empty cache."""
    monkeypatch.setenv(cache.CACHE_VARIABLE, str(tmp_path / "cache"))
    packs = tmp_path / "packs"
    packs.mkdir()
    (packs / "causes.yaml").write_text(CAUSES, "utf-8")
    (packs / "own.yaml").write_text(PACK, "utf-8")
    return packs


def load(folder: Path) -> RuleSet:
    """The rules of a folder, from the cache where it has them."""
    return load_packs([PackSource("test", folder)])


def stored() -> list[Path]:
    """The files in the cache."""
    return sorted((Path(cache.cache_folder() or "")).glob("*.rules"))


def kept(key: str) -> RuleSet | None:
    """What the cache holds under a key; compiling anew would fail the test."""

    def refuse() -> RuleSet:
        raise AssertionError("nothing is damaged here")

    return cache.load(key, refuse)


def content(rules: RuleSet) -> tuple[object, ...]:
    """Everything that makes up a rule set."""
    made = tuple(one._replace(packed=()) for one in rules.patterns)
    return tuple(rules.rules), made, rules.causes, dict(rules.remedies), dict(rules.tracks), rules.packs


def test_cached_rules_are_the_compiled_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The built-in packs come out of the cache exactly as they went in."""
    monkeypatch.setenv(cache.CACHE_VARIABLE, str(tmp_path / "cache"))
    sources = [PackSource("builtin", rules_folder())]
    compiled = compile_packs(sources)
    assert content(load_packs(sources)) == content(compiled)
    assert content(load_packs(sources)) == content(compiled)
    assert len(stored()) == 1


def test_a_changed_pack_is_compiled_anew(folder: Path) -> None:
    """A change of one letter is another rule set."""
    assert load(folder).rules[0].title == "One"
    (folder / "own.yaml").write_text(PACK.replace("One", "Two"), "utf-8")
    assert load(folder).rules[0].title == "Two"


def test_mappings_of_plugins_are_cached_too() -> None:
    """A pack that a plugin hands over as a mapping has a key of its own, and one that can't be written down has none."""
    assert cache.content_key([("x", {"pack": "a"})]) != cache.content_key([("x", {"pack": "b"})])
    assert cache.content_key([("x", {"pack": object()})]) is None


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: data[:-1] + bytes([data[-1] ^ 1]), id="one bit"),
        pytest.param(lambda data: data[:-60] + bytes([data[-60] ^ 1]) + data[-59:], id="one bit of a piece"),
        pytest.param(lambda data: data[:-30], id="the last piece cut"),
        pytest.param(lambda data: data[:100], id="cut"),
        pytest.param(lambda data: b"", id="empty"),
        pytest.param(lambda data: b"x" + data, id="another start"),
    ],
)
def test_a_tampered_cache_is_ignored(damage: object, folder: Path) -> None:
    """What isn't exactly what was written is not read, and is replaced."""
    first = load(folder)
    path = stored()[0]
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    assert content(load(folder)) == content(first)
    load(folder)
    assert kept(path.stem) is not None


def test_a_cache_under_another_key_is_ignored(folder: Path) -> None:
    """A file that was renamed to the key of other packs is not taken for theirs."""
    load(folder)
    path = stored()[0]
    other = path.with_name("0" * 64 + ".rules")
    path.rename(other)
    assert kept(other.stem) is None


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
def test_a_cache_that_others_may_write_is_ignored(folder: Path) -> None:
    """A file with rights for others is not trusted."""
    load(folder)
    path = stored()[0]
    assert path.stat().st_mode & 0o077 == 0
    path.chmod(0o666)
    assert kept(path.stem) is None


def test_a_cache_that_cannot_be_written_is_no_error(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the folder is a file, packs are read each time."""
    (tmp_path / "file").write_text("", "utf-8")
    monkeypatch.setenv(cache.CACHE_VARIABLE, str(tmp_path / "file" / "inside"))
    assert len(load(folder).rules) == 1


def test_the_cache_can_be_switched_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`off` keeps nothing."""
    monkeypatch.setenv(cache.CACHE_VARIABLE, "off")
    assert len(load(folder).rules) == 1
    assert cache.cache_folder() is None


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/c"}, "/c/strata-diag"),
        ("linux", {"HOME": "/h"}, "/h/.cache/strata-diag"),
        ("darwin", {"HOME": "/h"}, "/h/Library/Caches/strata-diag"),
        ("win32", {"LOCALAPPDATA": "/l"}, "/l/strata-diag"),
        ("win32", {}, None),
    ],
)
def test_the_folder_is_the_custom_of_the_platform(
    platform: str, variables: dict[str, str], expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each system has its own place for such files."""
    for name in (cache.CACHE_VARIABLE, "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    found = cache.cache_folder()
    assert (found and found.replace(os.sep, "/")) == expected


def test_only_the_newest_rule_sets_are_kept(folder: Path) -> None:
    """The folder doesn't grow with every change of a pack."""
    for number in range(cache.KEPT_FILES + 3):
        (folder / "own.yaml").write_text(PACK.replace("One", f"Title {number}"), "utf-8")
        load(folder)
    assert len(stored()) == cache.KEPT_FILES


def test_two_processes_may_write_at_once(folder: Path) -> None:
    """Eight processes that compile the same packs leave one whole file."""
    code = f"from pathlib import Path; from strata_diag.rulepack import *; load_packs([PackSource('t', Path({str(folder)!r}))])"
    running = [subprocess.Popen([sys.executable, "-c", code], cwd=ROOT) for _ in range(8)]
    assert [process.wait(60) for process in running] == [0] * 8
    assert len(stored()) == 1
    assert kept(stored()[0].stem) is not None
    assert list((Path(cache.cache_folder() or "")).glob("*.part")) == []


def test_broken_packs_are_never_cached(folder: Path) -> None:
    """An error is found again at the next start."""
    (folder / "own.yaml").write_text(PACK.replace("abcdef", "("), "utf-8")
    for _ in range(2):
        with pytest.raises(Exception, match="can't be compiled"):
            load(folder)
    assert stored() == []
