"""The hooks of strata-diag. A plugin implements any of them with `@strata_diag.hookimpl`.

Called once a load, a log or a run, never a line. What a plugin raises becomes a notice with its name; the rest goes on. No
hook overturns a verdict: a finding enters resolution as the rule of a pack, whose priority and `yields_to` stand in the open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pluggy

from strata_diag.model import Remedy, Run, Sighting, Verdict
from strata_diag.record import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, BinaryIO

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
def strata_diag_readers() -> Sequence[Any]:
    """Readers of whatever people attach: functions (name, head, stream) -> attachments, or None for a file of another kind.

    name: the file's, for messages; head: its first 16 KiB, which are all that a reader may look at before it says whose the
    file is; stream: its bytes, from the first on. What it finds are `strata_diag.intake.Attachment`s, each looked into again.
    """
    return ()


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


@hookspec
def strata_diag_catalogues() -> Mapping[str, Any]:
    """Translations of texts that people read: a language such as `zh`, and a folder of YAML files or a mapping of texts."""
    return {}
