"""The order of the groups, and the shapes of unknown lines."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from strata_diag import Diagnosis, RuleSet, Status, Verdict, diagnose
from strata_diag.model import Suspect
from strata_diag.rulepack.keys import name as wrong_name
from strata_diag.triage import Result
from strata_diag.triage.groups import WORST_FIRST, groups_of
from strata_diag.triage.shapes import MOST_EXAMPLES, shapes_of, words_of


def result(status: Status, cause: str, *suspects: str, name: str = "a.log") -> Result:
    """A result with a verdict."""
    found = tuple(Suspect(line, text) for line, text in enumerate(suspects, 1))
    verdict = Verdict(status, cause, "title", None, None, "reason", False, "now", "engine", suspects=found)
    return Result(name, Diagnosis(name, verdict, (), (), (), 1, "utf-8"))


def unknown(*suspects: str, name: str = "a.log") -> Result:
    """A result that nobody knows."""
    return result(Status.UNKNOWN, "unknown", *suspects, name=name)


def test_every_status_has_a_place() -> None:
    """The order names each status once, and PASS last."""
    assert sorted(WORST_FIRST) == sorted(Status)
    assert WORST_FIRST[-2:] == (Status.UNKNOWN, Status.PASS)


def test_the_worst_group_comes_first(rules: RuleSet) -> None:
    """By status, then by the number of logs, then by cause."""
    results = [
        result(Status.PASS, "none"),
        result(Status.OOM, "vram-exhausted"),
        unknown(),
        result(Status.OOM, "host-memory"),
        result(Status.OOM, "vram-exhausted"),
        result(Status.OOM, "disk"),
        result(Status.CRASH, "gpu-fault"),
    ]
    found = groups_of(results, rules.causes)
    assert [(group.status, group.cause, group.results) for group in found] == [
        ("CRASH", "gpu-fault", (6,)),
        ("OOM", "vram-exhausted", (1, 4)),
        ("OOM", "disk", (5,)),
        ("OOM", "host-memory", (3,)),
        ("UNKNOWN", "unknown", (2,)),
        ("PASS", "none", (0,)),
    ]
    assert found[1].title == rules.causes["vram-exhausted"].title
    assert found[2].title == "title"


def test_lines_that_differ_in_numbers_have_one_shape() -> None:
    """Numbers, addresses, paths and quoted words are variable; the most frequent shape comes first."""
    found = shapes_of(
        [
            unknown("cannot map 17 pages at 0xdeadbeef", name="a.log"),
            unknown('lane "left" of /opt/x/y is broken', name="b.log"),
            unknown('lane "right, or not" of /srv/z/w/v is broken', name="c.log"),
            unknown("lane 'mid' of C:\\models\\q is broken", name="d.log"),
        ]
    )
    assert [(shape.template, shape.logs) for shape in found] == [
        ("lane <*> of <*> is broken", 3),
        ("cannot map <*> pages at <*>", 1),
    ]
    assert [example.result for example in found[0].examples] == [1, 2, 3]


def test_lines_that_share_less_than_half_have_two_shapes() -> None:
    """As many words are not enough."""
    assert len(shapes_of([unknown("cannot map the pages"), unknown("cannot read a file")])) == 2


def test_one_rule_a_log_is_enough() -> None:
    """A shape of further suspects is listed only where it is the first of another log; then every log that holds it counts."""
    found = shapes_of(
        [
            unknown("engine gave up", "retry was refused", "warning: slow disk found"),
            unknown("retry was refused"),
        ]
    )
    assert [(shape.template, shape.logs) for shape in found] == [("retry was refused", 2), ("engine gave up", 1)]


def test_known_logs_have_no_shape() -> None:
    """Only unknown logs ask for a rule."""
    assert shapes_of([result(Status.OOM, "vram-exhausted", "cannot map")]) == ()


def test_few_examples_of_many_lines() -> None:
    """A shape counts all its logs and keeps a few examples."""
    (shape,) = shapes_of([unknown(f"cannot map {number}") for number in range(50)])
    assert shape.logs == 50
    assert len(shape.examples) == MOST_EXAMPLES


def test_the_command_starts_a_rule() -> None:
    """It names a rule that the packs allow, and the line of the first log, whatever the log is called."""
    hostile = "a b'; rm -rf ~ #\n.log"
    shapes = shapes_of(
        [unknown("FATAL: cannot map 7", name=hostile), unknown("日本 語 錯誤"), unknown("fatal: cannot map the 7")]
    )
    words = [shlex.split(shape.command) for shape in shapes]
    assert words[0][:3] == ["strata-diag", "rules", "new"]
    assert words[0][4:] == ["--from", f"{hostile}:1"]
    names = [one[3].removeprefix("my-pack/") for one in words]
    assert [wrong_name(name) for name in names] == [None, None, None]
    assert len(set(names)) == 3


@pytest.mark.parametrize("text", ['"' * 5000, "'a" * 3000, "a/" * 5000, "1:" * 5000, "0x" + "f" * 50000, ""])
def test_hostile_lines_cost_little(text: str) -> None:
    """A line that is made to be slow has a bounded number of words."""
    assert len(words_of(text)) <= 60


def test_a_real_suspect_becomes_a_shape(rules: RuleSet) -> None:
    """The line that a diagnosis points at is the one that the shape is made of."""
    log = b"loading\nstrata serve: flux capacitor 3 lost its phase lock - exiting\n"
    found = diagnose(log, rules=rules)
    (shape,) = shapes_of([Result("a.log", found)])
    assert shape.template == "strata serve: flux capacitor <*> lost its phase lock - exiting"
    assert shape.command.endswith(" --from a.log:2")
    assert Path("a.log").name in shape.command
