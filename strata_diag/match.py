"""From a candidate line to the patterns that really match it.

Comes in: what one line showed (its redraws, newest first) and the numbers of the patterns to try. Goes out: hits with
captured values. Every pattern has a time-out; one that runs out of time is tried no more on this log, and a notice says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from strata_diag.model import NO_CAPTURES, Notice
from strata_diag.ruleset import RuleSet, is_deciding

TIMEOUT_SECONDS = 0.25  # of the process's CPU time, as the `regex` package counts it


class Hit(NamedTuple):
    """A pattern that matches a line. `text` is the redraw of the line that it matches, from the 0-based `start` on."""

    pattern: int
    text: str
    start: int
    captures: Mapping[str, str]


class Matcher:
    """Matches the lines of one log; keeps what ran out of time, so make one a log."""

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules
        self._exhausted: set[int] = set()
        self.notices: list[Notice] = []

    def hits(self, texts: list[str], patterns: Iterable[int]) -> list[Hit]:
        """The patterns among `patterns` that match the line, and with a deciding one the `info` patterns that claim it."""
        found = self._search(texts, patterns)
        if any(is_deciding(self._rules.rule_of(hit.pattern)) for hit in found):
            found += self.info_hits(texts)
        return found

    def info_hits(self, texts: list[str]) -> list[Hit]:
        """The `info` patterns that match a line, given as its redraws, newest first."""
        shown = "\n".join(texts)
        lowered = shown.lower()
        possible: set[int] = set()
        for (literal, caseless), numbers in self._rules.info_literals.items():
            if literal in (lowered if caseless else shown):
                possible.update(numbers)
        return self._search(texts, sorted(possible))

    def _search(self, texts: list[str], patterns: Iterable[int]) -> list[Hit]:
        found = []
        for number in patterns:
            hit = None if number in self._exhausted else self._first(texts, number)
            if hit is not None:
                found.append(hit)
        return found

    def _first(self, texts: list[str], number: int) -> Hit | None:
        pattern = self._rules.compiled(number)
        for text in texts:
            try:
                matched = pattern.search(text, timeout=TIMEOUT_SECONDS)
            except TimeoutError:
                self._give_up(number, f"took longer than {TIMEOUT_SECONDS} s")
                return None
            except MemoryError:  # the package's own bound, which some fuzzy patterns reach on any line
                self._give_up(number, "needed too much memory")
                return None
            if matched:
                captures = matched.groupdict() if pattern.groupindex else NO_CAPTURES
                return Hit(
                    number,
                    text,
                    matched.start(),
                    {name: value for name, value in captures.items() if value is not None} if captures else NO_CAPTURES,
                )
        return None

    def _give_up(self, number: int, what: str) -> None:
        self._exhausted.add(number)
        rule = self._rules.rule_of(number)
        text = f"a pattern of the rule {rule.id} {what} on one line and was not tried on later ones"
        self.notices.append(Notice("pattern-timeout", text))
