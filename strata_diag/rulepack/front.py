"""The way into the packs: from the cache where it has them, else from their files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from strata_diag.rulepack import cache
from strata_diag.ruleset import RuleSet


class PackSource(NamedTuple):
    """A folder or a file with packs, or a mapping shaped like a pack file, and the plugin that brought it."""

    origin: str
    content: Path | Mapping[str, Any]


def load_packs(sources: Iterable[PackSource]) -> RuleSet:
    """Read, check and link every pack of every source; what was compiled before comes from the cache.

    Raises RulePackError with all problems of all files at once, NoRulesError where not a single rule was found.
    """
    wanted = list(sources)
    key = cache.content_key(wanted)
    kept = cache.load(key) if key else None
    if kept is not None:
        return kept
    from strata_diag.rulepack.load import compile_packs  # noqa: PLC0415 - YAML and its checks, 40 ms that a kept set saves

    rules = compile_packs(wanted)
    if key:
        cache.store(key, rules)
    return rules
