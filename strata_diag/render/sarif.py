"""SARIF 2.1.0, which code scanning and editors read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from strata_diag import __version__
from strata_diag.render.addresses import uri

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif_log(
    tool: str, rules: Sequence[dict[str, Any]], results: Sequence[dict[str, Any]], **more: Any
) -> dict[str, Any]:
    """A whole SARIF log with one run. tool: its name; rules: `reportingDescriptor`s; more: other keys of the run."""
    driver = {"name": tool, "version": __version__, "rules": list(rules)}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": list(results), **more}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def location(file: str, line: int = 0, column: int = 0) -> dict[str, Any]:
    """A place in a file. line, column: 1-based, 0 for none."""
    place: dict[str, Any] = {"artifactLocation": {"uri": uri(file)}}
    if line:
        place["region"] = {"startLine": line} | ({"startColumn": column} if column else {})
    return {"physicalLocation": place}
