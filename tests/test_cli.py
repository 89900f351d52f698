"""The command line: exit codes, formats, errors for people, and hostile logs on a terminal."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CORPUS

from strata_diag.cli import main

BUSY = CORPUS / "strata" / "v100-busy-engine-log.log"
HEALTHY = CORPUS / "strata" / "cpu-encoder-healthy.log"
WITHOUT_PLUGINS = ["--no-plugin", "*"]


def classify(*arguments: object) -> int:
    """The exit code of `classify` without whatever plugins this machine has."""
    return main(["classify", *WITHOUT_PLUGINS, *(str(argument) for argument in arguments)])


def command(
    *arguments: object, stdin: bytes = b"", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """The command in a process of its own."""
    words = [sys.executable, "-m", "strata_diag", *(str(argument) for argument in arguments)]
    return subprocess.run(words, input=stdin, capture_output=True, check=False, env={**os.environ, **(env or {})})


def test_a_failure_is_exit_code_one(capsys: pytest.CaptureFixture[str]) -> None:
    """A person reads status, cause, line, chain, harmless lines, steps and whether to try again."""
    assert classify(BUSY) == 1
    shown = capsys.readouterr().out
    for words in (
        "CUDA_UNAVAILABLE / device-busy",
        "Deciding line",
        ">      6 |",
        "line 7:",
        "line 8:",
        "  1. ",
        "Try again?",
    ):
        assert words in shown


def test_a_healthy_log_is_exit_code_zero(capsys: pytest.CaptureFixture[str]) -> None:
    """PASS says what proves it and gives no advice."""
    assert classify(HEALTHY) == 0
    shown = capsys.readouterr().out
    assert "PASS" in shown
    assert "What to do" not in shown


def test_unknown_is_exit_code_three_and_shows_where_to_look(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown end shows the line that looks most like an error, with its number."""
    log = tmp_path / "odd.log"
    log.write_text("all fine\nwidget alignment violated: refusing to go on\n", "utf-8")
    assert classify(log) == 3
    assert "2 | widget alignment violated" in capsys.readouterr().out


def test_json_is_one_object_for_one_log(capsys: pytest.CaptureFixture[str]) -> None:
    """A program reads schema, verdict, runs, remedies and notices."""
    assert classify("--format", "json", BUSY) == 1
    content = json.loads(capsys.readouterr().out)
    assert content["schema"] == 1
    assert content["verdict"]["cause"] == "device-busy"
    assert {"runs", "remedies", "notices"} <= content.keys()


def test_several_files_get_a_diagnosis_each_and_a_summary(capsys: pytest.CaptureFixture[str]) -> None:
    """With several files the worst decides the exit code, and a summary lists them."""
    assert classify(HEALTHY, BUSY) == 1
    shown = capsys.readouterr().out
    assert "2 logs:" in shown
    assert shown.count("cpu-encoder-healthy.log") == 2


def test_json_of_several_files_is_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    """Several logs are one JSON list, or with jsonl one line each."""
    classify("--format", "json", HEALTHY, BUSY)
    assert [one["verdict"]["status"] for one in json.loads(capsys.readouterr().out)] == ["PASS", "CUDA_UNAVAILABLE"]
    classify("--format", "jsonl", HEALTHY, BUSY)
    assert len([json.loads(line) for line in capsys.readouterr().out.splitlines()]) == 2


def test_an_unreadable_file_is_reported_and_the_rest_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One missing file is exit code 2, with the path and what to do; the other log is still diagnosed."""
    assert classify(tmp_path / "missing.log", HEALTHY) == 2
    shown = capsys.readouterr()
    assert "missing.log: there is no such file; check the path" in shown.err
    assert "PASS" in shown.out


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
def test_a_forbidden_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that may not be read is exit code 2 and no traceback."""
    log = tmp_path / "secret.log"
    log.write_text("x", "utf-8")
    log.chmod(0)
    if os.geteuid() == 0:  # root may read everything, so the system's answer to anybody else is played back
        monkeypatch.setattr("strata_diag.source.open", refuse, raising=False)
    assert classify(log) == 2
    assert "permission denied" in capsys.readouterr().err


def refuse(path: str, *_: object, **__: object) -> None:
    """What `open` answers to a user without rights."""
    raise PermissionError(13, "Permission denied", path)


def test_a_folder_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder is exit code 2 with the advice to name a file."""
    assert classify(tmp_path) == 2
    assert "is a folder" in capsys.readouterr().err


def test_a_broken_pack_lists_every_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All problems of a pack come at once with file, line and what to do; nothing is classified."""
    pack = tmp_path / "mine.yaml"
    pack.write_text(
        "pack: mine\nversion: 1\nabout: x\nrules:\n"
        "  - id: a\n    role: failure\n    cause: device-bussy\n    titel: x\n    any: [{regex: '('}]\n"
        "  - id: a\n    role: failure\n    cause: device-busy\n    title: x\n    any: [{regex: 'abcd('}]\n"
        "    yields_to: [nobody]\n",
        "utf-8",
    )
    assert classify("--rules", pack, BUSY) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    for words in (
        f"{pack}:8:5: unknown key `titel`",
        "did you mean `title`?",
        "can't be compiled",
        "there is no such rule",
    ):
        assert words in shown.err


def test_no_rules_at_all_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    """Without any rule the command refuses instead of calling the log healthy."""
    assert classify("--no-builtin-rules", HEALTHY) == 2
    assert "every log would look healthy" in capsys.readouterr().err


def test_own_rules_are_added(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder of packs named by --rules decides where the built-in ones know nothing."""
    (tmp_path / "own.yaml").write_text(
        "pack: own\nversion: 7\nabout: x\nrules:\n  - id: odd\n    role: failure\n    cause: internal-error\n"
        "    title: The widget broke\n    any: [{regex: 'widget alignment violated'}]\n",
        "utf-8",
    )
    log = tmp_path / "odd.log"
    log.write_text("widget alignment violated\n", "utf-8")
    assert classify("--rules", tmp_path, log) == 1
    shown = capsys.readouterr().out
    assert "CRASH / internal-error  The widget broke" in shown
    assert "rule own/odd, version 7" in shown


def test_standard_input_is_a_dash() -> None:
    """A log may come through a pipe."""
    done = command("classify", "-", stdin=BUSY.read_bytes())
    assert done.returncode == 1
    assert done.stdout.startswith(b"standard input")
    assert b"\x1b" not in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="a pipe that closes early is another error on Windows")
def test_a_closed_pipe_is_success() -> None:
    """Whoever reads only the first line gets no traceback and no error."""
    words = [sys.executable, "-m", "strata_diag", "classify", *[str(BUSY)] * 200]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(60) == 0
        assert process.stderr.read() == b""


HOSTILE = (
    b"\x1b]0;owned\x07\x1b[2J\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\ [bold]x[/foo] \xe2\x80\xaegpj \xc2\x9b31m\xed\xa0\x80 "
    b"cudaMalloc failed: out of memory [/nope] \x07\x08\n[red]after[/red]\x1b[31m\n"
)


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_a_hostile_log_cannot_reach_the_terminal(term: str) -> None:
    """No control code and no markup of a log is obeyed, in a pipe or on a terminal."""
    done = command("classify", "-", stdin=HOSTILE, env={"TERM": term})
    shown = done.stdout.decode("utf-8")
    assert done.returncode == 1
    assert not any(ord(character) < 32 and character != "\n" for character in shown)
    assert not any(code in shown for code in ("\x9b", "\u202e", "\x07"))
    assert "[/nope]" in shown


def test_colours_are_for_terminals_alone() -> None:
    """With a terminal there are styles and wrapped lines, with NO_COLOR no colour, and no word of the log is markup."""
    from strata_diag import diagnose, load_rules
    from strata_diag.render.layout import diagnosis_lines
    from strata_diag.render.terminal import print_lines

    lines = diagnosis_lines(diagnose(HOSTILE, rules=load_rules(discover=False)), "linux")
    coloured = io.StringIO()
    print_lines(lines, coloured, colour=True)
    assert "\x1b[1;31m" in coloured.getvalue()
    assert "\x1b]0;" not in coloured.getvalue()
    assert "[/nope]" in coloured.getvalue()
    bare = io.StringIO()
    print_lines(lines, bare, colour=False)
    assert "\x1b" not in bare.getvalue()


def test_a_console_that_lacks_a_character_gets_an_escape() -> None:
    """A cp1252 console shows what it can and never stops with an error."""
    log = "模型 cudaMalloc failed: out of memory → 终\n".encode()
    done = command("classify", "-", stdin=log, env={"PYTHONIOENCODING": "cp1252:strict", "PYTHONUTF8": "0"})
    assert done.returncode == 1
    assert b"\\u6a21" in done.stdout


def test_usage_errors_are_exit_code_two(capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong option is a usage message and exit code 2, as everywhere."""
    with pytest.raises(SystemExit) as stopped:
        main(["classify", "--no-such-option", "x"])
    assert stopped.value.code == 2
    assert "usage: strata-diag" in capsys.readouterr().err


@pytest.mark.parametrize("verb", [[], ["classify"], ["plugins"]], ids=["all", "classify", "plugins"])
def test_every_verb_has_help_with_an_example(verb: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """--help says what a verb does and shows a call of it."""
    with pytest.raises(SystemExit) as stopped:
        main([*verb, "--help"])
    assert stopped.value.code == 0
    assert "strata-diag classify" in capsys.readouterr().out or verb == ["plugins"]


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """--version prints the program's name and version."""
    from strata_diag import __version__

    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"strata-diag {__version__}\n"


@pytest.mark.parametrize("code", ["6", "0xC0000135", "-9"])
def test_exit_codes_of_every_system_are_read(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An exit code may be decimal, hexadecimal or negative."""
    assert classify(f"--exit-code={code}", BUSY) == 1


def test_a_fact_needs_a_name_and_a_value(capsys: pytest.CaptureFixture[str]) -> None:
    """A fact that can't be read is a usage error; a good one reaches the rules."""
    assert classify("--fact", "passed_before=true", BUSY) == 1
    with pytest.raises(SystemExit):
        classify("--fact", "nonsense", BUSY)
    assert "'nonsense' is not NAME=VALUE" in capsys.readouterr().err


def test_an_interrupt_is_130(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl+C ends the command with the shell's own number and no traceback."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("strata_diag.api.diagnose", interrupted)
    assert classify(BUSY) == 130
