"""The answer of `rules test` for a person, a program and a CI: text, JSON, JUnit's XML, GitHub's annotations."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from strata_diag.errors import Problem
from strata_diag.render.addresses import relative
from strata_diag.render.escape import visible
from strata_diag.render.github import annotation
from strata_diag.render.junit import xml_document, xml_lines, xml_text
from strata_diag.render.layout import Line, Span
from strata_diag.workshop.checking import ClauseUse, Fault, Outcome, Report

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

REPORT_SCHEMA = 1
LONGEST_QUOTE = 400  # characters of an expectation in text and annotations


def place(file: str, line: int) -> str:
    """`file:line`, or the file alone where the whole of it is meant."""
    return f"{relative(file)}:{line}" if line else relative(file)


def quote(text: str) -> str:
    """A piece of a log or pattern as one harmless line of bounded length."""
    shown = visible(text)
    return shown if len(shown) <= LONGEST_QUOTE else shown[: LONGEST_QUOTE - 1] + "…"


def text_lines(report: Report, *, all_clauses: bool = False) -> Iterator[Line]:
    """What differs, what nothing exercises, and the counts. all_clauses: with every clause and what exercises it."""
    for outcome in report.failed:
        for fault in outcome.faults:
            yield from _fault_lines(outcome, fault)
    for outcome in report.outcomes:
        for note in outcome.notes:
            yield Line((Span(f"{quote(outcome.subject)}: {note}", "yellow"),), 2)
    shown = report.clauses if all_clauses else report.unexercised
    if shown:
        yield Line(())
        what = "Clauses, and what exercises them" if all_clauses else "Clauses that no sample and no log exercises"
        yield Line((Span(what, "bold"),))
    for use in shown:
        yield from _use_lines(use, report, counted=all_clauses)
    if report.outcomes:
        yield Line(())
    for path in report.blessed:
        yield Line((Span(f"snapshot written: {quote(relative(path))}"),), 2)
    yield from _counts(report)


def _fault_lines(outcome: Outcome, fault: Fault) -> Iterator[Line]:
    head = f"{quote(place(fault.file, fault.line))}: "
    yield Line((Span(head, "bold"), Span(f"{quote(outcome.subject)}: {quote(fault.what)}", "red")), 2)
    if fault.expected:
        yield Line((Span("  expected  ", "dim"), Span(quote(fault.expected), "green")), 12)
    if fault.got:
        yield Line((Span("  got       ", "dim"), Span(quote(fault.got), "yellow")), 12)


def _use_lines(use: ClauseUse, report: Report, *, counted: bool) -> Iterator[Line]:
    yield Line(
        (
            Span(f"  {quote(place(use.file, use.line))}: {quote(use.rule)} ({use.group}) "),
            Span(quote(use.pattern), "cyan"),
        ),
        4,
    )
    if counted:
        logs = f", {_count(use.logs, 'log')}" if report.with_corpus else ""
        yield Line((Span(f"    {_count(use.samples, 'sample')}{logs}", "dim"),), 4)


def _counts(report: Report) -> Iterator[Line]:
    for kind, held in (("rule", "its samples say"), ("log", "its label says")):
        of_kind = [outcome for outcome in report.outcomes if outcome.kind == kind]
        failed = sum(bool(outcome.faults) for outcome in of_kind)
        if of_kind:
            words = f"{failed} not as {held}" if failed else f"each as {held}"
            yield Line((Span(f"{_count(len(of_kind), kind)}: {words}", "bold red" if failed else "bold green"),))
    total = len(report.clauses)
    if total:
        sampled = sum(bool(use.samples) for use in report.clauses)
        logged = sum(bool(use.logs) for use in report.clauses)
        corpus = f", {logged} by the corpus" if report.with_corpus else ""
        yield Line((Span(f"{_count(total, 'clause')}: {sampled} exercised by samples{corpus}"),))


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def json_text(report: Report, problems: Iterable[Problem] = ()) -> str:
    """The report as JSON; `problems` are those for which the packs could not be loaded at all."""
    content: dict[str, Any] = {
        "schema": REPORT_SCHEMA,
        "passed": not report.failed and not list(problems),
        "problems": [problem._asdict() for problem in problems],
        "outcomes": [
            {**outcome._asdict(), "faults": [fault._asdict() for fault in outcome.faults], "notes": list(outcome.notes)}
            for outcome in report.outcomes
        ],
        "clauses": [use._asdict() for use in report.clauses],
        "blessed": list(report.blessed),
    }
    return json.dumps(content, indent=2) + "\n"


def github_text(report: Report, problems: Iterable[Problem] = ()) -> str:
    """One annotation a fault or problem, as GitHub reads them from standard output."""
    lines = [
        annotation(
            "error",
            f"{problem.what}; {problem.advice}",
            file=problem.file,
            line=problem.line,
            title="broken pack",
        )
        for problem in problems
    ]
    for outcome in report.failed:
        for fault in outcome.faults:
            said = [
                fault.what,
                *(
                    f"{word}: {quote(text)}"
                    for word, text in (("expected", fault.expected), ("got", fault.got))
                    if text
                ),
            ]
            lines.append(annotation("error", "\n".join(said), file=fault.file, line=fault.line, title=outcome.subject))
    lines += [
        annotation(
            "warning",
            f"no sample and no log exercises {quote(use.pattern)}",
            file=use.file,
            line=use.line,
            title=use.rule,
        )
        for use in report.unexercised
    ]
    return "".join(line + "\n" for line in lines)


def junit_text(report: Report, problems: Iterable[Problem] = ()) -> str:
    """The report as JUnit's XML: a suite for rules and one for logs."""
    import xml.etree.ElementTree as ET  # noqa: PLC0415 - only this format writes XML

    broken = list(problems)
    root = ET.Element("testsuites", name="strata-diag rules test")
    if broken:
        count = str(len(broken))
        suite = ET.SubElement(root, "testsuite", name="packs", tests=count, failures="0", errors=count)
        for problem in broken:
            case = ET.SubElement(suite, "testcase", classname="packs", name=xml_text(place(problem.file, problem.line)))
            ET.SubElement(case, "error", message=xml_text(problem.what)).text = xml_text(problem.advice)
    for kind, name in (("rule", "samples"), ("log", "corpus")):
        of_kind = [outcome for outcome in report.outcomes if outcome.kind == kind]
        if of_kind:
            failures = sum(bool(outcome.faults) for outcome in of_kind)
            counts = {"tests": str(len(of_kind)), "failures": str(failures), "errors": "0"}
            suite = ET.SubElement(root, "testsuite", {"name": name, **counts})
            for outcome in of_kind:
                _junit_case(suite, name, outcome)
    return xml_document(root)


def _junit_case(suite: Element, name: str, outcome: Outcome) -> None:
    import xml.etree.ElementTree as ET  # noqa: PLC0415

    case = ET.SubElement(suite, "testcase", classname=name, name=xml_text(outcome.subject))
    case.set("file", xml_text(relative(outcome.file)))
    case.set("line", str(outcome.line))
    for fault in outcome.faults:
        failure = ET.SubElement(case, "failure", message=xml_text(fault.what))
        said = [place(fault.file, fault.line)]
        said += [f"{word}: {text}" for word, text in (("expected", fault.expected), ("got", fault.got)) if text]
        failure.text = xml_lines(said)
