"""What every rule makes of one line of a log."""

from __future__ import annotations

from collections.abc import Sequence

from strata_diag import linetext
from strata_diag.explain.nearness import near_rules, nearest
from strata_diag.explain.records import LineExplanation, LineHit, RunExplanation
from strata_diag.explain.survey import literal_in
from strata_diag.match import Hit, Matcher
from strata_diag.model import Role
from strata_diag.ruleset import Rule, RuleSet
from strata_diag.suspects import nearest_rule

MISSED_SHOWN = 8  # rules that get a line from the scan and don't match it
UNCOUNTED = "no finding of the rule rests on this line; of many matches the first and last are kept"
NOT_ASKED = "information that nobody asked for: no rule that decides matches this line"


def explain_line(number: int, line: bytes, runs: Sequence[RunExplanation], rules: RuleSet) -> LineExplanation:
    """What the rules make of the clean bytes of a line, and what became of it in its run."""
    shown = linetext.redraws(line)
    run = next((one for one in runs if one.diagnosis.first_line <= number <= one.diagnosis.last_line), None)
    nominated = [pattern for pattern in rules.patterns if literal_in(pattern, line) is not None]
    hits = Matcher(rules).search(shown, [pattern.number for pattern in nominated])
    matched = {rules.rule_of(hit.pattern).id for hit in hits}
    missed = nearest(
        [one for one in nominated if one.literals], shown, rules, without=matched, most=MISSED_SHOWN, least=1
    )
    known = matched | {one.rule for one in missed}
    described = sorted((_hit(hit, number, run, rules) for hit in hits), key=lambda one: (-one.priority, one.rule))
    return LineExplanation(
        number,
        shown[0].strip(),
        run.number if run else 0,
        tuple(described),
        tuple(missed),
        tuple(near_rules(shown, rules, without=known)),
        nearest_rule(shown[0], rules),
    )


def _hit(hit: Hit, line: int, run: RunExplanation | None, rules: RuleSet) -> LineHit:
    rule = rules.rule_of(hit.pattern)
    outcome, remark = _outcome(rule, line, run)
    return LineHit(
        rule.id, rule.role, rule.priority, rule.title,
        hit.text, hit.start, hit.matched.end(), hit.captures, outcome, remark,
    )  # fmt: skip


def _outcome(rule: Rule, line: int, run: RunExplanation | None) -> tuple[str, str]:
    """(outcome of the rule in the run, the same for a person)."""
    if run is None:
        return "none", "the line belongs to no run"
    candidate = next((one for one in run.candidates if one.rule == rule.id), None)
    if candidate is not None and any(line in finding.lines for finding in candidate.findings):
        return candidate.outcome, candidate.why
    unheld = next((one for one in run.unheld if one.rule == rule.id and line in one.lines), None)
    if unheld is not None:
        return "unheld", unheld.why
    if rule.role is Role.INFO:
        return "unasked", NOT_ASKED
    return "uncounted", UNCOUNTED
