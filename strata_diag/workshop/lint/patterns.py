"""Patterns that say something else than their author meant: anchors, empty matches, a bare word or number."""

from __future__ import annotations

import re
from collections.abc import Iterator

from strata_diag.ruleset import Rule, is_deciding
from strata_diag.testing import search
from strata_diag.workshop.lint import syntax
from strata_diag.workshop.lint.codes import ACCIDENTAL_ANCHOR, BARE_NUMBER, BARE_WORD, MATCHES_EMPTY
from strata_diag.workshop.lint.subject import PatternPlace, Subject
from strata_diag.workshop.lint.violations import Violation

TIMESTAMP = "2026-03-04T05:06:07.123456789Z stdout F "  # what a container runtime puts before each line
BLANKS = "  "  # what a console or a copy leaves behind a line
SCARY_WORDS = frozenset({
    "abort", "aborted", "aborting", "bad", "broken", "cannot", "crash", "crashed",
    "denied", "died", "error", "errors", "exception", "fail", "failed", "failing",
    "fails", "failure", "fatal", "fault", "invalid", "killed", "missing", "oom",
    "panic", "refused", "terminated", "timeout", "unable", "unexpected", "unsupported", "warning",
    "wrong",
})  # fmt: skip
SCARY_PHRASES = ("out of memory", "timed out")
MOST_SIGNS = 1  # beside a word; more of them, such as `[X]`, say where it stands
LONG_NUMBER = 6  # digits; from here on a number is as good as a word, such as 3221225786
_WORD = re.compile(r"[A-Za-z]{2,}")
_ANCHOR = re.compile(r"[\^$]|\\[AZz]")


def check(subject: Subject) -> Iterator[Violation]:
    """Every pattern by itself, once however many rules hold it."""
    for source, holders in subject.own_patterns.items():
        yield from _empty(subject, *holders[0])
        yield from _bare(subject, source, holders)
        if _ANCHOR.search(source):
            yield from _anchored(subject, holders)


def _empty(subject: Subject, rule: Rule, place: PatternPlace) -> Iterator[Violation]:
    if search(subject.rules.compiled(place.number), ""):
        what = "has a pattern that matches an empty line, and so every line"
        yield subject.violation(
            MATCHES_EMPTY, rule, place.path, what, "let at least one word of the message stand in it"
        )


def _anchored(subject: Subject, holders: list[tuple[Rule, PatternPlace]]) -> Iterator[Violation]:
    """An anchor that a sample passes, and the same line as a container or a console shows it does not."""
    compiled = subject.rules.compiled(holders[0][1].number)
    for rule, place in holders:
        lines = [line for sample in rule.sample_match for line in sample.split("\n")]
        hit = next((line for line in lines if search(compiled, line)), None)
        if hit is None:
            continue
        for shown, what, advice in (
            (
                TIMESTAMP + hit,
                "before the line, such as a container's timestamp",
                "take the anchor out, or allow what may stand there",
            ),
            (hit + BLANKS, "behind the line, such as blanks", r"write `\s*$`, or take the anchor out"),
        ):
            if not search(compiled, shown):
                text = f"has a pattern that is anchored, and misses its own sample once something stands {what}"
                yield subject.violation(ACCIDENTAL_ANCHOR, rule, place.path, text, advice)


def _bare(subject: Subject, source: str, holders: list[tuple[Rule, PatternPlace]]) -> Iterator[Violation]:
    deciding = [(rule, place) for rule, place in holders if is_deciding(rule) and _stands_alone(rule, place)]
    tree = syntax.parse(source) if deciding else None
    if tree is None:
        return
    certain = syntax.certain_text(tree)
    rule, place = deciding[0]
    if _is_scary(certain):
        what = f"rests on the bare word {' '.join(_WORD.findall(certain))!r}, which stands in healthy logs too"
        advice = "add the words that the program prints around it"
        yield subject.violation(BARE_WORD, rule, place.path, what, advice)
        return
    digits = "".join(character for character in certain if character.isdigit())
    if 0 < len(digits) < LONG_NUMBER and not _WORD.search(certain):
        what = f"rests on the bare number {digits}, which may stand anywhere"
        yield subject.violation(BARE_NUMBER, rule, place.path, what, "add the words that the program prints around it")


def _stands_alone(rule: Rule, place: PatternPlace) -> bool:
    """Whether this one pattern is enough for the rule."""
    return place.kind not in ("sequence", "near") and (
        (place.group == "any" and not rule.all) or (place.group == "all" and len(rule.all) == 1 and not rule.any)
    )


def _is_scary(certain: str) -> bool:
    words = [word.lower() for word in _WORD.findall(certain)]
    signs = _WORD.sub("", certain).replace(syntax.GAP, "").replace(" ", "")
    if not words or len(signs) > MOST_SIGNS:
        return False
    return (len(words) == 1 and words[0] in SCARY_WORDS) or " ".join(words) in SCARY_PHRASES
