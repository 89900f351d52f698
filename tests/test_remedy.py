"""From a verdict to steps: which ones, in which order, with which numbers, and what never gets into a command."""

from __future__ import annotations

import string
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packs import load, pack_text, run_of, write_packs

from strata_diag import RuleSet
from strata_diag.clauses import find
from strata_diag.model import Remedy, Run
from strata_diag.remedy import LONGEST_VALUE, advise, fill
from strata_diag.resolve import resolve
from strata_diag.ruleset import RemedyTemplate, RemedyText


def template(*texts: str, **changes: Any) -> RemedyTemplate:
    """A step with these wordings; `changes`: fields that differ."""
    wordings = tuple(RemedyText(text, frozenset(string.Template(text).get_identifiers())) for text in texts)
    return RemedyTemplate("a-step", wordings, {}, "", "", (), ())._replace(**changes)


def filled(one: RemedyTemplate, values: Mapping[str, Any]) -> Remedy:
    """The step, which must apply."""
    made = fill(one, values)
    assert made is not None
    return made


# One step


def test_a_step_without_holes_is_given_as_it_is() -> None:
    """Action, text, commands, risk and link are the pack's own; the page is that of the action."""
    one = template("Close it.", commands={"linux": "ls -l"}, risk="It is closed.", link="https://example.org/a")
    commands, link, page = {"linux": "ls -l"}, "https://example.org/a", "remedies/a-step"
    assert fill(one, {}) == Remedy("a-step", "Close it.", commands, "It is closed.", link, page)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        pytest.param({"short": "12", "free": "3"}, "12 more than 3", id="the most precise wording"),
        pytest.param({"free": "3"}, "only 3", id="a wording that lacks a number is passed over"),
        pytest.param({"short": None, "free": 3}, "only 3", id="an empty capture is no value"),
        pytest.param({"short": "12"}, "more", id="the last wording needs none"),
        pytest.param({}, "more", id="a cut log"),
    ],
)
def test_the_first_wording_with_all_its_values_is_used(values: dict[str, Any], text: str) -> None:
    """The most precise wording whose numbers are all known is the one that a person reads."""
    assert filled(template("${short} more than ${free}", "only ${free}", "more"), values).text == text


@pytest.mark.parametrize(
    ("conditions", "applies"),
    [
        pytest.param((), True, id="none"),
        pytest.param(("free < 5",), True, id="one that holds"),
        pytest.param(("free < 5", "free > 4"), False, id="one of two holds"),
        pytest.param(("missing < 5",), False, id="one that can't be answered"),
        pytest.param(("system == 'linux'",), True, id="a word"),
    ],
)
def test_a_step_is_left_out_unless_its_conditions_hold(conditions: tuple[str, ...], applies: bool) -> None:
    """A step that does not fit this log is not proposed."""
    assert (fill(template("do it", when=conditions), {"free": "3", "system": "linux"}) is not None) is applies


@pytest.mark.parametrize(
    ("values", "text"),
    [
        pytest.param({"context": "131,072"}, "try 65536, at most 66560", id="worked out, in order"),
        pytest.param({"context": "many"}, "try less", id="a word can't be halved"),
        pytest.param({}, "try less", id="a missing number"),
    ],
)
def test_values_are_worked_out_from_captures(values: dict[str, Any], text: str) -> None:
    """Computed values may rest on each other; where one can't be worked out, the next wording is used."""
    one = template(
        "try ${half}, at most ${most}", "try less",
        compute=(("half", "floor(context / 2, 1024)"), ("most", "half + 1024")),
    )  # fmt: skip
    assert filled(one, values).text == text


def test_a_dollar_sign_in_a_value_is_no_hole() -> None:
    """Captured text is filled in as it is, never read as a template again."""
    values = {"buffer": "${secret} $other $$", "secret": "x", "other": "y"}
    assert filled(template("the ${buffer} failed"), values).text == "the ${secret} $other $$ failed"


def test_a_written_dollar_sign_stays() -> None:
    """A pack writes `$$` for a dollar sign."""
    assert filled(template("costs 5 $$"), {}).text == "costs 5 $"


def test_long_values_are_cut() -> None:
    """A captured line of thousands of characters does not flood a text."""
    assert filled(template("got ${text}"), {"text": "x" * 5000}).text == f"got {'x' * LONGEST_VALUE}"


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        pytest.param("/data/packs/iq3_s", True, id="a path"),
        pytest.param("C:\\llm\\strata.exe", True, id="a path of Windows"),
        pytest.param("user@host:8080", True, id="a place"),
        pytest.param(8080, True, id="a number"),
        pytest.param("a b", False, id="a blank"),
        pytest.param("a;reboot", False, id="a semicolon"),
        pytest.param("$(reboot)", False, id="a substitution"),
        pytest.param("`reboot`", False, id="backticks"),
        pytest.param("a|b", False, id="a pipe"),
        pytest.param("a&b", False, id="an ampersand"),
        pytest.param("a>b", False, id="a redirection"),
        pytest.param("'a'", False, id="quotes"),
        pytest.param('"a"', False, id="double quotes"),
        pytest.param("%PATH%", False, id="a variable of Windows"),
        pytest.param("a\nreboot", False, id="a line end"),
        pytest.param("a\n", False, id="a line end at the end"),
        pytest.param("*", False, id="a wildcard"),
        pytest.param("--force", False, id="an option"),
        pytest.param(-1, False, id="a negative number, which is one too"),
        pytest.param("gpt-oss", True, id="a hyphen inside"),
        pytest.param("ärger", False, id="a letter outside ASCII"),
        pytest.param("", False, id="nothing"),
        pytest.param(None, False, id="no value"),
    ],
)
def test_only_plain_words_get_into_a_command(value: Any, kept: bool) -> None:
    """A command whose value is anything that a shell might act on is left out; the text still says it."""
    one = template("look at it", commands={"linux": "lsof ${place}", "windows": "dir"})
    commands = filled(one, {"place": value}).commands
    assert commands == ({"linux": f"lsof {value}", "windows": "dir"} if kept else {"windows": "dir"})


def test_a_command_lacks_a_missing_value() -> None:
    """A command with a hole that nothing fills is left out."""
    assert filled(template("look", commands={"any": "kill ${pid}"}), {}).commands == {}


@given(value=st.text(max_size=40))
def test_no_captured_text_changes_what_a_command_does(value: str) -> None:
    """Whatever a log puts into a value, a command stays one command with as many words as it was written with."""
    for command in filled(template("t", commands={"linux": "lsof ${place} -n"}), {"place": value}).commands.values():
        assert command.split() == ["lsof", value, "-n"]
        assert not value.startswith("-")
        assert not set(command) & set("\n\r;&|<>$`'\"(){}*?!#~%^=,[]")


# The steps for a verdict

CAUSES = """\
causes:
  none: {status: PASS, title: No failure, lasting: false, retry: now, attribution: user}
  unknown: {status: UNKNOWN, title: Unknown, lasting: false, retry: now, attribution: engine, remedies: [attach-log]}
  card-full:
    {status: OOM, title: Full, lasting: true, retry: now, attribution: user, remedies: [smaller, close-programs, restart]}
"""
REMEDIES = """\
remedies:
  smaller: {texts: ["${asked} asked, ${free} free, ${reserve} kept, exit ${exit_code}", Make it smaller.]}
  close-programs: {texts: ["Free ${asked} MiB.", Close programs.]}
  wait: {text: Wait., when: [engines > 1]}
  restart: {text: Restart.}
  attach-log: {text: Attach the log.}
"""
RULES = """\
  - id: full
    role: failure
    cause: card-full
    title: Full
    any: [{regex: 'asked (?P<asked>\\d+)'}]
    explains: [abort]
    remedies: [wait, close-programs]
  - id: abort
    role: symptom
    cause: card-full
    title: Abort
    any: [{regex: 'aborted, free (?P<free>\\d+)( asked (?P<asked>\\d+))?'}]
  - {id: report, role: info, title: Report, any: [{regex: 'report reserve (?P<reserve>\\d+)( free (?P<free>\\d+))?'}]}
  - {id: ready, role: ready, title: Ready, any: [{regex: ready}]}
"""


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """A failure with steps of its own beside those of its cause."""
    folder = tmp_path_factory.mktemp("steps")
    return load(write_packs(folder, causes=CAUSES, remedies=REMEDIES, sample=pack_text(RULES)))


def advice(text: str, rules: RuleSet, **changes: Any) -> tuple[Remedy, ...]:
    """The steps for a log; `changes`: fields of its run."""
    whole: Run = run_of(text, rules, **changes)
    return advise(resolve(find(whole, rules), whole, rules), whole, rules)


def test_steps_of_the_rule_come_before_those_of_its_cause(steps: RuleSet) -> None:
    """Each step stands once, in the order of the rule and then of the cause; one that doesn't apply is left out."""
    assert [one.action for one in advice("asked 12", steps)] == ["close-programs", "smaller", "restart"]
    more = advice("asked 12", steps, facts={"engines": 2})
    assert [one.action for one in more] == ["wait", "close-programs", "smaller", "restart"]


def test_a_rule_may_leave_out_the_steps_of_its_cause(tmp_path: Path) -> None:
    """Where the cause's usual steps do not help, a rule gives its own alone."""
    rules = RULES.replace(
        "    remedies: [wait, close-programs]\n", "    remedies: [restart]\n    cause_remedies: false\n"
    )
    alone = load(write_packs(tmp_path, causes=CAUSES, remedies=REMEDIES, sample=pack_text(rules)))
    assert [one.action for one in advice("asked 12", alone)] == ["restart"]


def test_a_pass_needs_no_step(steps: RuleSet) -> None:
    """Nothing is proposed where nothing is wrong."""
    assert advice("ready", steps) == ()


def test_an_unknown_verdict_has_the_steps_of_its_cause(steps: RuleSet) -> None:
    """Even where nothing is known a person gets a step to take."""
    assert [one.action for one in advice("something", steps)] == ["attach-log"]


@pytest.mark.parametrize(
    ("text", "changes", "said"),
    [
        pytest.param(
            "asked 12\naborted, free 3\nreport reserve 700\nend",
            {"facts": {"exit_code": 6}},
            "12 asked, 3 free, 700 kept, exit 6",
            id="from the cause, its symptom, information and facts",
        ),
        pytest.param(
            "asked 12\naborted, free 3 asked 99\nreport reserve 700 free 55\nend",
            {"facts": {"exit_code": 6}, "details": {"reserve": "1", "asked": "2"}},
            "12 asked, 3 free, 700 kept, exit 6",
            id="the nearer to the cause the stronger",
        ),
        pytest.param(
            "asked 12\naborted, free 3\nend",
            {"facts": {"exit_code": 6, "free": 40}, "details": {"reserve": "300"}},
            "12 asked, 40 free, 300 kept, exit 6",
            id="details of the start are weakest, facts strongest",
        ),
        pytest.param("asked 12\naborted, free 3\nend", {}, "Make it smaller.", id="a number is missing"),
    ],
)
def test_numbers_come_from_all_that_belongs_to_the_cause(
    text: str, changes: dict[str, Any], said: str, steps: RuleSet
) -> None:
    """Texts are filled from the deciding line, what it led to, harmless lines, the start and the caller's facts."""
    assert {one.action: one.text for one in advice(text, steps, **changes)}["smaller"] == said


def test_every_step_of_the_built_in_packs_can_be_given(rules: RuleSet, tmp_path: Path) -> None:
    """Whatever a log lacks, each step of each cause has a wording without holes."""
    unfilled = [
        action
        for action, one in rules.remedies.items()
        if (made := fill(one._replace(when=()), {})) is None or "${" in made.text
    ]
    assert unfilled == []
