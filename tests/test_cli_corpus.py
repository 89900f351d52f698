"""`strata-diag corpus check` and `corpus add`: exit codes, formats, what is asked, and that nothing is written by surprise."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from workshop_packs import ALONE, LABEL, LOG, corpus_folder, packs_folder, run

from strata_diag.cli import main

RIGHT = ("--cause", "card-full", "--line", "4", "--symptoms", "5", "--why", "The card is full.")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with packs in `rules` and a log `Engine log.txt`."""
    packs_folder(tmp_path / "rules")
    (tmp_path / "Engine log.txt").write_text(LOG, "utf-8", newline="\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def add(*words: object) -> int:
    """`corpus add` of the log."""
    return run("corpus", "add", "Engine log.txt", "--rules", "rules", *words)


def check(*words: object) -> int:
    """`corpus check` with the packs."""
    return run("corpus", "check", *words, "--rules", "rules")


def test_right_labels_are_zero(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a folder it is `corpus` here."""
    corpus_folder(folder / "corpus")
    assert check() == 0
    assert "1 log: each as its label says" in capsys.readouterr().out


def test_a_difference_is_one_and_readable(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """File and line of the label, what was expected and what came, each with the text of its line."""
    corpus_folder(folder / "mine", label=LABEL.replace("line: 4", "line: 5").replace("[5]", "[2]"))
    assert check("mine") == 1
    out = capsys.readouterr().out
    assert "mine/no-room.yaml:3: no-room: labelled line 5, found line 4" in out
    assert "expected  OOM / card-full at line 5: engine: giving up on the start" in out
    assert "got       OOM / card-full by the rule sample/no-room at line 4: engine: no room for the table" in out
    assert "mine/no-room.yaml:4: no-room: line 2 is labelled a symptom and is none" in out
    assert "1 log: 1 not as its label says" in out


@pytest.mark.parametrize(
    ("label", "words"),
    [
        (None, "has no label"),
        ("status: OOM\ncause: card-full\n", "the label lacks `line`"),
        (LABEL + "lien: 3\n", "unknown key `lien` in the label; did you mean `line`"),
        (LABEL.replace("card-full", "card-ful"), "no pack knows the cause `card-ful`"),
        (LABEL.replace("OOM", "CRASH"), "means OOM, not CRASH"),
        (LABEL.replace("line: 4", "line: 99"), "names line 99, and the log has 5 lines"),
        (LABEL.replace("line: 4", "line: yes"), "write the number of a line"),
        (LABEL + "rule: sample/nothing\n", "there is no rule `sample/nothing`"),
        (LABEL + "rule: sample/gave-up\n", "the rule sample/gave-up does not decide"),
        (LABEL + "runs: [{status: OOM}]\n", "write a list of {status: ..., cause: ...}"),
        (LABEL.replace("line: 4", "line: null"), "OOM needs the line that decides"),
        ("status: PASS\ncause: none\nline: 4\n", "a healthy log has no line that decides"),
    ],
)
def test_what_is_wrong_with_a_label_is_said(
    label: str | None, words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A missing or broken label is a fault of its log, with the label's own line."""
    corpus_folder(folder / "corpus", label=label or LABEL)
    if label is None:
        (folder / "corpus" / "no-room.yaml").unlink()
    assert check() == 1
    assert words in capsys.readouterr().out


def test_a_label_without_a_log_is_a_fault(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is passed over."""
    corpus_folder(folder / "corpus")
    (folder / "corpus" / "no-room.log").unlink()
    assert check() == 1
    assert "labels no log: there is no no-room.log" in capsys.readouterr().out


@pytest.mark.parametrize(("made", "words"), [(False, "is no folder"), (True, "holds no log")])
def test_nothing_to_check_is_two(made: bool, words: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder that isn't there, or is empty, proves nothing."""
    if made:
        (folder / "corpus").mkdir()
    assert check() == 2
    assert words in capsys.readouterr().err


def test_formats_for_programs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON, JUnit and GitHub say the same; broken packs are two in each of them."""
    corpus_folder(folder / "corpus", label=LABEL.replace("line: 4", "line: 5"))
    assert check("--format", "json") == 1
    content = json.loads(capsys.readouterr().out)
    assert (content["schema"], content["passed"]) == (1, False)
    assert content["outcomes"][0]["faults"][0]["line"] == 3
    assert check("--format", "github") == 1
    assert capsys.readouterr().out.startswith("::error file=corpus/no-room.yaml,line=3,title=no-room::labelled line 5")
    assert check("--format", "junit") == 1
    assert 'failure message="labelled line 5, found line 4"' in capsys.readouterr().out
    (folder / "rules" / "sample.yaml").write_text("pack: sample\nversion: 1\nabout: x\nrulez: []\n", "utf-8")
    assert check("--format", "github") == 2
    assert "title=broken pack::unknown key `rulez`" in capsys.readouterr().out
    assert check() == 2
    assert "unknown key `rulez`" in capsys.readouterr().err


def test_a_program_adds_a_case(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With everything given nobody is asked; the case is named after its log, and checks."""
    assert add(*RIGHT) == 0
    out = capsys.readouterr().out
    assert "engine-log.log: 5 of 5 lines (1 to 5)" in out
    assert "OOM / card-full at line 4; the program says so too" in out
    assert "read the result before you publish it" in out
    assert out.endswith("Then run: strata-diag corpus check corpus --rules rules\n")
    label = yaml.safe_load((folder / "corpus" / "engine-log.yaml").read_text("utf-8"))
    assert (label["status"], label["cause"], label["line"], label["symptoms"]) == ("OOM", "card-full", 4, [5])
    assert "/srv/jane" not in (folder / "corpus" / "engine-log.log").read_text("utf-8")
    assert check() == 0


def test_a_disagreement_is_never_silent(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is written until somebody says that the program is wrong; then the case fails until a rule says it."""
    words = ("--cause", "card-busy", "--line", "2", "--why", "Somebody holds the card.", "--name", "busy")
    assert add(*words) == 1
    captured = capsys.readouterr()
    assert (
        "answers OOM / card-full at line 4, and the label says CUDA_UNAVAILABLE / card-busy at line 2" in captured.out
    )
    assert "nothing was written" in captured.err
    assert not (folder / "corpus").exists()
    assert add(*words, "--disagree") == 1
    assert "the program still answers OOM / card-full" in capsys.readouterr().out
    assert "cause: card-busy" in (folder / "corpus" / "busy.yaml").read_text("utf-8")
    assert check() == 1


def test_nothing_is_written_over(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second case needs a name of its own."""
    assert add(*RIGHT) == 0
    assert add(*RIGHT) == 2
    assert "engine-log.log exists already; choose another name with --name" in capsys.readouterr().err
    assert add(*RIGHT, "--name", "second", "--lines", "4-5", "--keep-values") == 0
    assert (folder / "corpus" / "second.log").read_text("utf-8") == "".join(LOG.splitlines(keepends=True)[3:])


def test_values_that_decide_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A person learns which values of the log are still in the case."""
    packs = packs_folder(folder / "rules")
    pack = packs / "sample.yaml"
    pack.write_text(
        pack.read_text("utf-8").replace("remedies: [sm", "when: ['needed_mib == 1874']\n    remedies: [sm"), "utf-8"
    )
    assert add(*RIGHT) == 0
    assert "left as they are, since the answer depends on them: 1874 MiB" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "give --cause, --line, --why"),
        (("--cause", "card-full", "--line", "4"), "give --why"),
        (("--status", "PASS"), "give --why"),
        (("--cause", "card-ful"), "no pack knows the cause `card-ful`; did you mean `card-full`?"),
        ((*RIGHT, "--status", "CRASH"), "means OOM, not CRASH"),
        (("--cause", "card-full", "--line", "44", "--why", "x"), "there is no line 44"),
    ],
)
def test_what_is_lacking_or_wrong_is_said(
    words: tuple[str, ...], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a terminal nobody is asked: exit code 2 and the options that are to be given."""
    assert add(*words) == 2
    assert said in capsys.readouterr().err
    assert not (folder / "corpus").exists()


@pytest.mark.parametrize(
    "words",
    [("--line", "0"), ("--line", "x"), ("--symptoms", "1,,2"), ("--lines", "5-3"), ("--lines", "5"), ("--name", "A b")],
)
def test_unusable_words_are_a_usage_error(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """Argparse says which option it is."""
    with pytest.raises(SystemExit) as caught:
        main(["corpus", "add", "x.log", *words])
    assert caught.value.code == 2
    assert words[0] in capsys.readouterr().err


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[str]], list[str]]:
    """Sit at a terminal and give these answers; returns the list of what was asked."""

    def sit(answers: list[str]) -> list[str]:
        asked: list[str] = []
        rest: Iterator[str] = iter(answers)

        def answer(question: str) -> str:
            asked.append(question)
            try:
                return next(rest)
            except StopIteration:
                raise EOFError from None

        monkeypatch.setattr("strata_diag.cli.questions.is_terminal", lambda _: True)
        monkeypatch.setattr("builtins.input", answer)
        return asked

    return sit


def test_a_person_is_asked(
    folder: Path, terminal: Callable[[list[str]], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """The lines are shown, the program's answer is not; unusable answers are asked for again."""
    asked = terminal(["12", "four", "4", "card-ful", "card-full", "", "It is full.", "5", "9", "3"])
    assert add() == 0
    out = capsys.readouterr().out
    assert "      4 | engine: no room for the table: it needs 1874 MiB" in out
    assert "OOM: card-full" in out
    assert "PASS" not in out.partition("Cause")[0].partition("OOM: card-full")[0]
    assert "the log has 5 lines" in out
    assert "did you mean `card-full`?" in out
    assert "a label without a reason helps nobody" in out
    begins = [question.split()[0] for question in asked]
    assert begins == [*["Line"] * 3, *["Cause:"] * 2, *["Why"] * 2, *["Lines"] * 3]
    label = yaml.safe_load((folder / "corpus" / "engine-log.yaml").read_text("utf-8"))
    assert (label["line"], label["symptoms"], label["harmless"], label["why"]) == (4, [5], [3], "It is full.")


@pytest.mark.parametrize(("answer", "code", "written"), [("n", 1, False), ("", 1, False), ("y", 1, True)])
def test_a_person_is_asked_about_a_disagreement(
    answer: str, code: int, written: bool, folder: Path, terminal: Callable[[list[str]], list[str]]
) -> None:
    """Only a yes writes a case that the program contradicts."""
    asked = terminal(["2", "card-busy", "Held.", "-", "-", answer])
    assert add() == code
    assert asked[-1].startswith("Write the case all the same")
    assert (folder / "corpus" / "engine-log.yaml").exists() is written


def test_a_healthy_log_is_asked_less(folder: Path, terminal: Callable[[list[str]], list[str]]) -> None:
    """Where the status is given and has one cause, only the reason and harmless lines are asked for."""
    asked = terminal(["It runs.", "3", "y"])
    assert add("--status", "PASS") == 1
    assert [question.split()[0] for question in asked] == ["Why", "Lines", "Write"]


def test_answers_that_end_write_nothing(
    folder: Path, terminal: Callable[[list[str]], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl+D in the middle is no label."""
    terminal(["4"])
    assert add() == 2
    assert "the answers ended; nothing was written" in capsys.readouterr().err
    assert not (folder / "corpus").exists()


def test_of_a_long_window_the_middle_is_left_out(
    folder: Path, terminal: Callable[[list[str]], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """A screen full of lines is enough to answer; escapes of the log reach no terminal."""
    lines = LOG.splitlines(keepends=True)
    text = "".join([*lines[:4], *(f"engine: \x1b]0;x\x07idle {number}\n" for number in range(200)), lines[4]])
    (folder / "Engine log.txt").write_text(text, "utf-8")
    terminal([])
    assert add() == 2
    out = capsys.readouterr().out
    assert "lines ..." in out
    assert out.count(" | ") == 60
    assert "\x1b" not in out


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this kind")
def test_on_a_real_terminal_it_asks(folder: Path) -> None:
    """The whole of it, as a person sits before it."""
    import pty

    words = [sys.executable, "-m", "strata_diag", "corpus", "add", "Engine log.txt", "--rules", "rules", *ALONE]
    terminal, its_end = pty.openpty()
    child = subprocess.Popen(words, stdin=its_end, stdout=its_end, stderr=its_end)
    os.close(its_end)
    said = b""
    for question, answer in (
        (b"Line", b"4"),
        (b"Cause:", b"card-full"),
        (b"Why", b"Full."),
        (b"Lines", b"5"),
        (b"none", b"3"),
    ):
        while question not in said.rpartition(b"\n")[2]:
            said += os.read(terminal, 4096)
        os.write(terminal, answer + b"\n")
        said += b"\n"
    while True:
        try:
            more = os.read(terminal, 4096)
        except OSError:  # what Linux says where the other end has gone
            break
        if not more:
            break
        said += more
    os.close(terminal)
    assert child.wait(10) == 0, said
    assert b"the program says so too" in said
    assert (folder / "corpus" / "engine-log.yaml").exists()
