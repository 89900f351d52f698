"""Every candidate of a run, and what became of it: the findings that resolution was given, with its own words for them.

Nothing is decided here. A candidate is a rule with all its findings in the run, as in a verdict's `beaten`; each finding of
the run belongs to exactly one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from strata_diag.api import Trace
from strata_diag.model import DECIDING_ROLES, Finding, Role, Verdict
from strata_diag.ruleset import RuleSet

DECIDES = "decides"
CONSEQUENCE = "consequence"
_OTHER_ROLES = {
    Role.READY: ("readiness", "shows that the engine got ready: takes back what failed before and does not survive it"),
    Role.RUN_START: ("start", "belongs to the beginning of this run"),
    Role.RUN_END: ("end", "ends this run"),
}


class Candidate(NamedTuple):
    """A rule that holds in a run. findings: every occurrence, in order of lines; outcome: decides | consequence | a kind of
    `Beaten` | information | recovery | readiness | start | end | silenced; why: the same for a person; against: the rules whose
    findings it claimed or took back.
    """

    rule: str
    role: Role
    cause: str
    priority: int
    title: str
    findings: tuple[Finding, ...]
    outcome: str
    why: str
    against: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[int, ...]:
        """The 1-based lines that speak for it."""
        return tuple(finding.line for finding in self.findings)

    @property
    def times(self) -> int:
        """How often it holds in the run, those included of which no finding was kept."""
        return max(finding.times for finding in self.findings)


def candidates_of(trace: Trace, rules: RuleSet) -> tuple[Candidate, ...]:
    """The candidates of a run: what decides, what follows from it, the losers, then what describes the run; each by line."""
    grouped: dict[str, list[Finding]] = {}
    for finding in trace.findings:
        grouped.setdefault(finding.rule, []).append(finding)
    verdict = trace.diagnosis.verdict
    found = [_candidate(tuple(findings), verdict, rules) for findings in grouped.values()]
    return tuple(sorted(found, key=lambda one: (_rank(one), one.findings[0].line, one.rule)))


def _rank(candidate: Candidate) -> int:
    if candidate.outcome in {DECIDES, CONSEQUENCE}:
        return 0 if candidate.outcome == DECIDES else 1
    return 2 if candidate.role in DECIDING_ROLES else 3


def _candidate(findings: tuple[Finding, ...], verdict: Verdict, rules: RuleSet) -> Candidate:
    first = findings[0]
    outcome, why, against = _outcome(first.rule, findings, verdict, rules)
    return Candidate(
        first.rule, first.role, first.cause, first.priority, first.title, findings, outcome, why, tuple(against)
    )


def _outcome(
    rule: str, findings: tuple[Finding, ...], verdict: Verdict, rules: RuleSet
) -> tuple[str, str, Iterable[str]]:
    if rule == verdict.rule:
        return DECIDES, _why_it_decides(verdict), ()
    if any(one.rule == rule for one in verdict.chain):
        return CONSEQUENCE, f"follows from {verdict.rule}", ()
    beaten = next((one for one in verdict.beaten if one.finding.rule == rule), None)
    if beaten is not None:
        return beaten.kind, beaten.why, ()
    return _outcome_of_others(rule, findings, verdict, rules)


def _outcome_of_others(
    rule: str, findings: tuple[Finding, ...], verdict: Verdict, rules: RuleSet
) -> tuple[str, str, Iterable[str]]:
    """What a finding did that can't decide."""
    role = findings[0].role
    if role is Role.INFO:
        claimed = _claimed(findings, verdict)
        return "information", f"claims its line from {', '.join(claimed)}" if claimed else "knows its line", claimed
    if role is Role.RECOVERY:
        undone = _taken_back(rule, findings, verdict, rules)
        return "recovery", f"takes back {', '.join(undone)}" if undone else "finds nothing to take back", undone
    return *_OTHER_ROLES[role], ()


def _why_it_decides(verdict: Verdict) -> str:
    if verdict.contested:
        return "the strongest of the candidates that are left; another cause stands beside it"
    return "the strongest of the candidates that are left"


def _claimed(findings: tuple[Finding, ...], verdict: Verdict) -> list[str]:
    """The rules that lost a line on which this information stands with a higher priority."""
    lines = {finding.line for finding in findings}
    priority = findings[0].priority
    return [
        loser.finding.rule
        for loser in verdict.beaten
        if loser.kind == "claimed" and lines & set(loser.finding.lines) and loser.finding.priority < priority
    ]


def _taken_back(rule: str, findings: tuple[Finding, ...], verdict: Verdict, rules: RuleSet) -> list[str]:
    last = max(finding.line for finding in findings)
    return [
        loser.finding.rule
        for loser in verdict.beaten
        if loser.kind == "recovered" and loser.finding.rule in rules.by_id[rule].cancels and loser.finding.line < last
    ]
