"""What an author has still to decide: `rules new` marks it, and nobody who reads a diagnosis should meet such a mark."""

from __future__ import annotations

import re
from collections.abc import Iterator

from strata_diag.workshop.lint.codes import UNFINISHED
from strata_diag.workshop.lint.subject import Subject
from strata_diag.workshop.lint.violations import Violation

LONGEST_QUOTE = 60  # characters of what the mark says
_MARK = re.compile(r"\bTODO\b:?\s*(?P<rest>[^\n]*)")


def check(subject: Subject) -> Iterator[Violation]:
    """Every mark in the files, in texts and comments alike."""
    for file in subject.files:
        for number, line in enumerate(file.text.split("\n"), 1):
            mark = _MARK.search(line)
            if mark:
                said = mark["rest"].strip().rstrip("'\"")
                rest = said if len(said) <= LONGEST_QUOTE else f"{said[: LONGEST_QUOTE - 1]}…"
                what = f"is not finished: {rest}" if rest else "is not finished"
                yield Violation(
                    file.shown, number, mark.start() + 1, UNFINISHED, what, "decide it, then take the mark TODO out"
                )
