"""Which kind of record a JSON file holds: a journal, a container's output, a tuner's rows, or issues.

A file whose first lines hold a record is read line by line, whatever its size; any other JSON is read as a whole, up to a
bound. JSON of any other kind is a log as it stands: many programs log in JSON lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, BinaryIO

from strata_diag.intake import limits
from strata_diag.intake.containerlogs import container_text, is_piece
from strata_diag.intake.encodings import text_of, utf8_stream
from strata_diag.intake.issues import issues_in, logs_of_issues
from strata_diag.intake.journal import is_entry, journal_text
from strata_diag.intake.jsonrecords import AROUND, Record, object_of, records_in_lines, values_in_text
from strata_diag.intake.records import Attachment, Notes
from strata_diag.intake.streams import chunks_of, mib, read_up_to, stream_of
from strata_diag.intake.tuning import is_row, is_run_record, rows, run_record

FIRST_LINES = 5  # of a file that may be broken before its first record
SPLIT_BY_THE_CUT = 16  # characters at the end of a head in which a cut may make an error of its own

_DECODER = json.JSONDecoder(strict=False)


def read_json(name: str, head: bytes, stream: BinaryIO) -> Iterable[Attachment] | None:
    """The logs in a JSON file of a kind that is known."""
    if b"{" not in head:
        return None
    text = text_of(head)
    first = _first_record(text, is_whole=len(head) < limits.HEAD_BYTES)
    if first is not None and (read := _by_line(name, first, head, stream)) is not None:
        return read
    text = text.lstrip(AROUND)
    if text[:1] not in ("{", "[") or not _may_be_known(text, is_whole=len(head) < limits.HEAD_BYTES):
        return None
    return _whole(name, stream)


def _first_record(text: str, *, is_whole: bool) -> Any:
    """The first of a file's first lines that is a JSON object, or None."""
    lines = text.split("\n") if is_whole else text.split("\n")[:-1]
    for line in [line for line in lines if line.strip(AROUND)][:FIRST_LINES]:
        if (fields := object_of(line.strip(AROUND))) is not None:
            return fields
    return None


def _by_line(name: str, first: Any, head: bytes, stream: BinaryIO) -> Iterable[Attachment] | None:
    if is_row(first):
        return rows(name, _records(head, stream))
    notes = Notes()
    if is_entry(first):
        return [Attachment(name, stream_of(journal_text(_records(head, stream), notes)), notes, plain=True)]
    if is_piece(first):
        return [Attachment(name, stream_of(container_text(_records(head, stream), notes)), notes)]
    return None


def _records(head: bytes, stream: BinaryIO) -> Iterator[Record]:
    yield from records_in_lines(utf8_stream(head, stream))


def _may_be_known(text: str, *, is_whole: bool) -> bool:
    """Whether a text that begins like this may be JSON of a kind that is known."""
    try:
        value, _ = _DECODER.raw_decode(text)
    except json.JSONDecodeError as error:
        is_cut = error.msg.startswith("Unterminated string") or error.pos >= len(text) - SPLIT_BY_THE_CUT
        return is_cut and not is_whole
    except (ValueError, RecursionError):
        return False
    return _is_known(value)


def _is_known(value: Any) -> bool:
    values = value if isinstance(value, list) else [value]
    first = next((item for item in values if isinstance(item, dict)), {})
    return any(is_one(first) for is_one in (is_row, is_entry, is_piece, is_run_record)) or any(issues_in(value))


def _whole(name: str, stream: BinaryIO) -> Iterator[Attachment]:
    data = read_up_to(stream, limits.LARGEST_JSON + 1)
    notes = Notes()
    text = text_of(data) if len(data) <= limits.LARGEST_JSON else ""
    values = values_in_text(text.lstrip(AROUND))
    if not text:
        notes.add("limit", f"it is JSON larger than {mib(limits.LARGEST_JSON)}: it was read as one log")
    if not _is_known([value for _, value in values]):
        yield Attachment(name, stream_of(chain([data], chunks_of(stream))), notes, plain=True)
        return
    yield from _of_values(name, text, values)


def _of_values(name: str, text: str, values: list[tuple[int, Any]]) -> Iterator[Attachment]:
    records = [
        Record(text.count("\n", 0, place) + 1 if place else 1, "", value)
        for place, value in values
        if isinstance(value, dict)
    ]
    first = next((record.fields for record in records if record.fields), {})
    notes = Notes()
    if is_entry(first):
        yield Attachment(name, stream_of(journal_text(iter(records), notes)), notes, plain=True)
    elif is_piece(first):
        yield Attachment(name, stream_of(container_text(records, notes)), notes)
    elif is_row(first) or (is_run_record(first) and len(records) > 1):
        yield from rows(name, records)
    elif is_run_record(first):
        yield from run_record(name, records[0])
    else:
        yield from logs_of_issues(name, issues_in([value for _, value in values]))
