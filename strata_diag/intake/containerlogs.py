"""The files in which Docker's json-file driver keeps what a container writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from strata_diag.intake.jsonrecords import Record
from strata_diag.intake.records import Notes


def is_piece(fields: Mapping[str, Any]) -> bool:
    """Whether a record is a piece of a container's output."""
    return isinstance(fields.get("log"), str) and "time" in fields and ("stream" in fields or len(fields) == 2)  # noqa: PLR2004 - those two


def container_text(records: Iterable[Record], notes: Notes) -> Iterator[bytes]:
    """The output as the container wrote it: long lines come in several pieces. What is no record stays as it is."""
    for record in records:
        piece = None if record.fields is None else record.fields.get("log")
        if isinstance(piece, str):
            yield piece.encode("utf-8", "replace")
            continue
        notes.add_one_of_many("damaged", f"line {record.line} is no record of Docker", "lines are no records of Docker")
        yield record.text.encode("utf-8", "replace") + b"\n"
