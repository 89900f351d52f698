"""`strata-diag explain`: what a person and a program read, exit codes, and errors."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import CORPUS

from strata_diag import RuleSet, diagnose
from strata_diag.cli import main
from strata_diag.cli.classify import run as classify_run

BUSY = CORPUS / "strata" / "v100-busy-engine-log.log"
HEALTHY = CORPUS / "strata" / "cpu-encoder-healthy.log"


@pytest.fixture(autouse=True)
def loaded(monkeypatch: pytest.MonkeyPatch, rules: RuleSet) -> None:
    """The rules of the session: loading them at every call would only take time."""
    monkeypatch.setattr("strata_diag.cli.explain.rules_from", lambda _: rules)


def command(*arguments: object) -> int:
    """The exit code of `explain`."""
    return main(["explain", *(str(argument) for argument in arguments)])


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    """The JSON of a call."""
    command(*arguments, "--format", "json")
    return json.loads(capsys.readouterr().out)


def test_every_candidate_is_shown_with_its_fate(capsys: pytest.CaptureFixture[str]) -> None:
    """The winner, what follows from it, what describes the run, and what does not hold; exit code as classify's."""
    assert command(BUSY) == 1
    shown = capsys.readouterr().out
    for words in (
        "18 lines, 1 run",
        "Run 1, lines 1-18, engine strata, phase encoder",
        "decides  cuda-malloc/device-busy  failure, priority 800, line 6",
        "allocation_mib = 862.34, device = 0",
        "consequence  vision-encoder/buffer-assert  symptom, priority 400, line 8",
        "follows from cuda-malloc/device-busy",
        "information  vision-encoder/model-hints",
    ):
        assert words in shown


def test_a_rule_is_shown_clause_by_clause(capsys: pytest.CaptureFixture[str]) -> None:
    """Up to where its pattern matches which line, and what does not follow."""
    assert command(BUSY, "--rule", "cuda-malloc/out-of-memory") == 1
    shown = capsys.readouterr().out
    for words in (
        "does not hold: none of its clauses under `any` holds",
        "nearest is line 6; the scan passes it over: no literal of the pattern is in it",
        "matched up to here: `allocating 862.34 MiB on device 0: cudaMalloc failed: `",
        "does not follow:    `out of memory`",
    ):
        assert words in shown
    assert "Run 1" not in shown


def test_wildcards_and_several_rules(capsys: pytest.CaptureFixture[str]) -> None:
    """Each rule asked for is told once."""
    found = answer(capsys, BUSY, "--rule", "cuda-malloc/*", "--rule", "cuda-malloc/device-busy")
    names = [one["rule"] for one in found["rules"]]
    assert len(names) == len(set(names)) > 5
    held = {one["rule"]: one["holds"] for one in found["rules"]}
    assert held["cuda-malloc/device-busy"]
    assert not held["cuda-malloc/out-of-memory"]


def test_a_line_is_shown_with_what_rules_make_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Which rules match it, what became of them, and where."""
    assert command(BUSY, "--line", 6) == 1
    shown = capsys.readouterr().out
    assert "Line 6, run 1" in shown
    assert "decides  cuda-malloc/device-busy" in shown
    assert "matches: `" in shown


def test_json_holds_the_diagnosis_of_classify(capsys: pytest.CaptureFixture[str], rules: RuleSet) -> None:
    """Schema 1, and inside the very diagnosis that classify prints."""
    found = answer(capsys, BUSY)
    assert found["schema"] == 1
    assert found["diagnosis"] == diagnose(BUSY, rules=rules).to_dict()
    assert [one["outcome"] for one in found["runs"][0]["candidates"]].count("decides") == 1


@pytest.mark.parametrize(
    ("log", "code"),
    [(BUSY, 1), (HEALTHY, 0), (b"nothing\n", 3), (b"", 3)],
    ids=["failure", "healthy", "unknown", "empty"],
)
def test_exit_codes_are_those_of_classify(
    log: Path | bytes,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rules: RuleSet,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """0, 1 and 3, whatever was asked."""
    monkeypatch.setattr("strata_diag.cli.classify.rules_from", lambda _: rules)
    path = log if isinstance(log, Path) else tmp_path / "some.log"
    if isinstance(log, bytes):
        path.write_bytes(log)
    assert command(path) == code
    assert main(["classify", str(path)]) == code
    assert classify_run.__module__ == "strata_diag.cli.classify"


def test_an_unknown_rule_is_an_error_with_the_nearest_ones(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, nothing on standard output."""
    assert command(BUSY, "--rule", "cuda-malloc/device-bussy") == 2
    shown = capsys.readouterr()
    assert "cuda-malloc/device-busy" in shown.err
    assert shown.out == ""


def test_lines_and_runs_that_are_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, with how many there are."""
    assert command(BUSY, "--line", 99) == 2
    assert "it has 18 lines" in capsys.readouterr().err
    assert command(BUSY, "--run", 2, "--rule", "cuda-malloc/*") == 2
    assert "it has 1" in capsys.readouterr().err
    assert command(BUSY.with_name("missing.log")) == 2
    with pytest.raises(SystemExit):
        command(BUSY, "--line", 0)


class Stdin:
    """Standard input that can be read once."""

    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


def test_standard_input_can_be_asked_about_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipe is kept, so that it can be read twice."""
    monkeypatch.setattr("sys.stdin", Stdin(BUSY.read_bytes()))
    found = answer(capsys, "-", "--line", 6)
    assert found["diagnosis"]["name"] == "standard input"
    assert found["lines"][0]["hits"][0]["rule"] == "cuda-malloc/device-busy"


def test_a_redacted_log_gets_the_same_explanation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No name of the log is shown, and the same rule decides."""
    path = tmp_path / "some.log"
    path.write_bytes(BUSY.read_bytes() + b"open /home/marlene/models/x.gguf\n")
    found = answer(capsys, path, "--redact", "--line", 19)
    assert "marlene" not in json.dumps(found)
    assert found["diagnosis"]["verdict"]["rule"] == "cuda-malloc/device-busy"


def test_a_hostile_log_can_not_speak_to_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever a line, a capture or a near miss holds is shown harmless."""
    path = tmp_path / "some.log"
    text = "error: \x1b]0;title\x07 cudaMalloc failed: \x9b31m \u202e\udcff out of luck [/bold]\n" * 3
    path.write_bytes(text.encode("utf-8", "surrogatepass") + b"x" * 70000 + b"\n")
    command(path, "--rule", "cuda-malloc/*", "--line", 1, "--line", 4)
    command(path)
    shown = capsys.readouterr().out
    assert not any(sign in shown for sign in ("\x1b", "\x07", "\x9b", "\u202e"))
