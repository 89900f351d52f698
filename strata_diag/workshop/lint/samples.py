"""Samples: each pattern has one that it matches, each rule one that it must not match, and both do what they promise."""

from __future__ import annotations

from collections.abc import Iterator

from strata_diag.ruleset import Rule, compile_pattern
from strata_diag.testing import SampleFault, sample_faults, search
from strata_diag.workshop.lint.codes import (
    CLAUSE_WITHOUT_SAMPLE,
    LETTER_CASE,
    NO_OTHER_SAMPLE,
    SAMPLE_CAUGHT,
    SAMPLE_MISSED,
)
from strata_diag.workshop.lint.subject import Subject
from strata_diag.workshop.lint.violations import Violation

SHOWN_CHARACTERS = 80  # of a pattern or a sample in a message


def check(subject: Subject) -> Iterator[Violation]:
    """What `testing.sample_faults` finds in the rules under lint, with its place."""
    for rule in subject.own:
        for fault in sample_faults(rule, subject.rules):
            yield _violation(subject, rule, fault)


def _violation(subject: Subject, rule: Rule, fault: SampleFault) -> Violation:
    if fault.kind == "unmatched":
        place = next(place for place in subject.patterns(rule) if place.number == fault.pattern)
        what = f"has no sample that matches {subject.rules.patterns[fault.pattern].source:.{SHOWN_CHARACTERS}}"
        advice = "add a line that the program really prints under `samples: match:`"
        return subject.violation(CLAUSE_WITHOUT_SAMPLE, rule, place.path, what, advice)
    if fault.kind == "no-other":
        advice = "add a line under `samples: no_match:` that comes near and means something else"
        return subject.violation(NO_OTHER_SAMPLE, rule, ("samples",), "has no sample that it must not match", advice)
    if fault.kind == "caught":
        what = f"matches {rule.sample_no_match[fault.sample]!r:.{SHOWN_CHARACTERS}}, which it must not"
        advice = "narrow the pattern, or take the sample out"
        return subject.violation(SAMPLE_CAUGHT, rule, ("samples", "no_match", fault.sample), what, advice)
    sample = rule.sample_match[fault.sample]
    path = ("samples", "match", fault.sample)
    if _matches_caseless(subject, rule, sample):
        what = f"differs from its sample {sample!r:.{SHOWN_CHARACTERS}} only by upper and lower case"
        return subject.violation(LETTER_CASE, rule, path, what, "write the pattern as the program prints it")
    what = f"does not match its sample {sample!r:.{SHOWN_CHARACTERS}}"
    return subject.violation(SAMPLE_MISSED, rule, path, what, "`strata-diag rules test` shows how far it matches")


def _matches_caseless(subject: Subject, rule: Rule, sample: str) -> bool:
    import regex  # noqa: PLC0415 - only where a sample failed

    lines = sample.split("\n")
    for place in subject.patterns(rule):
        try:
            caseless = compile_pattern(f"(?i){subject.rules.patterns[place.number].source}")
        except regex.error:
            continue  # its own flags stand where they can stand only once
        exact = subject.rules.compiled(place.number)
        if any(search(caseless, line) and not search(exact, line) for line in lines):
            return True
    return False
