"""From findings to a verdict: every step of resolution, and what holds whatever the findings are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packs import CAUSE_RECORDS, evidence, finding, rule, rule_set, run

from strata_diag.clauses import find
from strata_diag.model import DECIDING_ROLES, Finding, Match, Role, Run, Status, Suspect, Verdict
from strata_diag.resolve import LONGEST_REASON, resolve, with_suspects
from strata_diag.ruleset import Rule, RuleSet

FULL = rule("card/full", cause="card-full", priority=800)
BUSY = rule("card/busy", cause="card-busy", priority=800)
OPTION = rule("server/option", cause="wrong-option", priority=600)
ABORT = rule("encoder/abort", role=Role.SYMPTOM, cause="card-busy", priority=400)
WRAPPER = rule("server/wrapper", role=Role.SYMPTOM, cause="wrong-option", priority=300)
REPORT = rule("guard/report", role=Role.INFO, cause="", priority=950)
READY = rule("engine/ready", role=Role.READY, cause="", priority=0)
START = rule("engine/start", role=Role.RUN_START, cause="", priority=0)
STOPPED = rule("engine/stopped", role=Role.RUN_END, cause="", priority=0)
RETRIED = rule("card/retried", role=Role.RECOVERY, cause="", priority=0, cancels=("card/full",))


def decide(rules: RuleSet, *places: Finding | tuple[str, int], alarming: bool = False, **changes: Any) -> Verdict:
    """The verdict on findings, each given as a record or as (rule, line); `changes`: fields of the run."""
    made = [place if isinstance(place, Finding) else finding(rules, *place) for place in places]
    ordered = sorted(made, key=lambda one: one.line)
    return resolve(ordered, run(**changes), rules, ends_alarmingly=alarming)


def losers(verdict: Verdict) -> dict[str, str]:
    """Why each loser lost, in one word, by its rule."""
    return {loser.finding.rule: loser.kind for loser in verdict.beaten}


def names(findings: tuple[Finding, ...]) -> list[str]:
    """The rules of findings, in their order."""
    return [one.rule for one in findings]


# What a verdict says


def test_a_verdict_carries_what_its_rule_and_cause_say() -> None:
    """Status, cause, title, line, version and how long the verdict holds come from the deciding rule and its cause."""
    rules = rule_set(FULL)
    verdict = decide(rules, finding(rules, "card/full", 7, "cudaMalloc failed: out of memory"))
    assert verdict._replace(deciding=None, chain=()) == Verdict(
        Status.OOM, "card-full", "Title of card/full", 7, "card/full", "cudaMalloc failed: out of memory",
        lasting=True, retry="after:card-free", attribution="environment", pack_version=3,
    )  # fmt: skip
    assert verdict.deciding is not None
    assert verdict.deciding.line == 7
    assert verdict.chain == (verdict.deciding,)
    assert verdict.tuner_status == "OOM"


def test_retry_of_a_rule_is_stronger_than_that_of_its_cause() -> None:
    """A rule may know better than its cause when trying again makes sense."""
    assert decide(rule_set(FULL._replace(retry="never")), ("card/full", 1)).retry == "never"


@pytest.mark.parametrize(
    ("of_cause", "of_rule", "passed_before", "lasting"),
    [
        pytest.param("card-full", None, None, True, id="a lasting cause"),
        pytest.param("card-full", True, None, True, id="a lasting cause and a rule that says so too"),
        pytest.param("card-full", False, None, False, id="a rule that knows that it passes"),
        pytest.param("card-full", None, True, False, id="a command line that has passed before"),
        pytest.param("card-full", None, False, True, id="a command line that has never passed"),
        pytest.param("card-busy", None, None, False, id="a transient cause"),
        pytest.param("card-busy", True, None, False, id="a transient cause, whatever the rule says"),
    ],
)
def test_only_a_lasting_cause_that_never_passed_is_remembered(
    of_cause: str, of_rule: bool | None, passed_before: bool | None, lasting: bool
) -> None:
    """A verdict is lasting only if its cause is, its rule does not object, and the command line never passed."""
    rules = rule_set(rule("card/any", cause=of_cause, lasting=of_rule))
    facts = {} if passed_before is None else {"passed_before": passed_before}
    assert decide(rules, ("card/any", 1), facts=facts).lasting is lasting


# Which roles decide


@pytest.mark.parametrize("role", [role for role in Role if role not in DECIDING_ROLES])
def test_other_roles_never_decide(role: Role) -> None:
    """Only failures and symptoms decide; whatever else is found names no cause and no deciding line."""
    verdict = decide(rule_set(rule("some/thing", role=role, priority=999)), ("some/thing", 4))
    assert verdict.status in (Status.PASS, Status.UNKNOWN)
    assert (verdict.rule, verdict.line, verdict.deciding, verdict.chain) == (None, None, None, ())


def test_a_symptom_decides_where_no_failure_does() -> None:
    """A symptom alone is still the best answer."""
    verdict = decide(rule_set(ABORT), ("encoder/abort", 3))
    assert (verdict.status, verdict.cause, verdict.line) == (Status.CUDA_UNAVAILABLE, "card-busy", 3)


def test_any_failure_comes_before_a_symptom() -> None:
    """A failure wins against an earlier symptom of higher priority, which then stands in its chain."""
    verdict = decide(rule_set(OPTION, ABORT._replace(priority=990)), ("encoder/abort", 2), ("server/option", 9))
    assert verdict.rule == "server/option"
    assert names(verdict.chain) == ["server/option", "encoder/abort"]
    assert not verdict.contested


def test_the_highest_priority_wins() -> None:
    """Of two failures the one with the higher priority decides, even if it stands later; the other learns why."""
    verdict = decide(rule_set(OPTION, FULL), ("server/option", 2), ("card/full", 9))
    assert (verdict.rule, verdict.line) == ("card/full", 9)
    assert [(loser.finding.rule, loser.kind, loser.why) for loser in verdict.beaten] == [
        ("server/option", "outranked", "priority 600 is lower than 800")
    ]


def test_the_earliest_line_wins_within_a_priority() -> None:
    """Of two failures with the same priority the one that was printed first decides."""
    verdict = decide(rule_set(FULL, BUSY), ("card/busy", 3), ("card/full", 5))
    assert verdict.rule == "card/busy"
    assert [loser.why for loser in verdict.beaten] == ["line 3 with the same priority comes first"]


@pytest.mark.parametrize("loaded", [(FULL, BUSY), (BUSY, FULL)], ids=["full first", "busy first"])
@pytest.mark.parametrize("backwards", [False, True], ids=["as loaded", "the other way round"])
def test_a_tie_on_one_line_is_broken_by_the_rules_names(loaded: tuple[Rule, ...], backwards: bool) -> None:
    """Two rules of equal priority on one line: the names decide, not the order in which the packs were read."""
    rules = rule_set(*loaded)
    found = [finding(rules, one.id, 5) for one in (reversed(loaded) if backwards else loaded)]
    verdict = resolve(found, run(), rules)
    assert verdict.rule == "card/busy"
    assert [loser.finding.rule for loser in verdict.beaten] == ["card/full"]
    assert "line 5" in verdict.beaten[0].why
    assert "comes first" not in verdict.beaten[0].why


def test_a_rule_decides_by_its_first_line() -> None:
    """A rule that was found several times points at its first line, and its other places are no losers."""
    verdict = decide(rule_set(FULL), ("card/full", 8), ("card/full", 4), ("card/full", 6))
    assert verdict.line == 4
    assert names(verdict.chain) == ["card/full"]
    assert verdict.beaten == ()


# Information claims its line


@pytest.mark.parametrize(
    ("of_info", "line", "decided"),
    [
        pytest.param(801, 5, False, id="higher on the same line"),
        pytest.param(800, 5, True, id="equal on the same line"),
        pytest.param(799, 5, True, id="lower on the same line"),
        pytest.param(999, 4, True, id="higher on the line before"),
        pytest.param(999, 6, True, id="higher on the line after"),
    ],
)
def test_information_claims_only_its_own_line_by_priority(of_info: int, line: int, decided: bool) -> None:
    """An informational finding drops a finding of lower priority on its line, and nothing else."""
    rules = rule_set(FULL, REPORT._replace(priority=of_info))
    verdict = decide(
        rules, finding(rules, "card/full", 5, "the same"), finding(rules, "guard/report", line, "the same")
    )
    assert (verdict.rule == "card/full") is decided
    assert losers(verdict) == ({} if decided else {"card/full": "claimed"})


def test_a_claimed_finding_says_which_information_claimed_it() -> None:
    """The loser names the informational rule and its title."""
    rules = rule_set(FULL, REPORT)
    verdict = decide(rules, finding(rules, "card/full", 5, "same"), finding(rules, "guard/report", 5, "same"))
    assert [loser.why for loser in verdict.beaten] == ["the line is information (guard/report): Title of guard/report"]
    assert names(verdict.harmless) == ["guard/report"]


def test_a_symptom_is_claimed_too() -> None:
    """Information about a line holds against symptoms as it does against failures."""
    rules = rule_set(ABORT, REPORT)
    verdict = decide(rules, finding(rules, "encoder/abort", 5, "same"), finding(rules, "guard/report", 5, "same"))
    assert losers(verdict) == {"encoder/abort": "claimed"}


def test_a_claim_on_one_line_leaves_the_rules_other_lines_alone() -> None:
    """A failure that is information on one line decides by its next line."""
    rules = rule_set(FULL, REPORT)
    verdict = decide(
        rules,
        finding(rules, "card/full", 5, "same"),
        finding(rules, "guard/report", 5, "same"),
        finding(rules, "card/full", 9),
    )
    assert (verdict.rule, verdict.line, verdict.beaten) == ("card/full", 9, ())


def test_a_claimed_failure_explains_nothing() -> None:
    """A failure whose line is information no longer takes its symptom's place."""
    rules = rule_set(FULL._replace(explains=("encoder/abort",)), ABORT, REPORT)
    verdict = decide(
        rules,
        finding(rules, "card/full", 5, "same"),
        finding(rules, "guard/report", 5, "same"),
        finding(rules, "encoder/abort", 6),
    )
    assert (verdict.rule, verdict.line) == ("encoder/abort", 6)


def test_information_claims_nothing_that_rests_on_no_line() -> None:
    """What the caller's facts alone say is shown at the last line, and that line's being information changes nothing."""
    rules = rule_set(FULL, REPORT)
    verdict = decide(rules, finding(rules, "card/full", 5, "same", lines=()), finding(rules, "guard/report", 5, "same"))
    assert (verdict.rule, verdict.line) == ("card/full", 5)


JOINED = "cudaMalloc failed: out of memory | memory guard: limit 63.8 GiB | arena: locked 13"


@pytest.mark.parametrize(
    ("failure_at", "information_at", "decided"),
    [
        pytest.param(1, 1, False, id="both in the first message"),
        pytest.param(1, 20, False, id="information further right in the message"),
        pytest.param(20, 1, False, id="information further left in the message"),
        pytest.param(1, 36, True, id="information in the next message"),
        pytest.param(32, 36, True, id="the end of a message and the beginning of the next"),
        pytest.param(36, 1, True, id="information in the message before"),
        pytest.param(1, 68, True, id="information in the last message"),
        pytest.param(68, 36, True, id="failure in the last, information in the middle"),
    ],
)
def test_information_claims_only_its_message_of_a_joined_line(
    failure_at: int, information_at: int, decided: bool
) -> None:
    """A history row joins lines by ` | `; information in one of them says nothing about the others."""
    rules = rule_set(FULL, REPORT)
    verdict = decide(
        rules,
        finding(rules, "card/full", 5, JOINED, failure_at),
        finding(rules, "guard/report", 5, JOINED, information_at),
    )
    assert (verdict.rule == "card/full") is decided


def test_information_does_not_claim_another_redraw_of_its_line() -> None:
    """A line that was drawn anew showed two messages; the one that was overwritten says nothing about the other."""
    rules = rule_set(FULL, REPORT)
    verdict = decide(
        rules,
        finding(rules, "card/full", 5, "cudaMalloc failed: out of memory"),
        finding(rules, "guard/report", 5, "memory guard: limit 63.8 GiB"),
    )
    assert verdict.rule == "card/full"


def test_harmless_lines_are_shown_unless_the_chain_holds_them() -> None:
    """Information is listed once a rule, and not where its line is part of the answer."""
    rules = rule_set(FULL, REPORT, rule("guard/weak", role=Role.INFO, priority=10))
    verdict = decide(
        rules,
        finding(rules, "card/full", 5, "same"),
        finding(rules, "guard/weak", 5, "same"),
        finding(rules, "guard/report", 2),
        finding(rules, "guard/report", 8),
    )
    assert [(one.rule, one.line) for one in verdict.harmless] == [("guard/report", 2)]


# Recoveries


@pytest.mark.parametrize(
    ("cancels", "line", "decided"),
    [
        pytest.param(("card/full",), 6, False, id="a later recovery that names it"),
        pytest.param(("card/full",), 5, True, id="a recovery on the same line"),
        pytest.param(("card/full",), 4, True, id="an earlier recovery"),
        pytest.param(("card/busy",), 6, True, id="a recovery that names another"),
        pytest.param(("card/busy", "card/full"), 6, False, id="a recovery that names several"),
    ],
)
def test_a_recovery_cancels_the_earlier_findings_that_it_names(
    cancels: tuple[str, ...], line: int, decided: bool
) -> None:
    """A recovery takes back what it names, and only what came before it."""
    rules = rule_set(FULL, BUSY, RETRIED._replace(cancels=cancels))
    verdict = decide(rules, ("card/full", 5), ("card/retried", line))
    assert (verdict.rule == "card/full") is decided
    assert losers(verdict) == ({} if decided else {"card/full": "recovered"})


def test_a_recovered_finding_says_which_line_took_it_back() -> None:
    """The loser names the first line and the rule of its recovery."""
    verdict = decide(rule_set(FULL, RETRIED), ("card/full", 5), ("card/retried", 7), ("card/retried", 9))
    assert [loser.why for loser in verdict.beaten] == ["line 7 takes it back (card/retried): Title of card/retried"]


def test_what_fails_again_after_a_recovery_decides() -> None:
    """A failure behind the recovery stands, and the verdict points at that line."""
    verdict = decide(rule_set(FULL, RETRIED), ("card/full", 5), ("card/retried", 7), ("card/full", 9))
    assert (verdict.rule, verdict.line) == ("card/full", 9)


def test_a_recovered_failure_explains_nothing() -> None:
    """A symptom whose explanation was taken back decides by itself."""
    rules = rule_set(FULL._replace(explains=("encoder/abort",)), ABORT, RETRIED)
    verdict = decide(rules, ("card/full", 5), ("card/retried", 6), ("encoder/abort", 8))
    assert verdict.rule == "encoder/abort"
    assert losers(verdict) == {"card/full": "recovered"}


# Readiness


@pytest.mark.parametrize("role", sorted(DECIDING_ROLES))
@pytest.mark.parametrize(
    ("line", "survives", "decided", "degraded"),
    [
        pytest.param(4, False, False, False, id="before"),
        pytest.param(5, False, True, False, id="on the same line"),
        pytest.param(6, False, True, False, id="after"),
        pytest.param(4, True, True, True, id="before, surviving"),
        pytest.param(5, True, True, False, id="on the same line, surviving"),
        pytest.param(6, True, True, False, id="after, surviving"),
    ],
)
def test_readiness_cancels_what_failed_before_it(
    role: Role, line: int, survives: bool, decided: bool, degraded: bool
) -> None:
    """Getting ready takes back the boot's failures; one that survives leaves the program degraded."""
    rules = rule_set(FULL._replace(role=role, survives_ready=survives), READY)
    verdict = decide(rules, ("card/full", line), ("engine/ready", 5))
    assert (verdict.rule == "card/full") is decided
    assert verdict.degraded is degraded
    assert losers(verdict) == ({} if decided else {"card/full": "ready"})


def test_a_failure_without_readiness_is_not_degraded() -> None:
    """A program that never got ready does not carry on, whatever its rule survives."""
    assert not decide(rule_set(FULL._replace(survives_ready=True)), ("card/full", 4)).degraded


def test_readiness_is_named_as_the_reason_of_a_lost_failure() -> None:
    """The loser names the line that proves readiness."""
    verdict = decide(rule_set(FULL, READY), ("card/full", 4), ("engine/ready", 9))
    assert [loser.why for loser in verdict.beaten] == ["the engine got ready afterwards (line 9)"]


def test_a_failure_that_readiness_took_back_explains_nothing() -> None:
    """A crash after readiness is not blamed on a failure of the boot."""
    rules = rule_set(FULL._replace(explains=("encoder/abort",)), ABORT, READY)
    verdict = decide(rules, ("card/full", 2), ("engine/ready", 5), ("encoder/abort", 8))
    assert (verdict.rule, losers(verdict)) == ("encoder/abort", {"card/full": "ready"})


# Causes and their symptoms


@pytest.mark.parametrize(
    ("rules", "places"),
    [
        pytest.param(
            (OPTION, FULL._replace(priority=900, yields_to=("server/option",))),
            (("card/full", 2), ("server/option", 8)),
            id="yields_to",
        ),
        pytest.param(
            (OPTION._replace(explains=("card/full",)), FULL._replace(priority=900)),
            (("card/full", 2), ("server/option", 8)),
            id="explains",
        ),
        pytest.param(
            (OPTION._replace(role=Role.SYMPTOM, explains=("card/full",)), FULL._replace(priority=900)),
            (("card/full", 2), ("server/option", 8)),
            id="a symptom that explains a failure",
        ),
    ],
)
def test_a_finding_gives_way_to_what_explains_it(rules: tuple[Rule, ...], places: tuple[tuple[str, int], ...]) -> None:
    """What is explained loses whatever its priority and line, and stands in the winner's chain."""
    verdict = decide(rule_set(*rules), *places)
    assert verdict.rule == "server/option"
    assert names(verdict.chain) == ["server/option", "card/full"]
    assert verdict.beaten == ()
    assert not verdict.contested


def test_nothing_gives_way_to_what_was_not_found() -> None:
    """A rule yields only to a rule that is present in the run."""
    assert decide(rule_set(OPTION, FULL._replace(yields_to=("server/option",))), ("card/full", 2)).rule == "card/full"


def test_explanations_go_through_each_other() -> None:
    """The chain of a verdict holds what its consequences led to in turn, in order of lines."""
    rules = rule_set(
        FULL._replace(explains=("encoder/abort",)),
        ABORT._replace(explains=("server/wrapper",)),
        WRAPPER._replace(explains=("server/option",)),
        OPTION._replace(priority=999),
    )
    verdict = decide(rules, ("server/option", 1), ("encoder/abort", 6), ("card/full", 5), ("server/wrapper", 3))
    assert verdict.rule == "card/full"
    assert [one.line for one in verdict.chain] == [5, 1, 3, 6]
    assert (verdict.beaten, verdict.contested) == ((), False)


def test_the_chain_goes_by_the_first_line_of_each_rule() -> None:
    """A symptom that was printed again at the very end still stands where it was printed first."""
    rules = rule_set(FULL, ABORT, WRAPPER)
    verdict = decide(rules, ("card/full", 1), ("encoder/abort", 2), ("server/wrapper", 5), ("encoder/abort", 9))
    assert [(one.rule, one.line) for one in verdict.chain] == [
        ("card/full", 1),
        ("encoder/abort", 2),
        ("server/wrapper", 5),
    ]


def test_losers_and_harmless_lines_go_by_their_first_line() -> None:
    """What lost, and what is harmless, is listed once a rule, in order of lines."""
    rules = rule_set(
        FULL, OPTION, BUSY._replace(priority=700), REPORT, rule("guard/hint", role=Role.INFO, priority=950)
    )
    verdict = decide(
        rules,
        ("card/full", 1),
        *((name, line) for name in ("server/option", "guard/report") for line in (2, 9)),
        *((name, 5) for name in ("card/busy", "guard/hint")),
    )
    assert [(one.finding.rule, one.finding.line) for one in verdict.beaten] == [("server/option", 2), ("card/busy", 5)]
    assert [(one.rule, one.line) for one in verdict.harmless] == [("guard/report", 2), ("guard/hint", 5)]


def test_what_another_failure_explains_stays_with_that_failure() -> None:
    """A symptom of a loser is no symptom of the winner."""
    rules = rule_set(FULL, OPTION._replace(explains=("encoder/abort",)), ABORT)
    verdict = decide(rules, ("card/full", 2), ("server/option", 4), ("encoder/abort", 6))
    assert names(verdict.chain) == ["card/full"]
    assert {loser.finding.rule: loser.why for loser in verdict.beaten} == {
        "server/option": "priority 600 is lower than 800",
        "encoder/abort": "explained by server/option (line 4)",
    }


def test_the_weightiest_explanation_is_named() -> None:
    """Of several rules that explain a loser, the one with the highest priority is named with its first line."""
    rules = rule_set(
        FULL,
        OPTION._replace(explains=("encoder/abort",)),
        rule("server/port", cause="wrong-option", priority=700, explains=("encoder/abort",)),
        ABORT,
    )
    places = [("card/full", 2), ("server/option", 4), ("server/port", 8), ("server/port", 7), ("encoder/abort", 9)]
    reasons = {loser.finding.rule: loser.why for loser in decide(rules, *places).beaten}
    assert reasons["encoder/abort"] == "explained by server/port (line 7)"


def test_many_explanations_of_each_other_are_followed_without_delay() -> None:
    """A deep lattice of explanations, as only a hostile pack has it, costs neither time nor the stack."""
    depth = 600
    layers = [
        [rule(f"deep/{layer}-{side}", yields_to=tuple(f"deep/{layer - 1}-{one}" for one in "ab") if layer else ())]
        for layer in range(depth)
        for side in "ab"
    ]
    rules = rule_set(*(one for layer in layers for one in layer))
    verdict = decide(rules, *((one.id, number + 1) for number, one in enumerate(rules.rules)))
    assert verdict.line == 1
    assert len(verdict.chain) + len(verdict.beaten) == 2 * depth


# Contested verdicts


def test_another_cause_beside_the_winner_makes_the_verdict_contested() -> None:
    """Two failures that mean different things: the best answer stands, both are shown, nothing is remembered."""
    verdict = decide(rule_set(FULL, OPTION), ("card/full", 2), ("server/option", 4))
    assert (verdict.rule, verdict.contested, verdict.lasting) == ("card/full", True, False)
    assert losers(verdict) == {"server/option": "outranked"}


@pytest.mark.parametrize(
    ("rules", "places"),
    [
        pytest.param(
            (FULL, FULL._replace(id="other/full")), (("card/full", 2), ("other/full", 4)), id="the same cause"
        ),
        pytest.param(
            (FULL._replace(explains=("server/option",)), OPTION),
            (("card/full", 2), ("server/option", 4)),
            id="another cause that is explained",
        ),
        pytest.param((FULL, WRAPPER), (("card/full", 2), ("server/wrapper", 4)), id="a symptom of another cause"),
    ],
)
def test_a_verdict_without_a_rival_is_not_contested(
    rules: tuple[Rule, ...], places: tuple[tuple[str, int], ...]
) -> None:
    """The same cause twice, an explained one and a symptom leave the verdict certain and lasting."""
    verdict = decide(rule_set(*rules), *places)
    assert (verdict.rule, verdict.contested, verdict.lasting) == ("card/full", False, True)


def test_two_symptoms_of_different_causes_are_contested() -> None:
    """Where only symptoms are left, a second cause among them makes the answer uncertain."""
    verdict = decide(rule_set(WRAPPER, ABORT), ("encoder/abort", 2), ("server/wrapper", 4))
    assert (verdict.rule, verdict.contested) == ("encoder/abort", True)
    assert losers(verdict) == {"server/wrapper": "outranked"}


@pytest.mark.parametrize(
    ("of_facts", "winner"),
    [
        pytest.param("server/option", "card/full", id="the weaker finding"),
        pytest.param("card/full", "card/full", id="the stronger finding"),
    ],
)
def test_what_the_caller_knows_contests_no_line(of_facts: str, winner: str) -> None:
    """A finding by facts alone rests on no line: it loses or wins, and makes no verdict uncertain."""
    rules = rule_set(FULL, OPTION)
    places = [
        finding(rules, name, 9, "the last line", lines=() if name == of_facts else (9,))
        for name in ("card/full", "server/option")
    ]
    verdict = decide(rules, *places)
    assert (verdict.rule, verdict.contested, verdict.lasting) == (winner, False, True)
    assert verdict.reason == ("Title of card/full" if of_facts == winner else "the last line")


# Nothing left


@pytest.mark.parametrize(
    ("places", "changes", "alarming", "status"),
    [
        pytest.param([], {}, False, Status.UNKNOWN, id="nothing found"),
        pytest.param([], {"tail": ()}, False, Status.UNKNOWN, id="nothing found and no line"),
        pytest.param(
            ["engine/start"], {"phases": {"log": "header"}}, False, Status.UNKNOWN, id="started, then silence"
        ),
        pytest.param(["engine/ready"], {"phases": {"log": "loaded"}}, False, Status.PASS, id="got ready"),
        pytest.param(["engine/stopped"], {"phases": {"log": "header"}}, False, Status.PASS, id="ended in order"),
        pytest.param(["guard/report"], {}, False, Status.PASS, id="went on after a harmless line"),
        pytest.param(["guard/report"], {"tail": ((5, "it"),)}, False, Status.UNKNOWN, id="ends with a harmless line"),
        pytest.param(["guard/report"], {"tail": ()}, False, Status.UNKNOWN, id="a harmless line and no known end"),
        pytest.param(
            ["guard/report"], {"phases": {"log": "header"}}, False, Status.UNKNOWN, id="a start that broke off"
        ),
        pytest.param(["engine/ready"], {}, True, Status.UNKNOWN, id="ready, then an unknown error at the end"),
        pytest.param(["engine/stopped"], {}, True, Status.UNKNOWN, id="stopped, then an unknown error at the end"),
        pytest.param(["guard/report"], {}, True, Status.UNKNOWN, id="harmless, then an unknown error at the end"),
    ],
)
def test_a_pass_needs_a_reason(places: list[str], changes: dict[str, Any], alarming: bool, status: Status) -> None:
    """Without a deciding finding a run passes only if something says so; anything else is UNKNOWN, never a guess."""
    rules = rule_set(REPORT, READY, STOPPED, START)
    verdict = decide(rules, *((name, 5) for name in places), alarming=alarming, **changes)
    cause = CAUSE_RECORDS["none" if status is Status.PASS else "unknown"]
    assert (verdict.status, verdict.cause, verdict.title) == (status, cause.id, cause.title)
    assert (verdict.line, verdict.rule, verdict.contested, verdict.lasting) == (None, None, False, False)
    assert verdict.reason


def test_a_failure_that_is_known_to_be_harmless_lets_a_run_pass() -> None:
    """A run goes on after a failure that its recovery took back: it passed, and the loser is shown."""
    verdict = decide(rule_set(FULL, RETRIED), ("card/full", 5), ("card/retried", 7))
    assert (verdict.status, losers(verdict)) == (Status.PASS, {"card/full": "recovered"})
    assert "harmless" in verdict.reason


@pytest.mark.parametrize(
    ("places", "reason"),
    [
        pytest.param([("engine/ready", 5), ("engine/ready", 9)], "the engine got ready (line 5)", id="ready"),
        pytest.param([("engine/stopped", 5)], "the run ended in order (line 5)", id="stopped"),
        pytest.param([("engine/ready", 5), ("engine/stopped", 9)], "the engine got ready (line 5)", id="both"),
    ],
)
def test_the_reason_of_a_pass_names_its_line(places: list[tuple[str, int]], reason: str) -> None:
    """A person can look up why a run counts as passed."""
    assert decide(rule_set(READY, STOPPED), *places).reason == reason


def test_a_run_is_not_alarming_unless_somebody_says_so() -> None:
    """Who does not look at the last line gets the verdict of the findings alone."""
    rules = rule_set(READY)
    assert resolve([finding(rules, "engine/ready", 5)], run(), rules).status is Status.PASS


def test_a_known_failure_decides_whatever_the_last_line_says() -> None:
    """An unknown error at the very end does not hide a failure that a rule knows."""
    assert decide(rule_set(FULL), ("card/full", 4), alarming=True).rule == "card/full"


def test_suspects_are_what_an_unknown_verdict_points_at() -> None:
    """An UNKNOWN verdict takes line and reason from the most alarming suspect."""
    unknown = decide(rule_set(FULL))
    suspects = (Suspect(8, "  fatal:\tnobody knows ", "card/full"), Suspect(3, "warning"))
    pointed = with_suspects(unknown, suspects)
    assert (pointed.status, pointed.line, pointed.reason) == (Status.UNKNOWN, 8, "fatal: nobody knows")
    assert (pointed.rule, pointed.suspects) == (None, suspects)


@pytest.mark.parametrize(
    ("lines", "pointed_at"),
    [
        pytest.param((4,), 4, id="a line that a rule decided on stays first"),
        pytest.param((), 8, id="facts alone point at no line"),
    ],
)
def test_suspects_stand_beside_an_unknown_that_a_rule_decided(lines: tuple[int, ...], pointed_at: int) -> None:
    """A rule may say that it failed and not why; then the suspects are shown, and lead where the rule has no line."""
    rules = rule_set(rule("process/ended", role=Role.SYMPTOM, cause="unknown"))
    decided = decide(rules, finding(rules, "process/ended", 4, "it ended", lines=lines))
    suspects = (Suspect(8, "fatal: nobody knows"),)
    pointed = with_suspects(decided, suspects)
    assert (pointed.status, pointed.rule, pointed.suspects) == (Status.UNKNOWN, "process/ended", suspects)
    assert pointed.line == pointed_at
    assert pointed.reason == ("it ended" if lines else "fatal: nobody knows")


def test_an_unknown_verdict_without_suspects_stays_as_it_is() -> None:
    """Where nothing looks like an error, no line is made up."""
    unknown = decide(rule_set(FULL))
    assert with_suspects(unknown, ()) is unknown


# The reason of a history row


@pytest.mark.parametrize(
    ("text", "at", "reason"),
    [
        pytest.param("  out of\t memory  ", "out", "out of memory", id="white space"),
        pytest.param("error: full | guard: fine | more", "error", "error: full", id="first message of a joined line"),
        pytest.param("guard: fine | error: full | more", "error", "error: full", id="middle message"),
        pytest.param("guard: fine | an error: full", "error", "an error: full", id="last message"),
        pytest.param("strata-1  | an error: full", "error", "an error: full", id="behind a container's name"),
        pytest.param("fine | error: full", " | error", "error: full", id="a match that begins at the joint"),
        pytest.param("error x | fine", "x | fine", "error x", id="a match that goes on behind the joint"),
        pytest.param('{"reason": "error: full | guard: fine"}', "error", "error: full", id="first message of a row"),
        pytest.param('"reason": "error: full | guard: fine"', "error", "error: full", id="a row cut in two"),
        pytest.param('{"reason": "guard: fine | error: full | more"}', "error", "error: full", id="later in a row"),
        pytest.param('{"error": "full"}', "error", '{"error": "full"}', id="JSON that joins nothing"),
    ],
)
def test_the_reason_is_one_message(text: str, at: str, reason: str) -> None:
    """The reason is the message that matched, on one line, never a mixture of the lines that a row joins."""
    rules = rule_set(FULL)
    assert decide(rules, finding(rules, "card/full", 3, text, text.index(at) + 1)).reason == reason


@pytest.mark.parametrize(("length", "kept"), [(LONGEST_REASON, LONGEST_REASON), (LONGEST_REASON + 1, LONGEST_REASON)])
def test_a_long_reason_is_cut_with_an_ellipsis(length: int, kept: int) -> None:
    """A reason fits a history row; one that was cut shows it."""
    rules = rule_set(FULL)
    reason = decide(rules, finding(rules, "card/full", 3, "x" * length)).reason
    assert len(reason) == kept
    assert reason.endswith("…") is (length > LONGEST_REASON)


# What holds whatever is found

_LINES = st.integers(1, 8)
_PRIORITIES = st.sampled_from([100, 300, 600, 800, 950])
_DECIDING_CAUSES = ["card-full", "card-busy", "wrong-option"]


@st.composite
def _rule_lists(draw: st.DrawFn) -> tuple[Rule, ...]:
    """A handful of rules that name each other; a rule yields only to later ones, so there is no circle."""
    count = draw(st.integers(1, 7))
    identities = [f"pack/{number}" for number in range(count)]
    roles = [draw(st.sampled_from([Role.FAILURE, Role.FAILURE, Role.SYMPTOM, *Role])) for _ in identities]
    made = []
    for number, (identity, role) in enumerate(zip(identities, roles, strict=True)):
        others = st.lists(st.sampled_from(identities), max_size=3, unique=True)
        made.append(
            rule(
                identity,
                role=role,
                cause=draw(st.sampled_from(_DECIDING_CAUSES)) if role in DECIDING_ROLES else "",
                priority=draw(_PRIORITIES),
                yields_to=tuple(name for name in draw(others) if name > identity),
                explains=tuple(name for name in draw(others) if name < identity),
                cancels=tuple(draw(others)) if role is Role.RECOVERY else (),
                unless=tuple(name for name in draw(others) if number == 0 and name != identity),
                survives_ready=draw(st.booleans()),
                lasting=draw(st.sampled_from([None, True, False])),
            )
        )
    return tuple(made)


@st.composite
def _cases(draw: st.DrawFn) -> tuple[tuple[Rule, ...], list[tuple[str, int, int]], Run]:
    """Rules, where each of them matched (rule, line, column), and the run without its matches."""
    rules = draw(_rule_lists())
    names_of_rules = st.sampled_from([one.id for one in rules])
    places = draw(st.lists(st.tuples(names_of_rules, _LINES, st.sampled_from([1, 20, 36])), max_size=10))
    facts = draw(st.sampled_from([{}, {"passed_before": True}, {"passed_before": False}]))
    phases = draw(st.sampled_from([{}, {"log": "header"}]))
    last = draw(_LINES)
    return rules, places, run(last_line=8, facts=facts, phases=phases, tail=((last, "the end"),))


def _diagnosed(
    rules: tuple[Rule, ...], places: list[tuple[str, int, int]], empty: Run, *, alarming: bool = False
) -> tuple[list[Finding], Verdict]:
    """The findings of a run in which the rules matched at these places, and its verdict."""
    loaded = rule_set(*rules)
    numbers = {one.id: one.number for one in loaded.rules}
    matches = sorted(
        (Match(evidence(line, JOINED, column), numbers[name], {}) for name, line, column in places),
        key=lambda match: match.evidence.line,
    )
    counts = {number: sum(match.pattern == number for match in matches) for number in numbers.values()}
    whole = empty._replace(matches=tuple(matches), counts=counts)
    findings = find(whole, loaded)
    return findings, resolve(findings, whole, loaded, ends_alarmingly=alarming)


@given(case=_cases(), data=st.data())
def test_the_order_of_loading_never_matters(
    case: tuple[tuple[Rule, ...], list[tuple[str, int, int]], Run], data: st.DataObject
) -> None:
    """The whole verdict, losers and their reasons included, is the same in whichever order the rules were loaded."""
    rules, places, empty = case
    shuffled = tuple(data.draw(st.permutations(rules)))
    assert _diagnosed(shuffled, places, empty) == _diagnosed(rules, places, empty)


@given(case=_cases(), line=_LINES, priority=_PRIORITIES, alarming=st.booleans())
def test_information_on_another_line_changes_no_decision(
    case: tuple[tuple[Rule, ...], list[tuple[str, int, int]], Run], line: int, priority: int, alarming: bool
) -> None:
    """One more informational line where nothing else stands leaves a decision as it is, and never makes one."""
    rules, places, empty = case
    free = 20 + line
    information = rule("pack/information", role=Role.INFO, cause="", priority=priority)
    _, before = _diagnosed(rules, places, empty, alarming=alarming)
    _, after = _diagnosed((*rules, information), [*places, (information.id, free, 1)], empty, alarming=alarming)
    if before.rule is not None or empty.phases:
        assert after._replace(harmless=()) == before._replace(harmless=())
    else:
        assert after.rule is None
    assert [one for one in after.harmless if one.rule != information.id] == list(before.harmless)


@given(case=_cases(), alarming=st.booleans())
def test_only_a_remaining_failure_or_symptom_wins(
    case: tuple[tuple[Rule, ...], list[tuple[str, int, int]], Run], alarming: bool
) -> None:
    """The winner is a failure or symptom that was found; without one the verdict is PASS or UNKNOWN and names none."""
    rules, places, empty = case
    findings, verdict = _diagnosed(rules, places, empty, alarming=alarming)
    if verdict.deciding is None:
        assert verdict.status in (Status.PASS, Status.UNKNOWN)
        assert (verdict.rule, verdict.line, verdict.chain) == (None, None, ())
    else:
        assert verdict.deciding in findings
        assert verdict.deciding.role in DECIDING_ROLES
        assert (verdict.rule, verdict.line) == (verdict.deciding.rule, verdict.deciding.line)
        assert verdict.chain[0] == verdict.deciding


@given(case=_cases(), alarming=st.booleans())
def test_every_candidate_is_accounted_for(
    case: tuple[tuple[Rule, ...], list[tuple[str, int, int]], Run], alarming: bool
) -> None:
    """Every rule that could have decided is the winner, stands in its chain, or lost for a reason that is given."""
    rules, places, empty = case
    findings, verdict = _diagnosed(rules, places, empty, alarming=alarming)
    candidates = {one.rule for one in findings if one.role in DECIDING_ROLES}
    in_chain, beaten = names(verdict.chain), [loser.finding.rule for loser in verdict.beaten]
    assert sorted(in_chain + beaten) == sorted(candidates)
    assert all(loser.why for loser in verdict.beaten)
    assert [one.line for one in verdict.chain[1:]] == sorted(one.line for one in verdict.chain[1:])
    assert [loser.finding.line for loser in verdict.beaten] == sorted(loser.finding.line for loser in verdict.beaten)


@given(case=_cases())
def test_nothing_passing_is_remembered(case: tuple[tuple[Rule, ...], list[tuple[str, int, int]], Run]) -> None:
    """A contested verdict, a transient cause and a command line that passed before are never lasting."""
    rules, places, empty = case
    _, verdict = _diagnosed(rules, places, empty)
    if verdict.contested or not CAUSE_RECORDS[verdict.cause].lasting or empty.facts.get("passed_before"):
        assert not verdict.lasting


@pytest.mark.parametrize(("settles", "status"), [(True, Status.PASS), (False, Status.UNKNOWN)])
def test_only_a_remark_that_settles_itself_may_end_a_healthy_log(settles: bool, status: Status) -> None:
    """A log that ends with a harmless line is healthy where its rule says that nothing more is to be expected."""
    rules = rule_set(rule("guard/note", role=Role.INFO, cause="", priority=950, settles=settles))
    assert resolve([finding(rules, "guard/note", 100)], run(), rules).status is status
