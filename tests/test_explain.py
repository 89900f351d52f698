"""Explanations: the verdict of `diagnose`, every finding accounted for, rules clause by clause, and single lines."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from conftest import CORPUS
from packs import load_rules_text

from strata_diag import RuleSet, diagnose
from strata_diag.api import examine
from strata_diag.explain import ExplainError, Explanation, RuleExplanation, explain
from strata_diag.explain import survey as survey_module
from strata_diag.explain.plain import to_dict
from strata_diag.model import DECIDING_ROLES

LOGS = sorted(CORPUS.rglob("*.log"))[::4]
RULES = """\
- id: full
  role: failure
  cause: card-full
  priority: 800
  title: The card is full
  any: [{regex: 'alloc (?P<mib>\\d+) MiB failed: (?:out of memory|no room)'}]
  when: ['mib > 100']
  unless: [rehearsal]
- id: rehearsal
  role: info
  priority: 10
  title: A rehearsal
  any: [{regex: 'this is a rehearsal'}]
- id: order
  role: failure
  cause: card-busy
  priority: 700
  title: Three steps
  any: [{sequence: ['step one', 'step two', 'step three'], within: 3}]
- id: pair
  role: failure
  cause: card-busy
  priority: 690
  title: Two near each other
  any: [{near: ['left half', 'right half'], within: 1}]
- id: often
  role: failure
  cause: wrong-option
  priority: 680
  title: Often
  any: [{count: 'retrying again', at_least: 3}]
- id: both
  role: failure
  cause: wrong-option
  priority: 670
  title: Two clauses
  all: [{regex: 'half of both'}, {regex: 'other of both'}]
  none: [{regex: 'never mind both'}]
- id: known
  role: info
  priority: 900
  title: A known remark
  why: It is printed at every start
  any: [{regex: 'remark: half of both'}]
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """A few rules with clauses of every kind."""
    return load_rules_text(tmp_path_factory.mktemp("packs"), RULES)


def of_rule(log: str, name: str, rules: RuleSet, **more: Any) -> RuleExplanation:
    """The explanation of one rule of the pack `sample` in a log."""
    return explain(log, rules=rules, wanted=[rules.by_id[f"sample/{name}"]], **more).rules[0]


def outcomes(found: Explanation) -> dict[str, str]:
    """The outcome of each candidate of the last run, by rule."""
    return {one.rule: one.outcome for one in found.runs[-1].candidates}


# One code path with classify


@pytest.mark.parametrize("log", LOGS, ids=lambda path: path.stem)
def test_explain_agrees_with_classify_and_accounts_for_every_finding(log: Path, all_rules: RuleSet) -> None:
    """The diagnosis is that of `diagnose`, and winner, chain, losers and descriptions are all findings that resolution had."""
    found = explain(log, rules=all_rules)
    assert found.diagnosis == diagnose(log, rules=all_rules)
    for run, trace in zip(found.runs, examine(log, rules=all_rules)[1], strict=True):
        verdict = run.diagnosis.verdict
        told = [finding for candidate in run.candidates for finding in candidate.findings]
        assert sorted(told, key=repr) == sorted(trace.findings, key=repr)
        deciding = {one.rule for one in run.candidates if one.role in DECIDING_ROLES}
        assert deciding == {one.rule for one in verdict.chain} | {one.finding.rule for one in verdict.beaten}
        assert [one.rule for one in run.candidates if one.outcome == "decides"] == (
            [verdict.rule] if verdict.rule else []
        )


@pytest.mark.parametrize("log", LOGS[::3], ids=lambda path: path.stem)
def test_a_rule_that_does_not_hold_misses_something_and_one_that_holds_nothing(log: Path, all_rules: RuleSet) -> None:
    """For every rule of which a pattern matches, `missing` is empty exactly where the `clauses` stage found the rule."""
    for trace in examine(log, rules=all_rules)[1]:
        touched = {all_rules.rule_of(match.pattern) for match in trace.run.matches}
        number = examine(log, rules=all_rules)[1].index(trace) + 1
        for one in explain(log, rules=all_rules, wanted=touched, run=number).rules:
            assert (not one.state.missing) == any(finding.rule == one.rule.id for finding in trace.findings)


# Candidates


def test_information_and_what_it_claims_are_told(small: RuleSet) -> None:
    """The claim names its victim, and the victim the claim."""
    found = explain("remark: half of both\nother of both\nalloc 200 MiB failed: no room\n", rules=small)
    claim = next(one for one in found.runs[0].candidates if one.rule == "sample/known")
    assert (claim.outcome, claim.against) == ("information", ("sample/both",))
    assert outcomes(found) == {"sample/full": "decides", "sample/both": "claimed", "sample/known": "information"}


@pytest.mark.parametrize("log", ["ready-after-retry", "moe-warning-then-ready"])
def test_recoveries_of_the_corpus_name_what_they_take_back(log: str, all_rules: RuleSet) -> None:
    """Whatever was taken back or outlived by readiness has a candidate that says so."""
    found = explain(next(iter(CORPUS.rglob(f"{log}*.log")), LOGS[0]), rules=all_rules)
    for run in found.runs:
        taken = {one.rule for one in run.candidates if one.outcome == "recovered"}
        assert taken == {name for one in run.candidates if one.role == "recovery" for name in one.against}


def test_a_vetoed_rule_is_told_with_its_veto(small: RuleSet) -> None:
    """A rule that another keeps out is listed as not holding."""
    found = explain("this is a rehearsal\nalloc 200 MiB failed: no room\n", rules=small)
    assert [(one.rule, one.lines, one.why) for one in found.runs[0].unheld] == [
        ("sample/full", (2,), "sample/rehearsal (line 1) keeps it out")
    ]


def test_an_unknown_failure_names_rules_that_come_near(small: RuleSet) -> None:
    """For each suspect line the rule whose pattern gets furthest is named, with the place where it stops."""
    found = explain("error: alloc 4096 MiB failed: bad luck\n", rules=small)
    near = found.runs[0].suspects[0].near[0]
    assert (near.rule, near.reached.stopped_at) == ("sample/full", "(?:out of memory|no room)")
    assert near.reached.text[near.reached.start : near.reached.end] == "alloc 4096 MiB failed: "


# One rule


def test_a_regex_that_stops_in_the_middle_is_shown_up_to_there(small: RuleSet) -> None:
    """The nearest line, the part that matches, what of the pattern does not follow, and that the scan passed the line over."""
    one = of_rule("hello\nx alloc 7 MiB failed: out of luck\n", "full", small)
    (found,) = one.surveys.values()
    assert found.nearest is not None
    assert (found.nearest.line, found.nearest.nominated, found.nearest.literal) == (2, False, "")
    assert found.nearest.reached.text[: found.nearest.reached.end] == "x alloc 7 MiB failed: out of "
    assert found.nearest.reached.stopped_at == "memory"
    assert one.state.missing == "none of its clauses under `any` holds"


def test_a_condition_is_shown_with_its_values(small: RuleSet) -> None:
    """A condition that is not true is told with what the line says."""
    one = of_rule("alloc 7 MiB failed: no room\n", "full", small)
    assert one.state.missing == "its condition `mib > 100` is not true (mib = 7)"
    assert one.state.refused == (1,)
    assert one.candidate is None


def test_a_sequence_says_up_to_which_step_it_comes(small: RuleSet) -> None:
    """Steps that came, and the one that did not follow."""
    one = of_rule("step one\nstep two\n\n\n\n\nstep three\n", "order", small)
    assert one.state.clauses[0].remark == "steps 1-2 of 3 from line 1 on; step 3 does not follow within 3 lines"
    assert of_rule("step three\n", "order", small).state.clauses[0].remark == "step 1 of 3 is not there"
    assert of_rule("step one\nstep two\nstep three\n", "order", small).state.missing == ""


def test_companions_that_are_too_far_are_named(small: RuleSet) -> None:
    """A pair that stands too far apart says which part is missing."""
    one = of_rule("left half\n\n\nright half\n", "pair", small)
    assert one.state.clauses[0].remark == "pattern 2 stands within 1 lines of no line with the first"
    assert of_rule("right half\n", "pair", small).state.clauses[0].remark == "the first pattern matches no line"
    assert of_rule("left half\nright half\n", "pair", small).state.clauses[0].holds


def test_a_count_says_how_many_there_were(small: RuleSet) -> None:
    """Two of three."""
    one = of_rule("retrying again\nretrying again\n", "often", small)
    assert one.state.clauses[0].remark == "2 of at least 3 matches"
    assert not one.state.clauses[0].holds


def test_clauses_that_must_all_hold_or_never(small: RuleSet) -> None:
    """What is missing under `all`, and what must not be there."""
    assert "under `all`" in of_rule("half of both\n", "both", small).state.missing
    log = "half of both\nother of both\nnever mind both\n"
    assert of_rule(log, "both", small).state.missing == "line 3 holds what must not be there"


def test_information_that_nobody_asked_for_is_found_by_the_second_reading(small: RuleSet) -> None:
    """A match in the middle of a log that no rule which decides looked at is still told."""
    log = "this is a rehearsal\n" + "nothing\n" * 60
    one = of_rule(log, "rehearsal", small)
    assert one.state.missing
    assert next(iter(one.surveys.values())).lines == (1,)


def test_another_run_can_be_asked_about(all_rules: RuleSet) -> None:
    """The last run is explained by default; the outcome in the others is told."""
    header = "[strata] 2026-03-04 05:06:07 engine started: /srv/strata/engine/strata --serve\n"
    log = (
        f"{header}cudaMalloc failed: out of memory\n{header}strata serve: 405 MiB of VRAM free with everything loaded\n"
    )
    wanted = [all_rules.by_id["cuda-malloc/out-of-memory"]]
    last = explain(log, rules=all_rules, wanted=wanted).rules[0]
    assert (last.run, last.candidate, last.elsewhere) == (2, None, {1: "decides"})
    first = explain(log, rules=all_rules, wanted=wanted, run=1).rules[0]
    assert first.candidate is not None
    assert first.candidate.outcome == "decides"


def test_only_so_many_lines_are_tried_piece_by_piece(small: RuleSet, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log full of near misses ends the search for the nearest, and says so."""
    monkeypatch.setattr(survey_module, "LINES_TRIED", 3)
    (found,) = of_rule("alloc 7 MiB failed: nothing\n" * 9, "full", small).surveys.values()
    assert (found.tried, found.complete) == (3, False)


# One line


def test_a_line_says_what_every_rule_makes_of_it(small: RuleSet) -> None:
    """Hits with their role in the verdict, and rules that come near."""
    log = "alloc 200 MiB failed: no room\nalloc 200 MiB failed: nothing\n"
    found = explain(log, rules=small, lines=[1, 2])
    first, second = found.lines
    assert [(hit.rule, hit.outcome, dict(hit.captures)) for hit in first.hits] == [
        ("sample/full", "decides", {"mib": "200"})
    ]
    assert second.hits == ()
    assert [near.rule for near in second.near] == ["sample/full"]


def test_a_line_of_a_rule_that_does_not_hold_says_why(small: RuleSet) -> None:
    """A match of a vetoed rule is told with the veto, unasked information as such."""
    log = "this is a rehearsal\n" + "nothing\n" * 60 + "half of both\n"
    found = explain(log, rules=small, lines=[1, 62])
    assert [hit.outcome for hit in found.lines[0].hits] == ["unasked"]
    assert [hit.outcome for hit in found.lines[1].hits] == ["unheld"]


@pytest.mark.parametrize("log", LOGS[::6], ids=lambda path: path.stem)
def test_the_deciding_line_says_that_it_decides(log: Path, all_rules: RuleSet) -> None:
    """Whatever line a verdict rests on, asking about it finds the rule that decided."""
    verdict = diagnose(log, rules=all_rules).verdict
    if verdict.deciding is None or not verdict.deciding.lines:
        return
    (line,) = explain(log, rules=all_rules, lines=[verdict.deciding.line]).lines
    assert (verdict.rule, "decides") in {(hit.rule, hit.outcome) for hit in line.hits}


def test_the_second_reading_reads_what_the_first_read(small: RuleSet) -> None:
    """UTF-16, colours and redraws are the same lines in both readings."""
    log = "first\r\n\x1b[31malloc 200 MiB failed: no room\x1b[0m\r\n"
    for data in (log.encode(), log.encode("utf-16"), io.BytesIO(log.encode())):
        (line,) = explain(data, rules=small, lines=[2]).lines
        assert line.text == "alloc 200 MiB failed: no room"
        assert [hit.rule for hit in line.hits] == ["sample/full"]


# Errors and edges


def test_lines_and_runs_that_are_not_there_are_errors(small: RuleSet) -> None:
    """The message says how many there are."""
    with pytest.raises(ExplainError, match="has no line 3; it has 2 lines"):
        explain("a\nb\n", rules=small, lines=[3])
    with pytest.raises(ExplainError, match="has no run 2; it has 1"):
        explain("a\nb\n", rules=small, wanted=small.rules, run=2)


def test_a_pipe_can_not_be_asked_about_lines(small: RuleSet) -> None:
    """What can be read only once is refused before it is read."""

    class Pipe(io.RawIOBase):
        def readinto(self, _: object) -> int:
            raise AssertionError("read")

    with pytest.raises(ExplainError, match="can be read only once"):
        explain(Pipe(), rules=small, lines=[1])  # type: ignore[arg-type]


def test_an_empty_log_has_no_runs_and_nothing_to_explain(small: RuleSet) -> None:
    """No run, no rule explanation, the verdict of `diagnose`."""
    found = explain(b"", rules=small, wanted=small.rules)
    assert (found.runs, found.rules) == ((), ())
    assert found.diagnosis == diagnose(b"", rules=small)


def test_plain_types_hold_everything(small: RuleSet) -> None:
    """The JSON has the diagnosis of classify, and plain types only."""
    import json

    log = "step one\nalloc 7 MiB failed: no room\nerror: alloc 4 MiB failed: x\n"
    found = to_dict(explain(log, rules=small, wanted=small.rules, lines=[1, 2, 3]))
    assert json.loads(json.dumps(found)) == found
    assert found["schema"] == 1
    assert found["diagnosis"] == diagnose(log, rules=small).to_dict()
