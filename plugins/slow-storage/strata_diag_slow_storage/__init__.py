"""An example plugin for strata-diag: a start that was given up because the drive is slow."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from strata_diag import Remedy, Run, Sighting, Verdict, hookimpl

LOADED = re.compile(r"loaded (?P<gib>[\d.]+) GiB at (?P<speed>[\d.]+) GiB/s")
SLACK = 1.5  # a start does more than read


@hookimpl
def strata_diag_rule_packs() -> Sequence[Path | Mapping[str, Any]]:
    """The pack beside this file."""
    return (Path(__file__).parent / "rules",)


@hookimpl
def strata_diag_findings(run: Run) -> Sequence[Sighting]:
    """A start that timed out although the engine was still reading at its drive's speed."""
    waited = run.facts.get("waited_s")
    if not run.facts.get("timed_out") or not isinstance(waited, int | float):
        return ()
    for line, text in reversed(run.tail):
        found = LOADED.search(text)
        if found and float(found["speed"]) > 0:
            needed = float(found["gib"]) / float(found["speed"])
            if needed > waited / SLACK:
                return (
                    Sighting("slow-storage/too-slow", line, {"needed_s": f"{needed:.0f}", "waited_s": f"{waited:g}"}),
                )
    return ()


@hookimpl
def strata_diag_remedies(verdict: Verdict) -> Sequence[Remedy]:
    """How long to wait next time."""
    if verdict.rule != "slow-storage/too-slow" or verdict.deciding is None:
        return ()
    seconds = round(float(verdict.deciding.captures["needed_s"]) * SLACK)
    return (
        Remedy("wait-for-storage", f"Wait at least {seconds} s for the start, or move the model to a faster drive."),
    )
