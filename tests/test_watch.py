"""`strata-diag watch`: files that grow, are rotated, cut short or not there yet; pipes; when it ends, and with which code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from strata_diag import RuleSet, SourceError
from strata_diag.cli import main, watch
from strata_diag.live import follow as follow_module
from strata_diag.live.follow import CUT_SHORT, REPLACED, WRITTEN_ANEW, FollowedFile, follow
from strata_diag.live.redacting import LineRedactor
from strata_diag.redact import Redactor, words_of

FULL = "cudaMalloc failed: out of memory\n"
READY = "strata serve: 405 MiB of VRAM free with everything loaded\n"
CALM = "strata serve: slot 3 is working on its answer\n"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, rules: RuleSet) -> None:
    """The rules of the session, and short waits."""
    monkeypatch.setattr("strata_diag.cli.watch.rules_from", lambda _: rules)
    monkeypatch.setattr(follow_module, "POLL_SECONDS", 0.05)


@pytest.fixture(params=["watchfiles", "polling"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways in which a change is noticed."""
    if request.param == "polling":
        monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    else:
        pytest.importorskip("watchfiles")
    return str(request.param)


def write(path: Path, text: str, mode: str = "a") -> None:
    """Write to a log as an engine does."""
    with path.open(mode, encoding="utf-8", newline="\n") as stream:
        stream.write(text)


def command(*arguments: object) -> int:
    """The exit code of `watch`."""
    return main(["watch", *(str(argument) for argument in arguments)])


def while_running(*steps: Callable[[], Any], pause: float = 0.3) -> threading.Thread:
    """Do these steps, one after the other, while something else runs."""

    def work() -> None:
        for step in steps:
            time.sleep(pause)
            step()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def events(shown: str) -> list[tuple[str, str]]:
    """(event, status or text) of each line of JSON."""
    found = []
    for line in shown.splitlines():
        content = json.loads(line)
        assert content["schema"] == 1
        found.append(
            (content["event"], content["text"] if content["event"] == "notice" else content["verdict"]["status"])
        )
    return found


def read_all(file: FollowedFile) -> list[tuple[bytes, str]]:
    """What is new by now."""
    return [(piece.data, piece.anew) for piece in file.read()]


# Files that grow


def test_a_file_is_read_as_it_grows(tmp_path: Path) -> None:
    """Each look gives what is new; a file that is not there gives nothing."""
    path = tmp_path / "some.log"
    file = FollowedFile(str(path))
    assert read_all(file) == []
    write(path, "one\n")
    assert read_all(file) == [(b"one\n", "")]
    assert read_all(file) == []
    write(path, "two\nth")
    write(path, "ree\n")
    assert read_all(file) == [(b"two\nthree\n", "")]
    file.close()


def test_a_rotated_file_is_read_to_its_end_first(tmp_path: Path) -> None:
    """What came before the rotation is not lost; the new file is read from its beginning, which is said."""
    path = tmp_path / "some.log"
    write(path, "one\n")
    file = FollowedFile(str(path))
    read_all(file)
    write(path, "two\n")
    path.rename(tmp_path / "some.log.1")
    assert read_all(file) == [(b"two\n", "")]
    write(tmp_path / "some.log.1", "three\n")
    write(path, "new\n")
    assert read_all(file) == [(b"three\n", ""), (b"", REPLACED), (b"new\n", "")]
    file.close()


def test_a_file_that_is_cut_short_is_read_anew(tmp_path: Path) -> None:
    """A restart that empties its log begins anew."""
    path = tmp_path / "some.log"
    write(path, "one\ntwo\n")
    file = FollowedFile(str(path))
    read_all(file)
    write(path, "1\n", "w")
    assert read_all(file) == [(b"", CUT_SHORT), (b"1\n", "")]
    file.close()


def test_a_file_that_is_written_anew_and_longer_is_noticed(tmp_path: Path) -> None:
    """Between two looks a log may have been emptied and grown past its old size."""
    path = tmp_path / "some.log"
    write(path, "one\n")
    file = FollowedFile(str(path))
    read_all(file)
    write(path, "something quite different\n", "w")
    assert read_all(file) == [(b"", WRITTEN_ANEW), (b"something quite different\n", "")]
    file.close()


def test_large_files_come_in_pieces(tmp_path: Path) -> None:
    """No piece is larger than what is read at once."""
    path = tmp_path / "some.log"
    write(path, CALM * 20_000)
    file = FollowedFile(str(path))
    found = read_all(file)
    assert len(found) > 2
    assert max(len(data) for data, _ in found) <= follow_module.PIECE_BYTES
    assert b"".join(data for data, _ in found) == path.read_bytes()
    file.close()


def test_what_can_not_be_read_is_an_error(tmp_path: Path) -> None:
    """A folder is no log."""
    with pytest.raises(SourceError, match="check the path"):
        next(follow(str(tmp_path)))


def test_a_folder_that_is_not_there_is_polled(tmp_path: Path, way: str) -> None:
    """The file may be made together with its folder."""
    path = tmp_path / "later" / "some.log"
    looks = follow(str(path))
    assert next(looks) is None
    path.parent.mkdir()
    write(path, "one\n")
    assert next(piece for piece in looks if piece is not None).data == b"one\n"
    looks.close()  # type: ignore[attr-defined]


# The verb


def test_a_failure_is_shown_while_the_log_is_written(
    tmp_path: Path, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file comes later, fails, gets ready; the end is the whole diagnosis with its exit code."""
    path = tmp_path / "some.log"
    thread = while_running(lambda: write(path, CALM + FULL), lambda: write(path, READY))
    assert command(path, "--timeout", 1.5) == 0
    thread.join()
    shown = capsys.readouterr().out
    first, last = shown.index("OOM / vram-exhausted"), shown.index("now PASS")
    assert first < shown.index("line 2: cudaMalloc failed") < last
    assert "the engine got ready (line 3)" in shown[last:]


def test_lines_of_json_tell_each_event(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Verdicts, notices and the end, one object a line."""
    path = tmp_path / "some.log"
    write(path, CALM + FULL)
    thread = while_running(lambda: write(path, CALM, "w"))
    assert command(path, "--timeout", 0.9, "--format", "jsonl") == 3
    thread.join()
    assert events(capsys.readouterr().out) == [("verdict", "OOM"), ("notice", CUT_SHORT), ("final", "UNKNOWN")]


def test_a_line_without_an_end_counts_when_the_watch_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is not looked at before."""
    path = tmp_path / "some.log"
    write(path, FULL.strip())
    assert command(path, "--timeout", 0.2, "--format", "jsonl") == 1
    assert events(capsys.readouterr().out) == [("final", "OOM")]


def test_it_ends_when_the_engine_is_ready(tmp_path: Path, way: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 0 as soon as the log says so."""
    path = tmp_path / "some.log"
    write(path, CALM)
    begun = time.monotonic()
    thread = while_running(lambda: write(path, READY))
    assert command(path, "--until-ready", "--timeout", 30) == 0
    assert time.monotonic() - begun < 10
    thread.join()


def test_it_ends_when_the_engine_has_failed_and_says_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A failure may still be taken back, so that some silence is waited for."""
    monkeypatch.setattr(watch, "SETTLED_SECONDS", 0.4)
    path = tmp_path / "some.log"
    write(path, FULL)
    begun = time.monotonic()
    assert command(path, "--until-ready", "--timeout", 30) == 1
    assert 0.4 < time.monotonic() - begun < 10


def test_giving_up_on_readiness_is_known_to_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """At the time-out the verdict is that of a start which somebody gave up on; without --until-ready nobody gave up."""
    path = tmp_path / "some.log"
    write(path, CALM)
    assert command(path, "--until-ready", "--timeout", 0.2, "--format", "jsonl") == 1
    assert command(path, "--timeout", 0.2, "--format", "jsonl") == 3
    assert events(capsys.readouterr().out) == [("final", "TIMEOUT"), ("final", "UNKNOWN")]


@pytest.mark.parametrize("seconds", ["0", "-1", "soon", "nan", "inf"])
def test_time_outs_that_make_no_sense(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2 with what was wrong."""
    with pytest.raises(SystemExit) as ended:
        command("some.log", f"--timeout={seconds}")
    assert ended.value.code == 2
    assert "no number of seconds" in capsys.readouterr().err


def test_hostile_lines_can_not_speak_to_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A reason is shown harmless, and not at any length."""
    path = tmp_path / "some.log"
    write(path, "\x1b]0;x\x07\u202e " + FULL.strip() + " x" * 2000 + "\n")
    assert command(path, "--timeout", 0.2) == 1
    shown = capsys.readouterr().out
    assert not any(sign in shown for sign in ("\x1b", "\x07", "\u202e"))
    assert max(map(len, shown.split("Deciding line")[0].splitlines())) < 300


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "gb18030"])
def test_names_are_not_shown_with_redact(encoding: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither in a verdict nor in the end, whatever the encoding, and the verdict is the same."""
    path = tmp_path / "some.log"
    path.write_bytes(f"/home/marlene/strata --serve 内存\n/home/marlene/x: {FULL}/home/marlene/y".encode(encoding))
    assert command(path, "--timeout", 0.2, "--format", "jsonl", "--redact") == 1
    shown = capsys.readouterr().out
    assert "marlene" not in shown
    assert events(shown) == [("verdict", "OOM"), ("final", "OOM")]
    assert json.loads(shown.splitlines()[-1])["verdict"]["line"] == 2
    assert json.loads(shown.splitlines()[-1])["lines"] == 3


def test_a_line_without_an_end_is_redacted_and_not_held_for_ever(rules: RuleSet) -> None:
    """Up to its limit it waits for its end; what is given out is redacted."""
    lines = LineRedactor(Redactor(words_of(rules)))
    assert lines.add(b"/home/marlene/x ") == b""
    assert lines.rest() == b"/home/user-1/x "
    endless = LineRedactor(Redactor(words_of(rules)))
    given = sum(len(endless.add(b"x" * 65536)) for _ in range(20))
    assert given > 15 * 65536


# Processes


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts the command in a process of its own; what still runs is ended."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*arguments: object) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", "strata_diag", "watch", *(str(argument) for argument in arguments)]
        started.append(subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.communicate()


def test_a_pipe_is_watched_to_its_end(process: Callable[..., subprocess.Popen[bytes]]) -> None:
    """The failure is told while the pipe is open, the end when it is closed."""
    running = process("-", "--format", "jsonl", "--no-plugin", "*")
    assert running.stdin is not None
    assert running.stdout is not None
    running.stdin.write(FULL.encode())
    running.stdin.flush()
    first = running.stdout.readline().decode()
    rest, trouble = running.communicate(CALM.encode())
    assert events(first + rest.decode()) == [("verdict", "OOM"), ("final", "OOM")]
    assert (running.returncode, trouble) == (1, b"")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for a single process")
@pytest.mark.parametrize("log", ["-", "some.log"])
def test_ctrl_c_prints_the_last_verdict(
    log: str, tmp_path: Path, process: Callable[..., subprocess.Popen[bytes]]
) -> None:
    """Exit code 130, with the diagnosis of what was written, and no traceback."""
    path = tmp_path / log
    write(path, FULL)
    running = process("-" if log == "-" else path, "--format", "jsonl", "--no-plugin", "*")
    assert running.stdin is not None
    assert running.stdout is not None
    if log == "-":
        running.stdin.write(FULL.encode())
        running.stdin.flush()
    first = running.stdout.readline().decode()
    running.send_signal(signal.SIGINT)
    rest = running.stdout.read().decode()
    assert running.wait(20) == 130
    assert events(first + rest) == [("verdict", "OOM"), ("final", "OOM")]
    assert running.stderr is not None
    assert running.stderr.read() == b""
