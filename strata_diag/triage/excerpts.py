"""The lines of a log around its evidence, read in a second pass that ends behind the last of them.

Comes in: a diagnosis, and the log once more. Goes out: excerpts, in order of lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from strata_diag.linetext import redraws
from strata_diag.model import Diagnosis, Verdict
from strata_diag.text import Reader
from strata_diag.triage.records import Excerpt

BEFORE, AFTER = 12, 6  # lines around a line of evidence
MOST_EXCERPTS = 8  # of one log: lines of evidence that are shown with their neighbours


def wanted_lines(found: Diagnosis) -> list[int]:
    """The lines of evidence to show, at most MOST_EXCERPTS: the verdict's first, then those of earlier runs."""
    lines = [line for run in reversed(found.runs) for line in _lines_of(run.verdict)]
    wanted = [*_lines_of(found.verdict), *lines]
    return sorted(list(dict.fromkeys(line for line in wanted if line > 0))[:MOST_EXCERPTS])


def _lines_of(verdict: Verdict) -> Iterator[int]:
    for finding in (*([verdict.deciding] if verdict.deciding else []), *verdict.chain):
        if not finding.evidence.file and finding.lines:
            yield finding.line
    for suspect in verdict.suspects:
        yield suspect.line


def excerpts_of(found: Diagnosis, chunks: Iterable[bytes]) -> tuple[Excerpt, ...]:
    """The excerpts of a log. chunks: its bytes from the beginning; no more are asked for than are needed."""
    spans = _spans(wanted_lines(found))
    if not spans:
        return ()
    lines: dict[int, str] = {}
    for window in Reader(iter(chunks)):
        block = window.block
        if block.last_line >= spans[0][0]:
            lines |= _lines_in(block.clean, block.first_line, spans)
        if block.last_line >= spans[-1][1]:
            break
    made = (
        Excerpt(first, tuple(lines[number] for number in range(first, last + 1) if number in lines))
        for first, last in spans
    )
    return tuple(one for one in made if one.lines)


def _spans(wanted: list[int]) -> list[tuple[int, int]]:
    """(first, last) of the lines to show, where two that touch are one."""
    spans: list[tuple[int, int]] = []
    for line in wanted:
        first, last = max(line - BEFORE, 1), line + AFTER
        if spans and first <= spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], last)
        else:
            spans.append((first, last))
    return spans


def _lines_in(shown: bytes, first_line: int, spans: list[tuple[int, int]]) -> dict[int, str]:
    lines = shown.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return {
        number: redraws(lines[number - first_line])[0]
        for first, last in spans
        for number in range(max(first, first_line), min(last, first_line + len(lines) - 1) + 1)
    }
