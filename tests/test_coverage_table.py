"""Which rule covers which message: a generated table in `docs/`, and no gap in it."""

from __future__ import annotations

from random import Random

import pytest
from conftest import ROOT
from generated import Template, fill, templates
from pytest_regressions.file_regression import FileRegressionFixture

from strata_diag import Role, RuleSet
from strata_diag.ruleset import Rule
from strata_diag.testing import rule_matches

HEAD = """# Which rule covers which message

One row a message of the Strata engine, its server, image encoder, setup and tuner. Generated from the packs and the message
templates (`tests/templates/strata.yaml`) by `./dev bless`; a test holds it. "none needed" stands where a message is no failure
and no rule that decides could take it for one.

| row | severity | message | rules |
|---|---|---|---|
"""
SHOWN = 90  # characters of a message
TURNING = (Role.RUN_START, Role.RUN_END, Role.READY)


def covering(template: Template, rules: RuleSet) -> list[Rule]:
    """The rules that match a message, whatever their role."""
    lines = [fill(text, Random(text)) for text in (template.text, *template.more)]
    return [rule for rule in rules.rules if any(rule_matches(rule, line, rules) for line in lines)]


def row(template: Template, found: list[Rule]) -> str:
    """One row of the table."""
    text = template.text if len(template.text) <= SHOWN else template.text[: SHOWN - 1] + "…"
    names = ", ".join(f"`{rule.id}`" for rule in found) or ("none needed" if not template.decides else "**none**")
    return f"| {template.row} | {template.severity} | `{text.replace('|', chr(92) + '|').replace('`', chr(39))}` | {names} |"


def test_table_is_up_to_date(rules: RuleSet, file_regression: FileRegressionFixture) -> None:
    """The table in the repository is what packs and templates make today."""
    rows = [row(template, covering(template, rules)) for template in templates()]
    path = ROOT / "docs" / "message-coverage.md"
    file_regression.check(HEAD + "\n".join(rows) + "\n", fullpath=path, extension=".md")


@pytest.mark.parametrize(
    "template", [one for one in templates() if one.decides], ids=lambda one: f"{one.row} {one.text[:40]}"
)
def test_no_deciding_message_is_without_a_rule(template: Template, rules: RuleSet) -> None:
    """Every message that has a verdict of its own is known to a rule, unless UNKNOWN is as good an answer."""
    if ("UNKNOWN", "unknown") in template.accepted:
        return
    assert covering(template, rules) != []


def decides_by_itself(rule: Rule) -> bool:
    """Whether one line anywhere in a run is enough for a failure."""
    plain = rule.role is Role.FAILURE and not (rule.when or rule.all or rule.none)
    return plain and any(clause.kind == "regex" for clause in rule.any)


def test_alarming_information_is_known(rules: RuleSet) -> None:
    """A harmless message that a deciding rule also matches is claimed by an `info` rule of higher priority, or taken back."""
    unclaimed = []
    for template in templates():
        if template.decides or template.severity not in ("info", "degraded"):
            continue
        found = covering(template, rules)
        deciding = [rule for rule in found if decides_by_itself(rule)]
        claims = [rule.priority for rule in found if rule.role is Role.INFO]
        unclaimed += [f"{template.row}: {rule.id}" for rule in deciding if max(claims, default=-1) <= rule.priority]
    assert [one for one in unclaimed if not one.startswith(("199:", "H18:"))] == []  # taken back by a later line
