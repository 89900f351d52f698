"""The manual page: up to date with the command's help, and free of anything that roff would take for its own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

from strata_diag.cli.manual import man_page
from strata_diag.cli.tree import Argument, Command, command_tree

PAGE = ROOT / "docs" / "man" / "strata-diag.1"


def test_the_page_is_up_to_date() -> None:
    """The page that is shipped says what `--help` says today; `python -m strata_diag.cli.manual` writes it anew."""
    assert PAGE.read_text("utf-8") == man_page(command_tree())


def test_hostile_words_mean_nothing_to_roff() -> None:
    """Dots, quotes and backslashes at any place of a help text are shown as they are."""
    argument = Argument(("--odd",), "WORD", ".so /etc/passwd")
    part = Command(("verb",), "'\\fBdo\\fR it", "example:\n  .de x\n  'ig\n  a \\n(.g b", (argument,), ())
    lines = man_page(Command((), "A program", "", (), (part,))).split("\n")
    assert "\\&.so /etc/passwd" in lines
    assert "  .de x" in lines
    assert "\\&\\(aq\\efBdo\\efR it." in lines
    assert "  a \\en(.g b" in lines


@pytest.mark.skipif(shutil.which("mandoc") is None, reason="there is no mandoc here")
def test_mandoc_finds_no_error(tmp_path: Path) -> None:
    """The page reads without a warning, but for the date, which would make it another one every day."""
    page = tmp_path / "strata-diag.1"
    page.write_text(man_page(command_tree()), "utf-8")
    done = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "warning", str(page)], capture_output=True, text=True, check=False
    )
    complaints = [line for line in done.stdout.splitlines() if "missing date" not in line]
    assert complaints == []


@pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff here")
def test_a_person_reads_verbs_options_and_examples(tmp_path: Path) -> None:
    """The page as `man` shows it holds every verb, its options and a command line to copy."""
    page = tmp_path / "strata-diag.1"
    page.write_text(man_page(command_tree()), "utf-8")
    words = ["groff", "-man", "-Tascii", "-P-cbou", "-ww", str(page)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    for word in (
        "EXIT STATUS",
        "--exit-code CODE",
        "history repair",
        "strata-diag classify strata-iq3_s.log",
        "tuner's",
    ):
        assert word in done.stdout
