"""The starts of an engine in one log as a picture: inline SVG, one bar a start, as wide as its share of the lines.

Lengths are per cent of the width, so that the picture fits a phone without shrinking its words. Colours come from the page's
style sheet by class; each bar says in words what its colour means.
"""

from __future__ import annotations

from strata_diag.model import Diagnosis, RunDiagnosis
from strata_diag.render.htmltext import text, tone, verdict_word
from strata_diag.render.layout import Translate

MOST_BARS = 120  # starts in one picture; of more the last ones are drawn
NARROWEST_BAR = 0.5  # per cent of the width: a start of one line among a million can still be seen
NARROWEST_NAMED = 12.0  # per cent of the width that a bar needs for a word of its own
BAR_TOP, BAR_HEIGHT, HEIGHT = 14, 30, 62  # pixels

TEXTS = {
    "picture": "The starts in this log",
    "drawn": "{shown} of {count} starts, one bar each, as wide as its share of lines {first} to {last}",
    "start": "Start {number}, lines {first} to {last}: {verdict}",
    "reached": "; it reached {phase}",
    "decides": "; line {line} decides",
}


def picture(found: Diagnosis, name: str, translate: Translate) -> str:
    """The picture as one SVG element. name: the prefix of its ids, unique on the page. Empty for a log without a start."""
    runs = found.runs[-MOST_BARS:]
    if not runs or found.line_count < 1:
        return ""
    first, last = runs[0].first_line, max(found.line_count, runs[-1].last_line)
    drawn = translate(TEXTS["drawn"].format(shown=len(runs), count=len(found.runs), first=first, last=last))
    scale = _Scale(first, last)
    skipped = len(found.runs) - len(runs)
    return "".join(
        (
            f'<svg class="timeline" role="img" aria-labelledby="{name}-title" aria-describedby="{name}-desc"',
            f' width="100%" height="{HEIGHT}">',
            f'<title id="{name}-title">{text(translate(TEXTS["picture"]))}</title>',
            f'<desc id="{name}-desc">{text(drawn)}</desc>',
            f'<rect class="track" x="0" y="{BAR_TOP}" width="100%" height="{BAR_HEIGHT}"/>',
            *(_bar(run, number, scale, translate) for number, run in enumerate(runs, skipped + 1)),
            *(_tick(run, scale) for run in runs if run.verdict.line),
            f'<text class="scale" x="0" y="{HEIGHT - 4}">{first}</text>',
            f'<text class="scale end" x="100%" y="{HEIGHT - 4}">{last}</text>',
            "</svg>",
        )
    )


def start_text(run: RunDiagnosis, number: int, translate: Translate) -> str:
    """What became of one start, in a sentence that still has to be escaped. number: of the start in its log, from 1."""
    said = translate(
        TEXTS["start"].format(
            number=number, first=run.first_line, last=run.last_line, verdict=verdict_word(run.verdict)
        )
    )
    if run.phase:
        said += translate(TEXTS["reached"].format(phase=run.phase))
    if run.verdict.line:
        said += translate(TEXTS["decides"].format(line=run.verdict.line))
    return said


class _Scale:
    """From line numbers to per cent of the width. first, last: the lines at its ends."""

    def __init__(self, first: int, last: int) -> None:
        self._first = first
        self._lines = max(last - first + 1, 1)

    def place(self, line: int) -> float:
        return min(max(line - self._first, 0) / self._lines * 100, 100 - NARROWEST_BAR)

    def width(self, run: RunDiagnosis) -> float:
        share = (run.last_line - run.first_line + 1) / self._lines * 100
        return min(max(share, NARROWEST_BAR), 100 - self.place(run.first_line))


def _bar(run: RunDiagnosis, number: int, scale: _Scale, translate: Translate) -> str:
    width = scale.width(run)
    word = ""
    if width >= NARROWEST_NAMED:
        phase = f' <tspan class="phase">{text(run.phase)}</tspan>' if run.phase else ""
        word = f'<text x="6" y="{BAR_HEIGHT // 2 + 4}">{text(run.verdict.status)}{phase}</text>'
    return (
        f'<svg x="{scale.place(run.first_line):.3f}%" y="{BAR_TOP}" width="{width:.3f}%" height="{BAR_HEIGHT}">'
        f"<title>{text(start_text(run, number, translate))}</title>"
        f'<rect class="bar {tone(run.verdict.status)}" width="100%" height="100%"/>{word}</svg>'
    )


def _tick(run: RunDiagnosis, scale: _Scale) -> str:
    """A mark above the bar at the deciding line."""
    place = f"{scale.place(run.verdict.line or run.first_line):.3f}%"
    return f'<line class="tick" x1="{place}" x2="{place}" y1="2" y2="{BAR_TOP + BAR_HEIGHT}"/>'
