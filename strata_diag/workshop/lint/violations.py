"""What lint says: a violation with its place, and the change of text that would mend it."""

from __future__ import annotations

from typing import NamedTuple

from strata_diag.errors import Problem
from strata_diag.workshop.lint.codes import CODES, OTHER_PROBLEM


class Fix(NamedTuple):
    """A change of a file's text. start, end: offsets of the first character that goes and of the one behind the last."""

    start: int
    end: int
    text: str


class Violation(NamedTuple):
    """One thing wrong in one file. line, column: 1-based, 0 where the whole file or line is meant; rule: its id, or empty."""

    file: str
    line: int
    column: int
    code: str
    what: str
    advice: str
    rule: str = ""
    fix: Fix | None = None

    @property
    def severity(self) -> str:
        """Error | warning | note."""
        return CODES[self.code].severity


def of_problem(problem: Problem) -> Violation:
    """What was wrong when the packs were read, as a violation."""
    code = problem.code if problem.code in CODES else OTHER_PROBLEM
    return Violation(problem.file, problem.line, problem.column, code, problem.what, problem.advice)
