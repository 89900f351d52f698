"""What lint reads: the targets, all that is loaded beside them, and the place of each part of a rule."""

from __future__ import annotations

from pathlib import Path

import pytest
from lint_samples import RULE, found, lint_folder, write_example
from packs import pack_text, write_packs

from strata_diag.builtin import rules_folder
from strata_diag.workshop.errors import WorkshopError
from strata_diag.workshop.lint.runner import lint
from strata_diag.workshop.lint.subject import Wishes, load_subject, spot_of
from strata_diag.yamlfile import parse_yaml

SEQUENCE = """\
- id: no-room
  role: failure
  cause: card-full
  title: The table has no room
  any:
    - sequence: ['cannot place the table', 'it is gone']
    - regex: 'the table has no place'
      needs: [place]
  samples:
    match:
      - |-
        engine: cannot place the table
        engine: it is gone
    no_match: ['engine: the table is placed']
"""


def test_a_file_is_linted_with_its_neighbours_loaded(tmp_path: Path) -> None:
    """A file's references lead into packs that are not linted; what is wrong with those is not said."""
    bad = RULE.replace("    no_match: ['engine: the table is placed']\n", "")
    bad = bad.replace("no-room", "no-shelf").replace("the table'", "the shelf'")
    folder = write_example(tmp_path / "packs", RULE)
    (folder / "other.yaml").write_text(
        pack_text("".join(f"  {line}\n" for line in bad.splitlines()), name="other"), "utf-8"
    )
    assert [one.code for one in lint_folder(folder).failing] == ["SD402"]
    wishes = Wishes(
        (str(folder / "sample.yaml"),), corpus=tmp_path / "nothing", builtin=False, no_plugins=("*",), more=(folder,)
    )
    report = lint(wishes)
    assert report.files == (str(folder / "sample.yaml"),)
    assert report.failing == ()


def test_a_plugin_is_linted_by_its_name() -> None:
    """The name of a plugin stands for its packs; ours come from the plugin `builtin`."""
    loaded = load_subject(Wishes(("builtin",), no_plugins=("*",)))
    assert loaded.subject is not None
    assert {Path(file.shown).parent for file in loaded.files} == {rules_folder()}
    assert "causes.yaml" in {Path(file.shown).name for file in loaded.files}


def test_a_file_of_the_built_in_packs_is_not_loaded_twice() -> None:
    """A path into packs that are loaded anyway picks them out."""
    loaded = load_subject(Wishes((str(rules_folder() / "cuda-init.yaml"),), no_plugins=("*",)))
    assert loaded.problems == ()
    assert [Path(file.shown).name for file in loaded.files] == ["cuda-init.yaml"]
    assert loaded.subject is not None
    assert {rule.pack for rule in loaded.subject.own} == {"cuda-init"}


def test_without_a_target_everything_is_linted() -> None:
    """All packs that a user has."""
    loaded = load_subject(Wishes(no_plugins=("*",)))
    assert loaded.subject is not None
    assert list(loaded.subject.own) == list(loaded.subject.rules.rules)


@pytest.mark.parametrize(("make", "words"), [(False, "no folder, no file and no plugin"), (True, "holds no pack")])
def test_a_target_that_is_nothing_is_refused(make: bool, words: str, tmp_path: Path) -> None:
    """A misspelt path never lints nothing."""
    folder = tmp_path / "packs"
    if make:
        folder.mkdir()
    with pytest.raises(WorkshopError, match=words):
        lint(Wishes((str(folder),), no_plugins=("*",)))


def test_a_corpus_that_is_nothing_is_refused(tmp_path: Path) -> None:
    """A misspelt corpus never proves silence."""
    folder = write_example(tmp_path / "packs", RULE)
    with pytest.raises(WorkshopError, match="is no folder"):
        lint(Wishes((str(folder),), corpus=tmp_path / "corpsu", builtin=False, no_plugins=("*",)))


def test_places_lead_to_line_and_column(tmp_path: Path) -> None:
    """Each step of a sequence, each sample and each key has a place of its own."""
    folder = write_example(tmp_path / "packs", SEQUENCE)
    loaded = load_subject(Wishes((str(folder),), builtin=False, no_plugins=("*",)))
    assert loaded.subject is not None
    rule = loaded.subject.own[0]
    places = [(place.path, loaded.subject.spot(rule, *place.path)[:2]) for place in loaded.subject.patterns(rule)]
    assert places == [
        (("any", 0, "sequence", 0), (10, 20)),
        (("any", 0, "sequence", 1), (10, 46)),
        (("any", 1, "regex"), (11, 16)),
    ]
    assert loaded.subject.spot(rule, "samples", "match", 0)[:2] == (15, 11)
    assert loaded.subject.spot(rule, "title")[:2] == (8, 12)
    assert loaded.subject.spot(rule, "samples", "match", 9)[:2] == (15, 9)
    assert loaded.subject.spot(rule)[:2] == (5, 5)


def test_path_to_nothing_has_no_spot() -> None:
    """A part that isn't there has no place, and no step no place either."""
    table = parse_yaml("a: [1, {b: c}]\n", "x", [])
    assert table is not None
    assert spot_of(table, ("z",)) is None
    assert spot_of(table, ()) is None
    found_spot = spot_of(table, ("a", 1, "b", "more"))
    assert found_spot is not None
    assert (found_spot.line, found_spot.column) == (1, 12)


def test_packs_that_do_not_load_say_so_and_leave_the_rest_for_later(tmp_path: Path) -> None:
    """Problems come with their columns, and a notice tells that nothing else was looked at."""
    folder = write_packs(tmp_path / "packs", sample=pack_text("  - id: x\n    role: failur\n"))
    report = lint_folder(folder)
    assert ("SD106", 6, 5) in found(report)
    assert [notice for notice in report.notices if "until the packs can be loaded" in notice]


def test_healthy_logs_are_left_out_with_a_notice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a corpus the checks that need one say that they did not run."""
    monkeypatch.setattr("strata_diag.workshop.lint.runner.corpus_of_checkout", lambda: None)
    folder = write_example(tmp_path / "packs", RULE)
    wishes = Wishes((str(folder),), builtin=False, no_plugins=("*",))
    assert [notice for notice in lint(wishes).notices if "no healthy log is at hand" in notice]
    cheap = wishes._replace(codes=frozenset({"SD205"}))
    assert lint(cheap).notices == ()
