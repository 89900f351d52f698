"""From the matches of a run to findings: clauses, conditions on numbers, vetoes, and what plugins saw."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packs import CAUSES, evidence, load_rules_text, pack_text, run, run_of, write_packs

from strata_diag.api import diagnose, load_rules
from strata_diag.clauses import MORE_MATCHES_KEPT, find
from strata_diag.model import Finding, Match, Role, Sighting
from strata_diag.ruleset import RuleSet
from strata_diag.runs import EVIDENCE_CAP, RunSplitter

HEAD = "  - id: one\n    role: failure\n    cause: card-full\n    title: One\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the packs of a test are written."""
    return tmp_path / "packs"


def found(folder: Path, body: str, text: str, **changes: Any) -> list[Finding]:
    """The findings in a text of one rule with this body; `changes`: fields of the run."""
    rules = load_rules_text(folder, HEAD + body)
    return find(run_of(text, rules, **changes), rules)


def lines(findings: list[Finding]) -> list[int]:
    """The lines that speak for findings."""
    return [one.line for one in findings]


ANY = "    any: [{regex: alpha}, {regex: beta}]\n"
ALL = "    all: [{regex: alpha}, {regex: beta}]\n"
NONE = "    any: [{regex: alpha}]\n    none: [{regex: omega}]\n"
ANY_AND_ALL = "    any: [{regex: alpha}]\n    all: [{regex: beta}]\n"
SEQUENCE = "    any: [{sequence: [alpha, beta], within: 2}]\n"
SEQUENCE_BY_DEFAULT = "    any: [{sequence: [alpha, beta]}]\n"
SEQUENCE_OF_THREE = "    any: [{sequence: [alpha, beta, gamma], within: 3}]\n"
NEAR = "    any: [{near: [alpha, beta], within: 2}]\n"
NEAR_BY_DEFAULT = "    any: [{near: [alpha, beta]}]\n"
NEAR_OF_THREE = "    any: [{near: [alpha, beta, gamma], within: 2}]\n"
COUNT = "    any: [{count: alpha, at_least: 3}]\n"
LAST = "    any: [{last: alpha}]\n"
LAST_THREE = "    any: [{last: alpha, within: 3}]\n"


@pytest.mark.parametrize(
    ("body", "text", "where"),
    [
        pytest.param(ANY, "alpha\nx\nbeta\nalpha", [1, 3, 4], id="any: each place of each clause"),
        pytest.param(ANY, "x alpha beta\nx", [1], id="any: two clauses on one line are one place"),
        pytest.param(ANY, "x\ny", [], id="any: nothing"),
        pytest.param(ALL, "alpha\nx\nbeta\nalpha", [1, 4], id="all: the places of the first clause"),
        pytest.param(ALL, "beta\nx\nalpha", [3], id="all: in any order"),
        pytest.param(ALL, "alpha\nx", [], id="all: one is missing"),
        pytest.param(NONE, "alpha\nx", [1], id="none: absent"),
        pytest.param(NONE, "alpha\nomega", [], id="none: present, later"),
        pytest.param(NONE, "omega\nalpha", [], id="none: present, earlier"),
        pytest.param(NONE, "omega", [], id="none: present alone"),
        pytest.param(ANY_AND_ALL, "alpha\nbeta\nalpha", [1, 3], id="any and all: both"),
        pytest.param(ANY_AND_ALL, "alpha\nalpha", [], id="any and all: any alone"),
        pytest.param(ANY_AND_ALL, "beta\nbeta", [], id="any and all: all alone"),
        pytest.param(SEQUENCE, "alpha\nx\nbeta", [1], id="sequence: at the limit"),
        pytest.param(SEQUENCE, "alpha\nx\nx\nbeta", [], id="sequence: too far"),
        pytest.param(SEQUENCE, "beta\nalpha", [], id="sequence: the wrong order"),
        pytest.param(SEQUENCE, "alpha beta", [], id="sequence: on one line"),
        pytest.param(SEQUENCE, "alpha\nbeta\nx\nalpha\nbeta", [1, 4], id="sequence: twice"),
        pytest.param(SEQUENCE, "alpha\nx\nx\nalpha\nbeta", [4], id="sequence: only the second is followed"),
        pytest.param(SEQUENCE_BY_DEFAULT, "alpha\nx\nx\nx\nx\nbeta", [1], id="sequence: five lines by default"),
        pytest.param(SEQUENCE_BY_DEFAULT, "alpha\nx\nx\nx\nx\nx\nbeta", [], id="sequence: no more by default"),
        pytest.param(SEQUENCE_OF_THREE, "alpha\nbeta\nx\ngamma", [1], id="sequence of three: each step has its limit"),
        pytest.param(SEQUENCE_OF_THREE, "alpha\nbeta\nx\nx\nx\ngamma", [], id="sequence of three: the last too far"),
        pytest.param(SEQUENCE_OF_THREE, "alpha\ngamma\nbeta", [], id="sequence of three: the wrong order"),
        pytest.param(SEQUENCE_OF_THREE, "alpha\nbeta\nbeta\nx\nx\ngamma", [1], id="sequence of three: by a later step"),
        pytest.param(NEAR, "alpha\nx\nbeta", [1], id="near: after"),
        pytest.param(NEAR, "beta\nx\nalpha", [3], id="near: before"),
        pytest.param(NEAR, "alpha beta", [1], id="near: on one line"),
        pytest.param(NEAR, "alpha\nx\nx\nbeta", [], id="near: too far"),
        pytest.param(NEAR, "alpha", [], id="near: alone"),
        pytest.param(NEAR_BY_DEFAULT, "beta\nx\nx\nx\nx\nalpha", [6], id="near: five lines by default"),
        pytest.param(NEAR_BY_DEFAULT, "beta\nx\nx\nx\nx\nx\nalpha", [], id="near: no more by default"),
        pytest.param(NEAR_OF_THREE, "beta\nalpha\nx\ngamma", [2], id="near three: on both sides"),
        pytest.param(NEAR_OF_THREE, "beta\nalpha\nx\nx\ngamma", [], id="near three: one too far"),
        pytest.param(COUNT, "alpha\nalpha\nx\nalpha", [1], id="count: enough, at the first line"),
        pytest.param(COUNT, "alpha\nalpha", [], id="count: too few"),
        pytest.param(COUNT, "x", [], id="count: nothing"),
        pytest.param(LAST, "alpha\nx\nalpha", [3], id="last: the last line"),
        pytest.param(LAST, "alpha\nx", [], id="last: the line before"),
        pytest.param(LAST, "alpha\n\n", [1], id="last: blank lines don't count"),
        pytest.param(LAST_THREE, "alpha\nalpha\nx\ny", [2], id="last: one of three"),
    ],
)
def test_clauses_hold_where_they_say(folder: Path, body: str, text: str, where: list[int]) -> None:
    """Every kind of clause, and `any`, `all` and `none` of them, hold on the lines that a person would point at."""
    assert lines(found(folder, body, text)) == where


@pytest.mark.parametrize(
    ("body", "facts", "details", "where"),
    [
        pytest.param("    any: [{facts: exit_code == 137}]\n", {"exit_code": 137}, {}, [3], id="a fact"),
        pytest.param("    any: [{facts: exit_code == 137}]\n", {"exit_code": 1}, {}, [], id="another value"),
        pytest.param("    any: [{facts: exit_code == 137}]\n", {}, {}, [], id="a missing fact"),
        pytest.param("    any: [{facts: 'not exit_code == 137'}]\n", {}, {}, [], id="a missing fact, negated"),
        pytest.param("    all: [{facts: exit_code == 137}]\n", {"exit_code": 137}, {}, [3], id="a fact under all"),
        pytest.param("    all: [{facts: x == 1}, {facts: y == 2}]\n", {"x": 1}, {}, [], id="one fact of two"),
        pytest.param("    any: [{facts: threads > 8}]\n", {}, {"threads": "16"}, [3], id="a detail of the start"),
        pytest.param("    any: [{facts: threads > 8}]\n", {"threads": 4}, {"threads": "16"}, [], id="a fact wins"),
        pytest.param("    any: [{facts: exit_code == 137}, {regex: alpha}]\n", {}, {}, [1], id="any: without the fact"),
        pytest.param(
            "    any: [{facts: exit_code == 137}, {regex: alpha}]\n", {"exit_code": 137}, {}, [1, 3], id="any: with it"
        ),
        pytest.param(
            "    all: [{facts: exit_code == 137}, {regex: alpha}]\n", {"exit_code": 137}, {}, [1], id="all: with it"
        ),
        pytest.param(
            "    all: [{regex: alpha}, {facts: exit_code == 137}]\n",
            {"exit_code": 137},
            {},
            [1],
            id="all: turned round",
        ),
        pytest.param("    all: [{facts: exit_code == 137}, {regex: alpha}]\n", {}, {}, [], id="all: without the fact"),
        pytest.param(
            "    all: [{facts: exit_code == 137}, {regex: omega}]\n", {"exit_code": 137}, {}, [], id="all: no line"
        ),
        pytest.param(
            "    any: [{regex: alpha}]\n    none: [{facts: exit_code == 0}]\n",
            {"exit_code": 0},
            {},
            [],
            id="none: it is so",
        ),
        pytest.param(
            "    any: [{regex: alpha}]\n    none: [{facts: exit_code == 0}]\n", {}, {}, [1], id="none: unknown"
        ),
    ],
)
def test_facts_sharpen_and_are_never_required(
    folder: Path, body: str, facts: dict[str, Any], details: dict[str, str], where: list[int]
) -> None:
    """A clause on facts holds by what the caller or the start said; its line is a pattern's if there is one, else the last."""
    assert lines(found(folder, body, "alpha\nx\nthe end", facts=facts, details=details)) == where


def test_a_fact_speaks_by_the_last_line(folder: Path) -> None:
    """Where facts alone decide, the run's last line that is not blank is shown, and nothing where there is none."""
    body = "    any: [{facts: exit_code == 137}]\n"
    rules = load_rules_text(folder, HEAD + body)
    (one,) = find(run(tail=((8, "before"), (9, "the end")), facts={"exit_code": 137}), rules)
    assert (one.line, one.evidence.text, one.lines) == (9, "the end", ())
    (one,) = find(run(tail=(), last_line=12, facts={"exit_code": 137}), rules)
    assert (one.line, one.evidence.text) == (12, "")


# Captures and the lines that a finding rests on


def test_a_finding_has_what_its_rule_says(folder: Path) -> None:
    """Role, cause, priority, title and reason come from the rule, line and values from the match."""
    rules = load_rules_text(
        folder, HEAD + "    priority: 810\n    why: It says so\n    any: [{regex: 'free (?P<mib>\\d+)'}]\n"
    )
    (one,) = find(run_of("x\nwith free 12 MiB", rules), rules)
    place = evidence(2, "with free 12 MiB", 6)
    assert one == Finding(
        "sample/one", Role.FAILURE, "card-full", 810, "One", place, (2,), {"mib": "12"}, 1, "It says so"
    )


@pytest.mark.parametrize(
    ("body", "text", "rests_on", "captures"),
    [
        pytest.param(
            "    any: [{sequence: ['alpha (?P<a>\\d)', 'beta (?P<b>\\d)']}]\n",
            "alpha 1\nx\nbeta 2", (1, 3), {"a": "1", "b": "2"}, id="sequence",
        ),
        pytest.param(
            "    any: [{near: ['alpha (?P<a>\\d)', 'beta (?P<b>\\d)']}]\n",
            "beta 2\nalpha 1", (1, 2), {"a": "1", "b": "2"}, id="near",
        ),
        pytest.param(
            "    any: [{near: ['alpha (?P<a>\\d)', 'beta (?P<a>\\d)']}]\n",
            "beta 2\nalpha 1", (1, 2), {"a": "1"}, id="near: its own line's value wins",
        ),
        pytest.param(
            "    all: [{regex: 'alpha (?P<a>\\d)'}, {regex: 'beta (?P<b>\\d)'}]\n",
            "beta 7\nx\nx\nalpha 1\nbeta 2", (4, 5), {"a": "1", "b": "2"}, id="all: the nearest of the other clause",
        ),
        pytest.param(
            "    any: [{regex: 'alpha (?P<a>\\d)'}]\n    all: [{regex: 'beta (?P<a>\\d) (?P<b>\\d)'}]\n",
            "alpha 1\nbeta 2 3", (1, 2), {"a": "1", "b": "3"}, id="any and all: its own line's value wins",
        ),
    ],
)  # fmt: skip
def test_joined_clauses_share_lines_and_values(
    folder: Path, body: str, text: str, rests_on: tuple[int, ...], captures: dict[str, str]
) -> None:
    """A finding of several lines names them all and carries the values of them all."""
    (one,) = found(folder, body, text)
    assert (one.lines, dict(one.captures)) == (rests_on, captures)


# Conditions on numbers


@pytest.mark.parametrize(
    ("condition", "text", "facts", "holds"),
    [
        pytest.param("slots == 0", "0 slots", {}, True, id="equal"),
        pytest.param("slots == 0", "12 slots", {}, False, id="not equal"),
        pytest.param("slots > 1000", "1,302 slots", {}, True, id="thousands"),
        pytest.param("slots == 0", "0.00 slots", {}, True, id="zero with decimals"),
        pytest.param("free < slots", "12 slots", {"free": 5}, True, id="a fact"),
        pytest.param("free < slots", "12 slots", {}, False, id="a missing name"),
        pytest.param("not free < slots", "12 slots", {}, False, id="a missing name, negated"),
        pytest.param("slots < 5", "many slots", {}, False, id="a word in place of a number"),
        pytest.param("slots == 3", "12 slots", {"slots": 3}, True, id="a fact of the same name"),
        pytest.param("threads == 8", "12 slots", {}, True, id="a detail of the start"),
    ],
)
def test_a_finding_needs_all_its_conditions(
    folder: Path, condition: str, text: str, facts: dict[str, Any], holds: bool
) -> None:
    """`when` compares captured values, details and facts; what can't be answered doesn't hold."""
    body = f"    any: [{{regex: '(?P<slots>\\S+) slots'}}]\n    when: ['1 == 1', '{condition}']\n"
    assert bool(found(folder, body, text, facts=facts, details={"threads": "8"})) is holds


def test_a_condition_is_asked_line_by_line(folder: Path) -> None:
    """Only the places whose own numbers fit are findings, and only they are counted."""
    body = "    any: [{regex: '(?P<slots>\\d+) slots'}]\n    when: ['slots == 0']\n"
    findings = found(folder, body, "0 slots\n7 slots\n0 slots")
    assert [(one.line, one.times) for one in findings] == [(1, 2), (3, 2)]


# Vetoes

VETO = """\
  - id: other
    role: {role}
    title: Other
    any: [{{regex: 'omega(?P<number>\\d*)'}}]
    when: {when}
    unless: {unless}
"""


@pytest.mark.parametrize(
    ("text", "role", "when", "unless", "present"),
    [
        pytest.param("alpha", "info", "[]", "[]", True, id="absent"),
        pytest.param("alpha\nomega", "info", "[]", "[]", False, id="present, later"),
        pytest.param("omega\nalpha", "ready", "[]", "[]", False, id="present, earlier, of any role"),
        pytest.param(
            "alpha\nomega5", "info", "[number == 4]", "[]", True, id="matched, but its condition doesn't hold"
        ),
        pytest.param("alpha\nomega\ngamma", "info", "[]", "[third]", False, id="present, though vetoed itself"),
    ],
)
def test_unless_vetoes_by_presence(folder: Path, text: str, role: str, when: str, unless: str, present: bool) -> None:
    """A rule with `unless` is no finding in a run where the named rule is one, wherever it stands."""
    body = "    any: [{regex: alpha}]\n    unless: [other]\n"
    third = "  - id: third\n    role: info\n    title: Third\n    any: [{regex: gamma}]\n"
    findings = found(folder, body + VETO.format(role=role, when=when, unless=unless) + third, text)
    assert ("sample/one" in [one.rule for one in findings]) is present


# How often, and how many are kept


def test_each_line_counts_once(folder: Path) -> None:
    """A line that two clauses match is one occurrence, and another clause that must hold adds none."""
    assert [one.times for one in found(folder, ANY, "alpha beta\nalpha")] == [2, 2]
    assert [one.times for one in found(folder, ANY_AND_ALL, "alpha\nbeta\nbeta\nbeta")] == [1]


def test_occurrences_beyond_the_evidence_cap_are_counted(folder: Path) -> None:
    """A pattern that matches very often keeps its first and last places, and the number tells of all."""
    rules = load_rules_text(folder, HEAD + "    any: [{regex: alpha}]\n")
    many = 1000
    splitter = RunSplitter(rules)
    for line in range(1, many + 1):
        splitter.add([Match(evidence(line, "alpha"), 0, {})])
    whole = splitter.finish(many, ())
    assert whole is not None
    findings = find(whole, rules)
    kept = [*range(1, EVIDENCE_CAP + 1), *range(many - EVIDENCE_CAP + 1, many + 1)]
    assert lines(findings) == kept
    assert {one.times for one in findings} == {many}


def test_no_more_occurrences_are_kept_than_resolution_looks_at(folder: Path) -> None:
    """A rule of many patterns keeps a bounded number of places and still counts them all."""
    findings = found(folder, "    any: [{regex: alpha}]\n", "\n".join(["alpha"] * (MORE_MATCHES_KEPT + 5)))
    assert len(findings) == MORE_MATCHES_KEPT
    assert findings[0].times == MORE_MATCHES_KEPT + 5


def test_a_count_includes_what_the_evidence_cap_left_out(folder: Path) -> None:
    """`count` asks how often a pattern matched, not how many places were kept."""
    rules = load_rules_text(folder, HEAD + "    any: [{count: alpha, at_least: 500}]\n")
    one = Match(evidence(3, "alpha"), 0, {})
    assert lines(find(run(matches=(one,), counts={0: 500}), rules)) == [3]
    assert find(run(matches=(one,), counts={0: 499}), rules) == []


def test_a_count_of_informational_lines_breaks_nothing(folder: Path) -> None:
    """Information of a run's tail that no scan had counted is counted where it is found."""
    info = "  - id: hint\n    role: info\n    title: Hint\n    any: [{count: a hint of it, at_least: 2}]\n"
    write_packs(folder, sample=pack_text(HEAD + "    any: [{regex: alpha}]\n" + info))
    rules = load_rules([folder], builtin=False, discover=False)
    verdict = diagnose("a hint of it\nx\na hint of it\nthe end", rules=rules).verdict
    assert [one.rule for one in verdict.harmless] == ["sample/hint"]
    assert diagnose("a hint of it\nthe end", rules=rules).verdict.harmless == ()


# What plugins saw

SEEN = """\
  - id: seen
    role: failure
    cause: card-busy
    title: Seen by a plugin
    found_by: a plugin
    when: ['share > 0.5']
    unless: [one]
"""


@pytest.fixture
def seeing(folder: Path) -> RuleSet:
    """Rules of which one is found by a plugin."""
    return load_rules_text(folder, HEAD + "    any: [{regex: alpha}]\n" + SEEN)


@pytest.mark.parametrize(
    ("line", "shown_at", "text"),
    [
        pytest.param(11, 11, "matched", id="a line that matched something"),
        pytest.param(14, 14, "the end", id="a line of the tail"),
        pytest.param(12, 12, "", id="a line that is no longer held"),
        pytest.param(3, 10, "", id="in front of the run"),
        pytest.param(99, 14, "the end", id="behind the run"),
    ],
)
def test_a_sighting_becomes_a_finding_of_its_rule(seeing: RuleSet, line: int, shown_at: int, text: str) -> None:
    """What a plugin saw has the words of the pack's rule, and a line inside the run."""
    place = Match(evidence(11, "matched"), 0, {})
    others = run(first_line=10, last_line=14, matches=(place,), tail=((14, "the end"),))
    without_veto = seeing.rules[1]._replace(unless=())
    rules = RuleSet((seeing.rules[0], without_veto), seeing.patterns, seeing.causes, {}, {})
    sighting = Sighting("sample/seen", line, {"share": "0.9"})
    (one,) = (one for one in find(others, rules, [sighting]) if one.rule == "sample/seen")
    assert (one.line, one.evidence.text, one.lines) == (shown_at, text, (shown_at,))
    assert (one.title, one.cause, one.times, dict(one.captures)) == (
        "Seen by a plugin",
        "card-busy",
        1,
        {"share": "0.9"},
    )


def test_conditions_and_vetoes_hold_for_sightings_too(seeing: RuleSet) -> None:
    """A plugin can't go around `when` and `unless` of the rule that it names."""
    assert lines(find(run(), seeing, [Sighting("sample/seen", 7, {"share": "0.9"})])) == [7]
    assert find(run(), seeing, [Sighting("sample/seen", 7, {"share": "0.2"})]) == []
    assert find(run(), seeing, [Sighting("sample/seen", 7)]) == []
    vetoed = find(run_of("alpha", seeing), seeing, [Sighting("sample/seen", 1, {"share": "0.9"})])
    assert [one.rule for one in vetoed] == ["sample/one"]


def test_a_rule_of_a_plugin_is_never_found_without_it(seeing: RuleSet) -> None:
    """A rule that only a plugin finds is silent where no plugin says anything."""
    assert find(run_of("x\ny", seeing), seeing) == []


# Order

_LINES = st.lists(st.sampled_from(["alpha", "beta", "alpha beta", "gamma", "x"]), min_size=1, max_size=12)


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """Rules whose ids are in another order than they were written."""
    template = "  - {{id: {name}, role: failure, cause: card-full, title: {name}, any: [{clause}]}}\n"
    clauses = {
        "zebra": "{regex: alpha}",
        "ant": "{regex: beta}",
        "mole": "{sequence: [alpha, beta, gamma], within: 3}",
        "bee": "{near: [alpha, gamma], within: 2}",
        "cat": "{count: alpha, at_least: 2}",
    }
    text = "".join(template.format(name=name, clause=clause) for name, clause in clauses.items())
    return load_rules_text(tmp_path_factory.mktemp("several"), text)


@given(text=_LINES)
def test_findings_are_ordered_by_line_then_by_rule(text: list[str], several: RuleSet) -> None:
    """Findings come in order of lines, those of one line in order of ids, and each rests on its own line."""
    findings = find(run_of("\n".join(text), several), several)
    assert [(one.line, one.rule) for one in findings] == sorted((one.line, one.rule) for one in findings)
    assert all(one.line in one.lines for one in findings)
    assert len({(one.line, one.rule) for one in findings}) == len(findings)


@given(text=_LINES)
def test_a_sequence_is_found_wherever_there_is_one(text: list[str], several: RuleSet) -> None:
    """A sequence holds at a line exactly if some choice of following lines keeps every limit."""
    expected = [
        first + 1
        for first, line in enumerate(text)
        if "alpha" in line
        and any(
            "beta" in text[second] and any("gamma" in after for after in text[second + 1 : second + 4])
            for second in range(first + 1, min(first + 4, len(text)))
        )
    ]
    findings = find(run_of("\n".join(text), several), several)
    assert lines([one for one in findings if one.rule == "sample/mole"]) == expected


def test_causes_of_the_tests_are_loaded(folder: Path) -> None:
    """The packs of these tests stand on the same causes as their records."""
    assert set(load_rules_text(folder, HEAD + "    any: [{regex: alpha}]\n").causes) == {
        line.split(":")[0].strip() for line in CAUSES.splitlines()[1:]
    }
