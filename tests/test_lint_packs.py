"""Our own packs: no error and no warning, and what is switched off has a reason."""

from __future__ import annotations

import pytest
from conftest import CORPUS, shipped_folders
from lint_samples import found

from strata_diag.builtin import rules_folder
from strata_diag.workshop.lint.codes import BACKTRACKS, CODES
from strata_diag.workshop.lint.runner import lint
from strata_diag.workshop.lint.subject import Wishes

SLOW = frozenset({BACKTRACKS})  # half of the time: by itself, so that two processes share the work


@pytest.mark.parametrize("codes", [frozenset(CODES) - SLOW, SLOW], ids=["all-but-backtracking", "backtracking"])
def test_our_packs_are_clean(codes: frozenset[str]) -> None:
    """The built-in packs and those of the shipped plugins, held against our corpus."""
    targets = tuple(str(folder) for folder in (rules_folder(), *shipped_folders()))
    report = lint(Wishes(targets, codes, CORPUS, no_plugins=("*",)))
    assert report.notices == ()
    assert [f"{one.file}:{one.line}:{one.column} {one.code} {one.what}" for one in report.failing] == []
    assert found(report) == []
    assert len(report.files) > 90
