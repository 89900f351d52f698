"""Lines of a file that may hold anything, and the rows in them.

Comes in: a file that other programs write, crash over and edit. Goes out: its lines as bytes, in bounded memory, and the JSON
objects of a line with their places. Nothing is skipped in silence: whatever is no row comes with a word for what it is.
"""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

LONGEST_ROW = 1024 * 1024  # bytes; a longer line is no row, and is never held as a whole
MOST_ATTEMPTS = 64  # places of a broken line at which a row is looked for

TRUNCATED = "truncated"
CORRUPT = "corrupt"

_AROUND = " \t\r\n\0\ufeff"  # what may stand around a row: blanks, the NULs of a lost block, a byte-order mark
_LINE_ENDS = ("\n", "\r\n", "")
_WORDS = ("true", "false", "null", "NaN", "Infinity", "-")
_NUMBER_REST = re.compile(r"[.eE][+-]?")  # of 1. and 1.5e, behind the number that was whole
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_DECODER = json.JSONDecoder()
_ESCAPE = 6  # characters of \uXXXX


class Line(NamedTuple):
    """A line with its end, or a part of one that is longer than LONGEST_ROW. part: 0 for its beginning; whole: no more parts."""

    number: int
    data: bytes
    part: int = 0
    whole: bool = True


class Piece(NamedTuple):
    """A row in a line: its place in the decoded text, and its fields."""

    start: int
    end: int
    fields: dict[str, Any]


class Content(NamedTuple):
    """What a line holds. cause, problem: for whatever is no row, `truncated` or `corrupt` and a sentence."""

    text: str
    pieces: tuple[Piece, ...] = ()
    cause: str = ""
    problem: str = ""


def is_utf16(head: bytes) -> bool:
    """Whether a file that starts like this is UTF-16, as PowerShell's `>` writes it."""
    return head.startswith(_UTF16)


def lines(file: BinaryIO) -> Iterator[Line]:
    """The lines of a file, in order, each with its end. UTF-16 comes out as UTF-8."""
    head = file.read(2)
    file.seek(0)
    if not is_utf16(head):
        yield from _parts(file.readline)
        return
    text = io.TextIOWrapper(file, encoding="utf-16", errors="replace", newline="\n")
    try:
        yield from _parts(lambda limit: text.readline(limit // 4).encode("utf-8", "replace"))
    finally:
        text.detach()  # the file is its opener's to close


def _parts(read: Callable[[int], bytes]) -> Iterator[Line]:
    number = 1
    part = 0
    while data := read(LONGEST_ROW):
        ended = data.endswith(b"\n")
        yield Line(number, data, part, whole=ended or len(data) < LONGEST_ROW)
        number, part = (number + 1, 0) if ended else (number, part + 1)


def content(data: bytes) -> Content:
    """What a line holds: mostly one row; none in a blank line; two where one was glued to another that was cut."""
    text = data.decode("utf-8", "surrogateescape")
    if text.startswith("{"):  # nearly every line
        try:
            value, end = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            pass
        else:
            if text[end:] in _LINE_ENDS:
                return Content(text, (Piece(0, end, value),))
    return _unusual(text)


def _unusual(text: str) -> Content:
    body = text.strip(_AROUND)
    if not body:
        return Content(text)
    start = text.find(body)
    try:
        value = json.loads(body)
    except RecursionError:
        return Content(text, (), CORRUPT, "nested too deeply to be a row")
    except ValueError as error:
        return _salvaged(text, body, error)
    if isinstance(value, dict):
        return Content(text, (Piece(start, start + len(body), value),))
    return Content(text, (), CORRUPT, f"a JSON {_kind(value)} where an object was expected")


def _kind(value: object) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, list):
        return "list"
    return "word" if value is None or isinstance(value, bool) else "number"


def _salvaged(text: str, body: str, error: ValueError) -> Content:
    """The whole rows in a line that is not one: what a writer glued to a row that another one left unfinished."""
    cause, problem = (
        (TRUNCATED, "the line was cut while it was written")
        if _is_cut(body, error)
        else (CORRUPT, "the line is no JSON")
    )
    pieces = []
    place = text.find("{")
    for _ in range(MOST_ATTEMPTS):
        if place < 0:
            break
        try:
            value, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            if isinstance(value, dict) and "status" in value and ("sig" in value or "reason" in value):
                pieces.append(Piece(place, end, value))
            else:
                end = place + 1
        place = text.find("{", end)
    if not pieces:
        return Content(text, (), cause, problem)
    rest = _without(text, pieces)
    if not rest:
        return Content(text, tuple(pieces))  # whole rows without a line end between them: nothing was lost
    if rest.startswith("{"):
        return Content(text, tuple(pieces), TRUNCATED, "a row was cut here, and another one stands in the same line")
    return Content(text, tuple(pieces), CORRUPT, "something that is no row stands beside one")


def _without(text: str, pieces: list[Piece]) -> str:
    """What a line holds beside its rows."""
    ends = [0, *(piece.end for piece in pieces)]
    starts = [*(piece.start for piece in pieces), len(text)]
    return "".join(text[end:start].strip(_AROUND) for end, start in zip(ends, starts, strict=True))


def _is_cut(body: str, error: ValueError) -> bool:
    """Whether a broken line merely stops too early."""
    if not (isinstance(error, json.JSONDecodeError) and body.startswith("{")):
        return False
    rest = body[error.pos :]
    return (
        not rest
        or error.msg.startswith("Unterminated")
        or any(word.startswith(rest) for word in _WORDS)
        or _NUMBER_REST.fullmatch(rest) is not None
        or ("escape" in error.msg and len(rest) <= _ESCAPE)
    )
