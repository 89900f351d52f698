"""The audit: what a history blocks by the old rule, by which rows, and whether it should."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from histories import HISTORIES, KINDS, PLACE, meaning, row
from hypothesis import given
from hypothesis import strategies as st

from strata_diag import load_rules
from strata_diag.tuner import Audit, History, Row, audit_history, bad_signatures
from strata_diag.tuner.repair import Selection
from strata_diag.tuner.reread import RowReader

RULES = load_rules(discover=False)
READER = RowReader(RULES)


def audited(*rows: dict[str, Any], **more: Any) -> Audit:
    """The audit of plain rows."""
    return audit_history([READER.read(one, number) for number, one in enumerate(rows, 1)], rules=RULES, **more)


@pytest.mark.parametrize("history", HISTORIES, ids=lambda one: one.stem)
def test_a_history_of_the_corpus_is_audited_as_a_person_would(history: Path) -> None:
    """Wrong rows are counted, and the wrongly blocked signatures are those of the hand-written expectation."""
    expected = meaning(history)
    found = audit_history(History(history, rules=RULES), rules=RULES)
    assert found.wrong == len(expected["wrong"])
    assert [one.label for one in found.signatures if one.wrongly_blocked] == expected["wrongly_blocked"]
    assert found.unread == sum(status is None for _, status, _ in expected["rows"])
    assert found.clean == (not expected["wrong"] and not expected["wrongly_blocked"])
    bad = {(one.hw, one.sig) for one in found.signatures if one.blocked}
    assert bad == {(place["hw"], sig) for place in expected["bad"] for sig in place["sigs"]}


@pytest.mark.parametrize(
    ("kinds", "blocked_before", "blocked", "words"),
    [
        (["pass"], False, False, "it passed once"),
        (
            ["pass", "no device", "no device"],
            True,
            False,
            "it passed once on this hw, model and engine (last in line 1)",
        ),
        (["pass", "pass", "session"], True, False, "it passed 2 times"),
        (["no device"], True, False, "line 1 says OOM and is CUDA_UNAVAILABLE / no-device, which passes by itself"),
        (["no room", "arena"], True, False, "line 2 is OOM / host-memory, which passes by itself or can be mended"),
        (["no room"], True, True, "line 1 is OOM / vram-budget, which would happen again, and it never passed here"),
        (["no room, stored as boot failure"], False, True, "line 1 says FAIL_BOOT and is OOM / vram-budget"),
        (["word without evidence"], True, False, "line 1: the row says OOM and gives no reason"),
        (["waited"], False, False, "line 1 says FAIL_BOOT and is TIMEOUT / timeout"),
    ],
    ids=str,
)
def test_a_signature_is_judged_by_its_rows(kinds: list[str], blocked_before: bool, blocked: bool, words: str) -> None:
    """The old rule and the evidence stand side by side, with one sentence about what is right."""
    found = audited(*(row(kind, time=f"2026-10-01T10:0{number}:00") for number, kind in enumerate(kinds)))
    (one,) = found.signatures
    assert (one.blocked_before, one.blocked, one.wrongly_blocked) == (
        blocked_before,
        blocked,
        blocked_before and not blocked,
    )
    assert words in one.why
    assert (one.rows, one.newest.line) == (len(kinds), len(kinds))
    assert bool(one.blocked_by) == blocked_before


def test_a_pending_check_is_named() -> None:
    """A signature that a re-check clears is not blocked, and the audit says why."""
    (one,) = audited(row("no room"), recheck=[{"reason": "engine_changed"}]).signatures
    assert not one.blocked
    assert "a check is due (engine_changed)" in one.why


def test_an_unknown_end_is_called_unknown() -> None:
    """A row whose cause a classifier stored as unknown blocks nothing, and the audit says that nobody knows."""
    (one,) = audited(row("nobody knows")).signatures
    assert "nothing in its reason shows it" in one.why
    (other,) = audit_history([READER.read(row("nobody knows"))._replace(problem="")], rules=RULES).signatures
    assert "nobody knows why it failed" in other.why


def test_only_chosen_rows_are_audited() -> None:
    """An audit may be limited to one machine, model or engine; each combination is judged by itself."""
    rows = [row("no room"), row("pass", engine="engine-2")]
    assert [one.engine for one in audited(*rows).signatures] == ["engine-1", "engine-2"]
    chosen = audited(*rows, selection=Selection(engine="engine-2"))
    assert (chosen.rows, [one.passes for one in chosen.signatures]) == (1, [1])


def test_long_lists_are_cut_and_counted() -> None:
    """A history of any length gives an audit that fits a screen and a memory."""
    many = [Row(number, None, "truncated", problem="cut") for number in range(50)]
    found = audit_history([*many, *(READER.read(row("no device"), number) for number in range(50))], rules=RULES)
    assert (found.unread, len(found.unread_rows), len(found.signatures[0].blocked_by)) == (50, 20, 20)
    assert found.signatures[0].blocked_by[-1].line == 49


def test_plain_mappings_are_audited_too() -> None:
    """Rows may come as `json.loads` makes them."""
    found = audit_history([row("no device"), row("pass", sig="--other")], rules=RULES)
    assert [one.newest.line for one in found.signatures] == [1, 2]


def test_json_holds_plain_types() -> None:
    """A program reads the same as a person."""
    content = json.loads(json.dumps(audited(row("no device"), row("no room", sig="--big")).to_dict()))
    assert (content["contract"], content["clean"], content["wrong"]) == (1, False, 1)
    first = content["signatures"][0]
    assert (first["wrongly_blocked"], first["blocked_by"][0]["status"]) == (True, "CUDA_UNAVAILABLE")


@given(st.lists(st.sampled_from(list(KINDS)), max_size=6), st.randoms(use_true_random=False))
def test_the_audit_agrees_with_the_memory(kinds: list[str], chance: Any) -> None:
    """What the audit calls blocked is what `bad_signatures` leaves out, for any history."""
    rows = [row(kind, chance.choice(["--a", "--b"]), f"2026-10-01T10:0{chance.randint(0, 2)}:00") for kind in kinds]
    read = [READER.read(one, number) for number, one in enumerate(rows, 1)]
    found = audit_history(read, rules=RULES)
    assert {one.sig for one in found.signatures if one.blocked} == bad_signatures(read, **PLACE, rules=RULES)
