"""Single checks of lint beyond the examples of their pages: what they must not say, and where they point."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from lint_samples import RULE, found, lint_folder, lint_rules, write_corpus, write_example
from packs import pack_text, write_packs

from strata_diag.workshop.errors import WorkshopError
from strata_diag.workshop.lint import backtracking
from strata_diag.workshop.lint.healthy import HealthyLogs, corpus_of_checkout

WORDS = """\
vocabularies:
  shelf:
    - {id: left, text: the left shelf, sample: the left shelf, cause: card-full, title: left}
    - {id: right, text: the right shelf, sample: the right shelf, cause: card-busy, title: right}
    - {id: top, text: the top shelf, sample: the top shelf, cause: card-full, title: top}
"""


def rule_with(pattern: str, line: str, **more: str) -> str:
    """A failure rule that matches one line; `more`: further keys."""
    name = more.pop("id", "no-room")
    keys = "".join(f"  {key}: {value}\n" for key, value in more.items())
    return (
        f"- id: {name}\n  role: failure\n  cause: card-full\n  title: The table has no room\n"
        f"  any: [{{regex: '{pattern}'}}]\n{keys}"
        f"  samples:\n    match: ['{line}']\n    no_match: ['engine: all is well']\n"
    )


def information(pattern: str, line: str) -> str:
    """An `info` rule that claims one line."""
    decided = rule_with(pattern, line, id="calm", priority="950")
    return decided.replace("role: failure\n  cause: card-full\n", "role: info\n  why: It always says so\n")


# Places


def test_rules_of_a_vocabulary_share_one_violation(tmp_path: Path) -> None:
    """What is wrong with a text that a vocabulary fills in is said once, with how many rules it makes."""
    rules = """\
  - id: no-<<shelf>>
    role: failure
    expand: shelf
    title: No room
    any: [{regex: '^no room on <<shelf>>'}]
    samples: {match: ['no room on <<shelf>>'], no_match: [there is room]}
"""
    report = lint_folder(write_packs(tmp_path / "packs", sample=pack_text(rules), vocabularies=WORDS))
    assert found(report) == [("SD202", 9, 19)]
    assert "(and 2 more like it)" in report.failing[0].what


def test_a_broken_pattern_is_pointed_at(tmp_path: Path) -> None:
    """The column is that of the sign which the pattern's compiler stumbled over."""
    rules = RULE.replace("'cannot place the table'", "'cannot (place the table'", 1)
    line, column = 9, rules.splitlines()[4].index("(place") + 3
    report = lint_rules(tmp_path / "packs", rules)
    assert [one[:2] for one in found(report)] == [("SD201", line)]
    assert report.failing[0].column >= column


def test_a_trap_says_it_better_than_the_value(tmp_path: Path) -> None:
    """Where a plain `no` is why a list can't be used, only the trap is named, at its own place."""
    report = lint_rules(tmp_path / "packs", RULE.replace("  samples:", "  references: ['#1', no]\n  samples:"))
    assert found(report) == [("SD121", 10, 24)]


def test_a_step_of_a_sequence_is_pointed_at(tmp_path: Path) -> None:
    """Of several patterns of one clause the wrong one is named."""
    rules = RULE.replace("[{regex: 'cannot place the table'}]", "[{sequence: ['cannot place the table', '(x+x+)+y!']}]")
    report = lint_rules(tmp_path / "packs", rules)
    column = rules.splitlines()[4].index("'(x+x+)") + 3
    assert ("SD204", 9, column) in found(report)


# Anchors


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        ("(?:^|stdout F )cannot place", "cannot place the table"),
        ("(?<!^)never|cannot place", "engine: cannot place the table"),
        (r"\bcannot place .*$", "engine: cannot place the table"),
        (r"cannot place [$^]", "cannot place $"),
    ],
)
def test_an_anchor_that_lets_the_line_through_is_no_accident(pattern: str, line: str, tmp_path: Path) -> None:
    """Only an anchor that fails its own sample is a violation."""
    assert lint_rules(tmp_path / "packs", rule_with(pattern, line)).failing == ()


def test_an_anchor_at_the_end_fails_at_blanks(tmp_path: Path) -> None:
    """Consoles leave blanks behind a line."""
    report = lint_rules(tmp_path / "packs", rule_with("cannot place the table$", "cannot place the table"))
    assert [one.code for one in report.failing] == ["SD202"]
    assert "behind the line" in report.failing[0].what


# Words


@pytest.mark.parametrize(
    "pattern", [r"\[X\] +missing", "loading failed", "error 3221226505", "(?:failed|loading) badly"]
)
def test_a_word_with_company_is_not_bare(pattern: str, tmp_path: Path) -> None:
    """Brackets, a second word or a long number say enough."""
    lines = {r"\[X\] +missing": "[X]  missing", "(?:failed|loading) badly": "failed badly"}
    report = lint_rules(tmp_path / "packs", rule_with(pattern, lines.get(pattern, pattern)))
    assert report.failing == ()


@pytest.mark.parametrize("pattern", ["[Ff]ailed", "(?:engine )?failed", "crashed|the engine is gone", "out of memory"])
def test_a_word_is_bare_whatever_may_stand_beside_it(pattern: str, tmp_path: Path) -> None:
    """What may be left out says nothing, and the barest side of an alternative counts."""
    line = {"[Ff]ailed": "it Failed", "crashed|the engine is gone": "it crashed"}.get(
        pattern, pattern.replace("(?:engine )?", "")
    )
    codes = [one.code for one in lint_rules(tmp_path / "packs", rule_with(pattern, line)).failing]
    assert codes == ["SD205"]


def test_a_bare_word_beside_another_condition_is_fine(tmp_path: Path) -> None:
    """A rule that asks for a second line does not rest on the word alone."""
    rules = RULE.replace(
        "any: [{regex: 'cannot place the table'}]", "all: [{regex: 'failed'}, {regex: 'cannot place the table'}]"
    )
    rules = rules.replace(
        "match: ['engine: cannot place the table']", 'match: ["engine: cannot place the table\\nfailed"]'
    )
    assert lint_rules(tmp_path / "packs", rules).failing == ()


def test_information_may_rest_on_a_word(tmp_path: Path) -> None:
    """Only rules that decide a verdict are held to it."""
    assert lint_rules(tmp_path / "packs", information("failed", "it failed")).failing == ()


# Backtracking


@pytest.mark.parametrize(
    "pattern", [r"(?:\w+-?)*: broken wheel", r"(x+x+)+y wheel", r"(?:a|a)*b wheel", r"\S*wheel\S*\.so\S*: gone"]
)
def test_patterns_that_take_for_ever_are_found(pattern: str, tmp_path: Path) -> None:
    """Nested repeats, equal alternatives and three greedy neighbours."""
    codes = [one.code for one in lint_rules(tmp_path / "packs", rule_with(pattern, "no line of it")).failing]
    assert "SD204" in codes


@pytest.mark.parametrize(
    "pattern", [r"\w{1,40}: broken wheel", r"(?<!\w)\w++: broken", r".*broken.{0,80}wheel", r"[^:]*: broken"]
)
def test_patterns_that_cannot_wear_out_are_left_alone(pattern: str, tmp_path: Path) -> None:
    """Bounds, possessive repeats, sets that exclude their neighbour."""
    codes = [one.code for one in lint_rules(tmp_path / "packs", rule_with(pattern, "no line of it")).failing]
    assert "SD204" not in codes


def test_trials_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the time for all trials is over, a notice says that not all were made."""
    monkeypatch.setattr(backtracking, "TRIAL_SECONDS", -1.0)
    report = lint_rules(tmp_path / "packs", rule_with(r"(x+x+)+y wheel", "xxy wheel"))
    assert report.failing == ()
    assert [notice for notice in report.notices if "not every pattern was tried" in notice]


def test_a_hostile_pack_takes_no_longer_than_its_time_outs(tmp_path: Path) -> None:
    """A pattern that would run for years on the pack's own samples is found like any other."""
    line = "a" * 60
    rules = rule_with("^(a+)+$ wheel|(?:a|a)+b$", line).replace("engine: all is well", line)
    begun = time.monotonic()
    codes = {
        one.code
        for one in lint_rules(tmp_path / "packs", rules, write_corpus(tmp_path / "corpus", f"{line}\n" * 9)).failing
    }
    assert {"SD204", "SD401", "SD403"} <= codes
    assert time.monotonic() - begun < 20


# Contests


@pytest.mark.parametrize("changes", [{}, {"role: failure": "role: symptom"}])
def test_a_symptom_need_not_win_against_a_failure(changes: dict[str, str], tmp_path: Path) -> None:
    """Giving way to a failure is what a symptom is for; a failure that always gives way is dead."""
    other = rule_with("cannot place the table", "engine: cannot place the table", priority="900").replace(
        "no-room", "full"
    )
    rules = RULE
    for old, new in changes.items():
        rules = rules.replace(old, new)
    codes = [one.code for one in lint_rules(tmp_path / "packs", rules + other).failing]
    assert codes == ([] if changes else ["SD501"])


def test_a_rule_whose_line_is_claimed_is_dead(tmp_path: Path) -> None:
    """Information that claims every sample leaves nothing to decide."""
    info = information("cannot place the table", "engine: cannot place the table")
    report = lint_rules(tmp_path / "packs", RULE + info)
    assert [(one.code, one.rule) for one in report.failing] == [("SD501", "sample/no-room")]
    assert "the line is information (sample/calm)" in report.failing[0].what


def test_a_rule_that_wins_one_of_its_samples_lives(tmp_path: Path) -> None:
    """One sample is enough to show what a rule is for."""
    other = rule_with("cannot place the table twice", "cannot place the table twice", priority="900").replace(
        "no-room", "twice"
    )
    rules = RULE.replace(
        "match: ['engine: cannot place the table']", "match: [cannot place the table, cannot place the table twice]"
    )
    assert lint_rules(tmp_path / "packs", rules + other).failing == ()


# Texts


def test_a_remedy_that_waits_for_nobody_is_found(tmp_path: Path) -> None:
    """Holes, conditions and formulas of remedies are held against what rules capture, each name once and at its place."""
    remedies = """\
remedies:
  smaller:
    compute: {half: 'table_mb / 2'}
    when: ['shelf > 1']
    texts: ['Take ${half} of ${table_mb}, or ${table_mib}.', Take less.]
    commands: {linux: 'place --to ${place}'}
"""
    rules = rule_with(r"cannot place (?P<table_mib>\d+)", "cannot place 30", remedies="[smaller]")
    indented = "".join(f"  {line}\n" for line in rules.splitlines())
    report = lint_folder(write_packs(tmp_path / "packs", sample=pack_text(indented, more=remedies)))
    assert sorted(one.what.split("`")[3] for one in report.failing) == ["place", "shelf", "table_mb"]
    assert {one.code for one in report.failing} == {"SD601"}
    assert all(one.line >= 6 and one.column > 5 for one in report.failing)
    assert "did you mean `table_mib`?" in {one.advice for one in report.failing}


def test_options_of_remedies_and_commands_are_checked(tmp_path: Path) -> None:
    """A shared catalogue is checked beside a list of options; without a list nothing can be said."""
    catalogue = "remedies:\n  smaller: {text: Take --max-contxt 8 or --kv, commands: {linux: strata --kvv q4}}\n"
    folder = write_example(tmp_path / "packs", RULE)
    (folder / "remedies.yaml").write_text(catalogue, "utf-8")
    report = lint_folder(folder)
    assert [(one.code, Path(one.file).name, one.line) for one in report.failing] == [("SD603", "remedies.yaml", 2)] * 2
    assert {one.advice for one in report.failing} == {"did you mean `--max-context`?", "did you mean `--kv`?"}
    (folder / "flags.yaml").unlink()
    assert lint_folder(folder).failing == ()


def test_a_fact_of_the_caller_is_known(tmp_path: Path) -> None:
    """Exit codes and what else a caller may pass are values too, and so is what a start captures."""
    start = """\
- id: started
  role: run-start
  phase: engine/start
  title: The engine starts
  any: [{regex: 'engine v(?P<engine_number>\\d+) starts'}]
  samples: {match: [engine v2 starts], no_match: [engine v starts]}
"""
    rules = RULE.replace("  samples:", "  when: ['exit_code != 3', 'engine_number > 1']\n  samples:")
    indented = "".join(f"  {line}\n" for line in (start + rules).splitlines())
    folder = write_packs(tmp_path / "packs", sample=pack_text(indented, more="phases: {engine: [start]}\n"))
    assert lint_folder(folder).failing == ()


# Healthy logs


def test_only_a_rule_that_decides_fires(tmp_path: Path) -> None:
    """A match that information claims is what the information is for."""
    rules = rule_with("slow down", "request 4: slow down")
    corpus = write_corpus(tmp_path / "corpus")
    assert "SD701" in {one.code for one in lint_rules(tmp_path / "bad", rules, corpus).failing}
    info = information("slow down", "request 4: slow down")
    report = lint_rules(tmp_path / "good", rules + info, corpus)
    assert "SD701" not in {one.code for one in report.failing}


def test_a_log_with_a_failed_start_is_not_healthy(tmp_path: Path) -> None:
    """Of a log in which an earlier start failed nothing can be learned about silence."""
    corpus = write_corpus(tmp_path / "corpus")
    label = corpus / "everyday.yaml"
    label.write_text(
        label.read_text("utf-8") + "runs: [{status: OOM, cause: card-full}, {status: PASS, cause: none}]\n", "utf-8"
    )
    assert HealthyLogs(corpus).logs == ()


@pytest.mark.parametrize("label", ["status: PASS\n", "[]\n", "status: [PASS\n", "just words\n"])
def test_a_broken_label_is_named(label: str, tmp_path: Path) -> None:
    """A corpus that can't be read is an error with its place, never silence."""
    corpus = write_corpus(tmp_path / "corpus")
    (corpus / "everyday.yaml").write_text(label, "utf-8")
    with pytest.raises(WorkshopError, match=r"everyday\.yaml: is no label of a log"):
        lint_rules(tmp_path / "packs", corpus=corpus)


def test_our_corpus_is_found_from_a_checkout() -> None:
    """Whoever works on our packs need not name it."""
    folder = corpus_of_checkout()
    assert folder is not None
    assert len(HealthyLogs(folder).logs) > 20
