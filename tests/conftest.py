"""Fixtures that several test modules share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from strata_diag import RuleSet, load_rules

ROOT = Path(__file__).parent.parent
CORPUS = ROOT / "corpus"

# whichever test of a process comes first loads the rules: how long a single example takes says nothing
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache of compiled rules that the tests and the processes that they start share, away from the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STRATA_DIAG_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def shipped_folders() -> list[Path]:
    """The pack folders of the plugins that ship in the wheel."""
    names = ("llama-family", "python-engines", "system")
    return [folder for name in names for folder in (ROOT / "plugins" / name).glob("strata_diag_*/rules")]


@pytest.fixture(scope="session")
def all_rules() -> RuleSet:
    """The rules that a user has: the built-in ones and those of the shipped plugins."""
    return load_rules(shipped_folders(), discover=False)


@pytest.fixture(scope="session")
def rules() -> RuleSet:
    """The built-in rules, without whatever plugins this machine has."""
    return load_rules(discover=False)
