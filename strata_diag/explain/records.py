"""What `explain` hands out: the runs with their candidates, and answers about single rules and lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from strata_diag.errors import StrataDiagError
from strata_diag.explain.candidates import Candidate
from strata_diag.explain.clausewise import RuleState
from strata_diag.explain.reach import Reached
from strata_diag.explain.survey import PatternSurvey
from strata_diag.model import Diagnosis, Notice, Role, RunDiagnosis, Suspect
from strata_diag.ruleset import Rule


class ExplainError(StrataDiagError):
    """A line or a run that a log does not have, or a log that can't be read twice; the text says what to do."""


class NearRule(NamedTuple):
    """A rule that comes near to a line. reached: how far its pattern gets in it."""

    rule: str
    title: str
    pattern: str
    reached: Reached


class SuspectLine(NamedTuple):
    """A line at which an UNKNOWN verdict points, and the rules that come near to it."""

    suspect: Suspect
    near: tuple[NearRule, ...]


class Unheld(NamedTuple):
    """A rule of which patterns match lines of a run, and that does not hold in it. why: what is missing."""

    rule: str
    role: Role
    title: str
    lines: tuple[int, ...]
    why: str


class RunExplanation(NamedTuple):
    """One run: its diagnosis, exactly that of `diagnose`, and all that it was decided from. number: from 1."""

    number: int
    diagnosis: RunDiagnosis
    candidates: tuple[Candidate, ...]
    unheld: tuple[Unheld, ...]
    suspects: tuple[SuspectLine, ...]


class RuleExplanation(NamedTuple):
    """Why a rule did or did not match in one run.

    state: its clauses in the run; surveys: what the run holds of each of its patterns, by number; candidate: what became of it
    where it holds; elsewhere: the outcome in other runs in which it holds, by number of the run.
    """

    rule: Rule
    run: int
    state: RuleState
    surveys: Mapping[int, PatternSurvey]
    candidate: Candidate | None
    elsewhere: Mapping[int, str]


class LineHit(NamedTuple):
    """A pattern that matches a line. start, end: where in `text`, 0-based; outcome: that of the candidate which rests on
    the line, else unheld | unasked | uncounted | none; remark: the same for a person.
    """

    rule: str
    role: Role
    priority: int
    title: str
    text: str
    start: int
    end: int
    captures: Mapping[str, str]
    outcome: str
    remark: str


class LineExplanation(NamedTuple):
    """What every rule makes of a line. run: the number of the run that it belongs to, 0 where it stands in none; missed: rules
    that get the line from the scan and don't match it; near: rules that come near without even a literal.
    """

    line: int
    text: str
    run: int
    hits: tuple[LineHit, ...]
    missed: tuple[NearRule, ...]
    near: tuple[NearRule, ...]
    words: str


class Explanation(NamedTuple):
    """The answer of `explain`: the diagnosis itself, its runs, and what was asked about rules and lines."""

    diagnosis: Diagnosis
    runs: tuple[RunExplanation, ...]
    rules: tuple[RuleExplanation, ...]
    lines: tuple[LineExplanation, ...]
    notices: tuple[Notice, ...]
