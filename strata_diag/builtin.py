"""The packs that strata-diag ships, brought in by the same hook as anyone's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from strata_diag.hookspecs import hookimpl
from strata_diag.record import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

_HERE = Path(__file__).parent


def rules_folder() -> Path:
    """The folder with the built-in packs: inside the wheel, or beside the package in a checkout."""
    shipped = _HERE / "_rules"
    return shipped if shipped.is_dir() else _HERE.parent / "rules"


@hookimpl
def strata_diag_rule_packs() -> Sequence[Path | Mapping[str, Any]]:
    """Strata's own packs with the causes and remedies that all packs share."""
    return (rules_folder(),)
