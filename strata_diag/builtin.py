"""The packs that strata-diag ships, brought in by the same hook as anyone's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from strata_diag.hookspecs import hookimpl

_HERE = Path(__file__).parent


def rules_folder() -> Path:
    """The folder with the built-in packs: inside the wheel, or beside the package in a checkout."""
    shipped = _HERE / "_rules"
    return shipped if shipped.is_dir() else _HERE.parent / "rules"


@hookimpl
def strata_diag_rule_packs() -> Sequence[Path | Mapping[str, Any]]:
    """Strata's own packs with the causes and remedies that all packs share."""
    return (rules_folder(),)
