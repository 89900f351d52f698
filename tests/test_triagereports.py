"""A triage for other programs: nothing of a log breaks out of the format, and every log is told of once."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from strata_diag import RuleSet, diagnose
from strata_diag.render.triagereports import github_text, junit_text, sarif_text
from strata_diag.triage.records import Result, Skipped, Triage, Unreadable

FAILURE = "ggml_backend: cudaMalloc failed: out of memory \x1b[31m]]> <b> %0A::error::owned\x00"
READY = "strata serve: 405 MiB of VRAM free with everything loaded"


@pytest.fixture(scope="module")
def found(all_rules: RuleSet) -> Triage:
    """A failure, a healthy log, an unknown one, a file that could not be read, and a picture."""
    texts = {"a,b:c.log": FAILURE, "fine.log": READY, "odd log.log": "flux capacitor broken - exiting"}
    results = tuple(Result(name, diagnose(text, rules=all_rules), file=name) for name, text in texts.items())
    return Triage(results, (Unreadable("gone.log", "no such file"),), skipped=(Skipped("photo.png", "a picture"),))


def test_junit_has_one_case_a_log(found: Triage) -> None:
    """The file is XML whatever a log holds, and counts what it tells."""
    root = ET.fromstring(junit_text(found))  # noqa: S314 - our own file
    cases = {case.get("name"): [child.tag for child in case] for case in root.iter("testcase")}
    assert cases == {
        "a,b:c.log": ["failure"],
        "fine.log": [],
        "odd log.log": ["error"],
        "gone.log": ["error"],
        "photo.png": ["skipped"],
    }
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("4", "1", "2")


def test_sarif_points_at_the_deciding_line(found: Triage) -> None:
    """Each failed log is one result of a rule that the file describes, at its line."""
    run = json.loads(sarif_text(found))["runs"][0]
    first, second = run["results"]
    assert first["level"] == "error"
    assert first["locations"][0]["physicalLocation"]["region"]["startLine"] == 1
    assert first["ruleId"] in {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert second["level"] == "warning"
    assert run["invocations"][0]["executionSuccessful"] is False
    assert "gone.log" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]


def test_an_annotation_is_one_line(found: Triage) -> None:
    """No log can begin a command of its own, and names are escaped."""
    lines = github_text(found).splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("::error file=a%2Cb%3Ac.log,line=1,title=OOM / ")
    assert all(line.startswith(("::error ", "::warning ")) for line in lines)
    assert "%250A::error::owned" in lines[0]


def test_many_annotations_are_cut_and_counted(found: Triage) -> None:
    """GitHub keeps fifty annotations of a job; the rest is told in one."""
    many = found._replace(results=found.results[:1] * 60, unreadable=())
    lines = github_text(many).splitlines()
    assert len(lines) == 51
    assert "10 more logs" in lines[-1]
