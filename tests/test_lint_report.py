"""What lint prints: text, JSON, GitHub's annotations and SARIF, harmless whatever a pack holds."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from strata_diag.render.layout import plain
from strata_diag.workshop.lint.report import github_text, json_text, sarif_text, text_lines
from strata_diag.workshop.lint.runner import Report
from strata_diag.workshop.lint.violations import Fix, Violation

EVIL = "it is 100%, done::error\n\x1b[2J\u202e"
ERROR_ONE = Violation("packs/a,b.yaml", 4, 7, "SD103", f"unknown key {EVIL}", "mend it", fix=Fix(1, 2, "x"))
WARNING_ONE = Violation("packs/c.yaml", 9, 3, "SD205", "rests on one word", "add the others", "c/killed")
WHOLE_FILE = Violation("packs/d.yml", 0, 0, "SD108", "ends in .yml", "rename it")
NOTE_ONE = Violation("packs/c.yaml", 9, 3, "SD303", "is never tested", "add a log", "c/killed")
REPORT = Report((ERROR_ONE, WARNING_ONE, WHOLE_FILE, NOTE_ONE), (WARNING_ONE,), ("no corpus",), ("packs/c.yaml",))
CLEAN = Report((), (), (), ("packs/c.yaml", "packs/d.yaml"))


def shown(report: Report, *, notes: bool = False) -> list[str]:
    """The lines of the text."""
    return [plain(line) for line in text_lines(report, notes=notes)]


def test_text_names_place_severity_code_and_advice() -> None:
    """One entry a violation, the counts last; control codes of a pack stay visible text."""
    lines = shown(REPORT)
    assert lines[0].startswith("packs/a,b.yaml:4:7: error SD103 (unknown-key): unknown key it is 100%")
    assert "\x1b" not in "".join(lines)
    assert "\\x1b[2J\\u202e" in lines[0]
    assert lines[1:3] == ["  mend it", "packs/c.yaml:9:3: warning SD205 (bare-word): rests on one word"]
    assert lines[4] == "packs/d.yml: error SD108 (wrong-file-name): ends in .yml"
    assert lines[-2] == "note: no corpus"
    assert lines[-1] == "1 file: 2 errors, 1 warning, 1 note (--notes shows the notes); 1 finding switched off"


def test_notes_are_shown_when_asked_for() -> None:
    """A note informs and never fails a run."""
    assert not [line for line in shown(REPORT) if "SD303" in line]
    assert [line for line in shown(REPORT, notes=True) if "note SD303 (silence-proves-nothing)" in line]
    assert Report((NOTE_ONE,), (), (), ()).failing == ()


def test_text_of_clean_packs_says_so() -> None:
    """Silence would leave open whether anything was looked at."""
    assert shown(CLEAN) == ["2 files: nothing to mend"]


def test_json_has_everything_in_plain_types() -> None:
    """Every violation with code, name, severity, page and place; what was switched off apart."""
    content = json.loads(json_text(REPORT))
    assert (content["schema"], content["clean"], content["notices"]) == (1, False, ["no corpus"])
    assert [one["code"] for one in content["violations"]] == ["SD103", "SD205", "SD108", "SD303"]
    assert content["violations"][1] == {
        "code": "SD205",
        "name": "bare-word",
        "severity": "warning",
        "page": "docs/lint/SD205.md",
        "file": "packs/c.yaml",
        "line": 9,
        "column": 3,
        "rule": "c/killed",
        "what": "rests on one word",
        "advice": "add the others",
        "fixable": False,
    }
    assert content["violations"][0]["fixable"] is True
    assert len(content["switched_off"]) == 1
    assert json.loads(json_text(CLEAN))["clean"] is True


def test_annotations_are_one_line_each_and_escaped() -> None:
    """A pack can't forge a command of GitHub's; notes are left out."""
    lines = github_text(REPORT).splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("::error file=packs/a%2Cb.yaml,line=4,col=7,title=SD103 unknown-key::")
    assert "100%25" in lines[0]
    assert (
        lines[1] == "::warning file=packs/c.yaml,line=9,col=3,title=SD205 bare-word::rests on one word; add the others"
    )
    assert lines[2].startswith("::error file=packs/d.yml,title=")
    assert github_text(CLEAN) == ""


def sarif(report: Report) -> dict[str, Any]:
    """The run of a SARIF log."""
    content = json.loads(sarif_text(report))
    assert content["version"] == "2.1.0"
    (run,) = content["runs"]
    assert isinstance(run, dict)
    return run


def test_sarif_has_rules_results_and_suppressions() -> None:
    """Each result points at its rule by number; a switched-off one is suppressed; levels are SARIF's own."""
    run = sarif(REPORT)
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == ["SD103", "SD108", "SD205", "SD303"]
    assert all(rules[one["ruleIndex"]] == one["ruleId"] for one in run["results"])
    assert [one["level"] for one in run["results"]] == ["error", "warning", "error", "note", "warning"]
    assert [one.get("suppressions") for one in run["results"]] == [None] * 4 + [[{"kind": "inSource"}]]
    first = run["results"][0]["locations"][0]["physicalLocation"]
    assert first == {"artifactLocation": {"uri": "packs/a%2Cb.yaml"}, "region": {"startLine": 4, "startColumn": 7}}
    assert "region" not in run["results"][2]["locations"][0]["physicalLocation"]
    assert sarif(CLEAN)["results"] == []


def test_addresses_of_files_elsewhere_are_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file below the working directory is named from there, another one with its whole path."""
    inside, outside = tmp_path / "in side", tmp_path / "out"
    inside.mkdir()
    monkeypatch.chdir(inside)
    violations = tuple(WARNING_ONE._replace(file=str(folder / "c.yaml")) for folder in (inside, outside))
    uris = [
        one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for one in sarif(Report(violations, (), (), ()))["results"]
    ]
    assert uris == ["c.yaml", (outside / "c.yaml").as_uri()]
    assert os.sep not in uris[0]
