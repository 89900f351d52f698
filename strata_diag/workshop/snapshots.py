"""What a log said when its author last looked, kept beside it: `<case>.snapshot.json`.

A label says what is right and is written by hand. A snapshot says what the program answers today, down to the losers and the
remedies, and is taken anew on purpose.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from strata_diag.model import Diagnosis

SNAPSHOT_SCHEMA = 1


def snapshot_path(log: Path) -> Path:
    """Where the snapshot of a log lies."""
    return log.with_suffix(".snapshot.json")


def snapshot(found: Diagnosis) -> dict[str, Any]:
    """What is kept of a diagnosis: rules and lines, no text of the log, so that a changed title changes no snapshot."""
    verdict = found.verdict
    return {
        "schema": SNAPSHOT_SCHEMA,
        "verdict": f"{verdict.status}/{verdict.cause}",
        "line": verdict.line,
        "rule": verdict.rule,
        "lasting": verdict.lasting,
        "retry": verdict.retry,
        "contested": verdict.contested,
        "chain": [f"{finding.line} {finding.rule}" for finding in verdict.chain],
        "beaten": [f"{loser.finding.line} {loser.finding.rule} ({loser.kind})" for loser in verdict.beaten],
        "harmless": [f"{finding.line} {finding.rule}" for finding in verdict.harmless],
        "remedies": [remedy.action for remedy in found.remedies],
        "runs": [f"{run.first_line}-{run.last_line} {run.verdict.status}/{run.verdict.cause}" for run in found.runs],
        "notices": [notice.kind for notice in found.notices],
    }


def take_snapshot(log: Path, found: Diagnosis) -> list[str]:
    """Write the snapshot of a log, and return its path; nothing where it is as it was."""
    path = snapshot_path(log)
    written = (json.dumps(snapshot(found), indent=2) + "\n").encode("utf-8")
    if path.is_file() and path.read_bytes() == written:
        return []
    path.write_bytes(written)
    return [str(path)]


def snapshot_faults(log: Path, found: Diagnosis) -> Iterator[tuple[Path, str, str, str]]:
    """(path, what, expected, got) for each part that differs; nothing for a log without a snapshot."""
    path = snapshot_path(log)
    if not path.is_file():
        return
    try:
        kept = json.loads(path.read_bytes())
    except ValueError as error:
        yield path, f"the snapshot is no JSON ({error})", "take it anew with --bless", ""
        return
    today = snapshot(found)
    if not isinstance(kept, dict) or kept.get("schema") != SNAPSHOT_SCHEMA:
        yield path, "the snapshot has another shape", f"schema {SNAPSHOT_SCHEMA}; take it anew with --bless", ""
        return
    for key, value in today.items():
        if kept.get(key) != value:
            expected, got = _difference(kept.get(key), value)
            yield path, f"the snapshot has another `{key}`", expected, got


def _difference(kept: Any, today: Any) -> tuple[str, str]:
    """Both sides in words; of lists only what the other one lacks."""
    if isinstance(kept, list) and isinstance(today, list):
        gone = [str(item) for item in kept if item not in today]
        new = [str(item) for item in today if item not in kept]
        if gone or new:
            return ", ".join(gone) or "nothing more", ", ".join(new) or "nothing more"
        return ", ".join(map(str, kept)), ", ".join(map(str, today))
    return str(kept), str(today)
