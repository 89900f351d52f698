"""The decisions of a tuner that once went wrong, each a pure function on records.

`classify_run` and `failure_kind` say what became of a run, `bad_signatures` which command lines need not be tried again, and
`next_step` what a search does after a run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from strata_diag.model import Diagnosis, Status, Verdict
from strata_diag.ruleset import RuleSet
from strata_diag.tuner.judge import classify_run, failure_kind
from strata_diag.tuner.recheck import cleared_by
from strata_diag.tuner.records import CONTINUE, SKIP, STOP, WAIT, Step
from strata_diag.tuner.reread import RowReader
from strata_diag.tuner.standing import Rows, Standing, as_rows

MOST_TRIES = 3  # of one candidate after transient failures, unless the caller says otherwise

_BASELINE = re.compile(r"base(?:line)?(?![\w.-])", re.IGNORECASE)  # `base`, `base r2`, `base end`
_FREE_AGAIN = {"vram-exhausted": "card-free", "vram-budget": "card-free"}


def bad_signatures(
    rows: Rows,
    *,
    hw: str,
    model: str,
    engine: str,
    recheck: Iterable[Mapping[str, Any] | str] = (),
    rules: RuleSet | None = None,
) -> set[str]:
    """The signatures that need not be tried again on exactly this hw, model and engine.

    rows: a `History`, or rows as records or plain mappings, in the order of the file. recheck: the pending entries of
    recheck.json (`read_recheck`); they clear what they concern. A signature is bad if its newest row is a lasting failure
    and none of its rows is a PASS; of several newest rows with the same time all must be lasting. What can't be read, what
    nobody understands and what passes by itself never makes one bad.

    Raises HistoryError or SourceError while a `History` is read, RuleSetError for broken rules.
    """
    standings: dict[str, Standing] = {}
    known: dict[str, set[str]] = {"hw": set(), "model": set()}
    for row in as_rows(rows, RowReader(rules)):
        known["hw"].add(row.hw)
        known["model"].add(row.model)
        if row.sig and (row.hw, row.model, row.engine) == (hw, model, engine):
            standings.setdefault(row.sig, Standing()).add(row)
    due = list(recheck)
    names = {"hw": hw, "model": model}
    return {sig for sig, standing in standings.items() if standing.bad and not cleared_by(due, sig, names, known)}


def next_step(
    diagnosis: Diagnosis,
    history: Rows | None,
    *,
    sig: str,
    label: str = "",
    hw: str | None = None,
    model: str | None = None,
    engine: str | None = None,
    tries: int = 0,
    most_tries: int = MOST_TRIES,
    rules: RuleSet | None = None,
) -> Step:
    """What a search does after a run of the candidate `sig`.

    history: earlier rows, with or without the one of this run; label: the candidate's name (`base`, `base r2` and `base end`
    are the baseline); hw, model, engine: count only rows of exactly these (None: of any). tries: how often the candidate
    was already tried again in this search; after `most_tries` it is left out, without being remembered as bad.

    - passed: `continue`;
    - a lasting failure: `skip`, and for a baseline that never passed `stop`, since nothing else can be compared with it;
    - anything else, and whatever passed before on the same hw, model and engine: `wait-and-retry`.

    Raises HistoryError or SourceError while a `History` is read, RuleSetError for broken rules.
    """
    if diagnosis.verdict.status is Status.PASS:
        return Step(CONTINUE, "the run passed")
    passes = _passes(history, sig, (hw, model, engine), rules)
    return _after_failure(diagnosis, passes, label, tries, most_tries)


def _after_failure(diagnosis: Diagnosis, passes: int, label: str, tries: int, most_tries: int) -> Step:
    verdict, remedies = diagnosis.verdict, diagnosis.remedies
    what = f"{verdict.status} / {verdict.cause}"
    if verdict.lasting and not verdict.contested and not passes:
        if _BASELINE.match(label.strip()):
            return Step(STOP, f"the baseline never passed here, and would fail again: {what}", remedies=remedies)
        return Step(SKIP, f"it would fail again as things stand: {what}", remedies=remedies)
    if verdict.retry == "never":
        return Step(SKIP, f"trying again makes no sense: {what}", remedies=remedies)
    if tries >= most_tries:
        why = f"it was tried {tries} times more and still fails: {what}; it is not remembered as bad"
        return Step(SKIP, why, remedies=remedies)
    return Step(WAIT, _why_wait(what, passes), _wait_word(verdict, passes), remedies)


def _passes(history: Rows | None, sig: str, place: tuple[str | None, ...], rules: RuleSet | None) -> int:
    """How often a signature passed on this hw, model and engine."""
    return sum(
        row.status is Status.PASS
        and row.sig == sig
        and all(
            wanted is None or wanted == had for wanted, had in zip(place, (row.hw, row.model, row.engine), strict=True)
        )
        for row in as_rows(history or (), RowReader(rules))
    )


def _why_wait(what: str, passes: int) -> str:
    if passes:
        times = "once" if passes == 1 else f"{passes} times"
        return f"these settings passed {times} here, so something around them changed: {what}"
    return f"this may pass by itself: {what}"


def _wait_word(verdict: Verdict, passes: int) -> str:
    """What to wait for. Settings that passed before are not what must change."""
    word = verdict.retry.removeprefix("after:")
    if passes and word == "config-change":
        return _FREE_AGAIN.get(verdict.cause, "now")
    return word


__all__ = ["MOST_TRIES", "bad_signatures", "classify_run", "failure_kind", "next_step"]
