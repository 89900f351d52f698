"""What a history blocks, signature by signature: by which rows, and whether it should.

The old rule is the one of the tuner that this package replaces: a signature whose newest row says OOM or UNSUPPORTED is never
tried again. It is set against `bad_signatures`, which asks the evidence.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from strata_diag.model import Status
from strata_diag.ruleset import RuleSet
from strata_diag.tuner.recheck import cleared_by
from strata_diag.tuner.records import CONTRACT, Row
from strata_diag.tuner.repair import EVERYTHING, Selection, correction
from strata_diag.tuner.reread import RowReader
from strata_diag.tuner.standing import Rows, Standing

BLOCKING_WORDS = ("OOM", "UNSUPPORTED")
MOST_ROWS = 20  # rows that are shown of one signature, and of what could not be read; the rest is counted


class SignatureAudit(NamedTuple):
    """What is remembered of one signature on one hw, model and engine.

    label: of its newest row; rows, passes: how many; newest: the newest row; blocked_before: is it never tried again by the
    old rule; blocked: is it in `bad_signatures`; blocked_by: the newest rows whose stored word blocks it by the old rule,
    oldest first (at most 20); why: one sentence about what is right.
    """

    sig: str
    hw: str
    model: str
    engine: str
    label: str
    rows: int
    passes: int
    newest: Row
    blocked_before: bool
    blocked: bool
    blocked_by: tuple[Row, ...]
    why: str

    @property
    def wrongly_blocked(self) -> bool:
        """Whether the old rule never tries it again though the evidence says that it should be tried."""
        return self.blocked_before and not self.blocked

    def to_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        return {
            **{name: getattr(self, name) for name in self._fields if name not in ("newest", "blocked_by")},
            "wrongly_blocked": self.wrongly_blocked,
            "newest": _row_dict(self.newest),
            "blocked_by": [_row_dict(row) for row in self.blocked_by],
        }


class Audit(NamedTuple):
    """What was found in a history. rows: how many were read; unread: how many lines held none, and the first of them as rows
    without a status; wrong: how many rows store a wrong status; mixed: how many right ones a reason of several lines.
    """

    rows: int
    unread: int
    unread_rows: tuple[Row, ...]
    wrong: int
    mixed: int
    signatures: tuple[SignatureAudit, ...]

    @property
    def clean(self) -> bool:
        """Whether the old rule blocks nothing wrongly, and every status is stored rightly."""
        return not self.wrong and not any(one.wrongly_blocked for one in self.signatures)

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `history audit`; `contract` numbers its shape."""
        return {
            "contract": CONTRACT,
            "clean": self.clean,
            "rows": self.rows,
            "unread": [{"line": row.line, "cause": row.cause, "problem": row.problem} for row in self.unread_rows],
            "unread_count": self.unread,
            "wrong": self.wrong,
            "mixed": self.mixed,
            "signatures": [one.to_dict() for one in self.signatures],
        }


class _Signature:
    """One signature while its rows go by."""

    def __init__(self) -> None:
        self.standing = Standing()
        self.rows = 0
        self.last: Row | None = None
        self.blocking: deque[Row] = deque(maxlen=MOST_ROWS)

    def add(self, row: Row) -> None:
        self.standing.add(row)
        self.rows += 1
        self.last = row
        if row.stored in BLOCKING_WORDS:
            self.blocking.append(row)


def audit_history(
    rows: Rows,
    *,
    selection: Selection = EVERYTHING,
    recheck: Iterable[Mapping[str, Any] | str] = (),
    rules: RuleSet | None = None,
) -> Audit:
    """Find what a history blocks, and what it stores wrongly.

    rows, recheck: as in `bad_signatures`; selection: only rows of this hw, model and engine. Raises what `bad_signatures` does.
    """
    reader = RowReader(rules)
    found: dict[tuple[str, str, str, str], _Signature] = {}
    unread: list[Row] = []
    counts = {"rows": 0, "unread": 0, "wrong": 0, "mixed": 0}
    known: dict[str, set[str]] = {"hw": set(), "model": set()}
    for number, given in enumerate(rows, 1):
        row = given if isinstance(given, Row) else reader.read(given, number)
        if not row.readable:
            counts["unread"] += 1
            unread = [*unread, row][:MOST_ROWS]
            continue
        known["hw"].add(row.hw)
        known["model"].add(row.model)
        if not selection.holds(row):
            continue
        counts["rows"] += 1
        change = correction(row, reader)
        if change is not None:
            counts["wrong" if change.of_status else "mixed"] += 1
        if row.sig:
            found.setdefault((row.hw, row.model, row.engine, row.sig), _Signature()).add(row)
    due = list(recheck)
    audits = tuple(_audited(place, one, due, known) for place, one in found.items())
    return Audit(counts["rows"], counts["unread"], tuple(unread), counts["wrong"], counts["mixed"], audits)


def _audited(
    place: tuple[str, str, str, str],
    one: _Signature,
    due: list[Mapping[str, Any] | str],
    known: Mapping[str, set[str]],
) -> SignatureAudit:
    hw, model, engine, sig = place
    newest = one.standing.newest[-1]
    cleared = cleared_by(due, sig, {"hw": hw, "model": model}, known)
    blocked = one.standing.bad and not cleared
    blocked_before = any(row.stored in BLOCKING_WORDS for row in one.standing.newest)
    why = _why(one, newest, cleared)
    return SignatureAudit(
        sig, hw, model, engine, newest.label, one.rows, one.standing.passes, newest, blocked_before, blocked,
        tuple(one.blocking) if blocked_before else (), why,
    )  # fmt: skip


def _why(one: _Signature, newest: Row, cleared: str) -> str:
    """Why a signature should or should not be blocked."""
    standing = one.standing
    says = "" if newest.stored == str(newest.status) else f"says {newest.stored or 'nothing'} and "
    what = f"line {newest.line} {says}is {newest.status} / {newest.cause}"
    if standing.bad:
        if cleared:
            return f"{what}, but a check is due ({cleared}), so it is to be tried again"
        return f"{what}, which would happen again, and it never passed here"
    if standing.passes:
        times = "once" if standing.passes == 1 else f"{standing.passes} times"
        return f"it passed {times} on this hw, model and engine (last in line {standing.last_pass})"
    if newest.status is Status.UNKNOWN:
        return f"line {newest.line}: {newest.problem}" if newest.problem else f"{what}: nobody knows why it failed"
    return f"{what}, which passes by itself or can be mended"


def _row_dict(row: Row) -> dict[str, Any]:
    return {
        "line": row.line,
        "time": row.time,
        "stored": row.stored,
        "status": str(row.status),
        "cause": row.cause,
        "evidence": row.evidence,
        "problem": row.problem,
    }
