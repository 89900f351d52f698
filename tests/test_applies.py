"""Rules for some versions only, and the lifecycle of a rule: what each does to a verdict, and how it is checked."""

from __future__ import annotations

from pathlib import Path

import pytest
from packs import load, load_rules_text, pack_text, problems_of, run_of, write_packs

from strata_diag import Sighting, Status, diagnose
from strata_diag.clauses import find

BEGIN = "role: run-start, phase: log/start, title: Begin, any: [{regex: 'engine (?P<engine_version>\\S+) starts'}]"
START = f"- {{id: begin, {BEGIN}}}\n"
PHASES = "phases: {log: [start]}\n"
FULL = "role: failure, cause: card-full, title: Full, any: [{regex: card is full}]"


def verdict_status(folder: Path, rule: str, log: str, **facts: object) -> Status:
    """The status of a log under one rule with the pattern `card is full`; `rule`: its further keys."""
    rules = load_rules_text(folder, START + f"- {{id: full, {FULL}, {rule}}}\n", more=PHASES)
    return diagnose(log, rules=rules, facts=facts).verdict.status


@pytest.mark.parametrize(
    ("version", "expected"),
    [("0.1.40", Status.OOM), ("0.1.9", Status.UNKNOWN), ("0.1.40-rc1", Status.UNKNOWN), ("deadbeef", Status.OOM)],
)
def test_the_version_of_the_log_decides(version: str, expected: Status, tmp_path: Path) -> None:
    """A rule holds in a run whose own lines name a version of its range, or none that can be read."""
    log = f"engine {version} starts\nfatal error: card is full\n"
    assert verdict_status(tmp_path, "applies: engine >= 0.1.40", log) is expected


def test_a_log_without_a_version_leaves_the_rule_in(tmp_path: Path) -> None:
    """A rule set must not fall silent because a log doesn't say its version."""
    assert verdict_status(tmp_path, "applies: engine >= 99", "card is full\n") is Status.OOM


def test_the_version_that_the_caller_knows_counts_more(tmp_path: Path) -> None:
    """The fact `engine_version` stands above what the log says."""
    log = "engine 0.1.40 starts\nfatal error: card is full\n"
    assert verdict_status(tmp_path, "applies: engine >= 0.1.40", log, engine_version="0.1.2") is Status.UNKNOWN
    assert verdict_status(tmp_path, "applies: engine < 0.1.40", log, engine_version="0.1.2") is Status.OOM


def test_each_run_is_judged_by_its_own_version(tmp_path: Path) -> None:
    """A log of two versions has the rule in one of its runs only."""
    rules = load_rules_text(tmp_path, START + f"- {{id: full, {FULL}, applies: engine >= 0.2}}\n", more=PHASES)
    found = diagnose("engine 0.1 starts\nfatal error: card is full\nengine 0.2 starts\ncard is full\n", rules=rules)
    assert [run.verdict.status for run in found.runs] == [Status.UNKNOWN, Status.OOM]


def test_conditions_and_ranges_must_both_hold(tmp_path: Path) -> None:
    """`applies` and `when` are two conditions of one rule."""
    log = "engine 0.1 starts\nfatal error: card is full\n"
    assert verdict_status(tmp_path, "applies: engine >= 0.1, when: [slots == 0]", log, slots=0) is Status.OOM
    assert verdict_status(tmp_path, "applies: engine >= 0.1, when: [slots == 0]", log, slots=1) is Status.UNKNOWN
    assert verdict_status(tmp_path, "applies: engine >= 0.2, when: [slots == 0]", log, slots=0) is Status.UNKNOWN


def test_a_pack_can_say_it_for_all_its_rules(tmp_path: Path) -> None:
    """The header's range holds for every rule but those that begin or end a run; a rule's own range replaces it."""
    rules = load_rules_text(
        tmp_path,
        START + f"- {{id: full, {FULL}}}\n- {{id: own, {FULL}, applies: engine < 3}}\n",
        more=PHASES + "applies: engine >= 0.1.40\n",
    )
    ranges = {rule.id: rule.applies for rule in rules.rules}
    assert ranges == {"sample/begin": "", "sample/full": "engine >= 0.1.40", "sample/own": "engine < 3"}


def test_a_plugin_s_finding_obeys_the_range(tmp_path: Path) -> None:
    """What a plugin saw is left out where the rule isn't meant for the version."""
    rules = load_rules_text(
        tmp_path,
        "- {id: seen, role: failure, cause: card-full, title: x, found_by: eye, applies: engine >= 2}\n",
    )
    for version, count in (("1.9", 0), ("2.0", 1)):
        run = run_of("a line", rules, details={"engine_version": version})
        assert len(find(run, rules, [Sighting("sample/seen", 1)])) == count


@pytest.mark.parametrize(
    ("rule", "what", "advice"),
    [
        (f"{{id: x, {FULL}, applies: engine >= new}}", "`applies` of", "`new` is no version"),
        (f"{{id: x, {FULL}, applies: 0.1}}", "`applies` of", "write comparisons such as"),
        (
            "{id: x, role: run-end, title: x, any: [{regex: over}], applies: engine > 1}",
            "has `applies` and the role run-end",
            "known only once the run has begun",
        ),
        (f"{{id: x, {FULL}, lifecycle: old}}", "`lifecycle` of", "experimental, stable, deprecated"),
        (f"{{id: x, {FULL}, lifecycle: deprecated}}", "is deprecated and names no other", "write `replaced_by:"),
        (f"{{id: x, {FULL}, replaced_by: full}}", "without being deprecated", "write `lifecycle: deprecated`"),
        (f"{{id: x, {FULL}, lifecycle: deprecated, replaced_by: ful}}", "`ful` in `replaced_by`", "`sample/full`?"),
        (f"{{id: x, {FULL}, lifecycle: deprecated, replaced_by: x}}", "names itself", "take it out"),
        (f"{{id: x, {FULL}, lifecycle: deprecated, replaced_by: 'f*'}}", "several rules in `replaced_by`", "name one"),
    ],
)
def test_unusable_ranges_and_lifecycles_are_refused(rule: str, what: str, advice: str, tmp_path: Path) -> None:
    """What a rule says about versions and its own age is checked when it is read."""
    others = f"- {{id: full, {FULL}}}\n- {{id: fuller, {FULL}}}\n"
    found = problems_of(write_packs(tmp_path, sample=pack_text(f"- {rule}\n{others}")))
    assert len(found) == 1
    assert what in found[0].what
    assert advice in found[0].advice


def test_an_experimental_rule_says_so_and_is_never_lasting(tmp_path: Path) -> None:
    """It decides as any other, its title names it as experimental, and nobody remembers its verdict."""
    plain = load_rules_text(tmp_path / "a", f"- {{id: full, {FULL}}}\n")
    trial = load_rules_text(tmp_path / "b", f"- {{id: full, {FULL}, lifecycle: experimental, lasting: true}}\n")
    assert diagnose("card is full\n", rules=plain).verdict.lasting
    verdict = diagnose("card is full\n", rules=trial).verdict
    assert verdict.rule == "sample/full"
    assert verdict.title == "Full (experimental rule)"
    assert not verdict.lasting


def test_a_deprecated_rule_still_works(tmp_path: Path) -> None:
    """It decides until it is removed, and knows what replaces it, in another pack too."""
    other = pack_text(f"- {{id: fuller, {FULL}}}\n", name="other")
    old = f"- {{id: full, {FULL}, priority: 700, lifecycle: deprecated, replaced_by: other/fuller}}\n"
    rules = load(write_packs(tmp_path, sample=pack_text(old), other=other))
    assert rules.by_id["sample/full"].replaced_by == "other/fuller"
    assert diagnose("card is full\n", rules=rules).verdict.rule == "sample/full"
    assert rules.by_id["other/fuller"].lifecycle == "stable"
