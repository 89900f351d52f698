"""The history: every row that a file holds, whatever else it holds, and new rows beside other writers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from histories import HISTORIES, NO_ROOM, PLACE, line, meaning, row
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_diag import RuleSet, load_rules
from strata_diag.tuner import History, HistoryError, Row, audit_history, classify_run, files, jsonlines, make_row

RULES = load_rules(discover=False)
PASS = line("pass")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a history may be written."""
    return tmp_path / "history.jsonl"


def read(path: Path) -> list[Row]:
    """The rows of a file."""
    return list(History(path, rules=RULES))


def told(path: Path) -> list[tuple[int, str]]:
    """Line and status of every row, or line and cause of what is none."""
    return [(one.line, str(one.status or one.cause)) for one in read(path)]


@pytest.mark.parametrize("history", HISTORIES, ids=lambda one: one.stem)
def test_every_row_of_the_corpus_is_what_a_person_wrote_down(history: Path, rules: RuleSet) -> None:
    """Line, status and cause of every row are those of the hand-written expectation."""
    found = [[one.line, one.status, one.cause] for one in History(history, rules=rules)]
    assert found == meaning(history)["rows"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(b"", [], id="empty"),
        pytest.param(b"\n\r\n  \n\0\0\0\n", [], id="blank lines, and a block of NULs"),
        pytest.param(PASS + PASS, [(1, "PASS"), (2, "PASS")], id="duplicates"),
        pytest.param(PASS.rstrip(), [(1, "PASS")], id="no line end"),
        pytest.param(b"\xef\xbb\xbf" + PASS.replace(b"\n", b"\r\n") * 2, [(1, "PASS"), (2, "PASS")], id="BOM and CRLF"),
        pytest.param(PASS + PASS[:-30], [(1, "PASS"), (2, "truncated")], id="cut"),
        pytest.param(PASS[:-30] + b"\n" + PASS, [(1, "truncated"), (2, "PASS")], id="cut, and then another row"),
        pytest.param(PASS[:-30] + PASS, [(1, "truncated"), (1, "PASS")], id="glued to a cut row"),
        pytest.param(PASS.rstrip() + PASS, [(1, "PASS"), (1, "PASS")], id="glued to a whole row"),
        pytest.param(b"\0\0" + PASS, [(1, "PASS")], id="behind NULs"),
        pytest.param(b'{"status": nonsense}\n', [(1, "corrupt")], id="no JSON"),
        pytest.param(b"[1, 2]\n" + PASS, [(1, "corrupt"), (2, "PASS")], id="a list"),
        pytest.param(b'null\n7\n"PASS"\n', [(1, "corrupt"), (2, "corrupt"), (3, "corrupt")], id="words and numbers"),
        pytest.param(b"[" * 100_000 + b"\n", [(1, "corrupt")], id="too deep"),
        pytest.param(b'{"a":' * 100_000 + b"\n" + PASS, [(1, "corrupt"), (2, "PASS")], id="too deep, an object"),
        pytest.param(b"\xff\xfe\x00broken\n" + PASS, [(1, "corrupt")], id="bytes that are no text"),
        pytest.param(
            PASS.rstrip() + b"\xff\n", [(1, "corrupt"), (1, "PASS")], id="bytes that are no UTF-8 behind a row"
        ),
        pytest.param(
            b'{"status": "PASS", "label": "\xff"}\n', [(1, "PASS")], id="bytes that are no UTF-8 inside a row"
        ),
        pytest.param(b'{"status": "PASS", "speed": NaN}\n', [(1, "PASS")], id="NaN"),
        pytest.param(b'{"status": "PASS", "n": ' + b"9" * 5000 + b"}\n", [(1, "corrupt")], id="a number without end"),
    ],
)
def test_whatever_a_file_holds_is_read(path: Path, content: bytes, expected: list[tuple[int, str]]) -> None:
    """A broken line is told and costs no other row; numbers of lines are those of an editor."""
    path.write_bytes(content)
    if content.startswith(b"\xff\xfe"):
        assert not any(one.readable for one in read(path))  # it looks like UTF-16, and is none
        return
    assert told(path) == expected
    assert all(one.problem for one in read(path) if not one.readable)


@pytest.mark.parametrize("length", range(1, len(PASS) - 1))
def test_a_row_that_was_cut_anywhere_is_truncated(length: int) -> None:
    """Wherever a writer was stopped, the line is recognised as cut, and as no row."""
    found = jsonlines.content(PASS[:length])
    assert (found.pieces, found.cause) == ((), "truncated")


@pytest.mark.parametrize("value", ["true", "-1.5e3", '"\\u2026"', '"…"', "[null]", '{"a": {}}'])
def test_a_cut_value_of_any_kind_is_truncated(value: str) -> None:
    """Words, numbers, escapes, characters of several bytes and nested values may be cut in the middle."""
    whole = f'{{"status": "PASS", "value": {value}}}'.encode()
    causes = {jsonlines.content(whole[:length]).cause for length in range(1, len(whole))}
    assert causes == {"truncated"}


def test_utf16_is_read_and_not_written(path: Path) -> None:
    """A file that PowerShell made is read; adding UTF-8 to it would ruin it, so that is refused."""
    path.write_text((PASS * 3).decode(), "utf-16")
    assert told(path) == [(1, "PASS"), (2, "PASS"), (3, "PASS")]
    with pytest.raises(HistoryError, match="UTF-16"):
        History(path, rules=RULES).append(row("pass"))


def test_a_line_without_an_end_costs_no_memory(path: Path) -> None:
    """A line of many megabytes is told and passed over in pieces; the rows around it are read."""
    with path.open("wb") as file:
        file.write(PASS + b'{"status": "')
        for _ in range(24):
            file.write(b"x" * 1024 * 1024)
        file.write(b'"}\n' + PASS)
    read(path)
    tracemalloc.start()
    assert told(path) == [(1, "PASS"), (2, "corrupt"), (3, "PASS")]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 1024 * 1024


def test_memory_does_not_grow_with_the_rows(path: Path) -> None:
    """Rows stream: twenty thousand of them need no more memory than two thousand."""
    peaks = []
    for count in (2_000, 20_000):
        path.write_bytes(
            PASS * (count // 2) + b"".join(line("no device", reason=f"{number}") for number in (1, 2)) * (count // 4)
        )
        history = History(path, rules=RULES)
        sum(1 for _ in history)
        tracemalloc.start()
        assert sum(1 for _ in history) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] * 1.5 + 200_000


def test_unknown_fields_stay(path: Path) -> None:
    """Whatever else a row holds is handed on as it is."""
    path.write_bytes(line("pass", notes={"user": 'tried "reserve" twice'}, tags=["nightly", None]))
    assert read(path)[0].raw["notes"] == {"user": 'tried "reserve" twice'}


def test_a_missing_file_is_an_empty_history(path: Path) -> None:
    """A tuner that never ran has no history yet; a folder is an error."""
    assert read(path) == []
    with pytest.raises(HistoryError, match="can't read it"):
        read(path.parent)
    assert str(path) in repr(History(path))


# Adding rows


def test_a_row_that_was_added_is_read_back(path: Path) -> None:
    """What `make_row` makes of a run is stored and read as the same."""
    made = make_row(classify_run(NO_ROOM, rules=RULES), sig="--base", label="base", **PLACE, note="…")
    history = History(path.parent / "new folder" / "history.jsonl", rules=RULES)
    history.append(made)
    history.append(row("pass"))
    found = list(history)
    assert found[0] == made._replace(line=1, raw=dict(made.raw))
    assert found[1].status == "PASS"


@pytest.mark.parametrize(
    ("before", "between"),
    [
        pytest.param(b"", b"", id="an empty file"),
        pytest.param(PASS, b"", id="a whole row"),
        pytest.param(PASS[:-30], b"\n", id="a cut row"),
        pytest.param(PASS.rstrip(), b"\n", id="a row without its end"),
        pytest.param(PASS.replace(b"\n", b"\r\n"), b"", id="CRLF"),
        pytest.param(PASS.replace(b"\n", b"\r\n") + PASS[:-30], b"\r\n", id="a cut row in a file with CRLF"),
        pytest.param(PASS.replace(b"\n", b"\r\n") + PASS.rstrip() + b"\r", b"\n", id="cut inside a line end"),
        pytest.param(b"\xef\xbb\xbf" + PASS, b"", id="a byte-order mark"),
    ],
)
def test_a_row_is_never_glued_to_another(path: Path, before: bytes, between: bytes) -> None:
    """A new row begins on a line of its own, and ends as the lines of this file do."""
    path.write_bytes(before)
    earlier = read(path)
    History(path, rules=RULES).append(row("no room"))
    content = path.read_bytes()
    assert content.startswith(before + between + b"{")
    assert content.endswith(b"\r\n" if b"\r" in before else b"\n")
    assert read(path)[:-1] == earlier
    assert read(path)[-1].cause == "vram-budget"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        pytest.param({}, "without a status", id="no row"),
        pytest.param({"status": "PASS", "speed": float("nan")}, "can't be stored", id="NaN"),
        pytest.param({"status": "PASS", "path": Path("x")}, "can't be stored", id="no JSON"),
        pytest.param(Row(3, None, "truncated"), "without a status", id="a line that held none"),
    ],
)
def test_what_is_no_row_is_refused(path: Path, fields: Any, words: str) -> None:
    """An error leaves the file as it was."""
    path.write_bytes(PASS)
    with pytest.raises(HistoryError, match=words):
        History(path).append(fields)
    assert path.read_bytes() == PASS


def test_half_a_character_is_stored_as_an_escape(path: Path) -> None:
    """A lone surrogate, as a broken console hands it over, is no UTF-8 and still comes back as it was."""
    history = History(path, rules=RULES)
    for text in ("\ud83d", "\udc80", "…"):
        history.append(row("pass", label=text))
    assert [one.label for one in history][0::2] == ["\ud83d", "…"]
    assert json.loads(path.read_bytes().splitlines()[0])["label"] == "\ud83d"


def test_a_folder_in_the_way_is_an_error(path: Path) -> None:
    """What the system refuses is told with what to do, never as a traceback of the system's."""
    path.mkdir()
    with pytest.raises(HistoryError, match="can't"):
        History(path).append(row("pass"))


def test_a_full_drive_is_an_error_and_the_next_row_is_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that could only be written in part is told, and the next one begins on a line of its own."""
    real = os.write

    def full(number: int, data: Any) -> int:
        real(number, bytes(data)[:40])
        raise OSError(28, "No space left on device")

    history = History(path, rules=RULES)
    history.append(row("pass"))
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(HistoryError, match="No space left on device"):
        history.append(row("no room"))
    monkeypatch.setattr(os, "write", real)
    history.append(row("no room"))
    assert told(path) == [(1, "PASS"), (2, "truncated"), (3, "OOM")]


def test_short_writes_are_finished(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that takes a few bytes at a time gets all of them."""
    real = os.write
    monkeypatch.setattr(os, "write", lambda number, data: real(number, bytes(data)[:7]))
    History(path).append(row("pass"))
    assert told(path) == [(1, "PASS")]


def test_a_writer_that_keeps_the_lock_is_named(path: Path) -> None:
    """Waiting has an end, with advice."""
    with files.locked(str(path)), pytest.raises(HistoryError, match="another program has been writing"):
        History(path, lock_seconds=0.1).append(row("pass"))
    History(path).append(row("pass"))


WRITER = """
import sys
from strata_diag.tuner import History
history = History(sys.argv[1])
for number in range(40):
    history.append({"status": "PASS", "reason": "", "label": sys.argv[2], "n": number, "filler": "x" * 3000})
"""


def test_writers_do_not_disturb_each_other(path: Path) -> None:
    """Three processes add rows at the same time: every row is whole, none is lost, and each writer's are in order."""
    path.write_bytes(PASS[:-30])
    words = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*words, name], cwd=ROOT) for name in "abc"]
    assert [writer.wait(120) for writer in writers] == [0, 0, 0]
    found = read(path)
    assert [one.readable for one in found] == [False] + [True] * 120
    for name in "abc":
        assert [one.raw["n"] for one in found if one.label == name] == list(range(40))


@given(
    st.lists(
        st.sampled_from([PASS, PASS[:-30], PASS[:-30] + b"\n", b"#\n", b"\n", line("no room"), b"\r\n"]), max_size=8
    )
)
@settings(max_examples=60)
def test_adding_a_row_loses_none(tmp_path_factory: pytest.TempPathFactory, parts: list[bytes]) -> None:
    """Whatever a file holds, all rows that were read before are read after, and the new one is the last."""
    path = tmp_path_factory.mktemp("any") / "history.jsonl"
    path.write_bytes(b"".join(parts))
    earlier = [one.raw for one in read(path) if one.readable]
    History(path).append(row("no device"))
    assert [one.raw for one in read(path) if one.readable] == [*earlier, row("no device")]


@given(st.binary(max_size=200), st.integers(0, 400), st.binary(max_size=3))
@settings(max_examples=150)
def test_no_bytes_break_a_history(
    tmp_path_factory: pytest.TempPathFactory, junk: bytes, place: int, more: bytes
) -> None:
    """Whatever bytes stand in a file or in the middle of a row, it is read to its end."""
    path = tmp_path_factory.mktemp("junk") / "history.jsonl"
    whole = line("no device") * 2
    for content in (junk, whole[:place] + junk + whole[place:], more + whole):
        path.write_bytes(content)
        assert all(one.readable or one.problem for one in read(path))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)
FIELDS = ("status", "reason", "sig", "hw", "time", "label", "decode_tok_s", "exit_code", "error", "cause", "lasting")


@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=8), max_size=4))
@settings(max_examples=150)
def test_no_values_break_a_decision(rows: list[dict[str, Any]]) -> None:
    """Fields of any kind of value are read, and nothing that is no text becomes a signature."""
    found = audit_history(rows, rules=RULES)
    assert found.rows == len(rows)
    assert all(isinstance(one.sig, str) and one.sig for one in found.signatures)


def test_importing_the_tuner_stays_cheap() -> None:
    """Neither a lock, a terminal, psutil nor the audit is loaded by a tuner that only asks for a verdict."""
    code = (
        "import sys, strata_diag.tuner as tuner; "
        "wanted = 'rich argparse filelock psutil pynvml strata_diag.tuner.audit strata_diag.tuner.preflight'.split(); "
        "print([name for name in wanted if name in sys.modules]); "
        "from strata_diag.tuner.preflight import Preflight; "
        "print(callable(tuner.preflight), tuner.Preflight is Preflight, callable(tuner.audit_history))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert shown.stdout.splitlines() == ["[]", "True True True"]


def test_every_public_name_exists() -> None:
    """`__all__` is sorted but for the constant, and every name of it is there; another one is an AttributeError."""
    from strata_diag import tuner

    assert tuner.__all__ == sorted(tuner.__all__, key=lambda name: (name != "CONTRACT", name[0].islower(), name))
    assert all(getattr(tuner, name) is not None for name in tuner.__all__)
    assert tuner.CONTRACT == 1
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = tuner.nothing_like_it


def test_every_public_name_is_documented() -> None:
    """The page for authors of a tuner names all of them."""
    from strata_diag import tuner

    page = (ROOT / "docs" / "tuner.md").read_text("utf-8")
    assert [name for name in tuner.__all__ if name not in page] == []
