"""The window of a log that keeps the answer: as small as it can be, and never one with another answer."""

from __future__ import annotations

import pytest
from workshop_packs import LOG, packs_folder

from strata_diag import RuleSet, diagnose
from strata_diag.workshop.window import CONTEXT, Window, essence, evidence_lines, smallest_window


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """The rules of the folder of packs."""
    from packs import load

    return load(packs_folder(tmp_path_factory.mktemp("packs") / "rules"))


@pytest.mark.parametrize(
    ("needed", "reaches", "expected"),
    [
        ([50], (50, 50), (47, 53)),
        ([50], (10, 50), (10, 53)),
        ([50], (50, 90), (47, 90)),
        ([50, 60], (50, 60), (47, 63)),
        ([2], (2, 2), (1, 5)),
        ([100], (1, 100), (1, 100)),
        ([], (95, 100), (95, 100)),
    ],
)
def test_the_window_is_as_small_as_it_can_be(
    needed: list[int], reaches: tuple[int, int], expected: tuple[int, int]
) -> None:
    """It holds what is needed with some context, and as far as the answer asks on either side, not a line more."""
    window = smallest_window(100, needed, lambda one: one.first <= reaches[0] and one.last >= reaches[1])
    assert window == Window(*expected)


def test_a_log_that_no_part_stands_for_stays_whole() -> None:
    """Where only the whole log gets the answer, it is taken whole; few windows are tried."""
    tried: list[Window] = []

    def same(window: Window) -> bool:
        tried.append(window)
        return window == Window(1, 10_000)

    assert smallest_window(10_000, [5000], same) == Window(1, 10_000)
    assert len(tried) < 50


def test_essence_is_the_same_in_a_part_of_the_log(own: RuleSet) -> None:
    """Verdict, chain, losers and harmless lines are told by the lines of the whole log."""
    padded = "".join(f"engine: idle {number}\n" for number in range(10)) + LOG
    whole, part = diagnose(padded, rules=own), diagnose(LOG, rules=own)
    assert essence(whole) == essence(part, before=10)
    assert essence(whole) != essence(part)
    assert essence(whole).line == 14
    assert essence(whole).chain == ((14, "sample/no-room"), (15, "sample/gave-up"))


def test_evidence_is_what_the_answer_rests_on(own: RuleSet) -> None:
    """Of a failure: the lines that decide, that follow, and that look bad and are harmless."""
    bad = LOG.replace("warning: failed", "warning: failed to place; failed")
    assert evidence_lines(diagnose(bad, rules=own)) == [4, 5]
    assert evidence_lines(diagnose(LOG, rules=own)) == [3, 4, 5]


def test_every_line_of_a_healthy_start_is_evidence(rules: RuleSet) -> None:
    """A healthy log proves silence line by line, so nothing of its last run is cut away."""
    from conftest import CORPUS

    found = diagnose(CORPUS / "strata" / "healthy-v100.log", rules=rules)
    assert found.verdict.status == "PASS"
    assert evidence_lines(found) == [found.runs[-1].first_line, found.runs[-1].last_line]


def test_context_is_bounded_by_the_log() -> None:
    """No line before the first or behind the last is asked for, not even of an empty log."""
    assert smallest_window(0, [], lambda _: True) == Window(1, 1)
    assert smallest_window(2, [1], lambda _: True) == Window(1, 2)
    assert Window(3, 5).size == CONTEXT
