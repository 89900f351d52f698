"""The system's journal as `journalctl -o json` writes it, one entry a line or in an array, as the short lines that people know.

Times are UTC, as they are stored; entries keep their order, except that a journal with the newest entry first is turned round.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain, islice, pairwise
from typing import Any

from strata_diag.intake import limits
from strata_diag.intake.jsonrecords import Record
from strata_diag.intake.records import Notes

ORDER_FROM = 8  # entries from which the order is told
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_LARGEST_BYTE = 255


def is_entry(fields: Mapping[str, Any]) -> bool:
    """Whether a record is an entry of the journal."""
    return "MESSAGE" in fields and any(name.startswith("_") for name in fields)


def journal_text(records: Iterable[Record], notes: Notes) -> Iterator[bytes]:
    """The lines of a journal: `Oct 21 03:32:12 host strata[4242]: text`. What is no entry stays as it is."""
    for record in _oldest_first(iter(records), notes):
        if record.fields is None or "MESSAGE" not in record.fields:
            notes.add_one_of_many(
                "damaged", f"line {record.line} is no entry of a journal", "lines are no entries of a journal"
            )
            yield record.text.encode("utf-8", "replace") + b"\n"
            continue
        prefix = _prefix(record.fields).encode("utf-8", "replace")
        message = _message(record.fields["MESSAGE"])
        if message is None:
            notes.add_one_of_many(
                "left-out",
                f"line {record.line} has no readable message (`journalctl --all` keeps long ones)",
                "entries have none",
            )
            continue
        yield b"".join(prefix + line + b"\n" for line in message.rstrip(b"\n").split(b"\n"))


def _oldest_first(records: Iterator[Record], notes: Notes) -> Iterator[Record]:
    first = list(islice(records, ORDER_FROM))
    times = [time for record in first if (time := _microseconds(record.fields or {})) is not None]
    falls = any(one > other for one, other in pairwise(times))
    if not falls or any(one < other for one, other in pairwise(times)):
        yield from chain(first, records)
        return
    size = 0
    for record in records:
        first.append(record)
        size += len(record.text)
        if size > limits.LARGEST_JSON:
            notes.add(
                "limit",
                "the journal has its newest entry first and is too large to be turned round: only its newest part was read",
            )
            break
    yield from reversed(first)


def _prefix(fields: Mapping[str, Any]) -> str:
    name = _word(fields, "SYSLOG_IDENTIFIER") or _word(fields, "_COMM") or "unknown"
    process = _word(fields, "_PID") or _word(fields, "SYSLOG_PID")
    who = f"{name}[{process}]" if process else name
    return f"{_time(fields)} {_word(fields, '_HOSTNAME') or 'localhost'} {who}: "


def _word(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    value = value[0] if isinstance(value, list) and value else value
    return str(value).replace("\n", " ") if isinstance(value, str | int) else ""


def _microseconds(fields: Mapping[str, Any]) -> int | None:
    try:
        return int(_word(fields, "__REALTIME_TIMESTAMP") or _word(fields, "_SOURCE_REALTIME_TIMESTAMP"))
    except ValueError:
        return None


def _time(fields: Mapping[str, Any]) -> str:
    stamp = _microseconds(fields)
    try:
        time = datetime.fromtimestamp((stamp or 0) / 1_000_000, UTC)
    except (ValueError, OverflowError, OSError):
        time = datetime.fromtimestamp(0, UTC)
    return f"{_MONTHS[time.month - 1]} {time.day:02d} {time:%H:%M:%S}"


def _message(value: object) -> bytes | None:
    """A message as bytes: a text, a list of bytes where it is no UTF-8, a list of several; None where there is none."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace")
    if not isinstance(value, list) or not value:
        return None
    if all(isinstance(item, int) and not isinstance(item, bool) and 0 <= item <= _LARGEST_BYTE for item in value):
        return bytes(value)
    parts = [part for item in value if not isinstance(item, int) and (part := _flat(item)) is not None]
    return b"\n".join(parts) if parts else None


def _flat(item: object) -> bytes | None:
    return (
        _message(item) if isinstance(item, str) or (isinstance(item, list) and not any(map(_is_list, item))) else None
    )


def _is_list(item: object) -> bool:
    return isinstance(item, list)
