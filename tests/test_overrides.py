"""Rules of others, changed or silenced by a local file: what may change, and that it is said aloud."""

from __future__ import annotations

from pathlib import Path

import pytest
from packs import load, load_rules_text, pack_text, problems_of, write_packs

from strata_diag import RuleSet, Status, diagnose, load_rules
from strata_diag.model import Role
from strata_diag.rulepack import cache
from strata_diag.rulepack.announce import MOST_NAMED, announcements
from strata_diag.ruleset import is_deciding

RULES = """\
- {id: full, role: failure, cause: card-full, priority: 700, title: Full, any: [{regex: card is full}]}
- {id: busy, role: failure, cause: card-busy, priority: 600, title: Busy, any: [{regex: card is busy}]}
- {id: calm, role: info, priority: 900, title: Calm, why: x, any: [{regex: 'note: card is'}]}
- {id: veto, role: failure, cause: card-busy, title: Veto, any: [{regex: card is shy}], unless: [full]}
- {id: up, role: ready, phase: log/up, title: Up, any: [{regex: all up}]}
- {id: begin, role: run-start, phase: log/start, title: Begin, any: [{regex: engine starts}]}
"""
PHASES = "phases: {log: [start, up]}\nremedies: {wait: {text: Wait a little.}}\n"


def rules_with(folder: Path, overrides: str) -> RuleSet:
    """The rules above, with a file `local.yaml` beside them that overrides some."""
    return load_rules_text(folder, RULES, more=PHASES, local=f"overrides:\n{overrides}")


def complaints(folder: Path, overrides: str) -> list[tuple[int, str, str]]:
    """Line, complaint and advice of every problem of such a `local.yaml`."""
    write_packs(folder, sample=pack_text(RULES, more=PHASES), local=f"overrides:\n{overrides}")
    found = problems_of(folder)
    assert {Path(problem.file).name for problem in found} == {"local.yaml"}
    return [(problem.line, problem.what, problem.advice) for problem in found]


def test_another_priority_lets_another_rule_win(tmp_path: Path) -> None:
    """A lower priority turns the order of two rules around, and the rule says where and why it changed."""
    text = "card is full\ncard is busy\n"
    plain = diagnose(text, rules=load_rules_text(tmp_path / "plain", RULES, more=PHASES))
    assert plain.verdict.rule == "sample/full"
    rules = rules_with(tmp_path, "  - {rule: sample/full, priority: 500, reason: our cards are shared}\n")
    assert diagnose(text, rules=rules).verdict.rule == "sample/busy"
    changed = rules.by_id["sample/full"]
    assert changed.overridden == "priority 700 became 500: our cards are shared"
    assert changed.override_place == f"{tmp_path / 'local.yaml'}:2"
    assert changed.silenced == ""


def test_cause_and_remedies_change_together(tmp_path: Path) -> None:
    """The verdict has the new cause and its steps."""
    override = "  - {rule: sample/busy, cause: card-full, remedies: [wait], reason: with us it means full}\n"
    rules = rules_with(tmp_path, override)
    found = diagnose("card is busy\n", rules=rules)
    assert (found.verdict.status, found.verdict.cause) == (Status.OOM, "card-full")
    assert [step.action for step in found.remedies] == ["wait"]
    told = "cause card-busy became card-full, remedies none became wait: with us it means full"
    assert rules.by_id["sample/busy"].overridden == told


def test_a_silenced_failure_decides_nothing_and_is_shown(tmp_path: Path) -> None:
    """Its line counts as unexplained, and the answer says what would have decided, where it was silenced and why."""
    rules = rules_with(tmp_path, "  - {rule: sample/full, silence: a test of ours}\n")
    assert not is_deciding(rules.by_id["sample/full"])
    verdict = diagnose("all up\nerror: card is full\n", rules=rules).verdict
    assert verdict.status is Status.UNKNOWN
    assert [suspect.line for suspect in verdict.suspects] == [2]
    assert [(loser.finding.rule, loser.kind, loser.finding.line) for loser in verdict.beaten] == [
        ("sample/full", "silenced", 2)
    ]
    assert verdict.beaten[0].why == f"silenced in {tmp_path / 'local.yaml'}:2: a test of ours"


def test_a_silenced_rule_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    """It neither vetoes, contests nor explains, and stands among the losers of another verdict."""
    rules = rules_with(tmp_path, "  - {rule: sample/full, silence: a test of ours}\n")
    verdict = diagnose("card is full\ncard is shy\n", rules=rules).verdict
    assert verdict.rule == "sample/veto"
    assert not verdict.contested
    assert [loser.kind for loser in verdict.beaten] == ["silenced"]


@pytest.mark.parametrize("name", ["calm", "up", "begin"])
def test_a_silenced_rule_that_decides_nothing_is_as_though_it_were_not_there(name: str, tmp_path: Path) -> None:
    """Without it no line is claimed, no run begins and nothing gets ready, and no pattern of it is tried."""
    rules = rules_with(tmp_path, f"  - {{rule: sample/{name}, silence: wrong for us}}\n")
    assert rules.by_id[f"sample/{name}"].clauses == ()
    text = "engine starts\nnote: card is full\nall up\nengine starts\nall up\n"
    found = diagnose(text, rules=rules)
    expected = {"calm": (2, Status.PASS), "up": (2, Status.UNKNOWN), "begin": (1, Status.PASS)}
    assert (len(found.runs), found.verdict.status) == expected[name]
    first = {"calm": "sample/full", "up": None, "begin": None}
    if name == "calm":
        assert "sample/full" in {loser.finding.rule for run in found.runs for loser in run.verdict.beaten}
    assert found.runs[0].verdict.rule in {first[name], None}
    assert not [loser for run in found.runs for loser in run.verdict.beaten if loser.kind == "silenced"]


def test_a_pack_may_override_too(tmp_path: Path) -> None:
    """`overrides` may stand in the header of a pack, beside its own rules."""
    own = pack_text(
        "- {id: mine, role: info, title: Mine, why: x, any: [{regex: mine}]}\n",
        name="own",
        more="overrides:\n  - {rule: sample/full, silence: ours is better}\n",
    )
    rules = load(write_packs(tmp_path, sample=pack_text(RULES, more=PHASES), own=own))
    assert rules.by_id["sample/full"].silenced == "ours is better"


def test_every_diagnosis_says_which_rules_changed(tmp_path: Path) -> None:
    """A notice names the file and its rules; a rule set without changes says nothing."""
    sample = write_packs(tmp_path / "packs", sample=pack_text(RULES, more=PHASES))
    local = tmp_path / "local.yaml"
    override = "overrides:\n  - {rule: sample/full, silence: x}\n  - {rule: sample/calm, priority: 10, reason: y}\n"
    local.write_text(override, "utf-8")
    plain = load_rules([sample], builtin=False, discover=False)
    changed = load_rules([sample, local], builtin=False, discover=False)
    assert diagnose("nothing\n", rules=plain).notices == ()
    notice = diagnose("nothing\n", rules=changed).notices[0]
    words = "silences sample/full and changes sample/calm; `strata-diag rules show RULE` says how and why"
    assert (notice.kind, notice.text) == ("override", f"{local} {words}")


def test_of_many_changed_rules_the_first_are_named(tmp_path: Path) -> None:
    """A notice stays one line, however many rules a file changes."""
    many = "".join(
        f"- {{id: r{number}, role: failure, cause: card-full, title: x, any: [{{regex: word{number}}}]}}\n"
        for number in range(MOST_NAMED + 2)
    )
    overrides = "".join(f"  - {{rule: sample/r{number}, silence: x}}\n" for number in range(MOST_NAMED + 2))
    notices = announcements(load_rules_text(tmp_path, many, local=f"overrides:\n{overrides}"))
    assert len(notices) == 1
    assert "sample/r4 and 2 more;" in notices[0].text


def test_overrides_survive_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule set from the cache is changed as the compiled one, and a changed file counts at once."""
    monkeypatch.setenv(cache.CACHE_VARIABLE, str(tmp_path / "cache"))
    folder = tmp_path / "packs"
    compiled = rules_with(folder, "  - {rule: sample/full, silence: a test of ours}\n")
    kept = load(folder)
    assert tuple(kept.rules) == tuple(compiled.rules)
    assert announcements(kept) == announcements(compiled) != ()
    assert rules_with(folder, "  - {rule: sample/full, silence: another}\n").by_id["sample/full"].silenced == "another"


@pytest.mark.parametrize(
    ("override", "what", "advice"),
    [
        ("{rule: sample/ful, silence: x}", "there is no such rule", "did you mean `sample/full`?"),
        ("{rule: elsewhere/x, silence: x}", "there is no such rule", "name it as pack/rule"),
        ("{rule: sample/full, priority: 3}", "gives no reason", "write `reason:`"),
        ("{rule: sample/full, reason: x}", "changes nothing", "priority, cause, remedies"),
        ("{rule: sample/full, silence: x, priority: 3}", "silences the rule and changes it", "alone"),
        ("{rule: sample/full, silence: x, reason: y}", "silences the rule and changes it", "alone"),
        ("{rule: sample/full, silence: ''}", "`silence` of", "write a text"),
        ("{rule: sample/full, priorty: 3, reason: x}", "unknown key `priorty`", "did you mean `priority`?"),
        ("{rule: sample/full, priority: 1000, reason: x}", "`priority` of", "from 0 to 999"),
        ("{rule: sample/full, cause: card-ful, reason: x}", "the cause `card-ful`", "did you mean `card-full`?"),
        ("{rule: sample/full, cause: none, reason: x}", "the cause `none`", "name a failure's cause"),
        ("{rule: sample/calm, cause: card-full, reason: x}", "its role is info", "only failures and symptoms"),
        ("{rule: sample/full, remedies: [wiat], reason: x}", "unknown remedy `wiat`", "did you mean `wait`?"),
        ("{rule: sample/full, remedies: [dance], reason: x}", "unknown remedy `dance`", "declare it"),
        ("{silence: x}", "lacks `rule`", "add `rule:`"),
    ],
)
def test_unusable_overrides_are_refused(override: str, what: str, advice: str, tmp_path: Path) -> None:
    """What can't be applied as it stands is an error with its line and what to write instead."""
    found = complaints(tmp_path, f"  - {override}\n")
    assert len(found) == 1
    assert found[0][0] == 2
    assert what in found[0][1]
    assert advice in found[0][2]


def test_a_rule_is_overridden_once(tmp_path: Path) -> None:
    """The second override of a rule names the first one's place."""
    found = complaints(
        tmp_path, "  - {rule: sample/full, silence: x}\n  - {rule: sample/full, priority: 1, reason: y}\n"
    )
    assert [line for line, _, _ in found] == [3]
    assert "once more (first in" in found[0][1]
    assert "local.yaml:2)" in found[0][1]


@pytest.mark.parametrize("value", [" nothing", "\n  - text", "\n  rule: x", " []\n# none"])
def test_overrides_are_a_list_of_mappings(value: str, tmp_path: Path) -> None:
    """Anything but a list of mappings is refused; an empty list changes nothing."""
    write_packs(tmp_path, sample=pack_text(RULES, more=PHASES), local=f"overrides:{value}\n")
    if "[]" in value:
        assert not [rule for rule in load(tmp_path).rules if rule.override_place]
    else:
        assert "is no list of mappings" in problems_of(tmp_path)[0].what


def test_plugin_findings_of_a_silenced_rule_are_silenced_too(tmp_path: Path) -> None:
    """A rule that a plugin finds stays in the set and loses its say."""
    seen = "- {id: seen, role: failure, cause: card-full, title: Seen, found_by: nobody}\n" + RULES
    rules = load_rules_text(
        tmp_path, seen, more=PHASES, local="overrides:\n  - {rule: sample/seen, silence: too eager}\n"
    )
    assert rules.by_id["sample/seen"].role is Role.FAILURE
    assert rules.by_id["sample/seen"].silenced == "too eager"
