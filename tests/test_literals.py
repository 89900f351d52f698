"""Literals of patterns: the law that no match is lost, and the choice of what is rare in healthy logs."""

from __future__ import annotations

import warnings

import pytest
import regex
from hypothesis import assume, given, settings
from patterns import Example, examples

from strata_diag.literals import MOST_ALTERNATIVES, required_literals
from strata_diag.model import Role
from strata_diag.ruleset import RuleSet, compile_pattern


def holds_one(line: str, literals: tuple[bytes, ...], caseless: bool) -> bool:
    """Whether a line holds one of the literals; the letters A to Z are folded where the pattern is caseless."""
    data = line.encode("utf-8")
    return any(literal in (data.lower() if caseless else data) for literal in literals)


@settings(max_examples=300)
@given(examples())
def test_every_matching_line_holds_a_literal(example: Example) -> None:
    """Whenever `regex` finds a pattern in a line, one of its literals stands there, or no literal is promised."""
    try:
        matched = compile_pattern(example.source).search(example.text, timeout=2)
    except (regex.error, TimeoutError, MemoryError):
        assume(False)
    assume(matched)
    literals, caseless = required_literals(example.source)
    assert not literals or holds_one(example.text, literals, caseless)


@pytest.mark.parametrize(
    ("source", "line"),
    [
        pytest.param("(?:cudaMalloc){e<=1}", "cudaMallok", id="fuzzy: one error"),
        pytest.param("(?:cudaMalloc){e}", "cudaM", id="fuzzy: any errors"),
        pytest.param("cudaMalloc{d<=1}", "cudaMallo", id="fuzzy: a deletion"),
        pytest.param("(?:cudaMalloc){1<=e<=3}", "cudaMallok", id="fuzzy: from one to three"),
        pytest.param("(?:cudaMalloc){i<=1,s<=1}", "cudaMallok", id="fuzzy: several limits"),
        pytest.param("(?:cudaMalloc){2i+2d+1s<=4}", "cudaMallok", id="fuzzy: costs"),
        pytest.param("(?:cudaMalloc){e<=1:[a-z]}", "cudaMallok", id="fuzzy: with a set"),
        pytest.param("[[:alpha:]] errors", "x errors", id="POSIX class"),
        pytest.param("[^[:alpha:]]errors", "7errors", id="negated POSIX class"),
        pytest.param("[][:alpha:]]errors", "]errors", id="POSIX class behind a bracket"),
        pytest.param("[[a]b]errors", "[b]errors", id="what would be a nested set"),
        pytest.param("[a&&b]errors", "&errors", id="what would be an intersection"),
        pytest.param("[a||b]errors", "|errors", id="what would be a union"),
        pytest.param(r"lost device\Kgone", "lost devicegone", id="keep"),
        pytest.param(r"\p{Lu}device", "Xdevice", id="property"),
        pytest.param("(?|device|engine) lost", "engine lost", id="branch reset"),
        pytest.param("(dev)(?1)ice", "devdevice", id="recursion"),
        pytest.param("(?<which>device) lost", "device lost", id="group in the other spelling"),
        pytest.param("device(?i) lost", "device LOST", id="flag in the middle"),
        pytest.param("(?x) device  lost", "devicelost", id="verbose"),
        pytest.param("(?x: device  )lost", "devicelost", id="verbose group"),
        pytest.param("(?i)kelvin", "KELVIN", id="caseless"),
        pytest.param("dev(?i:ICE)", "device", id="caseless inside"),
        pytest.param("(?:dev(?i:ICE))+", "devicedevICE", id="caseless inside a repeat"),
        pytest.param("(?:lost|dev(?i:ICE))", "devIce", id="caseless inside a branch"),
        pytest.param("(?>dev(?i:ICE))", "devIce", id="caseless inside an atomic group"),
        pytest.param("(engine)?(?(1)started|stopped)", "stopped", id="conditional"),
        pytest.param("devices*", "device", id="optional last letter"),
        pytest.param("(?:device)?|engine", "", id="a branch that may be empty"),
        pytest.param("device{0}", "devic", id="repeated no times"),
        pytest.param("device{", "device{", id="a brace that is no repeat"),
        pytest.param('{"error"', '{"error"', id="an opening brace"),
        pytest.param("device {x}", "device {x}", id="a placeholder"),
        pytest.param(r"device\{e\}", "device{e}", id="escaped braces"),
        pytest.param(r"[^\]]device[a-z]", "xdevices", id="escaped bracket in a set"),
    ],
)  # fmt: skip
def test_what_only_one_parser_understands_loses_no_match(source: str, line: str) -> None:
    """The law holds for all that `regex` reads otherwise than the standard library, and no warning leaks out."""
    assert compile_pattern(source).search(line), "the example must match, or it proves nothing"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        literals, caseless = required_literals(source)
    assert not literals or holds_one(line, literals, caseless)


@pytest.mark.parametrize(
    ("source", "expected", "caseless"),
    [
        pytest.param("slots exhausted", {b"slots exhausted"}, False, id="plain words"),
        pytest.param(r"slots \(4\) exhausted", {b"slots (4) exhausted"}, False, id="escaped characters"),
        pytest.param("slots(?P<name> gone)", {b"slots gone"}, False, id="through a group of plain characters"),
        pytest.param("(?i)Slots Exhausted", {b"slots exhausted"}, True, id="caseless"),
        pytest.param(r"\d+ slots exhausted in \w+", {b" slots exhausted in "}, False, id="between classes"),
        pytest.param("(?:arena|wedge) x?", {b"arena ", b"wedge "}, False, id="alternatives"),
        pytest.param("(?:arena|arena y)", {b"arena"}, False, id="a common beginning"),
        pytest.param(r"\w(?:slots gone){2,}\w", {b"slots gone"}, False, id="repeated at least once"),
        pytest.param(r"\w(?>slots gone)\w", {b"slots gone"}, False, id="atomic"),
        pytest.param("größte Arena", {b"te Arena"}, False, id="only ASCII, since encodings differ"),
        pytest.param(r"error: .* arenas", {b" arenas"}, False, id="the rarer one, not the common word"),
        pytest.param("CUDA error .* arena x", {b" arena x"}, False, id="the rarer one of two"),
        pytest.param("out of memory.*wedged", {b"wedged"}, False, id="the rarer one, though shorter"),
        pytest.param(r"[^\[]arena wedged", {b"arena wedged"}, False, id="behind a set with an escaped bracket"),
    ],
)  # fmt: skip
def test_the_best_literals_are_chosen(source: str, expected: set[bytes], caseless: bool) -> None:
    """Of all that a match must hold, the literals that are rarest in healthy logs come out."""
    literals, folded = required_literals(source)
    assert (set(literals), folded) == (expected, caseless)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("", id="empty"),
        pytest.param(r"\d+", id="only a class"),
        pytest.param("(?:arena)?", id="optional"),
        pytest.param("(?:arena)*", id="repeated or not there"),
        pytest.param("arena|", id="a branch that is empty"),
        pytest.param(r"arena|\d+", id="a branch without a literal"),
        pytest.param("oom", id="too short"),
        pytest.param("arena|oom", id="one alternative too short"),
        pytest.param("设备不可用", id="no ASCII"),
        pytest.param(r"(?=arena)\w", id="only looked at"),
        pytest.param("|".join(f"{chr(97 + n % 26)}arena{n}" for n in range(MOST_ALTERNATIVES + 9)), id="too many"),
        pytest.param("(?x) arena", id="verbose"),
        pytest.param("(arena", id="not a pattern"),
        pytest.param("(?q)arena", id="unknown flag"),
        pytest.param("a{99999999999}arena", id="an absurd repeat"),
        pytest.param("(" * 5000 + "arena" + ")" * 5000, id="nested without end"),
    ],
)
def test_where_nothing_can_be_promised_there_is_no_literal(source: str) -> None:
    """A pattern without a sure literal gives none, so that it is tried on every line, and nothing is raised."""
    assert required_literals(source) == ((), False)


def test_the_law_holds_for_the_samples_of_the_built_in_rules(rules: RuleSet) -> None:
    """Each line of a matching sample that a built-in pattern matches holds one of the pattern's literals."""
    lost, tried = [], 0
    for pattern in rules.patterns:
        rule = rules.rules[pattern.rule]
        for line in "\n".join(rule.sample_match).split("\n"):
            if pattern.literals and rules.compiled(pattern.number).search(line):
                tried += 1
                if not holds_one(line, pattern.literals, pattern.caseless):
                    lost.append((rule.id, pattern.source, line))
    assert lost == []
    assert tried >= len([rule for rule in rules.rules if rule.role is Role.FAILURE])
