"""The way into the packs: from the cache where it has them, else from their files."""

from __future__ import annotations

from collections.abc import Iterable

from strata_diag.rulepack import cache
from strata_diag.rulepack.sources import PackSource
from strata_diag.ruleset import RuleSet


def load_packs(sources: Iterable[PackSource]) -> RuleSet:
    """Read, check and link every pack of every source; what was compiled before comes from the cache.

    Raises RulePackError with all problems of all files at once, NoRulesError where not a single rule was found.
    """
    wanted = list(sources)
    key = cache.content_key(wanted)
    kept = cache.load(key, lambda: compile_anew(wanted)) if key else None
    if kept is not None and key:
        kept.key = key
        return kept
    rules = compile_anew(wanted)
    if key:
        rules.key = key
        cache.store(key, rules)
    return rules


def compile_anew(sources: list[PackSource]) -> RuleSet:
    """The rule set of these packs, whatever the cache holds. Raises as `load_packs` does."""
    from strata_diag.needles import build_index  # noqa: PLC0415 - YAML and its checks, 40 ms that a kept set saves
    from strata_diag.rulepack.load import compile_packs  # noqa: PLC0415

    rules = compile_packs(sources)
    rules.scan_index = build_index(rules.scanned_patterns)
    return rules
