"""Rules explained in a run: conditions, versions, vetoes, silenced rules, and the text of it all."""

from __future__ import annotations

from pathlib import Path

import pytest
from packs import load_rules_text, rule, rule_set, run

from strata_diag import RuleSet
from strata_diag.explain import Explanation, explain
from strata_diag.explain.clausewise import rule_state
from strata_diag.explain.lines import explain_line
from strata_diag.render.explain import explanation_lines
from strata_diag.render.layout import plain

RULES = """\
- {id: full, role: failure, cause: card-full, priority: 700, title: Full, any: [{regex: card is full}]}
- {id: old, role: failure, cause: card-busy, priority: 600, title: Old, any: [{regex: card is busy}], applies: engine < 0.2}
- {id: begin, role: run-start, phase: log/start, title: Begin, any: [{regex: 'engine (?P<engine_version>\\S+) starts'}]}
- {id: end, role: failure, cause: card-busy, priority: 650, title: End, any: [{last: the last word, within: 3}]}
- {id: told, role: failure, cause: wrong-option, priority: 50, title: Told, any: [{facts: exit_code == 9}]}
- {id: trio, role: failure, cause: card-busy, title: Trio, any: [{near: [mid piece, low piece, top piece], within: 1}]}
- {id: back, role: recovery, title: Back, cancels: [full], any: [{regex: card is fine again}]}
- {id: calm, role: info, priority: 900, title: Calm, why: x, any: [{regex: 'note: card is'}]}
"""
PHASES = "phases: {log: [start]}\n"
OVERRIDE = "overrides:\n  - {rule: sample/full, silence: a test of ours}\n"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """A few rules with conditions."""
    return load_rules_text(tmp_path_factory.mktemp("packs"), RULES, more=PHASES)


def asked(log: str, name: str, rules: RuleSet, **facts: object) -> Explanation:
    """The explanation of a log with one rule asked for."""
    return explain(log, rules=rules, wanted=[rules.by_id[f"sample/{name}"]], facts=facts)


def text_of(found: Explanation) -> str:
    """What a person reads."""
    return "\n".join(plain(line) for line in explanation_lines(found))


def test_a_range_of_versions_is_shown_with_the_version(small: RuleSet) -> None:
    """A rule for other versions says which one ran."""
    found = asked("engine 0.3 starts\ncard is busy\n", "old", small)
    assert found.rules[0].state.missing == "its condition `applies: engine < 0.2` is not true (engine_version = 0.3)"
    assert "no  when applies: engine < 0.2  (engine_version = 0.3)" in text_of(found)
    assert asked("engine 0.1 starts\ncard is busy\n", "old", small).rules[0].state.missing == ""


def test_a_last_line_says_where_the_last_ones_begin(small: RuleSet) -> None:
    """A line that stands too early for a clause about the end."""
    found = asked("the last word\na\n\nb\nc\nd\n", "end", small)
    assert found.rules[0].state.clauses[0].remark == "only in the last 3 lines with text, here from line 4 on"
    assert not found.rules[0].state.clauses[0].holds


def test_facts_are_shown_with_their_values(small: RuleSet) -> None:
    """What the caller did not say is not known."""
    assert asked("a\n", "told", small).rules[0].state.clauses[0].remark == "exit_code == 9: exit_code is not known"
    found = asked("a\n", "told", small, exit_code=9)
    assert found.rules[0].state.clauses[0].remark == "exit_code == 9: exit_code = 9"
    assert found.rules[0].state.missing == ""
    assert "holds: decides" in text_of(found)


def test_companions_of_different_lines_are_told(small: RuleSet) -> None:
    """Each companion is near to some line, and all to none."""
    log = "mid piece\nlow piece\n\n\nmid piece\ntop piece\n"
    state = asked(log, "trio", small).rules[0].state
    assert state.clauses[0].remark == "the companions stand within 1 lines, but never all of one line"
    assert state.missing == "none of its clauses under `any` holds"


def test_a_silenced_rule_is_shown_with_the_reason(tmp_path: Path) -> None:
    """It holds, decides nothing, and says who silenced it and why."""
    rules = load_rules_text(tmp_path, RULES, more=PHASES, local=OVERRIDE)
    found = asked("card is full\n", "full", rules)
    assert found.rules[0].candidate is not None
    assert found.rules[0].candidate.outcome == "silenced"
    shown = text_of(found)
    assert "local.yaml" in shown
    assert "silenced: a test of ours" in shown
    silent = load_rules_text(tmp_path / "more", RULES, more=PHASES, local=OVERRIDE.replace("full", "back"))
    found = asked("card is full\ncard is fine again\n", "back", silent)
    assert found.rules[0].state.missing == "it is silenced, as though it were not there"
    assert [one.outcome for one in found.runs[0].candidates] == ["decides"]


def test_a_rule_that_a_plugin_finds_says_so() -> None:
    """Without a sighting it is missing, whatever its clauses say; with one it holds."""
    rules = rule_set(rule("pack/seen", found_by="watcher"))
    one = rules.by_id["pack/seen"]._replace(any=())
    assert rule_state(one, run(), rules, {}).missing.startswith("the plugin watcher did not see it")
    assert rule_state(one, run(), rules, {"pack/seen": 3}).missing == ""


def test_lines_say_what_became_of_their_matches(small: RuleSet) -> None:
    """One of many, and a line that belongs to no run."""
    log = "engine 1 starts\n" + "card is full\n" * 60 + "x\n" * 50
    (many,) = explain(log, rules=small, lines=[30]).lines
    assert [(hit.rule, hit.outcome) for hit in many.hits] == [("sample/full", "uncounted")]
    alone = explain_line(1, b"card is full", (), small)
    assert (alone.run, [hit.outcome for hit in alone.hits]) == (0, ["none"])


def test_a_contested_verdict_says_that_another_cause_stands_beside(small: RuleSet) -> None:
    """The winner's reason names it, and the text shows every candidate with its lines."""
    found = explain("engine 0.1 starts\ncard is full\ncard is busy\n", rules=small)
    assert "another cause stands beside it" in found.runs[0].candidates[0].why
    shown = text_of(found)
    assert "outranked  sample/old  failure, priority 600, line 3" in shown
    assert "priority 600 is lower than 700" in shown


def test_unknown_ends_show_rules_that_come_near(small: RuleSet) -> None:
    """The text says up to where, and what does not follow."""
    shown = text_of(explain("error: the card is fusing\n", rules=small))
    assert "matched up to here: `card is fu`" in shown
    assert "does not follow:    `ll`" in shown


def test_many_lines_are_counted(small: RuleSet) -> None:
    """Numbers of lines are listed up to a few, the rest is counted."""
    shown = text_of(asked("card is full\n" * 40, "full", small))
    assert "and 24 more" in shown
    assert "40 times" in text_of(explain("card is full\n" * 40, rules=small))
