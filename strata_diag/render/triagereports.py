"""A triage for other programs: JUnit's XML, SARIF, and annotations of GitHub Actions."""

from __future__ import annotations

import json
from typing import Any

from strata_diag.model import Status
from strata_diag.render import github, junit, sarif
from strata_diag.render.layout import RETRY_WORDS
from strata_diag.triage.records import Result, Triage

LEVELS = {Status.PASS: "none", Status.UNKNOWN: "warning"}  # of SARIF; every other status is an error
MOST_ANNOTATIONS = 50  # GitHub shows some ten of a step, and keeps fifty of a job


def junit_text(found: Triage) -> str:
    """One test case a log: a failure of its cause, an error where it is unknown or can't be read."""
    import xml.etree.ElementTree as ET  # noqa: PLC0415 - only this format writes XML

    failed = [one for one in found.results if one.diagnosis.verdict.status not in (Status.PASS, Status.UNKNOWN)]
    unknown = [one for one in found.results if one.diagnosis.verdict.status is Status.UNKNOWN]
    counts = {
        "tests": str(len(found.results) + len(found.unreadable)),
        "failures": str(len(failed)),
        "errors": str(len(unknown) + len(found.unreadable)),
        "skipped": str(len(found.skipped)),
    }
    root = ET.Element("testsuites", counts)
    suite = ET.SubElement(root, "testsuite", {"name": "strata-diag triage", **counts})
    for result in found.results:
        verdict = result.diagnosis.verdict
        case = ET.SubElement(suite, "testcase", {"classname": verdict.cause, "name": junit.xml_text(result.name)})
        if verdict.status is Status.PASS:
            continue
        kind = "error" if verdict.status is Status.UNKNOWN else "failure"
        said = {"type": f"{verdict.status}/{verdict.cause}", "message": junit.xml_text(verdict.reason)}
        ET.SubElement(case, kind, said).text = junit.xml_lines(_explanation(result))
    for unread in found.unreadable:
        case = ET.SubElement(suite, "testcase", {"classname": "unreadable", "name": junit.xml_text(unread.name)})
        ET.SubElement(case, "error", {"type": "unreadable", "message": junit.xml_text(unread.error)})
    for skipped in found.skipped:
        case = ET.SubElement(suite, "testcase", {"classname": "no log", "name": junit.xml_text(skipped.name)})
        ET.SubElement(case, "skipped", {"message": junit.xml_text(skipped.error)})
    return junit.xml_document(root)


def sarif_text(found: Triage) -> str:
    """A SARIF log: one result a failed or unknown log, at its deciding line; what can't be read is a notification."""
    causes: dict[str, dict[str, Any]] = {}
    results = []
    for one in found.results:
        verdict = one.diagnosis.verdict
        if verdict.status is Status.PASS:
            continue
        name = verdict.rule or verdict.cause
        title = verdict.deciding.title if verdict.deciding else verdict.cause
        causes.setdefault(
            name, {"id": name, "shortDescription": {"text": title}, "properties": {"tags": [verdict.cause]}}
        )
        results.append({
            "ruleId": name,
            "level": LEVELS.get(verdict.status, "error"),
            "message": {"text": verdict.reason},
            "locations": [sarif.location(_file(one), _line_in_file(one))],
            "properties": {"status": str(verdict.status), "cause": verdict.cause, "log": one.name},
        })  # fmt: skip
    unread = [
        {"level": "error", "message": {"text": f"{one.name}: {one.error}"}, "locations": [sarif.location(one.name)]}
        for one in found.unreadable
    ]
    invocation = {"executionSuccessful": not (unread or found.interrupted), "toolExecutionNotifications": unread}
    return (
        json.dumps(
            sarif.sarif_log("strata-diag", list(causes.values()), results, invocations=[invocation]),
            indent=2,
            ensure_ascii=False,
        )
        + "\n"
    )


def github_text(found: Triage) -> str:
    """Annotations, a line each: errors for failures, warnings for what is unknown, notices for what can't be read."""
    lines = []
    for one in found.results:
        verdict = one.diagnosis.verdict
        if verdict.status is Status.PASS:
            continue
        level = github.WARNING if verdict.status is Status.UNKNOWN else github.ERROR
        title = f"{verdict.status} / {verdict.cause}"
        message = "\n".join(_explanation(one))
        lines.append(github.annotation(level, message, file=_file(one), line=_line_in_file(one), title=title))
    lines += [github.annotation(github.ERROR, one.error, file=one.name, title="unreadable") for one in found.unreadable]
    left_out = len(lines) - MOST_ANNOTATIONS
    if left_out > 0:
        more = github.annotation(
            github.NOTICE, f"{left_out} more logs have failed", file="", title="strata-diag triage"
        )
        lines[MOST_ANNOTATIONS:] = [more]
    return "".join(f"{line}\n" for line in lines)


def _explanation(result: Result) -> list[str]:
    """What a person is told of a failed log: the reason, the line, the first steps."""
    diagnosis, verdict = result.diagnosis, result.diagnosis.verdict
    said = [verdict.reason]
    said += [f"line {verdict.line}: {verdict.deciding.evidence.text}"] if verdict.deciding and verdict.line else []
    said += [f"look at line {one.line}: {one.text}" for one in verdict.suspects[:1]]
    said += [f"{number}. {step.text}" for number, step in enumerate(diagnosis.remedies[:3], 1)]
    return [*said, f"try again? {RETRY_WORDS.get(verdict.retry, verdict.retry)}"]


def _file(result: Result) -> str:
    return result.file or result.name


def _line_in_file(result: Result) -> int:
    """The deciding line in the file itself; 0 where the log stands in an archive, or no line decides."""
    verdict = result.diagnosis.verdict
    if result.file and result.name != result.file and result.first_line == 1:
        return 0
    line = verdict.line if verdict.line and not verdict.file else (verdict.suspects[0].line if verdict.suspects else 0)
    return line + result.first_line - 1 if line else 0
