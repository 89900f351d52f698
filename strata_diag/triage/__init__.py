"""Many logs at once: which failures there are, how often, and what nobody knows yet.

Comes in: paths of whatever people attach. Goes out: a `Triage`, with one result a log in the order given, groups by cause and
the shapes of unknown failures.

    found = triage(["reports/"], load=load_rules)
    [(group.cause, len(group.results)) for group in found.groups]
"""

from __future__ import annotations

from strata_diag.triage.records import Excerpt, Group, Part, Result, Shape, ShapeExample, Triage, Unreadable
from strata_diag.triage.run import triage

__all__ = ["Excerpt", "Group", "Part", "Result", "Shape", "ShapeExample", "Triage", "Unreadable", "triage"]
