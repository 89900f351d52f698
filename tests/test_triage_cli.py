"""`strata-diag triage`: what is printed, what is written, and how it ends."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from strata_diag import RuleSet, load_rules
from strata_diag.cli import main
from strata_diag.cli import triage as verb
from strata_diag.render import csvtext
from strata_diag.render.layout import plain
from strata_diag.render.triage import triage_lines
from strata_diag.triage import Part, Triage, Unreadable, triage

OOM = (
    "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 864.05 MiB on device 0: cudaMalloc failed: out of memory\n"
)
UNKNOWN = "strata serve: flux capacitor 3 lost its phase lock - exiting\n"
RULES = ["--no-settings"]


def run(*arguments: str | Path) -> int:
    """The exit code of a call."""
    return main(["triage", *map(str, arguments), *RULES])


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder with a failure and an unknown log."""
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.log").write_text(OOM)
    (folder / "b.log").write_text(UNKNOWN)
    return folder


def test_the_text_is_grouped(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A count, the groups with a line a log, unknown ones with the line to look at, and the rule to write next."""
    assert run(logs) == 1
    told = capsys.readouterr()
    assert told.err == ""
    lines = told.out.splitlines()
    assert lines[0] == "2 logs: 1 failed, 1 unknown"
    assert lines[2].startswith("1  OOM / vram-exhausted  ")
    assert lines[3].startswith(f"   {logs}/a.log:1  ggml_backend_cuda")
    assert f"   {logs}/b.log:1  {UNKNOWN.strip()}" in lines
    assert f" --from {logs}/b.log:1" in told.out


def test_exit_codes(logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """0 nothing failed, 1 a failure, 2 something not read though the rest was, 3 unknown ones only."""
    empty = tmp_path / "empty"
    empty.mkdir()
    assert run(empty) == 0
    assert "no file there" in capsys.readouterr().out
    assert run(logs / "a.log") == 1
    assert run(logs / "b.log") == 3
    assert run(logs, logs / "missing.log") == 2
    told = capsys.readouterr().out
    assert "Could not be read (1)" in told
    assert "1 failed" in told


def test_names_can_do_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file's name with escape sequences and line feeds is shown as one harmless line in every format."""
    (tmp_path / "a\x1b[2J\n=cmd|calc!A0.log").write_text(OOM)
    for form in ("text", "json", "jsonl", "csv"):
        run(tmp_path, "--format", form)
        assert "\x1b" not in capsys.readouterr().out
    run(tmp_path)
    assert "a\\x1b[2J\\x0a=cmd" in capsys.readouterr().out


def test_json_is_one_document(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Results with their diagnoses, groups, shapes and what was not read."""
    run(logs, logs / "missing.log", "--format", "json")
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found["schema"] == 1
    assert [one["diagnosis"]["verdict"]["status"] for one in found["results"]] == ["OOM", "UNKNOWN"]
    assert [(one["cause"], one["results"]) for one in found["groups"]][:1] == [("vram-exhausted", [0])]
    assert found["shapes"][0]["examples"][0]["result"] == 1
    assert found["unreadable"][0]["name"].endswith("missing.log")
    assert found["interrupted"] is False


def test_jsonl_is_one_object_a_line(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line a log, then a summary."""
    run(logs, logs / "missing.log", "--format", "jsonl")
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["event"] for line in lines] == ["result", "result", "unreadable", "summary"]
    assert {line["schema"] for line in lines} == {1}


def test_csv_has_the_documented_columns(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A header and a row a log, with the line to look at for unknown ones."""
    run(logs, logs / "missing.log", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert list(rows[0]) == list(csvtext.COLUMNS)
    assert all(f"{column}" in verb.EXAMPLES for column in csvtext.COLUMNS)
    assert [row["status"] for row in rows] == ["OOM", "UNKNOWN", "NOT_READ"]
    assert (rows[1]["line"], rows[1]["reason"]) == ("1", UNKNOWN.strip())
    assert rows[0]["lasting"] in ("true", "false")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "  =1", "\r=1", "＝1"])
def test_csv_holds_no_formula(text: str) -> None:
    """A cell that a spreadsheet would work out begins with an apostrophe, or with what is no sign of a formula."""
    (row,) = csv.reader(io.StringIO(csvtext.rows(Part(unreadable=(Unreadable(text, "x"),)))))
    assert row[0].lstrip()[0] not in "=+-@＝"
    assert csvtext.safe("a=b") == "a=b"


def test_an_interruption_prints_what_is_done(
    logs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl+C behind the first log: its line is printed, it is said, and the exit code is 130."""

    def rows(part: Part) -> str:
        seen.append(part)
        if len(seen) == 1:
            return whole(part)
        raise KeyboardInterrupt

    seen: list[Part] = []
    whole = csvtext.rows
    monkeypatch.setattr(csvtext, "rows", rows)
    assert run(logs, "--no-join", "--jobs", "1", "--format", "csv") == 130
    told = capsys.readouterr()
    assert len(told.out.splitlines()) == 2
    assert "interrupted" in told.err


def test_reports_are_written_whole(logs: Path, tmp_path: Path) -> None:
    """Each report replaces the old file; nothing else is left in the folder."""
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "page.html").write_text("old")
    reports = {"--html": "page.html", "--junit": "report.xml", "--sarif": "report.sarif"}
    assert run(logs, *(part for option, name in reports.items() for part in (option, folder / name))) == 1
    assert sorted(path.name for path in folder.iterdir()) == sorted(reports.values())
    assert (folder / "page.html").read_text().startswith("<!doctype html>")
    assert "<testsuite" in (folder / "report.xml").read_text()
    assert json.loads((folder / "report.sarif").read_text())["version"] == "2.1.0"


def test_annotations_stand_in_place_of_the_text(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--github` prints a line for each log, which GitHub Actions shows beside it."""
    assert run(logs, "--github") == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error", "::warning"]


def test_a_report_that_cannot_be_written(logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is complained about with exit code 2, and the answer is printed all the same."""
    assert run(logs, "--html", tmp_path / "no" / "folder" / "page.html") == 2
    told = capsys.readouterr()
    assert "could not be written" in told.err
    assert "1 failed" in told.out


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """`-` is what comes through the pipe."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(OOM.encode())))
    assert run("-") == 1
    assert "   standard input:1  ggml" in capsys.readouterr().out


def test_redact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--redact` leaves no name in the answer."""
    (tmp_path / "a.log").write_text("strata serve: cannot open the moon of /home/rumpelstil/x - exiting\n")
    run(tmp_path, "--redact")
    assert "rumpelstil" not in capsys.readouterr().out


def test_a_wrong_number_of_jobs(capsys: pytest.CaptureFixture[str]) -> None:
    """A number of processes below 1 is refused."""
    with pytest.raises(SystemExit):
        run(".", "--jobs", "0")
    assert "1 or more" in capsys.readouterr().err


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_log_has_one_line_of_a_terminal(tmp_path: Path, rules: RuleSet, columns: int) -> None:
    """What is long is cut to the width, or to that of the line below where the name takes the first."""
    for name in ("a.log", "b" * 40 + ".log"):
        (tmp_path / name).write_text(OOM * 3)
    found = triage([tmp_path], load=load_rules, rules=rules, jobs=1)
    found = found._replace(results=tuple(one._replace(name=Path(one.name).name) for one in found.results))
    short, long = [line for line in triage_lines(found, columns) if ".log" in plain(line)]
    assert len(plain(short)) <= columns
    assert len(plain(long)) <= 2 * columns
    assert "ggml_backend_cuda" in plain(short)


def test_another_language(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--language zh` says titles in Chinese and leaves lines of logs as they are, in several processes as in one."""
    run(logs, "--language", "zh")
    one = capsys.readouterr().out
    run(logs, "--language", "zh", "--jobs", "2", "--no-join")
    assert capsys.readouterr().out == one
    assert "显存" in one
    assert UNKNOWN.strip() in one


def test_the_empty_triage_has_a_text() -> None:
    """Nothing to show is said."""
    assert [plain(line) for line in triage_lines(Triage(()))] == ["There is no file there."]
