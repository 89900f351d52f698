"""Rows of a history, read again by the classifier: the evidence decides, never the word that a tuner once stored.

Comes in: the fields of a row. Goes out: a `Row` whose status and cause are those of its reason. A stored word counts only as
far as the reason does not speak against it:

- a `PASS` with measured speeds is a `PASS`; without speeds it is one unless its reason names a failure;
- any other row is what its reason says;
- a reason that says nothing leaves the cause that a classifier stored beside it, else `UNKNOWN`: a word without evidence is
  how a harmless line once became "out of memory" for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from strata_diag.api import default_rules
from strata_diag.model import TUNER_STATUSES, Status
from strata_diag.ruleset import RuleSet
from strata_diag.tuner.judge import classify_run
from strata_diag.tuner.records import MEASURED, Row, text_of

KEPT_READINGS = 4096  # reasons whose reading is kept; a history repeats itself
LONGEST_KEPT_REASON = 4096  # characters
WORDS = frozenset({*TUNER_STATUSES.values(), *(str(status) for status in Status)})


class Reading(NamedTuple):
    """What the evidence of a row says. evidence: the part of the reason that decides; problem: what is not supported."""

    status: Status
    cause: str
    lasting: bool
    retry: str
    evidence: str = ""
    problem: str = ""


class RowReader:
    """Reads rows with one rule set, and remembers what it made of a reason; threads may share it.

    rules: the built-in ones and those of installed plugins, if None. Raises RuleSetError at the first row if they are broken.
    """

    def __init__(self, rules: RuleSet | None = None) -> None:
        self._rules = rules
        self._kept = lru_cache(maxsize=KEPT_READINGS)(self._judge)

    def read(self, fields: Mapping[str, Any], line: int = 0) -> Row:
        """The row with these fields; line: its 1-based number in the file."""
        reason = text_of(fields, "reason")
        found = self._reading(fields, reason)
        return Row(
            line, found.status, found.cause, reason, text_of(fields, "sig"), text_of(fields, "hw"), text_of(fields, "model"),
            text_of(fields, "engine"), text_of(fields, "time"), text_of(fields, "label"), found.lasting, found.retry,
            found.evidence, fields, found.problem,
        )  # fmt: skip

    def of_reason(self, reason: str, exit_code: int | None = None, error: str | None = None) -> Reading:
        """What a reason says by itself, or UNKNOWN."""
        judge = self._kept if len(reason) <= LONGEST_KEPT_REASON else self._judge
        return judge(reason, exit_code, error)

    def _reading(self, fields: Mapping[str, Any], reason: str) -> Reading:
        stored = text_of(fields, "status")
        passed = stored == Status.PASS
        if passed and (not reason or any(_is_speed(fields.get(name)) for name in MEASURED)):
            return Reading(Status.PASS, "none", lasting=False, retry="now")
        found = self.of_reason(reason, _whole_number(fields.get("exit_code")), _word(fields.get("error")))
        if found.status is not Status.UNKNOWN:
            said = found._replace(lasting=found.lasting and fields.get("lasting") is not False)
            return said._replace(problem=f"the row says PASS, its reason {said.status}") if passed else said
        if passed:
            return Reading(Status.PASS, "none", lasting=False, retry="now")
        return self._by_cause(fields, stored, reason) or found._replace(problem=_unsupported(stored, reason))

    def _by_cause(self, fields: Mapping[str, Any], stored: str, reason: str) -> Reading | None:
        """The cause that a classifier stored, which saw the whole output, where it fits the stored word."""
        cause = (self._rules or default_rules()).causes.get(text_of(fields, "cause"))
        if cause is None or cause.status in (Status.PASS, Status.UNKNOWN):
            return None
        if stored not in (str(cause.status), TUNER_STATUSES[cause.status]):
            return None
        lasting = cause.lasting and fields.get("lasting") is not False
        return Reading(cause.status, cause.id, lasting, cause.retry, reason)

    def _judge(self, reason: str, exit_code: int | None, error: str | None) -> Reading:
        verdict = classify_run(reason, exit_code=exit_code, error=error, rules=self._rules).verdict
        if verdict.status in (Status.PASS, Status.UNKNOWN):
            # a row of a failed run that names only harmless lines is no proof that it passed
            unknown = (self._rules or default_rules()).cause_of("unknown")
            return Reading(Status.UNKNOWN, unknown.id, unknown.lasting, unknown.retry)
        return Reading(verdict.status, verdict.cause, verdict.lasting, verdict.retry, verdict.reason)


def _is_speed(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _whole_number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _word(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _unsupported(stored: str, reason: str) -> str:
    """Why a row is UNKNOWN."""
    if not stored:
        return "the row has no status"
    if stored not in WORDS:
        return f"the status {stored!r} is none that is known"
    if not reason:
        return f"the row says {stored} and gives no reason"
    return f"the row says {stored}, and nothing in its reason shows it"
