"""How far a pattern gets in a line that it doesn't match: up to which of its elements, and where in the line.

Comes in: a pattern, then one line after the other. Goes out: the line in which most of its elements match, each of them
compiled together with all that stand before it, as every stage compiles patterns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from strata_diag.explain.elements import Cut, Element, beginning, cut, joined
from strata_diag.match import TIMEOUT_SECONDS
from strata_diag.ruleset import compile_pattern

if TYPE_CHECKING:
    import regex

DEEPEST = 8  # groups inside each other that are looked into


class Reached(NamedTuple):
    """How far a pattern gets. matched: the part of the pattern that matches; stopped_at: what of it comes next and does not;
    text: the line, as the redraw in which it got so far; start, end: where in it, 0-based.
    """

    matched: str
    stopped_at: str
    text: str
    start: int
    end: int


class Probe:
    """Tries a pattern on lines, and remembers the one in which it gets furthest."""

    def __init__(self, source: str) -> None:
        self.cut: Cut = cut(source)
        self.best: Reached | None = None
        self.gave_up = False  # it took too long on a line, and is tried no more
        self._ways = [_Way(self.cut.flags, way) for way in self.cut.ways]

    @property
    def beginnings(self) -> tuple[str, ...]:
        """For each alternative the plain text by which lines are looked up; empty where every line must be tried."""
        return tuple(beginning(way) for way in self.cut.ways)

    def look(self, texts: Sequence[str]) -> bool:
        """Try a line, given as its redraws, newest first. Whether the pattern gets further than in any line before."""
        further = False
        for way in self._ways:
            if self.gave_up:
                break
            try:
                further |= way.advance(texts)
            except (TimeoutError, MemoryError):
                self.gave_up = True
        if further:
            self.best = max((way.reached for way in self._ways if way.reached), key=_length)
        return further


def _length(reached: Reached) -> tuple[int, int]:
    """How much of a line, then how much of a pattern, was matched."""
    return reached.end - reached.start, len(reached.matched)


class _Way:
    """One alternative of a pattern, and how many of its elements have matched in some line."""

    def __init__(self, flags: str, elements: Sequence[Element]) -> None:
        self._flags = flags
        self._elements = list(elements)
        self._done = 0
        self._matching: regex.Pattern[str] | None = None  # what is done
        self._next: regex.Pattern[str] | None = None  # and with one element more
        self.reached: Reached | None = None

    def advance(self, texts: Sequence[str]) -> bool:
        """Match as many elements as possible; whether they are more than in any line before, or more of the same group."""
        found = None
        while (tried := self._compiled()) and (hit := _first(tried, texts)):
            self._done += 1
            self._matching, self._next, found = tried, None, hit
        if found is None and self._matching and self._stops_at_group:
            found = _first(self._matching, texts)
        if found is None:
            return False
        plain = _reached(found, joined(self._elements[: self._done]), self._elements[self._done :])
        reached = _looked_into(plain, self._flags, self._elements, self._done)
        if self.reached is not None and len(reached.matched) <= len(self.reached.matched):
            return False
        self.reached = reached
        return True

    @property
    def _stops_at_group(self) -> bool:
        return self._done < len(self._elements) and bool(self._elements[self._done].opening)

    def _compiled(self) -> regex.Pattern[str] | None:
        """The elements matched so far and the next one, with what follows where they make no pattern without it."""
        import regex  # noqa: PLC0415 - a start must not pay for it

        while self._next is None and self._done < len(self._elements):
            try:
                self._next = compile_pattern(self._flags + joined(self._elements[: self._done + 1]))
            except regex.error:
                self._elements[self._done : self._done + 2] = _merged(self._elements[self._done : self._done + 2])
        return self._next


def _merged(pair: Sequence[Element]) -> list[Element]:
    """Two elements as one; nothing for a last one that makes no pattern."""
    return [Element(joined(pair))] if len(pair) > 1 else []


def _first(pattern: regex.Pattern[str], texts: Sequence[str]) -> regex.Match[str] | None:
    hits = (pattern.search(text, timeout=TIMEOUT_SECONDS) for text in texts)
    return next((hit for hit in hits if hit), None)


def _reached(found: regex.Match[str], matched: str, rest: Sequence[Element]) -> Reached:
    return Reached(matched, stopping_point(rest), found.string, found.start(), found.end())


def stopping_point(rest: Sequence[Element]) -> str:
    """What of a pattern comes next: an element, or all of the plain text that begins there."""
    plain = []
    for element in rest:
        if not element.text:
            break
        plain.append(element)
    return joined(plain or list(rest[:1]))


def _looked_into(reached: Reached, flags: str, elements: Sequence[Element], done: int, opened: int = 1) -> Reached:
    """The same, with as much as matches of the group at which the pattern stopped. opened: groups that this leaves open."""
    group = elements[done] if done < len(elements) else Element("")
    if not group.opening or opened > DEEPEST:
        return reached
    before = joined(elements[:done]) + group.opening
    inner = [_inside(reached, flags, before, way, opened) for way in cut(group.inside).ways]
    return max([reached, *(one for one in inner if one)], key=_length)


def _inside(reached: Reached, flags: str, before: str, way: Sequence[Element], opened: int) -> Reached | None:
    """How far one alternative of a group gets; None where it does not even begin."""
    import regex  # noqa: PLC0415 - as above

    best, done = None, 0
    for count in range(1, len(way) + 1):
        source = before + joined(way[:count])
        try:
            compiled = compile_pattern(flags + source + ")" * opened)
        except regex.error:
            continue
        found = compiled.search(reached.text, timeout=TIMEOUT_SECONDS)
        if found is None:
            break
        done, best = count, _reached(found, source, way[count:])
    if best is None:
        return None
    return _looked_into(best, flags, [Element(before), *way], done + 1, opened + 1)
