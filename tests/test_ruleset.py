"""The compiled rule set: what it is asked by every stage."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import regex
from packs import load_rules_text, rule, rule_set, run

from strata_diag import RuleSet
from strata_diag.model import DECIDING_ROLES, Role
from strata_diag.resolve import resolve
from strata_diag.ruleset import NoExtensions, compile_pattern, expand_ids, is_deciding

RULES = """\
  - {id: full, role: failure, cause: card-full, title: t, any: [{regex: full}], all: [{sequence: [a, b]}], none: [{regex: n}]}
  - {id: hint, role: info, title: t, any: [{regex: 'hint (?P<what>\\w+)'}, {regex: advice}]}
  - {id: start, role: ready, title: t, any: [{regex: start}]}
"""


@pytest.fixture
def small(tmp_path: Path) -> RuleSet:
    """A rule of three groups, information, and readiness."""
    return load_rules_text(tmp_path, RULES)


def test_rules_and_patterns_know_each_other(small: RuleSet) -> None:
    """Numbers are positions, in rules and in patterns, and a pattern names the rule that it belongs to."""
    assert [one.number for one in small.rules] == [0, 1, 2]
    assert [one.number for one in small.patterns] == list(range(len(small.patterns)))
    for one in small.rules:
        for clause in one.clauses:
            assert {small.patterns[number].rule for number in clause.patterns} <= {one.number}
    assert [small.patterns[number].source for clause in small.rules[0].clauses for number in clause.patterns] == [
        "full", "a", "b", "n",
    ]  # fmt: skip


def test_clauses_come_in_the_order_any_all_none(small: RuleSet) -> None:
    """A rule lists its clauses group by group."""
    one = small.rules[0]
    assert one.clauses == (*one.any, *one.all, *one.none)
    assert [clause.kind for clause in one.clauses] == ["regex", "sequence", "regex"]


def test_rules_are_found_by_id(small: RuleSet) -> None:
    """Each rule answers to its full id."""
    assert set(small.by_id) == {"sample/full", "sample/hint", "sample/start"}
    assert all(small.by_id[name].id == name for name in small.by_id)


def test_information_nominates_no_line(small: RuleSet) -> None:
    """The patterns of information and those that nominate lines share none and leave none out."""
    assert [pattern.source for pattern in small.info_patterns] == ["hint (?P<what>\\w+)", "advice"]
    assert sorted((*small.info_patterns, *small.scanned_patterns)) == sorted(small.patterns)
    assert not set(small.info_patterns) & set(small.scanned_patterns)


def test_a_pattern_is_compiled_once(small: RuleSet) -> None:
    """The `regex` object of a pattern is made when it is needed and kept."""
    first = small.compiled(0)
    assert first.pattern == "full"
    assert small.compiled(0) is first


def test_a_rule_set_is_shared_between_threads(small: RuleSet) -> None:
    """Threads that ask for the same patterns at once get patterns that match alike."""
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda number: small.compiled(number % len(small.patterns)), range(200)))
    assert {one.pattern for one in made} == {pattern.source for pattern in small.patterns}


@pytest.mark.parametrize(
    ("source", "text", "matches"),
    [
        pytest.param("failed", "it failed here", True, id="searched, not anchored"),
        pytest.param("^failed", "it failed", False, id="an anchor is written out"),
        pytest.param("failed", "FAILED", False, id="case matters"),
        pytest.param("(?i)failed", "FAILED", True, id="unless it is said"),
        pytest.param(r"\d", "٣", False, id="digits are ASCII"),
        pytest.param(r"\w", "ä", False, id="words are ASCII"),
        pytest.param("(?i)k", "\u212a", False, id="case folding is ASCII"),
        pytest.param("größe", "die größe", True, id="other letters stand for themselves"),
    ],
)
def test_patterns_are_compiled_as_packs_expect(source: str, text: str, matches: bool) -> None:
    """Every stage reads patterns alike: searched, with ASCII classes, and case as written."""
    assert bool(compile_pattern(source).search(text)) is matches


def test_a_broken_pattern_is_refused() -> None:
    """A pattern that can't be compiled raises, so that it never looks like one that doesn't match."""
    with pytest.raises(regex.error):
        compile_pattern("(unclosed")


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        pytest.param("b/two", ["b/two"], id="a full id"),
        pytest.param("a/*", ["a/one", "a/two"], id="a whole pack"),
        pytest.param("*/two", ["a/two", "b/two"], id="a name in any pack"),
        pytest.param("A/one", [], id="case matters"),
        pytest.param("A/*", [], id="case matters with wildcards too"),
        pytest.param("c/none", [], id="an unknown one"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_names_with_wildcards_become_ids(wanted: str, found: list[str]) -> None:
    """A name may stand for several rules."""
    assert expand_ids(wanted, ["a/one", "a/two", "b/two"]) == found


@pytest.mark.parametrize("role", list(Role))
def test_only_failures_and_symptoms_decide(role: Role) -> None:
    """The roles that decide are the same wherever that is asked: here, and in a verdict."""
    rules = rule_set(rule("some/thing", role=role))
    expected = role in (Role.FAILURE, Role.SYMPTOM)
    assert (is_deciding(rules.rules[0]), role in DECIDING_ROLES) == (expected, expected)


def test_a_cause_is_found_by_id(small: RuleSet) -> None:
    """A cause that no pack declares is an error, never a made-up one."""
    assert small.cause_of("card-full").id == "card-full"
    with pytest.raises(KeyError):
        small.cause_of("no-such-cause")


def test_without_plugins_nothing_is_added(small: RuleSet) -> None:
    """A rule set that no plugin extends sees, advises, measures and opens nothing more."""
    verdict = resolve([], run(), small)
    assert isinstance(small.extensions, NoExtensions)
    assert small.extensions.findings(run(), small) == ([], [])
    assert small.extensions.remedies(verdict) == ([], [])
    assert small.extensions.sources("a.log") == (None, [])
    assert small.extensions.probes() == ([], [])


def test_a_rule_set_says_how_large_it_is(small: RuleSet) -> None:
    """What is shown of a rule set in a debugger is its size, not thousands of rules."""
    assert repr(small) == "<RuleSet: 3 rules in 1 packs>"
