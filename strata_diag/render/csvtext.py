"""A triage as CSV, one row a log, for a spreadsheet.

The columns are `COLUMNS`; what could not be read has the status NOT_READ, what holds no log SKIPPED, both with the reason. A
spreadsheet takes a cell that begins with = + - or @ for a formula, and a log may begin so: such text gets an apostrophe in
front. Control characters are made visible, so a row is one line.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from strata_diag.render.escape import visible
from strata_diag.triage import Part, Result, Unreadable

NOT_READ, SKIPPED = "NOT_READ", "SKIPPED"
COLUMNS = {
    "name": "the file, and where in it the log stood",
    "status": "of the last start in the log",
    "cause": "why",
    "title": "what happened, in one sentence",
    "rule": "that decided",
    "line": "1-based, that decides, or that should be looked at",
    "line_file": "the other file that this line stands in",
    "reason": "the line, or one sentence",
    "retry": "when trying again makes sense",
    "lasting": "whether the same command line would fail again",
    "attribution": "user, environment, engine or hardware",
    "contested": "whether another cause stands in the same start",
    "degraded": "whether the program carries on, worse than asked",
    "engine": "that wrote the log",
    "starts": "of the engine in the log",
    "lines": "of the log",
    "size_bytes": "of the log",
    "first_line": "1-based, of the log in its file",
    "beside": "logs that took part in the diagnosis",
    "notices": "what went wrong, or was left out",
}
FORMULA_SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"  # the wide forms work, too


def header() -> str:
    """The first row."""
    return _row(list(COLUMNS))


def rows(part: Part) -> str:
    """The rows of what was read together."""
    made = [_row(_cells(result)) for result in part.results]
    made += [_row(_left_out(one, NOT_READ)) for one in part.unreadable]
    made += [_row(_left_out(one, SKIPPED)) for one in part.skipped]
    return "".join(made)


def safe(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    shown = visible(text)
    return f"'{shown}" if shown.lstrip().startswith(tuple(FORMULA_SIGNS)) else shown


def _cells(result: Result) -> list[str | int]:
    found = result.diagnosis
    verdict = found.verdict
    suspect = verdict.suspects[0] if verdict.suspects and verdict.line is None else None
    notices = dict.fromkeys(notice.text for notice in (*result.notices, *found.notices))
    return [
        result.name,
        str(verdict.status),
        verdict.cause,
        verdict.title,
        verdict.rule or "",
        verdict.line or (suspect.line if suspect else ""),
        verdict.file,
        suspect.text if suspect else verdict.reason,
        verdict.retry,
        _truth(verdict.lasting),
        verdict.attribution,
        _truth(verdict.contested),
        _truth(verdict.degraded),
        found.runs[-1].engine if found.runs else "",
        len(found.runs),
        found.line_count,
        result.size_bytes,
        result.first_line,
        " | ".join(result.beside),
        " | ".join(notices),
    ]


def _left_out(one: Unreadable, status: str) -> list[str | int]:
    known = {"name": one.name, "status": status, "reason": one.error}
    return [known.get(column, "") for column in COLUMNS]


def _truth(value: bool) -> str:  # noqa: FBT001 - a cell's value
    return "true" if value else "false"


def _row(cells: Sequence[str | int]) -> str:
    made = io.StringIO()
    csv.writer(made, lineterminator="\n").writerow([safe(one) if isinstance(one, str) else one for one in cells])
    return made.getvalue()
