"""The part of a log around its evidence: the lines that were kept, once each, with what each of them is.

Comes in: a verdict. Goes out: lines in their order, and how many are missing between two of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from strata_diag.model import Finding, Verdict

MOST_LINES = 80  # of one excerpt; what is farthest from the deciding line is left out
MOST_FINDINGS = 20  # symptoms and other candidates that are shown where they stand


class Part(StrEnum):
    """What a line of an excerpt is; the first that fits, in this order."""

    DECIDING = "deciding"
    SYMPTOM = "symptom"
    SUSPECT = "suspect"
    BEATEN = "beaten"
    CONTEXT = "context"


class ExcerptLine(NamedTuple):
    """One line. column: 1-based place from which a pattern matched; missing: lines of the log left out before it."""

    number: int
    text: str
    part: Part
    column: int = 1
    missing: int = 0


def excerpt(verdict: Verdict) -> tuple[ExcerptLine, ...]:
    """The lines around what decides, what it explains and what lost against it; empty where no line is known."""
    found: dict[int, ExcerptLine] = {}
    for line in _lines(verdict):
        known = found.get(line.number)
        if known is None or _rank(line) < _rank(known):
            found[line.number] = line
    centre = verdict.line or max(found, default=0)
    nearest = sorted(found.values(), key=lambda line: (abs(line.number - centre), line.number))[:MOST_LINES]
    return tuple(_with_gaps(sorted(nearest)))


def _rank(line: ExcerptLine) -> int:
    return list(Part).index(line.part)


def _lines(verdict: Verdict) -> Iterator[ExcerptLine]:
    if verdict.deciding is not None:
        yield from _around(verdict.deciding, Part.DECIDING)
    for finding in verdict.chain[1 : MOST_FINDINGS + 1]:
        yield from _around(finding, Part.SYMPTOM)
    for suspect in verdict.suspects[:MOST_FINDINGS]:
        yield ExcerptLine(suspect.line, suspect.text, Part.SUSPECT)
    for loser in verdict.beaten[:MOST_FINDINGS]:
        yield from _around(loser.finding, Part.BEATEN)


def _around(finding: Finding, part: Part) -> Iterator[ExcerptLine]:
    evidence = finding.evidence
    if not finding.lines:
        part = Part.CONTEXT  # what is known beside the log rests on no line of it
    for number, text in enumerate(evidence.before, evidence.line - len(evidence.before)):
        yield ExcerptLine(number, text, Part.CONTEXT)
    yield ExcerptLine(evidence.line, evidence.text, part, evidence.column)
    for number, text in enumerate(evidence.after, evidence.line + 1):
        yield ExcerptLine(number, text, Part.CONTEXT)


def _with_gaps(lines: list[ExcerptLine]) -> Iterator[ExcerptLine]:
    before = 0
    for line in lines:
        yield line._replace(missing=line.number - before - 1)
        before = line.number
