"""How a secret is looked for: a pattern, tried only on the lines that hold a cheap mark of it.

A log says the same again and again, so its different words are a tenth of it: an `anchor` that is not among them stands
nowhere, and most are not. The lines with an anchor, or with a `gate` (a pattern that begins with a literal, and is therefore
quick), are the only ones on which the exact pattern is tried. The named groups of a pattern are what is replaced, and name
the kind (`KINDS`); a second group of the same kind is `user_b`. Patterns are possessive or bounded, so that no line makes
them slow.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

_DIGITS = bytes(0x30 if chr(code).isdigit() and code < 0x80 else code for code in range(256))  # noqa: PLR2004 - all ASCII digits are 0
KINDS = ("user", "host", "address", "mac", "mail", "token", "key", "gpu", "serial", "uuid")


class Found(NamedTuple):
    """A secret in a text: 0-based offsets, its kind, and itself."""

    start: int
    end: int
    kind: str
    secret: str


def _any_match(_: re.Match[str]) -> bool:
    return True


class Searched:
    """A text that many detectors search.

    lower: in lower case, character for character; words: its different words, every digit as 0.
    """

    def __init__(self, text: str) -> None:
        self.lower = lowered(text)
        encoded = self.lower.encode("utf-8", "surrogatepass")
        self.words = b" ".join({*encoded.translate(_DIGITS).split()})

    def may_hold(self, anchor: str) -> bool:
        """Whether every word of an anchor is part of a word of the text."""
        return all(part in self.words for part in _parts(anchor))


@functools.lru_cache(maxsize=1024)
def _parts(anchor: str) -> tuple[bytes, ...]:
    return tuple(anchor.encode("utf-8", "surrogatepass").translate(_DIGITS).split())


class Detector(NamedTuple):
    """One pattern of secrets.

    pattern: its groups name the kinds; anchors: lower-case literals, one of which stands in every line that can match;
    gates: patterns, one of which matches such a line in lower case, tried where a text has an anchor (without either all of
    a text is searched at once); accepts: a closer look at a match.
    """

    pattern: re.Pattern[str]
    anchors: tuple[str, ...] = ()
    gates: tuple[re.Pattern[str], ...] = ()
    accepts: Callable[[re.Match[str]], bool] = _any_match

    def find(self, text: str, searched: Searched) -> Iterator[Found]:
        """What the pattern finds, in order, in a text that was `searched`, or in one with blanks in its place."""
        groups = [(name, name.partition("_")[0]) for name in self.pattern.groupindex]
        wanted = [(name, kind) for name, kind in groups if kind in KINDS]
        for start, end in self._lines(searched):
            for match in self.pattern.finditer(text, start, end):
                if self.accepts(match):
                    yield from (
                        Found(*match.span(name), kind, match[name]) for name, kind in wanted if match[name] is not None
                    )

    def _lines(self, searched: Searched) -> list[tuple[int, int]]:
        """Where the lines with a mark begin and end, in order, each once."""
        lower = searched.lower
        anchors = [anchor for anchor in self.anchors if searched.may_hold(anchor)]
        if self.anchors and not anchors:
            return []
        if self.gates:
            return sorted({span for gate in self.gates for span in _lines_of(lower, gate)})
        if not self.anchors:
            return [(0, len(lower))]
        return sorted({span for anchor in anchors for span in _lines_with(lower, anchor)})


def _lines_of(lower: str, gate: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    end = 0
    while match := gate.search(lower, end):
        start, end = _line_around(lower, match.start())
        yield start, end


def _lines_with(lower: str, anchor: str) -> Iterator[tuple[int, int]]:
    end = 0
    while (position := lower.find(anchor, end)) >= 0:
        start, end = _line_around(lower, position)
        yield start, end


def _line_around(text: str, position: int) -> tuple[int, int]:
    end = text.find("\n", position)
    return text.rfind("\n", 0, position) + 1, len(text) if end < 0 else end


def lowered(text: str) -> str:
    """The text in lower case with every character in its place: a few capitals have two small letters."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := character.lower()) == 1 else character for character in text)
