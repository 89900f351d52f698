r"""A pattern cut into its elements, so that any number of them from the first on is a pattern of its own.

Comes in: the text of a regular expression. Goes out: its alternatives, each as elements in order: a character, a class, a
group, an anchor, each with its quantifier. The pattern is known to compile, so that nothing is checked here; what is not
understood stays in one piece, and a beginning that does not compile is passed over by whoever tries it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

SHORTEST_BEGINNING = 3  # characters of plain text by which lines are looked up
LONGEST_BEGINNING = 8

_FLAGS = re.compile(r"(?:\(\?[a-zA-Z]+\))*")
_ESCAPE = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[NpPgLk](?:\{[^}]*\}|<[^>]*>)|\d{1,3}|.)", re.DOTALL
)
_QUANTIFIER = re.compile(r"(?:[*+?]|\{(?:\d+(?:,\d*)?|,\d+|[^{}]*[<>=][^{}]*|[eids])\})[?+]?")
_OPENING = re.compile(
    r"\((?:\?(?::|>|P?<[A-Za-z_]\w*>|[a-zA-Z]*(?:-[a-zA-Z]+)?:))?(?!\?)"
)  # of groups that can be looked into
_SPECIAL = frozenset(".^$*+?{}[]\\|()")


class Element(NamedTuple):
    """A piece of a pattern. text: the character that it stands for, where it is a single one; opening, inside: of a group
    that can be looked into, what begins it and the pattern that it holds.
    """

    source: str
    text: str = ""
    opening: str = ""
    inside: str = ""


class Cut(NamedTuple):
    """A pattern in pieces. flags: what holds for all of it, such as `(?i)`; ways: its alternatives."""

    flags: str
    ways: tuple[tuple[Element, ...], ...]

    @property
    def caseless(self) -> bool:
        """Whether the case of letters counts for nothing."""
        return "i" in self.flags


def cut(source: str) -> Cut:
    """The elements of a pattern. One that is written over several lines (`(?x)`) stays whole."""
    flags = _FLAGS.match(source)
    leading = flags.group() if flags else ""
    rest = source[len(leading) :]
    if "x" in leading:
        return Cut(leading, ((Element(rest),),))
    return Cut(leading, tuple(tuple(way) for way in _ways(rest)))


def _ways(source: str) -> list[list[Element]]:
    ways: list[list[Element]] = [[]]
    position = 0
    while position < len(source):
        if source[position] == "|":
            ways.append([])
            position += 1
            continue
        end = _unit_end(source, position)
        quantifier = _QUANTIFIER.match(source, end)
        stop = quantifier.end() if quantifier else end
        ways[-1].append(_element(source[position:end], source[end:stop]))
        position = stop
    return ways


def _unit_end(source: str, position: int) -> int:
    """Where the character, escape, class or group that begins here ends."""
    first = source[position]
    if first == "\\":
        escape = _ESCAPE.match(source, position)
        return escape.end() if escape else len(source)
    if first == "[":
        return _class_end(source, position)
    if first != "(":
        return position + 1
    if source.startswith("(?#", position):
        return _behind(source, ")", position)
    position += 1
    while position < len(source) and source[position] != ")":
        position = _unit_end(source, position)
    return min(position + 1, len(source))


def _class_end(source: str, position: int) -> int:
    position += 2 if source.startswith("[^", position) else 1
    position += source.startswith("]", position)  # as the first character it stands for itself
    while position < len(source) and source[position] != "]":
        if source[position] == "\\":
            position = _unit_end(source, position)
        elif source.startswith("[:", position):
            position = _behind(source, ":]", position)
        else:
            position += 1
    return min(position + 1, len(source))


def _behind(source: str, sign: str, position: int) -> int:
    found = source.find(sign, position)
    return len(source) if found < 0 else found + len(sign)


def _element(unit: str, quantifier: str) -> Element:
    if quantifier:
        return Element(unit + quantifier)
    if len(unit) == 1:
        return Element(unit, unit if unit not in _SPECIAL else "")
    if unit[0] == "\\":
        plain = len(unit) == 2 and not unit[1].isalnum()  # noqa: PLR2004 - a backslash and the sign that it makes plain
        return Element(unit, unit[1] if plain else "")
    opening = _OPENING.match(unit)
    if opening and unit.endswith(")"):
        return Element(unit, "", opening.group(), unit[opening.end() : -1])
    return Element(unit)


def joined(elements: Sequence[Element]) -> str:
    """The pattern that these elements make."""
    return "".join(element.source for element in elements)


def beginning(way: Sequence[Element]) -> str:
    """The first plain text of an alternative that is long enough to look lines up by; empty where it has none."""
    text = ""
    for element in way:
        text += element.text
        if len(text) == LONGEST_BEGINNING:
            break
        if not element.text:
            if len(text) >= SHORTEST_BEGINNING:
                break
            text = ""
    return text if len(text) >= SHORTEST_BEGINNING else ""
