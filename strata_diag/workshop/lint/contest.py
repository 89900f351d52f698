"""Which rule wins a sample: one that never does is dead, and one that wins only by its name is a matter of luck."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from strata_diag.api import examine
from strata_diag.model import Beaten, Finding, Role, Verdict
from strata_diag.ruleset import Rule, RuleSet, is_deciding
from strata_diag.workshop.lint.codes import EQUAL_PRIORITY, NEVER_WINS
from strata_diag.workshop.lint.subject import Subject
from strata_diag.workshop.lint.violations import Violation


class Loss(NamedTuple):
    """A sample that another rule wins on the same line. winner: its id, or empty where an `info` rule claimed the line."""

    winner: str
    because: str


def check(subject: Subject) -> Iterator[Violation]:
    """Every rule that can decide a verdict, on each of its own samples, with all rules that were loaded."""
    for rule in subject.own:
        if not is_deciding(rule) or rule.found_by or rule.lifecycle == "deprecated":
            continue
        verdicts = [verdict for sample in rule.sample_match for verdict in _verdicts(sample, subject.rules)]
        losses = [loss for verdict in verdicts if (loss := _loss(rule, verdict, subject.rules)) is not None]
        if losses and len(losses) == len(rule.sample_match):
            by = f" to `{losses[0].winner}`" if losses[0].winner else ""
            what = f"never wins: it loses each of its samples{by} ({losses[0].because})"
            advice = "give it a sample that it wins or a higher priority, or remove it"
            yield subject.violation(NEVER_WINS, rule, ("priority",), what, advice)
        rival = next((name for verdict in verdicts if (name := _rival(rule, verdict, subject.rules))), "")
        if rival:
            what = (
                f"claims the same sample as `{rival}` with the same priority {rule.priority}: only their names decide"
            )
            advice = f"give one of them another priority, or let it yield (`yields_to: [{rival}]`)"
            yield subject.violation(EQUAL_PRIORITY, rule, ("priority",), what, advice)


def _verdicts(sample: str, rules: RuleSet) -> list[Verdict]:
    """A sample diagnosed as though it were a log."""
    return [trace.diagnosis.verdict for trace in examine(sample, rules=rules)[1]]


def _loss(rule: Rule, verdict: Verdict, rules: RuleSet) -> Loss | None:
    """How a rule lost its own line; None where it won, or where another line of the sample says more than its own."""
    beaten = next((one for one in verdict.beaten if one.finding.rule == rule.id), None)
    explained = next((one for one in verdict.chain[1:] if one.rule == rule.id), None)
    finding = beaten.finding if beaten is not None else explained
    if finding is None:
        return None
    if beaten is not None and beaten.kind == "claimed":
        return Loss("", beaten.why)
    winner = verdict.deciding
    if winner is None or not set(winner.lines) & set(finding.lines):
        return None
    if rule.role is Role.SYMPTOM and winner.role is not Role.SYMPTOM:
        return None  # what a symptom is for
    foreign = _folder(winner, rules) != _folder(finding, rules)
    if foreign and (winner.cause == rule.cause or beaten is None or beaten.kind == "explained"):
        return None  # by packs of another folder, which not everybody has: with the same answer, or as one of them says
    return Loss(winner.rule, _why(beaten, winner))


def _folder(finding: Finding, rules: RuleSet) -> Path:
    """Where the pack of a finding's rule stands: packs of one folder come together."""
    return Path(rules.by_id[finding.rule].file).parent


def _why(beaten: Beaten | None, winner: Finding) -> str:
    return beaten.why if beaten is not None else f"explained by {winner.rule}"


def _rival(rule: Rule, verdict: Verdict, rules: RuleSet) -> str:
    """A rule with another answer that would have won this rule's line as well, had its name come first."""
    if verdict.rule != rule.id:
        return ""
    for loser in verdict.beaten:
        other = rules.by_id[loser.finding.rule]
        equal = loser.kind == "outranked" and other.priority == rule.priority and other.role is rule.role
        if equal and loser.finding.line == verdict.line and other.cause != rule.cause:
            return other.id
    return ""
