"""From pack files to a rule set: read, check, expand, link.

Comes in: folders, files or mappings with packs, each with the name of whoever brought it. Goes out: a `RuleSet`, or one
`RulePackError` with every problem of every file. A broken rule is never skipped: a rule set that silently lacks a rule
would call a failure healthy.
"""

from __future__ import annotations

from strata_diag.rulepack.front import load_packs
from strata_diag.rulepack.sources import PackSource

__all__ = ["PackSource", "load_packs"]
