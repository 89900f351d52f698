"""From a candidate line to the patterns that really match it.

Comes in: what one line showed (its redraws, newest first) and the numbers of the patterns to try. Goes out: hits with
captured values. A search that could take long has a time-out; a pattern that runs out of time is tried no more on this log,
and a notice says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from strata_diag.model import NO_CAPTURES, Notice
from strata_diag.record import TYPE_CHECKING, NamedTuple
from strata_diag.ruleset import DECIDING, RuleSet

if TYPE_CHECKING:
    import regex

TIMEOUT_SECONDS = 0.25  # of the process's CPU time, as the `regex` package counts it
# Characters of a line up to which a search with so many repetitions takes less than ten million steps, some 0.1 s, at worst
UNTIMED_LENGTHS = (64 * 1024, 4000, 390, 125, 70, 45, 36, 30, 26, 0)


class Hit(NamedTuple):
    """A pattern that matches a line. `text` is the redraw of the line that it matches."""

    pattern: int
    text: str
    matched: regex.Match[str]

    @property
    def start(self) -> int:
        """Where in `text` the match begins, 0-based."""
        return self.matched.start()

    @property
    def captures(self) -> Mapping[str, str]:
        """The captured values by name, those that took no part left out."""
        values = self.matched.groupdict()
        if None in values.values():
            return {name: value for name, value in values.items() if value is not None}
        return values or NO_CAPTURES


class Matcher:
    """Matches the lines of one log; keeps what ran out of time, so make one a log."""

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules
        self._repeats = rules.repeats
        self._exhausted: set[int] = set()
        self.vain: dict[int, int] = {}  # how often each pattern was tried on a line that it does not match
        self.notices: list[Notice] = []

    def hits(self, texts: list[str], patterns: Iterable[int]) -> list[Hit]:
        """The patterns among `patterns` that match the line, and with a deciding one the `info` patterns that claim it."""
        found = self.search(texts, patterns)
        if any(self._rules.marks[hit.pattern] & DECIDING for hit in found):
            found += self.info_hits(texts)
        return found

    def info_hits(self, texts: list[str]) -> list[Hit]:
        """The `info` patterns that match a line, given as its redraws, newest first."""
        return self.search(texts, _held_by("\n".join(texts), self._rules.info_literals.items()))

    def info_hits_of_lines(self, lines: list[str]) -> list[list[Hit]]:
        """The same for each of many lines, whose literals are first looked for in all of them together."""
        shown = "\n".join(lines)
        lowered = shown.lower()
        held = [one for one in self._rules.info_literals.items() if one[0][0] in (lowered if one[0][1] else shown)]
        return [self.search([line], _held_by(line, held)) for line in lines]

    def search(self, texts: list[str], patterns: Iterable[int]) -> list[Hit]:
        """The patterns among `patterns` that match the line."""
        found = []
        for number in patterns:
            if number in self._exhausted:
                continue
            pattern = self._rules.compiled(number)
            untimed = UNTIMED_LENGTHS[self._repeats[number]]
            for text in texts:
                matched = pattern.search(text) if len(text) <= untimed else self._timed(pattern, number, text)
                if matched:
                    found.append(Hit._make((number, text, matched)))
                    break
            else:
                self.vain[number] = self.vain.get(number, 0) + 1
        return found

    def _timed(self, pattern: regex.Pattern[str], number: int, text: str) -> regex.Match[str] | None:
        """A search that may take long."""
        try:
            return pattern.search(text, timeout=TIMEOUT_SECONDS)
        except TimeoutError:
            self._give_up(number, f"took longer than {TIMEOUT_SECONDS} s")
        except MemoryError:  # the package's own bound, which some fuzzy patterns reach on any line
            self._give_up(number, "needed too much memory")
        return None

    def _give_up(self, number: int, what: str) -> None:
        self._exhausted.add(number)
        rule = self._rules.rule_of(number)
        text = f"a pattern of the rule {rule.id} {what} on one line and was not tried on later ones"
        self.notices.append(Notice("pattern-timeout", text))


def _held_by(shown: str, literals: Iterable[tuple[tuple[str, bool], tuple[int, ...]]]) -> list[int]:
    """The numbers of the patterns of which a literal stands in a text, sorted."""
    lowered = shown.lower()
    possible: set[int] = set()
    for (literal, caseless), numbers in literals:
        if literal in (lowered if caseless else shown):
            possible.update(numbers)
    return sorted(possible)
