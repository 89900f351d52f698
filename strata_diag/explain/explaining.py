"""From a log to its explanation: `examine`, then a second reading where single rules or lines are asked about."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from strata_diag import clauses, source
from strata_diag.api import Trace, default_rules, examine
from strata_diag.explain.candidates import Candidate, candidates_of
from strata_diag.explain.clausewise import RuleState, rule_state
from strata_diag.explain.lines import explain_line
from strata_diag.explain.nearness import near_rules
from strata_diag.explain.records import (
    ExplainError,
    Explanation,
    RuleExplanation,
    RunExplanation,
    SuspectLine,
    Unheld,
)
from strata_diag.explain.survey import Survey, survey
from strata_diag.ruleset import Rule, RuleSet


def explain(
    target: source.Target,
    *,
    rules: RuleSet | None = None,
    wanted: Iterable[Rule] = (),
    lines: Iterable[int] = (),
    run: int | None = None,
    exit_code: int | None = None,
    timed_out: bool | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Explanation:
    """Why a log gets its verdict. target and facts are those of `diagnose`; a stream must be one that can be read twice.

    wanted: rules to explain clause by clause; lines: 1-based numbers of lines to explain; run: the number of the run in which
    rules are explained, the last by default.

    Raises ExplainError for a line or a run that the log does not have, and whatever `diagnose` raises.
    """
    used = rules or default_rules()
    numbers, asked = sorted(set(lines)), list(wanted)
    start = _place(target) if numbers or asked else 0
    diagnosis, traces = examine(target, rules=used, exit_code=exit_code, timed_out=timed_out, facts=facts)
    for number in numbers:
        if not 1 <= number <= diagnosis.line_count:
            raise ExplainError(f"{diagnosis.name} has no line {number}; it has {diagnosis.line_count} lines")
    chosen = _chosen(run, len(traces), diagnosis.name)
    runs = tuple(_run(number, trace, used) for number, trace in enumerate(traces, 1))
    found = Explanation(diagnosis, runs, (), (), diagnosis.notices)
    if not numbers and not (asked and chosen):
        return found
    log = _again(target, used, start)
    trace = traces[chosen - 1] if chosen else None
    second = survey(log, used, _patterns(asked), _span(trace), numbers)
    return found._replace(
        rules=tuple(_rule(rule, chosen, trace, runs, used, second) for rule in asked if trace),
        lines=tuple(explain_line(number, second.lines[number], runs, used) for number in numbers),
        notices=tuple(dict.fromkeys([*diagnosis.notices, *second.notices])),
    )


def _patterns(asked: Iterable[Rule]) -> list[int]:
    return [number for rule in asked for clause in rule.clauses for number in clause.patterns]


def _span(trace: Trace | None) -> tuple[int, int]:
    """The first and the last line of a run; nothing where there is none."""
    return (trace.run.first_line, trace.run.last_line) if trace else (1, 0)


def _chosen(run: int | None, count: int, name: str) -> int:
    """The number of the run in which rules are explained; 0 where there is none."""
    if run is None:
        return count
    if not 1 <= run <= count:
        raise ExplainError(f"{name} has no run {run}; it has {count}")
    return run


def _place(target: source.Target) -> int:
    """Where a stream stands, so that it can be read again from there; 0 for anything else."""
    if isinstance(target, bytes | str | os.PathLike):
        return 0
    name = getattr(target, "name", "the stream")
    try:
        if target.seekable():
            return target.tell()
    except (AttributeError, OSError):
        pass
    raise ExplainError(f"{name} can be read only once, and single rules and lines need two readings; save it as a file")


def _again(target: source.Target, rules: RuleSet, start: int) -> source.Source:
    """The log from its beginning once more."""
    if isinstance(target, os.PathLike):
        stream, _ = rules.extensions.sources(os.fspath(target))  # what went wrong here was said the first time
        return source.open_source(target if stream is None else stream)
    if not isinstance(target, bytes | str):
        target.seek(start)
    return source.open_source(target)


def _run(number: int, trace: Trace, rules: RuleSet) -> RunExplanation:
    verdict = trace.diagnosis.verdict
    suspects = tuple(SuspectLine(one, tuple(near_rules([one.text], rules))) for one in verdict.suspects)
    candidates = candidates_of(trace, rules)
    return RunExplanation(number, trace.diagnosis, candidates, tuple(_unheld(trace, candidates, rules)), suspects)


def _unheld(trace: Trace, candidates: Sequence[Candidate], rules: RuleSet) -> list[Unheld]:
    """The rules that match lines of a run and hold in none: vetoed, refused by a condition, or with a clause missing."""
    holding = {candidate.rule for candidate in candidates}
    lines: dict[str, set[int]] = {}
    for match in trace.run.matches:
        rule = rules.rule_of(match.pattern)
        if rule.id not in holding:
            lines.setdefault(rule.id, set()).add(match.evidence.line)
    present = _present(trace, rules)
    states = {name: rule_state(rules.by_id[name], trace.run, rules, present) for name in lines}
    found = [
        Unheld(name, rules.by_id[name].role, rules.by_id[name].title, tuple(sorted(lines[name])), states[name].missing)
        for name in lines
    ]
    return sorted(found, key=lambda one: (one.lines[0], one.rule))


def _present(trace: Trace, rules: RuleSet) -> dict[str, int]:
    """The rules that can veto others in a run, each with its first line."""
    found: dict[str, int] = {}
    for finding in [*clauses.before_vetoes(trace.run, rules), *trace.findings]:
        if not rules.by_id[finding.rule].silenced:
            found[finding.rule] = min(finding.line, found.get(finding.rule, finding.line))
    return found


def _rule(
    rule: Rule, number: int, trace: Trace, runs: Sequence[RunExplanation], rules: RuleSet, found: Survey
) -> RuleExplanation:
    state: RuleState = rule_state(rule, trace.run, rules, _present(trace, rules))
    own = {number: found.patterns[number] for clause in rule.clauses for number in clause.patterns}
    outcomes = {
        one.number: candidate.outcome for one in runs for candidate in one.candidates if candidate.rule == rule.id
    }
    candidate = next((one for one in runs[number - 1].candidates if one.rule == rule.id), None)
    outcomes.pop(number, None)
    return RuleExplanation(rule, number, state, own, candidate, outcomes)
