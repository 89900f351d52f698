"""The text of `strata-diag watch` while it goes on: one line for each new verdict, and what happened to the file."""

from __future__ import annotations

from collections.abc import Iterator

from strata_diag.model import Diagnosis, Status
from strata_diag.render.escape import visible
from strata_diag.render.layout import FAILURE_STYLE, STYLES, Line, Span, Translate, unchanged

LONGEST_REASON = 200  # characters


def news_lines(found: Diagnosis, when: str, translate: Translate = unchanged, *, corrects: bool) -> Iterator[Line]:
    """A new verdict. when: the time of day; corrects: whether it takes the place of one that was shown."""
    verdict = found.verdict
    word = str(verdict.status) if verdict.status in STYLES else f"{verdict.status} / {verdict.cause}"
    undecided = verdict.status is Status.UNKNOWN and corrects
    title = translate("nothing decides any more") if undecided else verdict.title
    now = f"{translate('now')} " if corrects else ""
    spans = [Span(f"{when}  ", "dim"), Span(now), Span(word, _style(verdict.status))]
    yield Line((*spans, Span(f"  {visible(title)}", "bold")), len(when) + 2)
    if verdict.status is Status.UNKNOWN:
        return
    where = f"{translate(f'line {verdict.line}')}: " if verdict.line else ""
    reason = visible(verdict.reason)
    shown = reason if len(reason) <= LONGEST_REASON else reason[: LONGEST_REASON - 1] + "…"
    yield Line((Span(" " * (len(when) + 2)), Span(where, "dim"), Span(shown)), len(when) + 2)


def notice_line(text: str, when: str) -> Line:
    """What happened to the file."""
    return Line((Span(f"{when}  ", "dim"), Span(visible(text), "yellow")), len(when) + 2)


def _style(status: Status) -> str:
    return STYLES.get(status, FAILURE_STYLE)
