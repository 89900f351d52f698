"""`strata-diag rules lint` as it is typed: exit codes, formats, choices, mending."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lint_samples import RULE, write_corpus, write_example

from strata_diag.cli import main

BARE = RULE.replace("cannot place the table", "failed")
ALONE = ("--no-builtin-rules", "--no-plugin", "*", "--no-settings")


def lint(*arguments: str) -> int:
    """Run the command on packs of a test alone."""
    return main(["rules", "lint", *arguments, *ALONE])


@pytest.fixture
def packs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one rule that rests on a bare word; there is no corpus."""
    monkeypatch.setattr("strata_diag.workshop.lint.runner.corpus_of_checkout", lambda: None)
    return write_example(tmp_path / "packs", BARE)


def test_findings_make_the_exit_code_one(packs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The text says file, line, column, code and what to do."""
    assert lint(str(packs)) == 1
    out = capsys.readouterr().out
    assert f"{packs}/sample.yaml:9:19: warning SD205 (bare-word): the rule `sample/no-room` rests on" in out
    assert "  add the words that the program prints around it" in out


def test_clean_packs_make_it_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Notes don't count."""
    folder = write_example(tmp_path / "packs", RULE.replace("the table", "the lighthouse"))
    corpus = write_corpus(tmp_path / "corpus")
    assert lint(str(folder), "--corpus", str(corpus), "--notes") == 0
    assert "note SD303 (silence-proves-nothing)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no-such-thing"], "is no folder, no file and no plugin"),
        (["--select", "SD999", "x"], "there is no code SD999"),
        (["--ignore", "nonsense", "x"], "there is no code nonsense"),
        (["--fix"], "name the folders and files"),
        (["--diff"], "name the folders and files"),
    ],
)
def test_trouble_makes_it_two(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What can't be done is said on standard error."""
    assert main(["rules", "lint", *arguments, "--no-plugin", "*"]) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert captured.out == ""


def test_a_corpus_that_is_none_makes_it_two(packs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A misspelt corpus is no corpus without findings."""
    assert lint(str(packs), "--corpus", str(packs / "nothing")) == 2
    assert "is no folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--select", "SD2"], 1),
        (["--select", "bare-word,SD3"], 1),
        (["--select", "SD1", "--select", "SD4"], 0),
        (["--ignore", "bare-word"], 0),
        (["--select", "SD2", "--ignore", "SD205"], 0),
    ],
)
def test_codes_are_chosen(arguments: list[str], code: int, packs: Path) -> None:
    """--select and --ignore take numbers, beginnings and names, repeated or with commas."""
    assert lint(str(packs), *arguments) == code


@pytest.mark.parametrize("kind", ["json", "sarif", "github"])
def test_formats_for_programs(kind: str, packs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each carries the same finding, and nothing else stands on standard output."""
    assert lint(str(packs), "--format", kind) == 1
    out = capsys.readouterr().out
    assert "SD205" in out
    if kind == "github":
        assert out.startswith("::warning file=")
        assert len(out.splitlines()) == 1
    else:
        assert isinstance(json.loads(out), dict)


def test_packs_that_do_not_load_are_findings(packs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A broken pack is what lint is for: exit code 1, with a note that the rest waits."""
    path = packs / "sample.yaml"
    path.write_text(path.read_text("utf-8").replace("title:", "titel:"), "utf-8")
    assert lint(str(packs)) == 1
    out = capsys.readouterr().out
    assert "error SD103 (unknown-key): unknown key `titel`" in out
    assert "until the packs can be loaded" in out


def test_diff_shows_and_fix_makes_the_change(packs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--diff changes nothing; --fix mends, shows what it did, and reports what is left."""
    path = packs / "sample.yaml"
    right = path.read_text("utf-8")
    path.write_text(right.replace("title:", "titel:"), "utf-8")
    assert lint(str(packs), "--diff") == 1
    shown = capsys.readouterr().out
    assert "-    titel: The table has no room\n+    title: The table has no room\n" in shown
    assert path.read_text("utf-8") != right
    assert lint(str(packs), "--fix") == 1
    out = capsys.readouterr().out
    assert "+    title: The table has no room" in out
    assert path.read_text("utf-8") == right
    assert "SD103" not in out.partition("SD205")[2]


def test_diff_leaves_the_answer_for_programs_alone(packs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --format json the change is shown on standard error."""
    path = packs / "sample.yaml"
    path.write_text(path.read_text("utf-8").replace("title:", "titel:"), "utf-8")
    assert lint(str(packs), "--diff", "--format", "json") == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out)["violations"]
    assert "+    title:" in captured.err


def test_codes_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """--list-codes needs no packs."""
    assert lint("--list-codes") == 0
    assert "SD205  warning  bare-word\n" in capsys.readouterr().out
