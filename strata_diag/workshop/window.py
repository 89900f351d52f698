"""The part of a log that gets the same answer as the whole, and what "the same answer" means.

Comes in: a log and its diagnosis. Goes out: the first and last line of the smallest window around the evidence in which the same
rules decide, follow and lose, in the same lines. Nothing is assumed about rules: each window is read anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from strata_diag.model import Diagnosis, Finding, Status

CONTEXT = 3  # lines on each side of the evidence that stay, so that a reader sees where it stood


class Window(NamedTuple):
    """Lines of a log, both counted from 1 and both inside."""

    first: int
    last: int

    @property
    def size(self) -> int:
        """How many lines it has."""
        return self.last - self.first + 1


class Essence(NamedTuple):
    """What has to stay the same: the verdict, who decides, what follows from it and what lost, each as (line, rule)."""

    status: str
    cause: str
    line: int | None
    rule: str | None
    lasting: bool
    retry: str
    contested: bool
    degraded: bool
    chain: tuple[tuple[int, str], ...]
    beaten: tuple[tuple[int, str, str], ...]
    harmless: tuple[tuple[int, str], ...]


def essence(found: Diagnosis, before: int = 0) -> Essence:
    """The essence of a diagnosis. before: how many lines stand in front of what was read."""
    verdict = found.verdict

    def places(findings: Iterable[Finding]) -> tuple[tuple[int, str], ...]:
        return tuple((finding.line + before, finding.rule) for finding in findings)

    return Essence(
        str(verdict.status), verdict.cause, verdict.line + before if verdict.line else None, verdict.rule,
        verdict.lasting, verdict.retry, verdict.contested, verdict.degraded,
        places(verdict.chain),
        tuple((one.finding.line + before, one.finding.rule, one.kind) for one in verdict.beaten),
        places(verdict.harmless),
    )  # fmt: skip


def evidence_lines(found: Diagnosis) -> list[int]:
    """The lines that the answer rests on, in order: those that decide, follow, lost, or look bad and are harmless.

    Of a healthy log it is the whole of its last run, since every line of it is proof that no rule takes it for a failure.
    """
    verdict = found.verdict
    if verdict.status is Status.PASS and found.runs:
        return [found.runs[-1].first_line, found.runs[-1].last_line]
    findings = [*verdict.chain, *(one.finding for one in verdict.beaten), *verdict.harmless]
    return sorted({finding.line for finding in findings} | ({verdict.line} if verdict.line else set()))


def smallest_window(
    count: int, needed: Iterable[int], same: Callable[[Window], bool], context: int = CONTEXT
) -> Window:
    """The smallest window of a log of `count` lines that holds all needed lines with their context and is the `same`.

    same: whether a window gets the answer of the whole log. The whole log is the last resort.
    """
    whole = Window(1, max(count, 1))
    lines = sorted(needed) or [whole.last]
    first, last = max(lines[0] - context, 1), min(lines[-1] + context, whole.last)
    window, margin = Window(first, last), max(context, 1)
    while window != whole and not same(window):
        window = Window(max(first - margin, 1), min(last + margin, whole.last))
        margin *= 2
    start = _closest(window.first, first, lambda line: same(Window(line, window.last)))
    end = _closest(window.last, last, lambda line: same(Window(start, line)))
    return Window(start, end)


def _closest(known: int, wanted: int, good: Callable[[int], bool]) -> int:
    """The place nearest to `wanted` that is good, looked for by halves between it and `known`, which is good."""
    if known == wanted or good(wanted):
        return wanted
    bad = wanted
    while abs(known - bad) > 1:
        middle = (known + bad) // 2
        if good(middle):
            known = middle
        else:
            bad = middle
    return known
