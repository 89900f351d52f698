"""The parts of a pattern, as the standard library's parser sees them: its certain words, and texts that wear it out.

What only the `regex` package understands can't be read here; such a pattern has no parts, and no check that needs them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as sre_parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

from strata_diag.literals import reads_otherwise

REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
LOOKAROUNDS = (sre.ASSERT, sre.ASSERT_NOT)
LONG_REPEAT = 30  # times; what repeats less can't wear a pattern out
GAP = "\0"  # between two certain texts
TRIED = "a1 _-/.:,x(['\"=Z%"  # characters for a set, the likeliest first
NOTHING_FITS = "~"
MOST_ALTERNATIVES = 6  # of a branch that are spelled out

_CATEGORIES = {
    sre.CATEGORY_DIGIT: re.compile(r"\d", re.ASCII),
    sre.CATEGORY_NOT_DIGIT: re.compile(r"\D", re.ASCII),
    sre.CATEGORY_SPACE: re.compile(r"\s", re.ASCII),
    sre.CATEGORY_NOT_SPACE: re.compile(r"\S", re.ASCII),
    sre.CATEGORY_WORD: re.compile(r"\w", re.ASCII),
    sre.CATEGORY_NOT_WORD: re.compile(r"\W", re.ASCII),
}


class Pump(NamedTuple):
    """A way to wear a pattern out: what leads to one of its repeats, a text to be written again and again, what should follow."""

    lead: str
    repeated: str
    rest: str


def parse(source: str) -> Any:
    """The parts of a pattern, or None where the standard library can't read it or reads something else."""
    if reads_otherwise(source):
        return None
    try:
        return sre_parser.parse(source)
    except (re.error, RecursionError, OverflowError):
        return None


def certain_text(tree: Any) -> str:
    """The least text that every match holds, with GAP where anything may stand; of a branch its shortest side."""
    return "".join(_certain(operation, argument) for operation, argument in tree)


def _certain(operation: Any, argument: Any) -> str:
    if operation is sre.LITERAL:
        return chr(argument)
    if operation is sre.AT or operation in LOOKAROUNDS:
        return ""
    if operation is sre.IN:
        return _letter(argument) or GAP
    if operation in REPEATS:
        return GAP + certain_text(argument[2]) + GAP if argument[0] >= 1 else GAP
    sides = [certain_text(side) for side in _inside(operation, argument)]
    return min(sides, key=lambda text: sum(map(str.isalnum, text)), default=GAP)


def _letter(members: Any) -> str:
    """The letter of a set that holds one in both cases, such as `[Ff]`; empty for any other set."""
    letters = {chr(argument).lower() for operation, argument in members if operation is sre.LITERAL}
    return letters.pop() if len(letters) == 1 and all(operation is sre.LITERAL for operation, _ in members) else ""


def _inside(operation: Any, argument: Any) -> list[Any]:
    """The parts inside a part: the sides of a branch, what a group or a repeat holds; none for a character."""
    if operation is sre.BRANCH:
        return list(argument[1])
    if operation is sre.SUBPATTERN:
        return [argument[3]]
    if operation in REPEATS:
        return [argument[2]]
    return [argument] if operation is sre.ATOMIC_GROUP else []


def pumps(tree: Any) -> list[Pump]:
    """Texts by which each unbounded repeat of a pattern is tried: itself, with its neighbours, and all that stands before it."""
    return list(dict.fromkeys(pump for pump in _pumps(list(tree), "") if pump.repeated))


def _pumps(parts: list[tuple[Any, Any]], before: str) -> Iterator[Pump]:
    examples = [_example_of(operation, argument) for operation, argument in parts]
    lead = before
    for index, (operation, argument) in enumerate(parts):
        if operation in REPEATS and argument[1] >= LONG_REPEAT:
            once, rest = _example(argument[2]), "".join(examples[index + 1 :])
            following = "".join(examples[index + 1 : index + 2])
            tried = (once, once + following, following, rest[:-1], lead, lead + once)
            yield from (Pump(lead, text, rest) for text in tried)
        for side in _inside(operation, argument)[:MOST_ALTERNATIVES]:
            yield from _pumps(list(side), lead)
        lead += examples[index]


def _example(parts: Any) -> str:
    """A text that the parts of a pattern match, as far as that can be told without look-arounds."""
    return "".join(_example_of(operation, argument) for operation, argument in parts)


def _example_of(operation: Any, argument: Any) -> str:
    inside = _inside(operation, argument)
    if inside:
        times = min(max(argument[0], 1), argument[1], LONG_REPEAT) if operation in REPEATS else 1
        return _example(inside[0]) * int(times)
    if operation is sre.LITERAL:
        return chr(argument)
    if operation is sre.IN:
        return _member(argument)
    if operation is sre.NOT_LITERAL:
        return "a" if argument != ord("a") else "b"
    return "a" if operation is sre.ANY else ""


def _member(members: Any) -> str:
    """A character of a set such as `[a-z./]`."""
    negated = any(operation is sre.NEGATE for operation, _ in members)
    for character in TRIED:
        if any(_holds(operation, argument, character) for operation, argument in members) is not negated:
            return character
    named = next((argument for operation, argument in members if operation is sre.LITERAL), None)
    return NOTHING_FITS if negated or named is None else chr(named)


def _holds(operation: Any, argument: Any, character: str) -> bool:
    if operation is sre.LITERAL:
        return bool(ord(character) == argument)
    if operation is sre.RANGE:
        return bool(argument[0] <= ord(character) <= argument[1])
    return operation is sre.CATEGORY and bool(_CATEGORIES[argument].match(character))
