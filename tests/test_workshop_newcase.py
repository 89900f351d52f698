"""A case of a corpus made of a log: cut, redacted, with other values, with the label of a person and the answer of before."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import yaml
from conftest import CORPUS
from packs import load
from workshop_packs import LOG, packs_folder

from strata_diag import RuleSet, diagnose
from strata_diag.testing import label_problems, read_label
from strata_diag.workshop.errors import WorkshopError
from strata_diag.workshop.labels import read_case
from strata_diag.workshop.logtext import log_text, whole_lines
from strata_diag.workshop.newcase import (
    WIDER_CONTEXT,
    Manner,
    NewCase,
    Opinion,
    find_window,
    free_paths,
    label_text,
    make_case,
    opinion_problems,
    write_case,
)
from strata_diag.workshop.window import CONTEXT, Window

BEFORE, AFTER = 40, 30
LONG = "".join(f"engine: idle {number}\n" for number in range(BEFORE)) + LOG + "engine: bye\n" * AFTER
RIGHT = Opinion("OOM", "card-full", BEFORE + 4, "The card is full.", (BEFORE + 5,))


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """The rules of the folder of packs."""
    return load(packs_folder(tmp_path_factory.mktemp("packs") / "rules"))


def case_of(log: str | bytes, opinion: Opinion, rules: RuleSet, manner: Manner | None = None) -> NewCase:
    """The case of a log, the same at each call."""
    data = log if isinstance(log, bytes) else log.encode("utf-8")
    return make_case(data, opinion, rules, manner or Manner(), random.Random(5))


def test_a_case_is_cut_changed_and_labelled(own: RuleSet) -> None:
    """What does not matter goes, values become others, and the label counts the lines of the case."""
    case = case_of(LONG, RIGHT, own)
    assert case.window == Window(BEFORE + 3 - CONTEXT, BEFORE + 5 + CONTEXT)
    assert case.line_count == BEFORE + 5 + AFTER
    text = case.log.decode("utf-8")
    assert "/srv/jane" not in text
    assert "1874" not in text
    assert "8192 rows from /srv/folder-1/folder-2/model-1.bin" in text
    label = yaml.safe_load(case.label)
    assert list(label) == ["status", "cause", "line", "symptoms", "why"]
    assert text.splitlines()[label["line"] - 1].startswith("engine: no room for the table")
    assert label["symptoms"] == [label["line"] + 1]
    assert case.differences == ()


def test_values_can_stay(own: RuleSet) -> None:
    """Where the values are the point of a case, only names and secrets go."""
    case = case_of(LONG, RIGHT, own, Manner(keep_values=True))
    assert b"1874 MiB" in case.log
    assert case.changed == {}


def test_names_and_secrets_go_from_log_and_label(own: RuleSet) -> None:
    """A name that stands outside the window is known inside it, and the reason is redacted as the log is."""
    log = LONG.replace("idle 3\n", "home is /home/janedoe/x\n").replace("giving up", "janedoe: giving up")
    log = log.replace("engine: janedoe: giving up", "engine: giving up on the start of janedoe, not")
    case = case_of(log, RIGHT._replace(why="The card of janedoe is\n full."), own)
    assert b"janedoe" not in case.log
    assert "why: The card of user-1 is full." in case.label
    assert case.redacted


def test_an_opinion_that_differs_is_said_and_kept(own: RuleSet) -> None:
    """The label is the person's, whatever the program answers; more of the log stays for the rule that is to come."""
    other = Opinion("CUDA_UNAVAILABLE", "card-busy", BEFORE + 2, "Another program holds the card.")
    case = case_of(LONG, other, own)
    assert case.differences == ("labelled CUDA_UNAVAILABLE/card-busy, found OOM/card-full at line 23",)
    assert case.window == Window(BEFORE + 2 - WIDER_CONTEXT, BEFORE + 5 + WIDER_CONTEXT)
    assert "cause: card-busy" in case.label
    assert case.opinion.line == WIDER_CONTEXT + 1


def test_lines_that_a_person_wants_are_taken(own: RuleSet) -> None:
    """A window by hand is kept as long as the answer is the same."""
    case = case_of(LONG, RIGHT, own, Manner(Window(BEFORE + 4, BEFORE + 5)))
    assert case.log.count(b"\n") == 2
    assert case.opinion.line == 1


@pytest.mark.parametrize(
    ("window", "words"),
    [
        (Window(BEFORE + 5, BEFORE + 8), "which the label names, is not in it"),
        (Window(BEFORE + 1, BEFORE + 500), "the log is shorter"),
    ],
)
def test_lines_without_the_evidence_are_refused(window: Window, words: str, own: RuleSet) -> None:
    """A window can't leave out what the label names, nor reach beyond the log."""
    with pytest.raises(WorkshopError, match=words):
        case_of(LONG, RIGHT, own, Manner(window))


def test_lines_with_another_answer_are_refused(own: RuleSet) -> None:
    """A window that leaves the deciding line out gets another answer."""
    unknown = Opinion("UNKNOWN", "unknown", None, "Nobody knows.")
    with pytest.raises(WorkshopError, match="alone get another answer"):
        case_of(LONG, unknown, own, Manner(Window(1, 10)))


@pytest.mark.parametrize(
    ("opinion", "words"),
    [
        (RIGHT._replace(cause="card-ful"), "no pack knows the cause `card-ful`"),
        (RIGHT._replace(status="CRASH"), "means OOM, not CRASH"),
        (RIGHT._replace(line=None), "needs the line that decides"),
        (RIGHT._replace(line=999), "there is no line 999"),
        (RIGHT._replace(harmless=(0,)), "list of line numbers"),
        (RIGHT._replace(why=" "), "a label says why"),
        (Opinion("PASS", "none", 3, "It runs."), "healthy log has no line"),
    ],
)
def test_what_can_be_no_label_is_refused(opinion: Opinion, words: str, own: RuleSet) -> None:
    """Each thing that is wrong with a label is said before anything is made."""
    assert any(words in problem for problem in opinion_problems(opinion, own, len(LONG.splitlines())))
    with pytest.raises(WorkshopError, match=words):
        case_of(LONG, opinion, own)


@pytest.mark.parametrize(
    ("encoding", "ends"),
    [("utf-8", "\n"), ("utf-8-sig", "\r\n"), ("utf-16", "\r\n"), ("utf-16-be", "\n"), ("gbk", "\n")],
)
def test_a_case_has_the_encoding_of_its_log(encoding: str, ends: str, own: RuleSet) -> None:
    """Encoding, mark and line ends are a part of the case."""
    log = LONG.replace("engine: bye", "engine: 再见 再见 再见 再见").replace("starting on", "启动 启动 启动 on")
    data = log.replace("\n", ends).encode(encoding)
    case = case_of(data, RIGHT, own)
    assert case.differences == ()
    text = case.log.decode("utf-16" if encoding == "utf-16" else encoding)
    assert text.count(ends) == case.window.size
    assert "再见" in text
    found = diagnose(case.log, rules=own)
    assert (found.verdict.cause, found.verdict.line) == ("card-full", case.opinion.line)


def test_hostile_bytes_survive(own: RuleSet) -> None:
    """Colours, NULs, redraws and bytes that are no text are cut with their lines and not touched otherwise."""
    data = LONG.encode().replace(b"warning", b"\x1b[33mwarning\x1b[0m").replace(b"bye", b"10%\r20%\xff\x00", 2)
    case = case_of(data, RIGHT, own)
    assert b"\x1b[33mwarning\x1b[0m" in case.log
    assert b"10%\r20%\xff\x00" in case.log


def test_decoded_lines_come_back_as_they_were() -> None:
    """Decoding and encoding a log changes no byte; a name that a code page lacks is no error."""
    for data in (
        b"",
        b"a",
        b"a\n",
        b"\n\na\r\nb",
        b"\xff\xfea\x00\n\x00b\x00",
        b"\xef\xbb\xbfa\n",
        b"\xe9t\xe9 \xff\n",
    ):
        text = log_text(data)
        assert text.encoded(text.lines) == data
    assert whole_lines("a\n\nb") == ("a\n", "\n", "b")
    western = log_text(b"caf\xe9\n")
    assert western.encoded(["\u518d\n"]) == b"?\n"


def test_what_is_written_is_a_case_that_checks(tmp_path: Path, own: RuleSet) -> None:
    """Log and label lie side by side in a new folder, and read as a case without a problem."""
    case = case_of(LONG, RIGHT._replace(why="colons: and 'quotes' # and more"), own)
    log, label = write_case(case, tmp_path / "new" / "corpus", "full")
    read = read_case(log.with_suffix(""), own)
    assert read.problems == ()
    assert label_problems(read_label(label), diagnose(log, rules=own)) == []
    with pytest.raises(WorkshopError, match=r"full\.log exists already; choose another name"):
        write_case(case, tmp_path / "new" / "corpus", "full")


def test_neither_file_is_written_over(tmp_path: Path, own: RuleSet) -> None:
    """A label without a log is somebody's work too; a folder that can't be made is said."""
    (tmp_path / "full.yaml").write_text("status: PASS\n", "utf-8")
    with pytest.raises(WorkshopError, match=r"full\.yaml exists already"):
        free_paths(tmp_path, "full")
    with pytest.raises(WorkshopError, match="can't be made"):
        write_case(case_of(LONG, RIGHT, own), tmp_path / "full.yaml" / "below", "x")


def test_a_log_that_redaction_changes_is_said(own: RuleSet, monkeypatch: pytest.MonkeyPatch) -> None:
    """Should a stand-in ever change the answer, nothing is made of the log."""
    monkeypatch.setattr("strata_diag.redact.Redactor.line", lambda _, text: text.replace("no room", "x"))
    with pytest.raises(WorkshopError, match="without names and secrets the log gets another answer"):
        case_of(LONG, RIGHT, own)


# with lines, and with one line that is right: what a person could have told in one answer
TOLD = [
    path
    for path in sorted(CORPUS.rglob("*.yaml"))[::6]
    if "line_ok:" not in path.read_text("utf-8") and "empty" not in path.stem
]


@pytest.mark.parametrize("path", TOLD, ids=lambda path: path.stem)
def test_every_log_of_the_corpus_can_become_a_case(path: Path, all_rules: RuleSet) -> None:
    """Cut, redacted and with other values, a log of our own corpus still gets the answer of its label."""
    label = read_label(path)
    why = yaml.safe_load(path.read_text("utf-8"))["why"]
    data = label.log.read_bytes()
    found = diagnose(data, rules=all_rules)
    line = found.verdict.line if found.verdict.line in label.line_ok else label.line
    opinion = Opinion(label.status, label.cause, line, why, label.symptoms, label.harmless)
    window = find_window(log_text(data), found, all_rules, opinion)
    case = case_of(data, opinion, all_rules)
    assert case.window == window
    assert case.differences == ()
    assert label_text(case.opinion) == case.label


def test_an_empty_log_is_refused(own: RuleSet) -> None:
    """There is nothing to label in it."""
    with pytest.raises(WorkshopError, match="the log is empty"):
        case_of("", Opinion("UNKNOWN", "unknown", None, "Nobody knows."), own)
