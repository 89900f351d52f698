"""What is remembered of a command line: which signatures are bad, and what clears them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from histories import HISTORIES, KINDS, LASTING, PLACE, TRANSIENT, meaning, row
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_diag import load_rules
from strata_diag.tuner import History, HistoryError, Row, bad_signatures
from strata_diag.tuner.recheck import read_recheck
from strata_diag.tuner.reread import RowReader

RULES = load_rules(discover=False)
READER = RowReader(RULES)
ENGINE_CHANGED = [{"reason": "engine_changed", "from": "0.1.45", "to": "0.1.46"}]


def bad(rows: list[dict[str, Any]], **more: Any) -> set[str]:
    """`bad_signatures` of plain rows on the usual machine."""
    return bad_signatures([READER.read(one, number) for number, one in enumerate(rows, 1)], **{**PLACE, **more})


@pytest.mark.parametrize("history", HISTORIES, ids=lambda path: path.stem)
def test_a_history_of_the_corpus_blocks_what_a_person_would_block(history: Path) -> None:
    """The signatures that may be left out are those of the hand-written expectation, and a re-check clears them all."""
    for place in meaning(history)["bad"]:
        where = {name: place[name] for name in ("hw", "model", "engine")}
        assert bad_signatures(History(history, rules=RULES), **where, rules=RULES) == set(place["sigs"])
        assert bad_signatures(History(history, rules=RULES), **where, recheck=ENGINE_CHANGED, rules=RULES) == set()


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ([], False),
        (["no room"], True),
        (["no room", "no room"], True),
        (["no room, stored as boot failure"], True),
        (["elastic"], True),
        (["arena"], False),
        (["no room", "no device"], False),
        (["no device", "no room"], True),
        (["no room", "nobody knows"], False),
        (["no room", "word without evidence"], False),
        (["word without evidence"], False),
        (["pass", "no room"], False),
        (["no room", "pass"], False),
        (["no room", "pass", "no room", "session"], False),
    ],
    ids=str,
)
def test_the_newest_row_decides_unless_one_passed(kinds: list[str], expected: bool) -> None:
    """Bad is a signature whose newest row is a lasting failure, and which never passed."""
    timed = [row(kind, time=f"2026-10-01T10:0{number}:00") for number, kind in enumerate(kinds)]
    untimed = [row(kind, time=None) for kind in kinds]
    assert bad(timed) == bad(untimed) == ({"--base"} if expected else set())


@pytest.mark.parametrize(
    "other", [{"hw": "hw-2"}, {"model": "model-2"}, {"engine": "engine-2"}, {"hw": None}, {"hw": 7}]
)
def test_only_rows_of_exactly_this_place_count(other: dict[str, Any]) -> None:
    """Neither a failure nor a PASS of another machine, model or engine says anything about this one."""
    assert bad([row("no room", **other)]) == set()
    assert bad([row("no room"), row("pass", **other)]) == {"--base"}


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        pytest.param(["2026-10-01T10:00:00", "2026-10-01T09:00:00"], False, id="the file's order is not the time's"),
        pytest.param(["2026-10-01T10:00:00Z", "2026-10-01T10:00:00+02:00"], False, id="zones"),
        pytest.param(["2026-10-01", "2026-10-02T00:00:00"], True, id="a day alone"),
        pytest.param([1_790_000_000, 1_790_000_001], True, id="seconds"),
        pytest.param([1_790_000_001_000, 1_790_000_000], False, id="milliseconds"),
        pytest.param([10**400, float("inf")], True, id="numbers that are no times"),
        pytest.param(["yesterday", "today"], True, id="no times: the order of the file"),
        pytest.param(["2026-10-01T10:00:00", None], True, id="a row without a time comes after those before it"),
        pytest.param([None, "2026-10-01T10:00:00"], True, id="and before those after it"),
        pytest.param(["2026-10-01T10:00:00", "2026-10-01T10:00:00"], False, id="equal times: all must be lasting"),
    ],
)
def test_times_of_every_kind_are_compared(times: list[Any], expected: bool) -> None:
    """The newest row is the one with the latest time, whatever way the time is written."""
    rows = [row("no device", time=times[0]), row("no room", time=times[1])]
    assert bad(rows) == ({"--base"} if expected else set())


@pytest.mark.parametrize(
    ("entry", "cleared"),
    [
        pytest.param({"reason": "engine_changed"}, True, id="anything"),
        pytest.param("engine_changed", True, id="a word alone"),
        pytest.param({"reason": "asked", "sig": "--base"}, True, id="this signature"),
        pytest.param({"reason": "asked", "sigs": ["--other", "--base"]}, True, id="among several"),
        pytest.param({"reason": "asked", "sig": "--other"}, False, id="another signature"),
        pytest.param({"reason": "asked", "model": "model-2"}, False, id="another model of this history"),
        pytest.param(
            {"reason": "asked", "model": "the name of a model"}, True, id="a name that the history does not know"
        ),
        pytest.param({}, True, id="an entry that says nothing"),
    ],
)
def test_a_pending_check_clears_what_it_concerns(entry: Any, cleared: bool) -> None:
    """After an engine update everything is measured again, whatever was remembered."""
    rows = [row("no room"), row("pass", model="model-2")]
    assert bad(rows, recheck=[entry]) == (set() if cleared else {"--base"})


@pytest.mark.parametrize(
    ("content", "count"),
    [
        ([{"reason": "engine_changed"}, {"reason": "driver_changed", "state": "done"}, {"sig": "x"}], 1),
        ({"pending": [{"reason": "engine_changed"}], "history": [{"reason": "engine_changed"}]}, 1),
        ({"pending": {"iq3_s": {"reason": "engine_changed"}, "iq2": {"reason": "engine_changed", "done": True}}}, 1),
        ({"reason": "engine_changed"}, 1),
        ({"pending": []}, 0),
        (7, 0),
    ],
    ids=str,
)
def test_pending_checks_are_found_wherever_they_stand(tmp_path: Path, content: Any, count: int) -> None:
    """The file is the app's own: a list, a mapping, or a list of pending ones."""
    file = tmp_path / "recheck.json"
    file.write_text(json.dumps(content), "utf-8-sig")
    assert len(read_recheck(file)) == count


def test_a_missing_recheck_file_holds_none_and_a_broken_one_is_an_error(tmp_path: Path) -> None:
    """Most installations have no pending check; what can't be read is never taken for that."""
    assert read_recheck(tmp_path / "missing.json") == []
    (tmp_path / "broken.json").write_text("{", "utf-8")
    with pytest.raises(HistoryError, match="it is no JSON"):
        read_recheck(tmp_path / "broken.json")


# Properties

times = st.sampled_from([f"2026-10-01T10:0{minute}:00" for minute in range(3)])
sigs = st.sampled_from(["--a", "--b"])
engines = st.sampled_from(["engine-1", "engine-2"])


def rows_of(kinds: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Rows of these kinds, on few signatures, times and engines, so that they meet."""
    return st.builds(
        lambda kind, sig, time, engine: row(kind, sig, time, engine=engine),
        st.sampled_from(kinds),
        sigs,
        times,
        engines,
    )


any_rows = st.lists(rows_of(list(KINDS)), max_size=8)


@given(any_rows)
def test_what_passed_is_never_bad(rows: list[dict[str, Any]]) -> None:
    """No signature is bad that has a PASS on the same hw, model and engine."""
    passed = {one["sig"] for one in rows if one["status"] == "PASS" and one["engine"] == PLACE["engine"]}
    assert not bad(rows) & passed


@given(any_rows, st.integers(0, 8), rows_of(["pass"]))
def test_a_pass_never_makes_a_signature_bad(rows: list[dict[str, Any]], place: int, passed: dict[str, Any]) -> None:
    """Adding a PASS anywhere can only clear."""
    assert bad([*rows[:place], passed, *rows[place:]]) <= bad(rows)


@given(any_rows, st.integers(0, 8), rows_of(TRANSIENT))
def test_what_passes_by_itself_never_makes_a_signature_bad(
    rows: list[dict[str, Any]], place: int, transient: dict[str, Any]
) -> None:
    """Adding a transient failure anywhere can only clear, and with it as the newest row nothing is blocked."""
    assert bad([*rows[:place], transient, *rows[place:]]) <= bad(rows)
    newest = {**transient, "time": "2026-10-01T11:00:00", "engine": PLACE["engine"]}
    assert transient["sig"] not in bad([*rows, newest])


@given(any_rows, st.randoms(use_true_random=False))
def test_the_order_of_rows_with_times_makes_no_difference(rows: list[dict[str, Any]], chance: Any) -> None:
    """Times decide what is newest, so rows of equal times, and all others, may come in any order."""
    shuffled = list(rows)
    chance.shuffle(shuffled)
    assert bad(shuffled) == bad(rows)


@given(any_rows)
def test_an_engine_change_clears(rows: list[dict[str, Any]]) -> None:
    """While a re-check is pending nothing is remembered as bad."""
    assert bad(rows, recheck=ENGINE_CHANGED) == set()


@given(any_rows, st.integers(0, 8))
def test_what_cannot_be_read_makes_no_difference(rows: list[dict[str, Any]], place: int) -> None:
    """Cut and corrupt lines say nothing about any signature."""
    read = [READER.read(one) for one in rows]
    unreadable = Row(1, None, "truncated", sig="--a", **PLACE)
    assert bad_signatures([*read[:place], unreadable, *read[place:]], **PLACE) == bad_signatures(read, **PLACE)


@given(any_rows)
@settings(max_examples=50)
def test_the_rule_in_two_sentences(rows: list[dict[str, Any]]) -> None:
    """A signature is bad exactly if its newest rows are all lasting failures and none of its rows passed."""
    expected = set()
    for sig in ("--a", "--b"):
        own = [one for one in rows if one["sig"] == sig and one["engine"] == PLACE["engine"]]
        newest = max((one["time"] for one in own), default="")
        of_kind = [next(kind for kind in KINDS if row(kind)["reason"] == one["reason"] and KINDS[kind][0] == one["status"])
                   for one in own if one["time"] == newest]  # fmt: skip
        if own and all(kind in LASTING for kind in of_kind) and not any(one["status"] == "PASS" for one in own):
            expected.add(sig)
    assert bad(rows) == expected


def test_plain_mappings_are_read_too() -> None:
    """A tuner that has parsed its history already hands over what `json.loads` made of it."""
    assert bad_signatures([row("no room"), row("busy", "--other")], **PLACE, rules=RULES) == {"--base"}
