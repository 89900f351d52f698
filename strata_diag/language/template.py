"""Keys of a catalogue with holes.

`{name}` is a value that stays as it is; one of NUMBER_HOLES holds digits. `<<name>>` is a text of its own, looked up by
itself: rules that expand a vocabulary need one entry a rule and one a text of the vocabulary, not one a pair. A translation has
the holes of its key, in any order. Values of remedies (`${free_mib}`) are no holes: they stand in key and translation alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

NUMBER_HOLES = frozenset({"count", "first", "last", "line", "lines", "number"})

_HOLE = re.compile(r"(?<!\$)\{([a-z][a-z0-9_]*)\}|<<([a-z][a-z0-9_.-]*)>>")
_VALUE = re.compile(r"\$(?:\$|[A-Za-z_]\w*|\{[A-Za-z_]\w*\})")  # of string.Template, in the texts of remedies
_NUMBER = re.compile(r"\d[\d,]*")


class Template(NamedTuple):
    """A key with holes. pieces: the text around them, one more than holes; parts: the holes that are looked up themselves."""

    pieces: tuple[str, ...]
    names: tuple[str, ...]
    parts: frozenset[str]
    translation: str

    @property
    def is_sentence(self) -> bool:
        """Whether the program fills it with values; the texts of packs have parts only."""
        return len(self.parts) < len(self.names)

    @property
    def has_words(self) -> bool:
        """Whether a text that fits is surely this sentence: signs alone stand in many."""
        return any(map(str.isalpha, "".join(self.pieces)))

    def values_in(self, text: str) -> dict[str, str] | None:
        """What stands in the holes if the text fits; None where it does not. No hole is empty, and each is as short as can be."""
        first, *middle, last = self.pieces
        at, end = len(first), len(text) - len(last)
        if at >= end or not text.startswith(first) or not text.endswith(last):
            return None
        values = []
        for piece in middle:
            found = text.find(piece, at + 1, end)
            if found < 0:
                return None
            values.append(text[at:found])
            at = found + len(piece)
        if at >= end:
            return None
        found_values = dict(zip(self.names, [*values, text[at:end]], strict=True))
        numbers = (value for name, value in found_values.items() if name in NUMBER_HOLES)
        return found_values if all(map(_NUMBER.fullmatch, numbers)) else None

    def filled(self, values: Mapping[str, str]) -> str:
        """The translation with a text in each hole."""
        return _HOLE.sub(lambda hole: values[hole.group(1) or hole.group(2)], self.translation)


def template_of(english: str, translation: str) -> Template | None:
    """A key with holes that have text around them, ready to be compared; None for a plain key."""
    if "{" not in english and "<<" not in english:
        return None
    holes = list(_HOLE.finditer(english))
    starts, ends = [hole.start() for hole in holes], [hole.end() for hole in holes]
    pieces = tuple(english[end:start] for end, start in zip([0, *ends], [*starts, len(english)], strict=True))
    if not holes or not any(pieces) or not all(pieces[1:-1]):
        return None  # nothing would tell where a hole ends
    names = tuple(hole.group(1) or hole.group(2) for hole in holes)
    return Template(pieces, names, frozenset(hole.group(2) for hole in holes if hole.group(2)), translation)


def flaw(english: object, translation: object) -> str:
    """What is wrong with an entry of a catalogue, or nothing."""
    if not isinstance(english, str) or not isinstance(translation, str) or not translation.strip():
        return "is no text"
    both = english + translation
    if "{" not in both and "<<" not in both and "$" not in both:
        return ""  # nearly every entry
    if _signs(_HOLE, english) != _signs(_HOLE, translation):
        return "has other holes"
    return "has other $values" if _signs(_VALUE, english) != _signs(_VALUE, translation) else ""


def _signs(sign: re.Pattern[str], text: str) -> set[str]:
    return {found.group() for found in sign.finditer(text)}
