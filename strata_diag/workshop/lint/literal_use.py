"""Literals: the text by which a search finds the lines of a pattern, how many healthy lines hold it, and whether any could.

A pattern without a literal is tried on every line of every log. One whose literal stands in healthy text sends those lines to
the matcher. And a rule of whose words no healthy log holds a single one has never been tested by their silence.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

from strata_diag.ruleset import Pattern, Rule, is_deciding
from strata_diag.testing import search
from strata_diag.workshop.lint.codes import COMMON_LITERAL, NO_LITERAL, NOT_REACHED
from strata_diag.workshop.lint.healthy import HealthyLogs, words_of
from strata_diag.workshop.lint.subject import PatternPlace, Subject
from strata_diag.workshop.lint.violations import Violation

MOST_SHOWN = 4  # literals or words in a message
MOST_HEALTHY_LINES = 0.02  # share of healthy lines that a pattern may nominate in vain
LINES_TIMED = 2000  # on which the cost of a pattern without a literal is measured


class Waste(NamedTuple):
    """The healthy lines that hold a literal of a pattern in vain: how many, and the first of them."""

    lines: int
    first: str


def check(subject: Subject) -> Iterator[Violation]:
    """Every pattern that nominates lines, once however many rules hold it."""
    nominating = {pattern.number for pattern in subject.rules.scanned_patterns}
    for holders in subject.own_patterns.values():
        rule, place = holders[0]
        pattern = subject.rules.patterns[place.number]
        if place.number in nominating and not pattern.literals:
            yield _without_literal(subject, rule, place)
    if subject.healthy is not None:
        yield from _against(subject, subject.healthy)


def _without_literal(subject: Subject, rule: Rule, place: PatternPlace) -> Violation:
    compiled = subject.rules.compiled(place.number)
    lines = (
        list(subject.healthy.lines[:LINES_TIMED] if subject.healthy else ())
        or [line for other in subject.rules.rules for sample in other.sample_no_match for line in sample.split("\n")][
            :LINES_TIMED
        ]
    )
    begun = time.perf_counter()
    for line in lines:
        search(compiled, line)
    cost = (time.perf_counter() - begun) / max(len(lines), 1) * 1_000_000
    what = (
        f"has a pattern without a word that each of its lines holds: it is tried on every line ({cost:.1f} µs a line)"
    )
    advice = "let one word of four letters or more stand in each alternative, or name the words in `needs`"
    return subject.violation(NO_LITERAL, rule, place.path, what, advice)


def _against(subject: Subject, healthy: HealthyLogs) -> Iterator[Violation]:
    for holders in subject.own_patterns.values():
        rule, place = holders[0]
        if is_deciding(rule):
            yield from _common(subject, healthy, rule, place)
    for rule in subject.own:
        words = _telling_words(rule, subject) if is_deciding(rule) else frozenset()
        if words and not healthy.words & words:
            what = f"is never tested by the healthy logs: none of them holds {' or '.join(sorted(words)[:MOST_SHOWN])}"
            advice = "add a healthy log of this part of the program to the corpus; until then silence proves nothing"
            yield subject.violation(NOT_REACHED, rule, (), what, advice)


def _common(subject: Subject, healthy: HealthyLogs, rule: Rule, place: PatternPlace) -> Iterator[Violation]:
    pattern = subject.rules.patterns[place.number]
    wasted = wasted_lines(pattern, subject, healthy)
    if wasted.lines > max(MOST_HEALTHY_LINES * healthy.line_count, 1):
        shown = " or ".join(repr(literal.decode()) for literal in pattern.literals[:MOST_SHOWN])
        share = f"{wasted.lines} of {healthy.line_count} healthy lines hold in vain"
        what = f"is looked for by {shown}, which {share}, such as {wasted.first!r:.100}"
        advice = "let rarer words of the message stand in the pattern, or name them in `needs`"
        yield subject.violation(COMMON_LITERAL, rule, place.path, what, advice)


def wasted_lines(pattern: Pattern, subject: Subject, healthy: HealthyLogs) -> Waste:
    """The healthy lines that hold a literal of a pattern and that it doesn't match."""
    text = healthy.lowered if pattern.caseless else healthy.clean
    starts: set[int] = set()
    for literal in pattern.literals:
        position = text.find(literal)
        while position >= 0:
            starts.add(text.rfind(b"\n", 0, position) + 1)
            position = text.find(literal, text.find(b"\n", position))
    compiled = subject.rules.compiled(pattern.number)
    lines = (healthy.line_at(start) for start in sorted(starts))
    wasted = [line for line in lines if not search(compiled, line)]
    return Waste(len(wasted), wasted[0] if wasted else "")


def _telling_words(rule: Rule, subject: Subject) -> frozenset[str]:
    """The words of a rule's literals; those of all its patterns together."""
    numbers = [number for clause in rule.any + rule.all for number in clause.patterns]
    literals = [literal.decode() for number in numbers for literal in subject.rules.patterns[number].literals]
    return frozenset(word for literal in literals for word in words_of(literal))
