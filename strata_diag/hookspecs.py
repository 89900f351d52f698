"""The hooks of strata-diag. A plugin implements any of them with `@strata_diag.hookimpl`.

Called once a load, a log or a run, never a line. What a plugin raises becomes a notice with its name; the rest goes on. No
hook overturns a verdict: a finding enters resolution as the rule of a pack, whose priority and `yields_to` stand in the open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pluggy

from strata_diag.model import Remedy, Run, Sighting, Verdict

if TYPE_CHECKING:
    from strata_diag.ruleset import RuleSet

PROJECT = "strata_diag"  # of pluggy, and the group of the entry points

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def strata_diag_rule_packs() -> Sequence[Path | Mapping[str, Any]]:
    """Packs: folders with pack files, single files, or mappings shaped like one. Asked once, when rules are loaded."""
    return ()


@hookspec
def strata_diag_sources(path: str) -> BinaryIO | None:
    """The log inside a file of a container format, as a binary stream; None for a file that is none of yours."""


@hookspec
def strata_diag_findings(run: Run, rules: RuleSet) -> Sequence[Sighting]:
    """What a pattern can't see, in one run of a log. Each names a rule of a pack that says `found_by`."""
    return ()


@hookspec
def strata_diag_remedies(verdict: Verdict) -> Sequence[Remedy]:
    """Further steps for a verdict, shown after those of the packs."""
    return ()


@hookspec
def strata_diag_probes() -> Sequence[Any]:
    """Probes of the live machine for `preflight`: functions from a `strata_diag.tuner.checks.Situation` to a `Check`.

    A probe may answer with several checks or with None. It has a few seconds; one that raises or hangs is a notice.
    """
    return ()


@hookspec
def strata_diag_renderers() -> Mapping[str, Any]:
    """Further output formats: a name and a function from a Diagnosis to text."""
    return {}
