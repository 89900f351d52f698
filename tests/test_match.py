"""From candidate lines to hits: redraws, captured values, information beside failures, patterns that run out of time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packs import load_rules_text

from strata_diag import match
from strata_diag.match import Hit, Matcher
from strata_diag.ruleset import RuleSet
from strata_diag.testing import fast_matches, slow_matches

RULES = r"""
  - id: busy
    role: failure
    cause: card-busy
    title: The card is busy
    any:
      - regex: 'cudaMalloc failed: (?P<reason>\w+)(?: on device (?P<device>\d+))?'
  - id: abort
    role: symptom
    cause: card-full
    title: It stopped
    any: [{regex: 'GGML_ASSERT\(\w+\)'}]
  - id: listening
    role: ready
    title: It listens
    any: [{regex: '(?i)listening on port (?P<port>\d+)'}]
  - id: retrying
    role: info
    title: It tries again
    any: [{regex: 'failed: \w+, retrying'}]
  - id: noted
    role: info
    title: Only a note
    any: [{regex: '(?i)NOTE: .*'}]
  - id: short
    role: info
    title: A line with a number in it
    any: [{regex: 'no \d+'}]
"""
SLOW = "(?:a|aa)+$"  # every way of cutting a row of letters into ones and twos is tried
ROW = "a" * 80 + "!"
SLOW_RULES = (
    RULES
    + rf"""
  - id: endless
    role: failure
    cause: card-full
    title: A catastrophic pattern
    any: [{{regex: '{SLOW}'}}, {{regex: 'beside'}}]
  - id: endless-note
    role: info
    title: A catastrophic note
    any: [{{regex: '{SLOW}'}}]
"""
)


@pytest.fixture
def sample(tmp_path: Path) -> RuleSet:
    """The rules above."""
    return load_rules_text(tmp_path, RULES)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """The rules above, made once for many examples."""
    return load_rules_text(tmp_path_factory.mktemp("packs"), RULES)


@pytest.fixture
def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RuleSet:
    """The rules above with a catastrophic failure and a catastrophic note, and a short time-out."""
    monkeypatch.setattr(match, "TIMEOUT_SECONDS", 0.05)
    return load_rules_text(tmp_path, SLOW_RULES)


def numbers(rules: RuleSet, *names: str) -> list[int]:
    """The numbers of the patterns of some rules of the pack."""
    return [pattern.number for name in names for pattern in rules.patterns if named(rules, pattern.number) == name]


def named(rules: RuleSet, pattern: int) -> str:
    """The name of the rule to which a pattern belongs."""
    return rules.rules[rules.patterns[pattern].rule].id.removeprefix("sample/")


def names(hits: list[Hit], rules: RuleSet) -> list[str]:
    """The rules whose patterns hit, by name."""
    return [named(rules, hit.pattern) for hit in hits]


@pytest.mark.parametrize(
    ("text", "captures"),
    [
        ("cudaMalloc failed: busy on device 1", {"reason": "busy", "device": "1"}),
        ("cudaMalloc failed: busy", {"reason": "busy"}),
    ],
    ids=["both groups", "one group"],
)
def test_captured_values_are_those_that_took_part(sample: RuleSet, text: str, captures: dict[str, str]) -> None:
    """A group that took no part in the match has no value, rather than an empty one."""
    (hit,) = Matcher(sample).hits([text], numbers(sample, "busy"))
    assert dict(hit.captures) == captures


def test_a_pattern_without_groups_captures_nothing(sample: RuleSet) -> None:
    """Where a pattern names no values, there are none."""
    (hit,) = Matcher(sample).hits(["GGML_ASSERT(buffer)"], numbers(sample, "abort"))
    assert dict(hit.captures) == {}


def test_a_hit_says_where_it_begins(sample: RuleSet) -> None:
    """Patterns are searched, not anchored, and the place of the match is known."""
    text = "[0] E cudaMalloc failed: busy"
    (hit,) = Matcher(sample).hits([text], numbers(sample, "busy"))
    assert hit.text[hit.start :] == "cudaMalloc failed: busy"


def test_only_the_nominated_patterns_are_tried(sample: RuleSet) -> None:
    """A pattern that scan did not nominate is not tried, and one that does not fit gives no hit."""
    matcher = Matcher(sample)
    assert matcher.hits(["cudaMalloc failed: busy"], numbers(sample, "abort", "listening")) == []
    assert matcher.hits(["cudaMalloc failed: busy"], []) == []
    assert matcher.notices == []


def test_the_newest_redraw_that_matches_counts(sample: RuleSet) -> None:
    """Of the drawings of a line, given newest first, the first that fits speaks for it."""
    texts = ["done", "listening on port 2", "listening on port 1"]
    (hit,) = Matcher(sample).hits(texts, numbers(sample, "listening"))
    assert (hit.text, hit.captures["port"]) == ("listening on port 2", "2")


@pytest.mark.parametrize(
    ("texts", "tried", "expected"),
    [
        pytest.param(["cudaMalloc failed: busy, retrying"], ["busy"], ["busy", "retrying"], id="beside a failure"),
        pytest.param(["note: GGML_ASSERT(x)"], ["abort"], ["abort", "noted"], id="beside a symptom, in other letters"),
        pytest.param(["cudaMalloc failed: busy"], ["busy"], ["busy"], id="not where it does not fit"),
        pytest.param(["note: listening on port 1"], ["listening"], ["listening"], id="not beside readiness"),
        pytest.param(["note: nothing"], ["busy"], [], id="not on its own"),
        pytest.param(
            ["GGML_ASSERT(x) of no 7"], ["abort"], ["abort", "short"], id="a note too short to have a literal"
        ),
        pytest.param(["GGML_ASSERT(x)", "note: 50%"], ["abort"], ["abort", "noted"], id="in an older redraw"),
        pytest.param(["GGML_ASSERT(x) failed: retrying"], ["abort"], ["abort"], id="its words, but not its pattern"),
    ],
)
def test_information_claims_the_lines_of_failures(
    sample: RuleSet, texts: list[str], tried: list[str], expected: list[str]
) -> None:
    """Patterns of information are tried where, and only where, a failure or symptom has matched."""
    assert names(Matcher(sample).hits(texts, numbers(sample, *tried)), sample) == expected


def test_a_person_may_ask_for_information_alone(sample: RuleSet) -> None:
    """The lines at the end of a run are looked at for information without a failure on them."""
    matcher = Matcher(sample)
    assert names(matcher.info_hits(["note: transfer failed: busy, retrying"]), sample) == ["retrying", "noted"]
    assert matcher.info_hits(["cudaMalloc failed: busy"]) == []


def test_a_catastrophic_pattern_is_given_up_once(slow: RuleSet) -> None:
    """A pattern out of time is not tried on later lines, even where it would match, and one notice names its rule."""
    matcher = Matcher(slow)
    tried = numbers(slow, "endless")[:1]
    assert [matcher.hits([text], tried) for text in (ROW, ROW, "aaa")] == [[], [], []]
    assert [notice.kind for notice in matcher.notices] == ["pattern-timeout"]
    assert "sample/endless " in matcher.notices[0].text


def test_giving_up_costs_the_time_out_and_nothing_more(slow: RuleSet) -> None:
    """A thousand lines with a catastrophic pattern take hardly longer than one."""
    matcher = Matcher(slow)
    tried = numbers(slow, "endless")[:1]
    begun = time.process_time()
    for _ in range(1000):
        matcher.hits([ROW], tried)
    assert time.process_time() - begun < 2


def test_the_time_out_of_everyday_use_ends_a_pattern(tmp_path: Path) -> None:
    """With the time-out that everybody gets, a catastrophic pattern ends within seconds."""
    rules = load_rules_text(tmp_path, SLOW_RULES)
    matcher = Matcher(rules)
    begun = time.process_time()
    assert matcher.hits([ROW], numbers(rules, "endless")[:1]) == []
    assert time.process_time() - begun < 20 * match.TIMEOUT_SECONDS
    assert len(matcher.notices) == 1


def test_the_other_patterns_go_on(slow: RuleSet) -> None:
    """What one pattern loses is no other's loss: not on the same line, and not that of the same rule."""
    matcher = Matcher(slow)
    texts = [f"GGML_ASSERT(x) beside {ROW}"]
    assert names(matcher.hits(texts, numbers(slow, "endless", "abort")), slow) == ["endless", "abort"]
    assert names(matcher.hits(texts, numbers(slow, "endless", "abort")), slow) == ["endless", "abort"]


def test_catastrophic_information_is_given_up_too(slow: RuleSet) -> None:
    """Information that runs out of time is reported like anything else, and the failure that it stood beside remains."""
    matcher = Matcher(slow)
    for _ in range(2):
        assert names(matcher.hits([f"cudaMalloc failed: busy {ROW}"], numbers(slow, "busy")), slow) == ["busy"]
    assert ["sample/endless-note" in notice.text for notice in matcher.notices] == [True]


def test_the_next_log_starts_afresh(slow: RuleSet) -> None:
    """A pattern that one log exhausted is tried again on the next."""
    tried = numbers(slow, "endless")[:1]
    first, second = Matcher(slow), Matcher(slow)
    first.hits([ROW], tried)
    assert names(second.hits(["aaa"], tried), slow) == ["endless", "endless-note"]
    assert (len(first.notices), second.notices) == (1, [])


def test_a_pattern_out_of_memory_is_given_up(sample: RuleSet, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern that exceeds the memory that `regex` allows itself is a notice, not an exception because of a log."""

    class Greedy:
        """Behaves as a fuzzy pattern that may leave out a repeat does."""

        def search(self, text: str, timeout: float = 0) -> None:
            raise MemoryError

    matcher = Matcher(sample)
    with monkeypatch.context() as patched:
        patched.setattr(sample, "compiled", lambda _: Greedy())
        assert matcher.hits(["GGML_ASSERT(x)" + 70_000 * "x"], numbers(sample, "abort")) == []
    assert matcher.hits(["GGML_ASSERT(x)"], numbers(sample, "abort")) == []
    assert [(notice.kind, "sample/abort needed" in notice.text) for notice in matcher.notices] == [
        ("pattern-timeout", True)
    ]


FRAGMENTS = st.sampled_from([
    "cudaMalloc failed: busy",
    ", retrying",
    "GGML_ASSERT(buffer)",
    "LISTENING on port 8080",
    "note: ",
    "no 7",
    "no",
    "7",
    "\r",
    " 50%\r",
    "\r\n",
    "\n",
    "\n\n",
    "\x1b[31m",
    "\x1b[1C",
    "\x1b]0;title\x07",
    "\x00",
    "\x08",
    " ",
    "显存",
    "é",
    "f",
])  # fmt: skip


@settings(max_examples=300)
@given(
    parts=st.lists(FRAGMENTS, max_size=25),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "gb18030", "utf-16"]),
    chunk=st.binary(max_size=3),
)
def test_the_fast_way_finds_what_the_slow_one_finds(
    parts: list[str], encoding: str, chunk: bytes, shared: RuleSet
) -> None:
    """Scan and match together find, on any log, exactly what trying every pattern on every line finds."""
    data = "".join(parts).encode(encoding) + chunk
    assert fast_matches(data, shared) == slow_matches(data, shared)


def test_the_fast_way_finds_samples_of_the_built_in_rules(rules: RuleSet) -> None:
    """A log of samples, coloured, redrawn and with Windows' line ends, reads the same the fast and the slow way."""
    dressed = ("{}", "\x1b[31m{}\x1b[0m\r", " 1%\r{}", "{}\r 100%", "\ufeff  {}")
    samples = [line for rule in rules.rules[::4] for sample in rule.sample_match[:1] for line in sample.split("\n")]
    data = "\n".join(
        dressed[number % len(dressed)].format(line) for number, line in enumerate(dict.fromkeys(samples))
    ).encode()
    found = slow_matches(data, rules)
    assert fast_matches(data, rules) == found
    assert len({hit.line for hit in found}) > len(rules.rules[::4]) / 2
