"""Lines that look like an error although no rule knows them, and the rule that comes nearest to one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packs import load_rules_text, pack_text, write_packs

from strata_diag import RuleSet, Status, diagnose, load_rules
from strata_diag.suspects import ALARMING, MOST_SUSPECTS, alarm, ends_alarmingly, find_suspects, nearest_rule

RULES = """\
  - id: malloc
    role: failure
    cause: card-full
    title: Allocation failed
    any: [{regex: 'cudaMalloc failed: out of memory'}]
    samples: {match: ['ggml_backend: allocating 858.10 MiB on device 0: cudaMalloc failed: out of memory']}
  - id: port
    role: failure
    cause: wrong-option
    title: The port is taken
    any: [{regex: 'port \\d+ is already in use'}]
    samples: {match: ['strata serve: port 8080 is already in use', 'cannot listen on port 8080: it is taken']}
  - id: ready
    role: ready
    title: Ready
    any: [{regex: ^ready}]
  - id: hint
    role: info
    title: A hint
    any: [{regex: hint about a fatal error}]
"""


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """Two failures with samples, readiness, and a piece of information that sounds terrible."""
    return load_rules_text(tmp_path_factory.mktemp("known"), RULES)


@pytest.mark.parametrize(
    "text",
    [
        "strata generate: FATAL: the ring is broken",
        "terminate called after throwing an instance of 'std::bad_alloc'",
        "Traceback (most recent call last):",
        "ValueError: 5 is not a valid Mode",
        "the engine gave 3 errors: giving up",
        "server: refusing to start",
        "Segmentation fault (core dumped)",
        "strata serve: error: the device was lost",
        "step 3 of 5 FAILED",
    ],
)
def test_an_error_is_alarming(text: str) -> None:
    """What programs print when they break is alarming by itself."""
    assert alarm(text) >= ALARMING


@pytest.mark.parametrize(
    "text",
    [
        "",
        "strata generate: session is up (engine 0.1.45)",
        "405 MiB of VRAM free with everything loaded",
        "checked 20 files, 0 errors",
        "finished without error",
        "no error was found",
        "errors=0 in 120 requests",
        "the drive is error-free",
        "#3 0x00007f0000000000 in abort () from /lib/libc.so.6",
        '  File "/opt/strata/server.py", line 12, in fail_with_error',
        "/usr/lib/libfatal.so(+0x2f1a0) [0x7f00aa]",
        "    ^^^^^^^^^^^^",
        "    ~~~~~~^^",
        "[0x7f00aa] fatal",
    ],
)
def test_calm_lines_and_frames_of_a_backtrace_are_not(text: str) -> None:
    """Ordinary lines, counts of no errors and the frames of a backtrace weigh nothing."""
    assert alarm(text) == 0


def test_a_worse_line_weighs_more() -> None:
    """A warning weighs less than a refusal, a refusal less than an error that says so."""
    weights = [alarm(text) for text in ("warning: slow", "connection refused", "error: connection refused")]
    assert weights == sorted(set(weights))


def test_an_error_beside_the_word_no_error_still_counts() -> None:
    """A calm phrase takes only its own words out of a line."""
    assert alarm("no error in stage 1; fatal error in stage 2") >= ALARMING


# Which lines are pointed at


def test_the_most_alarming_lines_come_first(known: RuleSet) -> None:
    """Suspects are ordered by how alarming they are, and within one weight the later line first."""
    tail = ((1, "error: one"), (2, "warning: two"), (3, "all is well"), (4, "fatal error: three"), (5, "error: four"))
    assert [suspect.line for suspect in find_suspects(tail, (), known)] == [4, 5, 1, 2]


def test_lines_that_a_rule_knows_are_no_suspects(known: RuleSet) -> None:
    """What is explained is not pointed at again."""
    tail = ((1, "error: one"), (2, "fatal error: two"))
    assert [suspect.line for suspect in find_suspects(tail, {2}, known)] == [1]


def test_only_a_few_suspects_are_named(known: RuleSet) -> None:
    """A log full of errors points at a handful of its last ones."""
    tail = tuple((line, f"error number {line}") for line in range(1, 41))
    assert [suspect.line for suspect in find_suspects(tail, (), known)] == list(range(40, 40 - MOST_SUSPECTS, -1))


def test_a_calm_log_has_no_suspects(known: RuleSet) -> None:
    """Nothing is made up where nothing looks like an error."""
    assert find_suspects(((1, "loading"), (2, "still loading")), (), known) == ()


@given(
    lines=st.lists(st.sampled_from(["error: a", "fatal error", "warning", "well", "refused", "#0 abort"]), max_size=30),
    explained=st.sets(st.integers(1, 30)),
)
def test_suspects_are_unexplained_lines_of_the_tail(lines: list[str], explained: set[int], known: RuleSet) -> None:
    """Each suspect is a line of the tail as it stands there, alarming, not explained, and named once."""
    tail = tuple(enumerate(lines, 1))
    suspects = find_suspects(tail, explained, known)
    assert len(suspects) == min(MOST_SUSPECTS, sum(line not in explained and alarm(text) > 0 for line, text in tail))
    assert len({suspect.line for suspect in suspects}) == len(suspects)
    assert all((suspect.line, suspect.text) in tail and suspect.line not in explained for suspect in suspects)
    assert [alarm(suspect.text) for suspect in suspects] == sorted(
        (alarm(suspect.text) for suspect in suspects), reverse=True
    )


# How a run ends


@pytest.mark.parametrize(
    ("lines", "explained", "alarming"),
    [
        pytest.param(["ready", "fatal error: nobody knows"], (), True, id="an unknown error at the end"),
        pytest.param(["fatal error: nobody knows", "going on"], (), False, id="an unknown error, then a calm line"),
        pytest.param(["ready", "fatal error: somebody knows"], (2,), False, id="a known error at the end"),
        pytest.param(["ready", "step 3 of 5 FAILED"], (), True, id="a failure in one word"),
        pytest.param(["ready", "warning: disk is slow"], (), False, id="a mere warning at the end"),
        pytest.param(
            ["fatal error: nobody knows", "#0 0x00aa in raise", "#1 0x00bb in abort"], (), True, id="a backtrace"
        ),
        pytest.param(["fatal error: nobody knows", "  ", ""], (), True, id="blank lines behind it"),
        pytest.param(["fatal: known", "#0 0x00aa in raise"], (1,), False, id="a known error with its backtrace"),
        pytest.param(["#0 0x00aa in raise"], (), False, id="nothing but a backtrace"),
        pytest.param([], (), False, id="nothing"),
    ],
)
def test_a_run_ends_alarmingly_by_its_last_word(lines: list[str], explained: tuple[int, ...], alarming: bool) -> None:
    """Only the last line, backtraces and blank lines aside, says that a run ended in an error that no rule knows."""
    assert ends_alarmingly(tuple(enumerate(lines, 1)), explained) is alarming


# The nearest rule


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        pytest.param(
            "ggml_backend: allocating 2 MiB on device 1: cudaMalloc failed: oh no", "sample/malloc", id="alike"
        ),
        pytest.param("cannot listen on port 9090: it is reserved", "sample/port", id="alike another sample"),
        pytest.param("strata serve port moon", "", id="just half"),
        pytest.param("ggml_backend: allocating 1 MiB", "", id="less than half"),
        pytest.param("the moon is full", "", id="nothing in common"),
        pytest.param("12345 678", "", id="no words"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_the_nearest_rule_shares_most_words(text: str, nearest: str, known: RuleSet) -> None:
    """A line is near the rule with whose sample it shares more than half of its words, else near none."""
    assert nearest_rule(text, known) == nearest


@pytest.mark.parametrize("ids", [("ant", "bee"), ("bee", "ant")])
def test_rules_that_are_equally_near_are_told_apart_by_name(ids: tuple[str, str], tmp_path: Path) -> None:
    """The nearest rule does not depend on the order in which the rules were loaded."""
    template = "  - {{id: {}, role: ready, title: t, any: [{{regex: abcd}}], samples: {{match: [the same sample]}}}}\n"
    rules = load_rules_text(tmp_path, "".join(template.format(name) for name in ids))
    assert nearest_rule("the same sample", rules) == "sample/ant"


def test_no_rule_is_near_where_none_has_a_sample(tmp_path: Path) -> None:
    """Rules without samples are near nothing."""
    rules = load_rules_text(tmp_path, "  - {id: one, role: ready, title: t, any: [{regex: abcd}]}\n")
    assert nearest_rule("abcd efgh", rules) == ""


# In a diagnosis


def test_an_unknown_error_is_pointed_at_with_the_nearest_rule(known: RuleSet) -> None:
    """UNKNOWN names the line, what it says, and the rule that matched up to there."""
    log = "loading\nggml_backend: allocating 12 MiB on device 0: cudaMalloc failed: strange words\n"
    verdict = diagnose(log, rules=known).verdict
    assert (verdict.status, verdict.cause, verdict.rule, verdict.line) == (Status.UNKNOWN, "unknown", None, 2)
    assert verdict.reason == log.split("\n")[1]
    assert [suspect.nearest for suspect in verdict.suspects] == ["sample/malloc"]
    assert not verdict.lasting


def test_an_unknown_error_after_readiness_is_no_pass(known: RuleSet) -> None:
    """A run that got ready and ends in an error that nobody knows is UNKNOWN; with a calm end it passes."""
    broke = diagnose("ready\nfatal error: nobody knows\n", rules=known).verdict
    assert (broke.status, broke.line) == (Status.UNKNOWN, 2)
    went_on = diagnose("ready\nfatal error: nobody knows\nserving\n", rules=known).verdict
    assert went_on.status is Status.PASS


def test_harmless_information_at_the_end_is_no_alarm(known: RuleSet) -> None:
    """A last line that sounds terrible and is known to be information does not spoil a pass."""
    verdict = diagnose("ready\nhint about a fatal error\n", rules=known).verdict
    assert (verdict.status, [one.line for one in verdict.harmless]) == (Status.PASS, [2])


def test_nothing_alarming_is_unknown_without_a_line(known: RuleSet) -> None:
    """A log that just stops is UNKNOWN and points nowhere."""
    verdict = diagnose("loading\nstill loading\n", rules=known).verdict
    assert (verdict.status, verdict.line, verdict.suspects) == (Status.UNKNOWN, None, ())


def test_suspects_come_from_the_last_run_only(tmp_path: Path) -> None:
    """An error of an earlier start is not blamed on the last one."""
    more = "phases: {log: [header]}\n"
    start = "  - {id: header, role: run-start, phase: log/header, title: t, any: [{regex: ^header}]}\n"
    write_packs(tmp_path, sample=pack_text(RULES + start, more=more))
    rules = load_rules([tmp_path], builtin=False, discover=False)
    verdict = diagnose("header\nfatal error: old\nheader\nerror: new\n", rules=rules).verdict
    assert [suspect.line for suspect in verdict.suspects] == [4]
