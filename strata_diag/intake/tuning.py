"""What a tuner writes about runs: the rows of `history.jsonl`, and the records of single runs.

Each row is a log of its own: the text that it keeps as its reason. What stands beside it comes as facts: `exit_code`, `error`
and `timed_out` as a diagnosis takes them, and `row`, all fields of a history row, for whoever judges rows.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from strata_diag.intake.jsonrecords import Record
from strata_diag.intake.records import Attachment, Notes

WAIT_EXPIRED = "startup_wait_expired"  # a run record's word: the app gave up waiting
_RECORD_WORDS = frozenset({WAIT_EXPIRED, "server_exited"})
_TEXTS = (
    "reason",
    "output",
    "stdout",
    "stderr",
    "log",
    "log_tail",
    "tail",
    "message",
)  # fields that hold what a run printed


def is_row(fields: Mapping[str, Any]) -> bool:
    """Whether a record is a row of a tuner's history."""
    return isinstance(fields.get("status"), str) and not {"sig", "label", "decode_tok_s"}.isdisjoint(fields)


def is_run_record(fields: Mapping[str, Any]) -> bool:
    """Whether a record says how a run ended."""
    error = fields.get("error")
    return "exit_code" in fields or (isinstance(error, str) and error in _RECORD_WORDS)


def rows(name: str, records: Iterable[Record]) -> Iterator[Attachment]:
    """A history's rows, or run records, each as a log."""
    for number, record in enumerate(records, 1):
        notes = Notes()
        facts: dict[str, Any] = {}
        text = record.text
        if record.fields is None:
            notes.add("damaged", "this is cut or damaged, so it is no row; its text was read as it stands")
        else:
            text = _printed(record.fields)
            facts = _facts(record.fields)
        stream = io.BytesIO(text.encode("utf-8", "replace"))
        yield Attachment(f"{name}, row {number}", stream, notes, record.line, facts, plain=True)


def run_record(name: str, record: Record) -> Iterator[Attachment]:
    """The log in the record of a single run; an empty line where it keeps none: its facts still speak."""
    fields = record.fields or {}
    text = _printed(fields) or "\n"
    yield Attachment(name, io.BytesIO(text.encode("utf-8", "replace")), (), record.line, _facts(fields), plain=True)


def _facts(fields: Mapping[str, Any]) -> dict[str, Any]:
    facts: dict[str, Any] = {"row": fields} if is_row(fields) else {}
    code, error, timed_out = fields.get("exit_code"), fields.get("error"), fields.get("timed_out")
    if isinstance(code, int) and not isinstance(code, bool):
        facts["exit_code"] = code
    if isinstance(error, str) and error:
        facts["error"] = error
    if timed_out is True or error == WAIT_EXPIRED:
        facts["timed_out"] = True
    return facts


def _printed(fields: Mapping[str, Any]) -> str:
    return "\n".join(text for name in _TEXTS if (text := _text(fields.get(name))))


def _text(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(item for item in value if isinstance(item, str))
    return value if isinstance(value, str) else ""
