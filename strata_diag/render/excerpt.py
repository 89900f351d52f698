"""The part of a log around its evidence: the lines that were kept, once each, with what each of them is.

Comes in: a result. Goes out: an excerpt for each file whose lines take part, the log itself first, with its lines in order and
how many are missing between two of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from strata_diag.model import Diagnosis, Finding
from strata_diag.triage.records import Excerpt, Result

MOST_LINES = 120  # of one file; what is farthest from any evidence is left out
MOST_FINDINGS = 20  # symptoms and other candidates that are shown where they stand
MOST_EARLIER = 5  # starts before the last one whose deciding line is shown


class Part(StrEnum):
    """What a line of an excerpt is; the first that fits, in this order."""

    DECIDING = "deciding"
    SYMPTOM = "symptom"
    SUSPECT = "suspect"
    EARLIER = "earlier"
    BEATEN = "beaten"
    CONTEXT = "context"


class ExcerptLine(NamedTuple):
    """One line. column: 1-based place from which a pattern matched; missing: lines of the log left out before it."""

    number: int
    text: str
    part: Part
    column: int = 1
    missing: int = 0


class FileExcerpt(NamedTuple):
    """The lines of one file. file: its name, empty for the log itself."""

    file: str
    lines: tuple[ExcerptLine, ...]


def excerpts(result: Result) -> tuple[FileExcerpt, ...]:
    """The lines around what decides, what it explains and what lost against it; empty where no line is known."""
    files: dict[str, dict[int, ExcerptLine]] = {"": {}}
    for file, line in (*_evidence(result.diagnosis), *_kept(result.excerpts)):
        found = files.setdefault(file, {})
        known = found.get(line.number)
        if known is None or _rank(line) < _rank(known):
            found[line.number] = line
    return tuple(FileExcerpt(file, _bounded(found)) for file, found in files.items() if found)


def _rank(line: ExcerptLine) -> int:
    return list(Part).index(line.part)


def _evidence(found: Diagnosis) -> Iterator[tuple[str, ExcerptLine]]:
    verdict = found.verdict
    if verdict.deciding is not None:
        yield from _around(verdict.deciding, Part.DECIDING)
    for finding in verdict.chain[1 : MOST_FINDINGS + 1]:
        yield from _around(finding, Part.SYMPTOM)
    for suspect in verdict.suspects[:MOST_FINDINGS]:
        yield "", ExcerptLine(suspect.line, suspect.text, Part.SUSPECT)
    for run in found.runs[-MOST_EARLIER - 1 : -1]:
        if run.verdict.deciding is not None:
            yield from _around(run.verdict.deciding, Part.EARLIER)
    for loser in verdict.beaten[:MOST_FINDINGS]:
        yield from _around(loser.finding, Part.BEATEN)


def _around(finding: Finding, part: Part) -> Iterator[tuple[str, ExcerptLine]]:
    evidence = finding.evidence
    if not finding.lines:
        part = Part.CONTEXT  # what is known beside the log rests on no line of it
    yield evidence.file, ExcerptLine(evidence.line, evidence.text, part, evidence.column)
    for number, text in enumerate(evidence.before, evidence.line - len(evidence.before)):
        yield evidence.file, ExcerptLine(number, text, Part.CONTEXT)
    for number, text in enumerate(evidence.after, evidence.line + 1):
        yield evidence.file, ExcerptLine(number, text, Part.CONTEXT)


def _kept(kept: Sequence[Excerpt]) -> Iterator[tuple[str, ExcerptLine]]:
    for excerpt in kept:
        for number, text in enumerate(excerpt.lines, excerpt.first):
            yield "", ExcerptLine(number, text, Part.CONTEXT)


def _bounded(found: dict[int, ExcerptLine]) -> tuple[ExcerptLine, ...]:
    evidence = [line.number for line in found.values() if line.part is not Part.CONTEXT] or [max(found)]

    def distance(line: ExcerptLine) -> int:
        return min(abs(line.number - number) for number in evidence)

    nearest = sorted(found.values(), key=lambda line: (distance(line), _rank(line), -line.number))[:MOST_LINES]
    return tuple(_with_gaps(sorted(nearest)))


def _with_gaps(lines: list[ExcerptLine]) -> Iterator[ExcerptLine]:
    before = 0
    for line in lines:
        yield line._replace(missing=line.number - before - 1)
        before = line.number
