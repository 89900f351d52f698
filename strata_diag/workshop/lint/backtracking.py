"""Patterns that take for ever on some line: found by trying each on lines that are made to wear it out.

A pattern whose time grows with the cube of the line's length, or doubles with each character, needs seconds for a line that any
program may print. The matcher would stop it, and its rule would see nothing more of that log.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from strata_diag.match import TIMEOUT_SECONDS
from strata_diag.workshop.lint import syntax
from strata_diag.workshop.lint.codes import BACKTRACKS
from strata_diag.workshop.lint.subject import Subject
from strata_diag.workshop.lint.violations import Violation

if TYPE_CHECKING:
    import regex

LINE_LENGTH = 4096  # characters; the longest lines that engines print in practice
SPOILER = "\x01"  # behind the repeated text: what no pattern expects
MOST_PUMPS = 24  # of one pattern that are tried
TRIAL_SECONDS = 30.0  # of CPU time, for all patterns of one call; what is left then goes untried, which a notice says


def check(subject: Subject) -> Iterator[Violation]:
    """Patterns that run out of time on a line of LINE_LENGTH characters; of one that a vocabulary fills in, its first form."""
    begun = time.process_time()
    tried: set[tuple[str | int, ...]] = set()
    for source, holders in subject.own_patterns.items():
        rule, place = holders[0]
        written_at = (rule.file, rule.line, *place.path)
        if written_at in tried:
            continue
        tried.add(written_at)
        if time.process_time() - begun > TRIAL_SECONDS:
            left = f"not every pattern was tried for backtracking within {TRIAL_SECONDS:g} s of CPU time"
            subject.notices.append(f"{left}; lint fewer packs at once")
            return
        pump = slow_pump(source, subject.rules.compiled(place.number))
        if pump is not None:
            what = (
                f"has a pattern that takes longer than {TIMEOUT_SECONDS} s on a line that repeats {pump.repeated!r:.60}"
            )
            advice = "bound its repeats (`.{0,200}`), or let neighbours not match the same text"
            yield subject.violation(BACKTRACKS, rule, place.path, what, advice)


def slow_pump(source: str, compiled: regex.Pattern[str]) -> syntax.Pump | None:
    """What wears a pattern out, or None where nothing that was tried does."""
    tree = syntax.parse(source)
    found = syntax.pumps(tree)[:MOST_PUMPS] if tree is not None else []
    for pump in found:
        times = (LINE_LENGTH - len(pump.lead)) // len(pump.repeated)
        line = pump.lead + pump.repeated * times + SPOILER
        try:
            for tried in (line, line + pump.rest):  # without a word that it needs, `regex` gives up before it begins
                compiled.search(tried, timeout=TIMEOUT_SECONDS)
        except (TimeoutError, MemoryError):
            return pump
    return None
