"""An explanation in plain types: the JSON of `strata-diag explain --format json`."""

from __future__ import annotations

from typing import Any

from strata_diag.explain.candidates import Candidate
from strata_diag.explain.clausewise import ClauseState
from strata_diag.explain.reach import Reached
from strata_diag.explain.records import (
    Explanation,
    LineExplanation,
    NearRule,
    RuleExplanation,
    RunExplanation,
)
from strata_diag.explain.survey import NearMiss, PatternSurvey
from strata_diag.model import Finding

SCHEMA = 1  # a key may be added without raising it, never removed or given another meaning


def to_dict(found: Explanation) -> dict[str, Any]:
    """The whole explanation; `diagnosis` is what `classify --format json` prints."""
    return {
        "schema": SCHEMA,
        "diagnosis": found.diagnosis.to_dict(),
        "runs": [_run(one) for one in found.runs],
        "rules": [_rule(one) for one in found.rules],
        "lines": [_line(one) for one in found.lines],
        "notices": [one._asdict() for one in found.notices],
    }


def _run(run: RunExplanation) -> dict[str, Any]:
    found = run.diagnosis
    return {
        "run": run.number,
        "first_line": found.first_line,
        "last_line": found.last_line,
        "engine": found.engine,
        "phase": found.phase,
        "status": str(found.verdict.status),
        "cause": found.verdict.cause,
        "candidates": [_candidate(one) for one in run.candidates],
        "unheld": [{**one._asdict(), "role": str(one.role), "lines": list(one.lines)} for one in run.unheld],
        "suspects": [
            {**one.suspect._asdict(), "near": [_near_rule(near) for near in one.near]} for one in run.suspects
        ],
    }


def _candidate(candidate: Candidate) -> dict[str, Any]:
    return {
        "rule": candidate.rule,
        "role": str(candidate.role),
        "cause": candidate.cause,
        "priority": candidate.priority,
        "title": candidate.title,
        "outcome": candidate.outcome,
        "why": candidate.why,
        "against": list(candidate.against),
        "times": candidate.times,
        "findings": [_finding(one) for one in candidate.findings],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "line": finding.line,
        "lines": list(finding.lines),
        "column": finding.evidence.column,
        "text": finding.evidence.text,
        "captures": dict(finding.captures),
    }


def _rule(one: RuleExplanation) -> dict[str, Any]:
    state = one.state
    return {
        "rule": one.rule.id,
        "run": one.run,
        "holds": not state.missing,
        "missing": state.missing or None,
        "places": list(state.places),
        "refused": list(state.refused),
        "clauses": [_clause(clause, one) for clause in state.clauses],
        "conditions": [
            {"condition": found.text, "holds": found.holds, "values": dict(found.values)} for found in state.conditions
        ],
        "unless": [veto._asdict() for veto in state.vetoes],
        "found_by": one.rule.found_by or None,
        "outcome": _candidate(one.candidate) if one.candidate else None,
        "other_runs": {str(number): outcome for number, outcome in one.elsewhere.items()},
    }


def _clause(state: ClauseState, one: RuleExplanation) -> dict[str, Any]:
    clause = state.clause
    return {
        "group": state.group,
        "kind": clause.kind,
        "holds": state.holds,
        "lines": list(state.lines),
        "remark": state.remark or None,
        "within": clause.within or None,
        "at_least": clause.at_least if clause.kind == "count" else None,
        "expression": clause.expression or None,
        "patterns": [
            {
                "pattern": step.source,
                "lines": list(step.lines),
                "times": step.times,
                **_survey(one.surveys[step.pattern]),
            }
            for step in state.steps
        ],
    }


def _survey(found: PatternSurvey) -> dict[str, Any]:
    return {
        "lines_with_literal": found.nominated,
        "lines_matched": found.matched,
        "first_matched": list(found.lines),
        "nearest": _near_miss(found.nearest) if found.nearest else None,
        "all_lines_tried": found.complete,
    }


def _near_miss(near: NearMiss) -> dict[str, Any]:
    return {"line": near.line, **_reached(near.reached), "literal": near.literal or None, "nominated": near.nominated}


def _reached(reached: Reached) -> dict[str, Any]:
    return {
        "text": reached.text,
        "start": reached.start,
        "end": reached.end,
        "matched": reached.matched,
        "stopped_at": reached.stopped_at,
    }


def _near_rule(near: NearRule) -> dict[str, Any]:
    return {"rule": near.rule, "title": near.title, "pattern": near.pattern, **_reached(near.reached)}


def _line(one: LineExplanation) -> dict[str, Any]:
    return {
        "line": one.line,
        "text": one.text,
        "run": one.run or None,
        "hits": [{**hit._asdict(), "role": str(hit.role), "captures": dict(hit.captures)} for hit in one.hits],
        "missed": [_near_rule(near) for near in one.missed],
        "near": [_near_rule(near) for near in one.near],
        "nearest_by_words": one.words or None,
    }
