"""Packs for the kernel, drivers, containers, Kubernetes and Windows.

Shipped with strata-diag; left out by `--no-plugin system`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from strata_diag.hookspecs import hookimpl


@hookimpl
def strata_diag_rule_packs() -> Sequence[Path | Mapping[str, Any]]:
    """The folder with this plugin's packs."""
    return (Path(__file__).parent / "rules",)
