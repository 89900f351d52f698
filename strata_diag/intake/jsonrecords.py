"""Records of a JSON file: one a line, spread over lines, one after the other, or in an array."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple, cast

from strata_diag.intake import limits
from strata_diag.linetext import decode_line

AROUND = " \t\r\n\0\ufeff"  # what may stand around a record: blanks, the NULs of a lost block, a byte-order mark
_DECODER = json.JSONDecoder(strict=False)  # a terminal breaks long lines inside texts


class Record(NamedTuple):
    """A record. line: 1-based line at which it starts (1 in an array); fields: None where its text is no JSON object."""

    line: int
    text: str
    fields: Mapping[str, Any] | None


def value_of(text: str) -> Any:
    """The JSON value that a text is, or None."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def object_of(text: str) -> Mapping[str, Any] | None:
    """The JSON object that a text is, or None."""
    value = value_of(text) if text.startswith("{") else None
    return value if isinstance(value, dict) else None


def records_in_lines(stream: BinaryIO) -> Iterator[Record]:
    """The records of a stream of UTF-8 lines. What is no record comes out too, as text."""
    broken: list[str] = []  # lines that are no record yet
    start = 1
    for number, line in _lines(stream):
        text = decode_line(line).strip(AROUND)
        if not text:
            continue
        fields = object_of(text)
        if fields is None:
            start = start if broken else number
            broken.append(text)
            text = "\n".join(broken)
            fields = object_of(text) if text.endswith("}") else None
            if fields is not None or len(broken) == limits.MOST_RECORD_LINES or len(text) > limits.LONGEST_RECORD:
                yield Record(start, text, fields)
                broken = []
            continue
        if broken:
            yield Record(start, "\n".join(broken), None)
            broken = []
        yield Record(number, text, fields)
    if broken:
        yield Record(start, "\n".join(broken), None)


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """(number, line) of a stream; a line that is longer than a record comes in parts with the same number."""
    file = io.BufferedReader(cast("io.RawIOBase", stream), limits.CHUNK_BYTES)
    number = 1
    try:
        while line := file.readline(limits.LONGEST_RECORD):
            yield number, line
            number += line.endswith(b"\n")
    finally:
        file.detach()  # the stream is its opener's to close


def values_in_text(text: str) -> list[tuple[int, Any]]:
    """(offset, value) of the values of a whole JSON text, as many as can be read; an array stands for what is in it."""
    found: list[tuple[int, Any]] = []
    place = 0
    while place < len(text):
        rest = len(text) - len(text[place:].lstrip(AROUND + ",")) if found else place
        try:
            value, end = _DECODER.raw_decode(text, rest)
        except (ValueError, RecursionError):
            break
        found += [(rest, item) for item in value] if isinstance(value, list) else [(rest, value)]
        place = end
    return found
