"""The built-in packs: every rule's samples, and what a pack must look like."""

from __future__ import annotations

import pytest
from conftest import shipped_folders

from strata_diag import RuleSet, load_rules
from strata_diag.builtin import rules_folder
from strata_diag.model import Role
from strata_diag.ruleset import Rule
from strata_diag.testing import sample_problems

RULES = load_rules(shipped_folders(), discover=False)
LONGEST_PACK = 260  # lines; a longer one has more than one subject


@pytest.mark.parametrize("rule", RULES.rules, ids=lambda rule: rule.id)
def test_samples_hold(rule: Rule) -> None:
    """Every clause has a sample that it matches, and no rule matches a line that it must not."""
    assert sample_problems(rule, RULES) == []


def test_only_few_patterns_lack_a_literal(all_rules: RuleSet) -> None:
    """Every pattern that nominates lines has a literal, so that scan can rule out healthy lines."""
    assert [
        f"{all_rules.rules[pattern.rule].id}: {pattern.source}"
        for pattern in all_rules.scanned_patterns
        if not pattern.literals
    ] == []


def test_packs_stay_readable() -> None:
    """A pack has one subject and stays short enough to be read."""
    lengths = {
        path.name: len(path.read_text("utf-8").splitlines())
        for path in rules_folder().glob("*.yaml")
        if path.stem not in ("causes", "remedies", "vocabularies")
    }
    assert {name: length for name, length in lengths.items() if length > LONGEST_PACK} == {}


def test_every_failure_says_why(all_rules: RuleSet) -> None:
    """A person reads for every failure and symptom why it is one, and for information why it is harmless."""
    wanted = {Role.FAILURE, Role.SYMPTOM, Role.INFO}
    assert [rule.id for rule in all_rules.rules if rule.role in wanted and not rule.why] == []


def test_every_cause_has_advice(all_rules: RuleSet) -> None:
    """No verdict but PASS leaves a person without a step to take."""
    assert [cause.id for cause in all_rules.causes.values() if cause.id != "none" and not cause.remedies] == []


def test_transient_causes_are_never_lasting(all_rules: RuleSet) -> None:
    """A passing condition is never remembered against a command line."""
    transient = {
        "no-device",
        "device-busy",
        "killed",
        "timeout",
        "network",
        "communication",
        "unknown",
        "gpu-fault",
        "internal-error",
        "boot-unknown",
    }
    assert {name for name in transient if all_rules.causes[name].lasting} == set()
