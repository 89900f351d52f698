"""The records of the tuner's backend, and how a diagnosis becomes a row of `history.jsonl`.

Named tuples, as in `strata_diag.model`: frozen, cheap, free to share between threads.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from strata_diag.errors import StrataDiagError
from strata_diag.model import Diagnosis, Remedy, Status

CONTRACT = 1  # of everything that `strata_diag.tuner` names, and of the rows that it writes; see docs/tuner.md

CONTINUE = "continue"
SKIP = "skip"
WAIT = "wait-and-retry"
STOP = "stop"
ACTIONS = (CONTINUE, SKIP, WAIT, STOP)

WITHOUT_A_PERSON = frozenset({"", "now", "card-free", "memory-free"})  # what a tuner can wait for by itself

MEASURED = ("decode_tok_s", "pp_tok_s")  # fields that are null where nothing was measured

NO_FIELDS: Mapping[str, Any] = MappingProxyType({})


class HistoryError(StrataDiagError):
    """A history can't be read, locked, written or repaired; nothing of it was lost. The text is meant for a person."""


class Row(NamedTuple):
    """One row of a history, read again by the classifier.

    line: 1-based number of its line in the file (0: not in a file yet). status, cause: what the row's evidence says, which
    may differ from the word stored in it (`stored`); status is None where nothing could be read, and cause then says
    `truncated` or `corrupt`. reason: as stored. evidence: the one part of the reason that decides, or empty. time: ISO
    text, as stored. lasting: may its signature be remembered as bad because of it? retry: `now`, `never` or
    `after:<what must change>`. raw: every field as stored, the unknown ones too. problem: what could not be read or is
    not supported, as a sentence for a person; empty where all is well.
    """

    line: int
    status: Status | None
    cause: str
    reason: str = ""
    sig: str = ""
    hw: str = ""
    model: str = ""
    engine: str = ""
    time: str = ""
    label: str = ""
    lasting: bool = False
    retry: str = "now"
    evidence: str = ""
    raw: Mapping[str, Any] = NO_FIELDS
    problem: str = ""

    @property
    def stored(self) -> str:
        """The status word that stands in the row, or empty."""
        return text_of(self.raw, "status")

    @property
    def readable(self) -> bool:
        """Whether the line held a row at all."""
        return self.status is not None


class Step(NamedTuple):
    """What a search does after a run.

    action: `continue` (the run passed), `skip` (go on with the next candidate), `wait-and-retry` (the same candidate again
    once `wait_for` is true) or `stop` (the search can't succeed). why: one sentence. wait_for: `now`, `card-free`,
    `memory-free`, `config-change`, `engine-change`, `driver-change`, `model-change` or `hardware-change`; empty unless the
    action is to wait. remedies: what a person can do meanwhile, in order of cost.
    """

    action: str
    why: str
    wait_for: str = ""
    remedies: tuple[Remedy, ...] = ()

    @property
    def needs_person(self) -> bool:
        """Whether what is waited for does not happen by itself: somebody must change something first."""
        return self.wait_for not in WITHOUT_A_PERSON


def text_of(fields: Mapping[str, Any], name: str) -> str:
    """A field as text: numbers are written out, anything that is no text or number is empty."""
    value = fields.get(name)
    if type(value) is str:
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def make_row(
    diagnosis: Diagnosis,
    *,
    sig: str,
    label: str = "",
    hw: str = "",
    model: str = "",
    engine: str = "",
    time: str | None = None,
    decode_tok_s: float | None = None,
    pp_tok_s: float | None = None,
    exit_code: int | None = None,
    error: str | None = None,
    **fields: Any,
) -> Row:
    """The history row of a run, ready for `History.append`.

    sig: the argument signature; label: the candidate's name; hw, model, engine: digests of what it ran on; time: ISO text
    (now, local, to the second, if None); decode_tok_s, pp_tok_s: tokens a second; exit_code, error: what `classify_run`
    was given; fields: anything else the tuner stores, as JSON. The stored status is one of the tuner's four words, so
    that an older tuner can read the row; the cause beside it says what it was.
    """
    verdict = diagnosis.verdict
    reason = "" if verdict.status is Status.PASS else verdict.reason
    when = time if time is not None else datetime.now().isoformat(timespec="seconds")  # noqa: DTZ005 - as the tuner writes
    raw: dict[str, Any] = {
        "status": verdict.tuner_status, "label": label, "decode_tok_s": decode_tok_s, "pp_tok_s": pp_tok_s, "reason": reason,
        "sig": sig, "hw": hw, "model": model, "engine": engine, "time": when, "cause": verdict.cause,
        "lasting": verdict.lasting, "exit_code": exit_code, "error": error, "contract": CONTRACT,
    }  # fmt: skip
    raw = {name: value for name, value in raw.items() if value is not None or name in MEASURED}
    raw |= {name: value for name, value in fields.items() if name not in raw}
    return Row(
        0, verdict.status, verdict.cause, reason, sig, hw, model, engine, when, label, verdict.lasting, verdict.retry,
        reason, MappingProxyType(raw),
    )  # fmt: skip
