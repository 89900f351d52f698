"""Whose log it is: the engine whose packs know most of a run's lines, and whose name stands in it.

Comes in: a run and the rules. Goes out: the name of an engine as packs write it, or nothing where the lines don't tell: many
error texts are shared by all programs that stand on the same library. Of the engines that a pack names the first is the one
whose lines it was written from.
"""

from __future__ import annotations

from strata_diag.model import Role, Run
from strata_diag.ruleset import RuleSet

OWN_WORDS = 4.0  # how much more a line tells that begins a start or says that one is ready
TELLING_ROLES = frozenset({Role.RUN_START, Role.READY, Role.RECOVERY})
EVERYBODY = "any"  # in the header of a pack whose lines belong to no engine


def recognise(run: Run, rules: RuleSet) -> str:
    """The engine that most lines of a run speak for; among equals the first by name. Empty where none does."""
    weights: dict[str, float] = {}
    for match in run.matches:
        rule = rules.rule_of(match.pattern)
        names = rules.engines.get(rule.pack, ())
        weight = OWN_WORDS if rule.role in TELLING_ROLES else 1.0
        for place, name in enumerate(names):
            weights[name] = weights.get(name, 0.0) + weight / (len(names) if place else 1)
    shown = " ".join([match.evidence.text for match in run.matches] + [text for _, text in run.tail]).lower()
    named = [name for name in weights if name != EVERYBODY and _key_word(name) in shown]
    return min(named, key=lambda name: (-weights[name], name), default="")


def _key_word(engine: str) -> str:
    """What of an engine's name stands in its logs: `llama` of llama.cpp."""
    return engine.lower().removesuffix(".cpp")
