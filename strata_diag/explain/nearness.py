"""The rules that come near to a line without matching it, by how far their patterns get in it."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Sequence

from strata_diag.explain.elements import beginning, cut
from strata_diag.explain.reach import Probe, Reached
from strata_diag.explain.records import NearRule
from strata_diag.ruleset import Pattern, RuleSet

NEAR_RULES = 3  # that are named for a line
LEAST_CHARACTERS = 8  # of a line that a pattern must match to count as near
SHORTEST_START = 5  # characters of plain text in a line for which a pattern is tried on it
MOST_PROBED = 200  # patterns that are tried piece by piece on one line, those with the longest plain text first


def near_rules(
    texts: Sequence[str], rules: RuleSet, *, without: Collection[str] = (), most: int = NEAR_RULES
) -> list[NearRule]:
    """The rules whose patterns get furthest in a line, given as its redraws, newest first; the best of each rule.

    without: rules that are left out.
    """
    shown = "\n".join(texts)
    lowered = shown.lower()
    begun = [
        pattern
        for pattern, starts in _beginnings(rules)
        if any(start in (lowered if caseless else shown) for start, caseless in starts)
    ]
    return nearest(begun[:MOST_PROBED], texts, rules, without=without, most=most)


def nearest(
    patterns: Iterable[Pattern],
    texts: Sequence[str],
    rules: RuleSet,
    *,
    without: Collection[str] = (),
    most: int = NEAR_RULES,
    least: int = LEAST_CHARACTERS,
) -> list[NearRule]:
    """Those of some patterns that get furthest in a line, the best of each rule first. least: characters that count as near."""
    found: dict[str, NearRule] = {}
    for pattern in patterns:
        rule = rules.rule_of(pattern.number)
        reached = None if rule.id in without else _reached(pattern, texts)
        if reached is None or _length(reached) < least:
            continue
        if rule.id not in found or _length(reached) > _length(found[rule.id].reached):
            found[rule.id] = NearRule(rule.id, rule.title, pattern.source, reached)
    return sorted(found.values(), key=lambda one: (-_length(one.reached), one.rule))[:most]


def _reached(pattern: Pattern, texts: Sequence[str]) -> Reached | None:
    probe = Probe(pattern.source)
    probe.look(texts)
    return probe.best


def _length(reached: Reached) -> int:
    """Characters that the line and the pattern have in common: `.*` gets far in any line, and says nothing."""
    return min(reached.end - reached.start, len(reached.matched))


@functools.lru_cache(maxsize=4)
def _beginnings(rules: RuleSet) -> tuple[tuple[Pattern, tuple[tuple[str, bool], ...]], ...]:
    """For each pattern the plain texts with which its alternatives begin, and whether their case counts for nothing."""
    found = []
    for pattern in rules.patterns:
        pieces = cut(pattern.source)
        starts = [start for way in pieces.ways if len(start := beginning(way)) >= SHORTEST_START]
        lower = pieces.caseless
        found.append((pattern, tuple((start.lower() if lower else start, lower) for start in starts)))
    return tuple(sorted(found, key=lambda one: -max((len(start) for start, _ in one[1]), default=0)))
