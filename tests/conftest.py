"""Fixtures that several test modules share."""

from __future__ import annotations

from pathlib import Path

import pytest

from strata_diag import RuleSet, load_rules

ROOT = Path(__file__).parent.parent
CORPUS = ROOT / "corpus"


@pytest.fixture(scope="session")
def rules() -> RuleSet:
    """The built-in rules, without whatever plugins this machine has."""
    return load_rules(discover=False)
