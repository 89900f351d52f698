"""Logs in Markdown: issues, their comments and exports, as people paste them.

A document is told from a log by how it begins: before any line of a log stands bare, it shows Markdown of its own (a fence, a
heading below the first level, a bold line, `<details>`, an issue's title), or a person speaks of themself. Logs that quote
Markdown begin as logs do.

Its logs are the fences that hold neither code nor settings, and the runs of log lines between prose (see `prose`). markdown-it
says where fences, headings and quotes are; the lines themselves are taken from the document, so that nothing is lost of them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from strata_diag.intake import limits
from strata_diag.intake.encodings import text_of
from strata_diag.intake.prose import is_code, is_log_line, is_personal, is_prose
from strata_diag.intake.records import Attachment, Notes, skipped
from strata_diag.intake.streams import chunks_of, mib, read_up_to, stream_of
from strata_diag.linetext import looks_binary

if TYPE_CHECKING:
    from markdown_it.token import Token

LONE_LINES = 4  # of a paragraph with a single log line among them; in a longer one it is an accident
WIDEST_GAP = 20  # lines that are neither log nor prose, between two lines of the same log
CODE_LANGUAGES = frozenset(
    "yaml yml toml ini json jsonc python py c cpp c++ cuda rust go js ts javascript typescript java html xml css sql diff patch"  # noqa: SIM905 - a list of words
    " dockerfile makefile cmake nix lua".split()
)

_STRUCTURE = re.compile(
    r" {0,3}(?:```|~~~|#{2,6} +\S|\*\*[^*\n]{1,80}\*\*:?\s*$|<(?:details|summary|pre|h[1-6])\b|<!--)"
)
_TITLE = re.compile(r"#\d+ (?!0x)\S|title:\t")  # of an issue, as GitHub's page and `gh issue view` begin
_END_OF_TITLE = "--"  # of what `gh issue view` writes above the body
# a fence, maybe in a quote and a list
_FENCE = re.compile(r"([ >]*)(?:(?:[-*+]|\d{1,3}[.)])\s+)?((?:```|~~~).*)")
_JSON = re.compile(r"\s*(?:\[\s*)?\{")  # of an issue, it holds Markdown and is none
_TAGS = re.compile(
    r"</?(?:details|summary|pre|code|p|br|b|i|strong|em|sub|sup|div|span|kbd)\b[^>\n]{0,200}>", re.IGNORECASE
)
_QUOTE = re.compile(r"(?: {0,3}> ?)+")


class _Line(NamedTuple):
    """A line of a document outside its fences. number: 1-based."""

    number: int
    text: str


class _Part(NamedTuple):
    """A part of a document that may be a log. first_line: 1-based; closed: its fence has an end."""

    first_line: int
    lines: list[str]
    language: str = ""
    closed: bool = True
    fenced: bool = False


def read_document(name: str, head: bytes, stream: BinaryIO) -> Iterable[Attachment] | None:
    """The logs in a Markdown document."""
    text = text_of(head)
    if looks_binary(text.encode("utf-8", "replace")) or not is_document(text):
        return None
    data = read_up_to(stream, limits.LARGEST_DOCUMENT + 1)
    if len(data) > limits.LARGEST_DOCUMENT:
        notes = Notes()
        notes.add(
            "limit",
            f"it looks like a document but is larger than {mib(limits.LARGEST_DOCUMENT)}: it was read as one log",
        )
        return [Attachment(name, stream_of(chain([data], chunks_of(stream))), notes, plain=True)]
    return logs_in_document(name, text_of(data))


def is_document(head: str) -> bool:
    """Whether a text that begins like this was written by a person around logs, rather than by a program."""
    if _JSON.match(head):
        return False
    lines = head.split("\n")
    if _TITLE.match(lines[0]):
        return True
    for line in lines:
        if _STRUCTURE.match(line) or is_personal(line):
            return True
        if is_log_line(line):
            return False
    return False


def logs_in_document(name: str, text: str) -> Iterator[Attachment]:
    """The logs of a document that is known to be one; if it has none, one skipped attachment that says so."""
    notes = Notes()
    parts = list(_parts(text))
    logs = [part for part in parts if _is_log(part)]
    left_out = [part.first_line for part in parts if part.fenced and not _is_log(part) and any(part.lines)]
    if left_out:
        places = ", ".join(map(str, left_out[: limits.NOTICES_NAMED])) + (
            ", ..." if len(left_out) > limits.NOTICES_NAMED else ""
        )
        notes.add("left-out", f"what is fenced at line {places} looks like code, settings or commands and was left out")
    if not logs:
        notes.add("left-out", "no log was found in this text")
        yield skipped(name, notes)
    for found, part in enumerate(logs, 1):
        if not part.closed:
            notes.add(
                "left-out",
                f"the fence at line {part.first_line - 1} is never closed: all that follows was read as its log",
            )
        data = "\n".join(part.lines).encode("utf-8", "replace") + b"\n"
        place = f"{name}, log {found} at line {part.first_line}"
        # a bare run may be all of a document; looked into again it would be found again
        is_plain = not part.fenced and not _JSON.match(part.lines[0])
        yield Attachment(place, io.BytesIO(data), notes, part.first_line, plain=is_plain)
        notes = Notes()


def _is_log(part: _Part) -> bool:
    lines = [line for line in part.lines if line.strip()]
    if not part.fenced:
        return True
    logged = sum(map(is_log_line, lines))
    if part.language in CODE_LANGUAGES:
        return len(lines) <= 3 * logged and not all(map(is_code, lines))
    return logged > 0 or not all(map(is_code, lines))


def _parts(text: str) -> Iterator[_Part]:
    """Fences and runs of bare log lines, in order."""
    source = [line.rstrip("\r") for line in text.split("\n")]
    bare: list[_Line | None] = [_Line(number, line) for number, line in enumerate(source, 1)]
    fences: list[_Part] = []
    if _TITLE.match(text):
        head = source.index(_END_OF_TITLE) + 1 if _END_OF_TITLE in source else 1
        bare[:head] = [None] * head
    for token in _tokens(source):
        if token.map is None:
            continue
        first, end = token.map
        if token.type == "fence":
            fences.append(_fence(token, source))
            bare[first:end] = [None] * (end - first)
        elif token.type == "heading_open":
            bare[first:end] = [None] * (end - first)
        elif token.type == "blockquote_open":
            bare[first:end] = [
                line and line._replace(text=_QUOTE.sub("", line.text, count=1)) for line in bare[first:end]
            ]
    yield from sorted([*fences, *_runs(bare)], key=lambda part: part.first_line)


def _tokens(source: list[str]) -> list[Token]:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - 30 ms that only a document pays

    # of all Markdown only what bounds logs: lists and HTML blocks take quadratic time and would eat rulers, brackets and fences
    parser = MarkdownIt("zero").enable(["fence", "blockquote", "heading"])
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser.parse("\n".join(map(_out_of_its_list, source)))


def _out_of_its_list(line: str) -> str:
    """A line as markdown-it is shown it: a fence without the indent and marker of the list that it stands in."""
    line = line.replace("\r", " ")
    found = _FENCE.match(line)
    return found[1][: found[1].rfind(">") + 1] + found[2] if found else line


def _fence(token: Token, source: list[str]) -> _Part:
    first, end = token.map or [0, 0]
    count = token.content.count("\n")
    indent = _unquoted(source[first], token.level).index(token.markup)
    lines = [_dedented(_unquoted(line, token.level), indent) for line in source[first + 1 : first + 1 + count]]
    words = token.info.split()
    return _Part(first + 2, lines, words[0].lower() if words else "", closed=end - first - 1 > count, fenced=True)


def _unquoted(line: str, level: int) -> str:
    quote = _QUOTE.match(line) if level else None
    return line[quote.end() :] if quote else line


def _dedented(line: str, indent: int) -> str:
    return line[min(indent, len(line) - len(line.lstrip(" "))) :]


def _runs(bare: list[_Line | None]) -> Iterator[_Part]:
    """Runs of log lines outside fences; prose, headings and fences end one."""
    block: list[_Line] = []
    for line in [*bare, None]:
        shown = line and line._replace(text=_TAGS.sub("", line.text))
        if shown is not None and not is_prose(shown.text):
            block.append(shown)
            continue
        yield from _runs_of_block(block)
        block = []


def _runs_of_block(block: list[_Line]) -> Iterator[_Part]:
    places = [place for place, line in enumerate(block) if is_log_line(line.text)]
    floor = 0
    while places:
        count = next(
            (index for index, (one, other) in enumerate(pairwise(places), 1) if other - one > WIDEST_GAP), len(places)
        )
        first, last = _grown(block, floor, places[0], places[count - 1])
        floor = last + 1
        if count > 1 or last - first < LONE_LINES:
            yield _Part(block[first].number, [line.text for line in block[first : last + 1]])
        places = [place for place in places[count:] if place >= floor]


def _grown(block: list[_Line], floor: int, first: int, last: int) -> tuple[int, int]:
    """The ends of a run with the lines that hang on to it, up to a blank line or a label."""
    while first > floor and (text := block[first - 1].text.strip()) and not text.endswith((":", "**")):
        first -= 1
    while last + 1 < len(block) and block[last + 1].text.strip():
        last += 1
    return first, last
