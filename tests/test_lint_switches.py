"""Switching a code off: for one rule or remedy, with a reason, and said where it hides nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from lint_samples import FLAGS, RULE, found, lint_folder, lint_rules
from packs import pack_text, write_packs

BARE = RULE.replace("cannot place the table", "failed")
OTHER = BARE.replace("no-room", "no-shelf").replace("  samples:", "  priority: 700\n  samples:")


def switched(rule: str, switch: str) -> str:
    """The rule with a `lint:` in front of its samples."""
    return rule.replace("  samples:", f"  lint: {switch}\n  samples:")


def test_a_switch_hides_its_code_in_its_own_rule(tmp_path: Path) -> None:
    """What is switched off is kept apart, and the next rule is not meant."""
    other = OTHER.replace("'failed'", "'aborted'").replace("engine: failed", "engine: aborted")
    report = lint_rules(tmp_path / "packs", switched(BARE, "{SD205: the engine prints nothing else}") + other)
    assert [(one.code, one.rule) for one in report.failing] == [("SD205", "sample/no-shelf")]
    assert [(one.code, one.rule) for one in report.hidden] == [("SD205", "sample/no-room")]


def test_a_switch_hides_no_other_code(tmp_path: Path) -> None:
    """Each code needs a reason of its own; one that hides nothing is said to."""
    report = lint_rules(tmp_path / "packs", switched(BARE, "{SD206: the engine prints nothing else}"))
    assert sorted(one.code for one in report.failing) == ["SD132", "SD205"]


def test_a_switch_in_a_remedy(tmp_path: Path) -> None:
    """A remedy's text has switches too."""
    remedies = "remedies:\n  smaller: {text: Take --smaller., lint: {SD603: an option of the next version}}\n"
    indented = "".join(f"  {line}\n" for line in RULE.splitlines())
    text = pack_text(indented, more=f"engines: [strata]\n{remedies}")
    report = lint_folder(write_packs(tmp_path / "packs", flags=FLAGS, sample=text))
    assert report.failing == ()
    assert [one.code for one in report.hidden] == ["SD603"]


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        ("SD999", "take it out"),
        ("SD103", "take it out"),
        ("bare-word", "write SD205"),
        ("unknown-key", "take it out"),
    ],
)
def test_a_switch_that_is_no_code_is_refused(word: str, advice: str, tmp_path: Path) -> None:
    """Unknown codes, names, and codes with which the packs don't load; the place is that of the switch."""
    report = lint_rules(tmp_path / "packs", switched(RULE, f"{{{word}: because}}"))
    assert found(report) == [("SD131", 10, 12)]
    assert advice in report.failing[0].advice


@pytest.mark.parametrize("code", ["SD204", "SD302", "SD501", "SD502", "SD701"])
def test_a_switch_that_depends_on_others_is_never_useless(code: str, tmp_path: Path) -> None:
    """What the other packs, the corpus or the machine decide may hide nothing today."""
    assert lint_rules(tmp_path / "packs", switched(RULE, f"{{{code}: elsewhere it does}}")).failing == ()


def test_a_switch_is_not_useless_when_its_code_was_not_looked_for(tmp_path: Path) -> None:
    """With --select nothing can be said about the other codes."""
    folder = write_packs(tmp_path / "packs", sample=pack_text("".join(
        f"  {line}\n" for line in switched(RULE, "{SD205: it says nothing else}").splitlines()
    )))  # fmt: skip
    assert [one.code for one in lint_folder(folder).failing] == ["SD132"]
    assert lint_folder(folder, codes=frozenset({"SD132", "SD402"})).failing == ()


def test_a_switch_needs_a_reason(tmp_path: Path) -> None:
    """An empty reason is refused when the packs are read."""
    report = lint_rules(tmp_path / "packs", switched(BARE, "{SD205: ''}"))
    assert [one.code for one in report.failing] == ["SD106"]
