"""What a rule set says aloud of itself with every diagnosis: rules that a local file changes or silences."""

from __future__ import annotations

from strata_diag.model import Notice
from strata_diag.ruleset import Rule, RuleSet

MOST_NAMED = 5  # rules that one notice names; the others are counted


def announcements(rules: RuleSet) -> tuple[Notice, ...]:
    """A notice of the kind `override` for each file that changes or silences rules of others."""
    by_file: dict[str, list[Rule]] = {}
    for number in rules.summary.overridden:
        rule = rules.rules[number]
        by_file.setdefault(rule.override_place.rpartition(":")[0], []).append(rule)
    return tuple(Notice("override", _sentence(file, changed)) for file, changed in sorted(by_file.items()))


def _sentence(file: str, changed: list[Rule]) -> str:
    silenced = [rule.id for rule in changed if rule.silenced]
    others = [rule.id for rule in changed if not rule.silenced]
    told = [f"{verb} {_named(names)}" for verb, names in (("silences", silenced), ("changes", others)) if names]
    return f"{file} {' and '.join(told)}; `strata-diag rules show RULE` says how and why"


def _named(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
