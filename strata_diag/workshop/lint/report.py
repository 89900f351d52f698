"""What lint found, for a person, a program and a CI: text, JSON, GitHub's annotations, SARIF 2.1.0."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from strata_diag.render.addresses import relative
from strata_diag.render.escape import visible
from strata_diag.render.github import annotation
from strata_diag.render.layout import Line, Span
from strata_diag.render.sarif import location, sarif_log
from strata_diag.workshop.lint.codes import CODES, ERROR, NOTE, SEVERITIES, WARNING
from strata_diag.workshop.lint.runner import Report
from strata_diag.workshop.lint.violations import Violation

REPORT_SCHEMA = 1
STYLES = {ERROR: "bold red", WARNING: "yellow", NOTE: "dim"}
GITHUB_LEVELS = {ERROR: "error", WARNING: "warning", NOTE: "notice"}


def place(one: Violation) -> str:
    """`file:line:column`, as far as each is known."""
    return ":".join([relative(one.file), *(str(number) for number in (one.line, one.column) if number)])


def text_lines(report: Report, *, notes: bool) -> Iterator[Line]:
    """One entry a violation, then what was not looked at, and the counts. notes: with those that only inform."""
    for one in report.violations:
        if notes or one.severity != NOTE:
            head = f"{visible(place(one))}: "
            label = f"{one.severity} {one.code} ({CODES[one.code].name})"
            yield Line((Span(head, "bold"), Span(label, STYLES[one.severity]), Span(f": {visible(one.what)}")), 2)
            yield Line((Span(f"  {visible(one.advice)}", "dim"),), 2)
    for notice in report.notices:
        yield Line((Span(f"note: {visible(notice)}", "yellow"),), 2)
    yield Line((Span(summary(report, notes=notes), "bold red" if report.failing else "bold green"),))


def summary(report: Report, *, notes: bool) -> str:
    """The counts in one sentence."""
    counts = Counter(one.severity for one in report.violations)
    parts = [_count(counts[severity], severity) for severity in SEVERITIES if counts[severity]]
    shown = ", ".join(parts) or "nothing to mend"
    if counts[NOTE] and not notes:
        shown += " (--notes shows the notes)"
    hidden = f"; {_count(len(report.hidden), 'finding')} switched off" if report.hidden else ""
    return f"{_count(len(report.files), 'file')}: {shown}{hidden}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def json_text(report: Report) -> str:
    """The report as JSON."""
    content = {
        "schema": REPORT_SCHEMA,
        "clean": not report.failing,
        "files": [relative(file) for file in report.files],
        "violations": [_plain(one) for one in report.violations],
        "switched_off": [_plain(one) for one in report.hidden],
        "notices": list(report.notices),
    }
    return json.dumps(content, indent=2) + "\n"


def _plain(one: Violation) -> dict[str, Any]:
    code = CODES[one.code]
    named = {"code": one.code, "name": code.name, "severity": code.severity, "page": code.page}
    where = {"file": relative(one.file), "line": one.line, "column": one.column, "rule": one.rule or None}
    return {**named, **where, "what": one.what, "advice": one.advice, "fixable": one.fix is not None}


def github_text(report: Report) -> str:
    """One annotation a violation, as GitHub reads them from standard output; notes are left out, since it shows only ten."""
    return "".join(f"{_annotation(one)}\n" for one in report.failing)


def _annotation(one: Violation) -> str:
    title = f"{one.code} {CODES[one.code].name}"
    level = GITHUB_LEVELS[one.severity]
    return annotation(level, f"{one.what}; {one.advice}", file=one.file, line=one.line, column=one.column, title=title)


def sarif_text(report: Report) -> str:
    """The report as SARIF 2.1.0, for code scanning; what was switched off is there, marked as suppressed."""
    used = sorted({one.code for one in (*report.violations, *report.hidden)})
    results = [_result(one, used) for one in report.violations]
    results += [{**_result(one, used), "suppressions": [{"kind": "inSource"}]} for one in report.hidden]
    rules = [
        {
            "id": code,
            "name": CODES[code].name,
            "help": {"text": f"{CODES[code].page} says what it is, why it matters and how to switch it off"},
            "defaultConfiguration": {"level": CODES[code].severity},
        }
        for code in used
    ]
    return json.dumps(sarif_log("strata-diag rules lint", rules, results), indent=2) + "\n"


def _result(one: Violation, used: list[str]) -> dict[str, Any]:
    return {
        "ruleId": one.code,
        "ruleIndex": used.index(one.code),
        "level": one.severity,
        "message": {"text": f"{visible(one.what)}; {visible(one.advice)}"},
        "locations": [location(one.file, one.line, one.column if one.line else 0)],
    }
