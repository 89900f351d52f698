"""The codes of lint: each has a page, whose examples are what the code is about, and a place in the table of pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT
from lint_samples import PAGES, examples, lint_folder, write_corpus, write_example

from strata_diag.errors import ProblemCode
from strata_diag.workshop.lint.codes import BY_NAME, CODES, SEVERITIES, Code, chosen
from strata_diag.workshop.lint.runner import FAMILIES

every_code = pytest.mark.parametrize("code", CODES.values(), ids=lambda code: f"{code.id}-{code.name}")


@every_code
def test_wrong_example_of_a_page_is_found(code: Code, tmp_path: Path) -> None:
    """What the page calls wrong has a violation of the page's code, with line and column where there is a place."""
    folder = write_example(tmp_path / "packs", examples(code.id)["Wrong"])
    report = lint_folder(folder, corpus=write_corpus(tmp_path / "corpus"))
    violations = [one for one in report.violations if one.code == code.id]
    assert violations
    assert all(one.file == str(folder / "sample.yaml") and one.line and one.what and one.advice for one in violations)


@every_code
def test_right_example_of_a_page_is_clean(code: Code, tmp_path: Path) -> None:
    """What the page calls right has no error and no warning, and not the page's own code either."""
    report = lint_folder(
        write_example(tmp_path / "packs", examples(code.id)["Right"]), corpus=write_corpus(tmp_path / "corpus")
    )
    assert report.failing == ()
    assert code.id not in {one.code for one in report.violations}


@every_code
def test_page_says_what_the_registry_says(code: Code) -> None:
    """Each page carries the code's name and severity, why it matters, and how to switch it off or that it can't be."""
    text = (PAGES / f"{code.id}.md").read_text("utf-8")
    assert text.startswith(f"# {code.id} {code.name}\n\nA{'n' if code.severity == 'error' else ''} {code.severity}. ")
    assert "\n**Why:** " in text
    assert ("It can't be switched off" in text) is code.loads
    assert (f"\n  {code.id}: " in text or f"{{{code.id}: why}}" in text) is not code.loads
    assert (ROOT / code.page).is_file()


def test_every_page_belongs_to_a_code_and_stands_in_the_table() -> None:
    """No page outlives its code, and the table of pages lists all of them with name and severity."""
    assert {path.stem for path in PAGES.glob("SD*.md")} == set(CODES)
    table = (PAGES / "README.md").read_text("utf-8")
    rows = [f"| [{code.id}]({code.id}.md) | {code.name} | {code.severity} |" for code in CODES.values()]
    assert [line for line in table.splitlines() if line.startswith("| [SD")] == rows


def test_every_problem_of_the_loader_has_a_code_that_is_listed() -> None:
    """What loading finds is found by lint under the same code."""
    loaded = {value for name, value in vars(ProblemCode).items() if name.isupper()}
    assert loaded <= set(CODES)
    assert all(CODES[code].loads for code in loaded)


def test_every_code_that_can_be_switched_off_belongs_to_one_family() -> None:
    """Each check that runs on loaded packs is run when its code is wanted, and only one family finds it."""
    listed = [code for _, its_codes in FAMILIES for code in its_codes]
    assert sorted(listed) == sorted(code.id for code in CODES.values() if not code.loads)


def test_names_and_numbers_are_unique_and_severities_known() -> None:
    """A code is named by its number or by its name."""
    assert len(BY_NAME) == len(CODES)
    assert {code.severity for code in CODES.values()} == set(SEVERITIES)


def test_codes_are_chosen_by_number_beginning_and_name() -> None:
    """`SD205`, `SD20` and `bare-word` all mean something."""
    assert chosen(["SD205"]) == chosen(["bare-word"]) == {"SD205"}
    assert chosen(["SD20", "no-literal"]) == {one for one in CODES if one.startswith("SD20")} | {"SD301"}


@pytest.mark.parametrize("word", ["SD999", "bare-wrod", "", "sd205"])
def test_unknown_code_is_refused(word: str) -> None:
    """A misspelt code never means nothing at all."""
    with pytest.raises(KeyError):
        chosen([word])


def test_codes_in_the_sources_are_listed() -> None:
    """No problem is raised under a number that has no page."""
    sources = [path.read_text("utf-8") for path in (ROOT / "strata_diag").rglob("*.py")]
    used = {word for text in sources for word in text.replace('"', " ").split() if re.fullmatch(r"SD\d{3}", word)}
    assert used <= set(CODES)
