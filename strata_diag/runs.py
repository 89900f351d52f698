"""From matches in order of lines to runs: one start of an engine each.

Comes in: the matches of one line after the other. Goes out: runs with their span, phases, details and matches.

A start goes through phases in an order that its pack declares, on one or more tracks (the engine's log, the window's text).
A `run-start` rule names its phase. When one appears that lies before the phase which the run has reached on the same track,
or that can't appear twice, a new start has begun; an encoder block in front of an engine's header thus belongs to the start
that the header continues. On another track the same start is told twice (a window's output and the log that it quotes).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping

from strata_diag.model import NO_CAPTURES, Match, Run
from strata_diag.record import TYPE_CHECKING, NamedTuple
from strata_diag.ruleset import DECIDING, ENDS, PHASED, STARTS, Rule, RuleSet

if TYPE_CHECKING:
    from typing import Any

EVIDENCE_CAP = 16  # first and last matches kept of each pattern in a run; the rest is counted
VERIFIED = (
    EVIDENCE_CAP + 1
)  # matches of a pattern in a run from which further ones are only of interest if they are the last


class Later(NamedTuple):
    """A match that becomes a record only if it is among the last of its pattern: a line, and what makes the match of it.

    make: gives None where the line was not looked at before, and does not match.
    """

    line: int
    pattern: int
    make: Callable[..., Match | None]
    arguments: tuple[Any, ...]

    def match(self) -> Match | None:
        """The match as a record."""
        return self.make(*self.arguments)


class RunSplitter:
    """Cuts one log into runs. Feed it lines in order, then `finish`."""

    def __init__(self, rules: RuleSet, facts: Mapping[str, Any] = NO_CAPTURES) -> None:
        self._rules = rules
        self.facts = facts  # of the caller, for the last run
        self._open = _OpenRun(1, rules)

    @property
    def saturated(self) -> set[int]:
        """The patterns of which the open run has seen so many matches that only its last ones are still of interest."""
        return self._open.saturated

    def starts_run(self, patterns: Iterable[int]) -> bool:
        """Whether the line with matches of these patterns begins a new run; the open one then ends before it."""
        for number in patterns:
            if self._rules.marks[number] & STARTS and self._open.must_end_at(self._rules.rule_of(number)):
                return True
        return False

    def matches_of(self, pattern: int) -> int:
        """How often a pattern has matched in the open run."""
        return self._open.counts.get(pattern, 0)

    def close(self, last_line: int, tail: tuple[tuple[int, str], ...]) -> Run | None:
        """End the open run at `last_line` and begin the next; None where it held nothing (text in front of a start)."""
        closed = self._open
        self._open = _OpenRun(last_line + 1, self._rules)
        if not closed.phases and not closed.decides and last_line >= closed.first_line and not closed.matches:
            return None
        return closed.finished(last_line, tail, self._phase_names(closed), {})

    def add(self, matches: list[Match]) -> None:
        """Add the matches of one line to the open run."""
        for match in matches:
            self._open.add(match)

    def add_later(self, later: Later) -> None:
        """Add a match that is not one of the first of its pattern in this run; few of these are ever looked at."""
        self._open.add_later(later)

    def add_unseen(self, later: Later) -> None:
        """Add a line that holds a literal of a saturated pattern to the open run: it is looked at if it is among the last."""
        self._open.add_unseen(later)

    def count(self, pattern: int, lines: int) -> None:
        """Add lines to the open run that hold a literal of a saturated pattern and were not looked at."""
        self._open.counts[pattern] += lines

    def finish(self, last_line: int, tail: tuple[tuple[int, str], ...]) -> Run | None:
        """End the log. The facts of the caller speak of this last run. None for a log without a line."""
        if last_line < self._open.first_line:
            return None
        return self._open.finished(last_line, tail, self._phase_names(self._open), self.facts)

    def copy(self) -> RunSplitter:
        """One that goes on from here by itself."""
        made = RunSplitter(self._rules, self.facts)
        made._open = self._open.copy()
        return made

    def _phase_names(self, run: _OpenRun) -> dict[str, str]:
        return {track: self._rules.tracks[track][phase] for track, phase in run.phases.items()}


class _OpenRun:
    """A run that is still being read."""

    def __init__(self, first_line: int, rules: RuleSet) -> None:
        self.first_line = first_line
        self.saturated: set[int] = set()
        self._rules = rules
        self.phases: dict[str, int] = {}
        self.started: set[int] = set()
        self.details: dict[str, str] = {}
        self.matches: list[tuple[int, Match]] = []
        self.counts: dict[int, int] = {}
        self.ended = False
        self.decides = False
        self._last: dict[int, deque[tuple[int, Match | Later]]] = {}
        self._order = 0

    def copy(self) -> _OpenRun:
        made = _OpenRun(self.first_line, self._rules)
        made.saturated, made.started = {*self.saturated}, {*self.started}
        made.phases, made.details, made.counts = {**self.phases}, {**self.details}, {**self.counts}
        made.matches = [*self.matches]
        made.ended, made.decides = self.ended, self.decides
        made._last = {number: last.copy() for number, last in self._last.items()}
        made._order = self._order
        return made

    def must_end_at(self, start: Rule) -> bool:
        """Whether this `run-start` rule can't belong to this run."""
        if self.ended:
            return True
        if not self.phases:
            return self.decides  # text without any start before it: a cut head, if something failed there
        reached = self.phases.get(start.track)
        if reached is None or start.phase > reached:
            return False
        return start.phase < reached or (not start.repeats and start.number in self.started)

    def add(self, match: Match) -> None:
        self._order += 1
        number = match.pattern
        if marks := self._rules.marks[number] & (PHASED | STARTS | ENDS | DECIDING):
            self._note(match, marks)
        count = self.counts[number] = self.counts.get(number, 0) + 1
        if count <= EVIDENCE_CAP:
            self.matches.append((self._order, match))
        else:
            self._keep_last(number, match, count)

    def add_later(self, later: Later) -> None:
        self._order += 1
        number = later.pattern
        count = self.counts[number] = self.counts[number] + 1
        if self._rules.marks[number] & PHASED and (match := later.match()):  # it may tell what an earlier one left out
            self._note(match, PHASED)
        self._keep_last(number, later, count)

    def add_unseen(self, later: Later) -> None:
        self._order += 1
        self.counts[later.pattern] += 1
        self._last[later.pattern].append((self._order, later))

    def _keep_last(self, number: int, match: Match | Later, count: int) -> None:
        last = self._last.get(number)
        if last is None:
            last = self._last[number] = deque(maxlen=EVIDENCE_CAP)
        last.append((self._order, match))
        if count == VERIFIED:
            self.saturated.add(number)

    def _note(self, match: Match, marks: int) -> None:
        if marks & (PHASED | STARTS):
            rule = self._rules.rule_of(match.pattern)
            if rule.track:
                self.phases[rule.track] = max(rule.phase, self.phases.get(rule.track, 0))
                for name, value in match.captures.items():
                    self.details.setdefault(name, value)
            if marks & STARTS:
                self.started.add(rule.number)
        self.ended = self.ended or bool(marks & ENDS)
        self.decides = self.decides or bool(marks & DECIDING)

    def finished(
        self, last_line: int, tail: tuple[tuple[int, str], ...], phases: dict[str, str], facts: Mapping[str, Any]
    ) -> Run:
        kept = self.matches.copy()
        for order, one in (pair for last in self._last.values() for pair in last):
            match = one.match() if isinstance(one, Later) else one
            if match is None:
                self.counts[one.pattern] -= 1  # a line that held the literal, and was not looked at until now
            else:
                kept.append((order, match))
        matches = tuple(match for _, match in sorted(kept, key=lambda pair: pair[0]))
        inside = tuple(pair for pair in tail if pair[0] >= self.first_line)
        return Run(self.first_line, last_line, matches, dict(self.counts), phases, dict(self.details), inside, facts)
