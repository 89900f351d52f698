"""What tests make small rule sets, runs and findings of: written as YAML and loaded, or built by hand as records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from strata_diag.errors import Problem, RulePackError
from strata_diag.model import Evidence, Finding, Match, Role, Run, Status
from strata_diag.rulepack import PackSource, load_packs
from strata_diag.ruleset import Cause, Clause, Pattern, Rule, RuleSet

CAUSES = """\
causes:
  none: {status: PASS, title: No failure, lasting: false, retry: now, attribution: user}
  unknown: {status: UNKNOWN, title: Nothing is known, lasting: false, retry: now, attribution: engine}
  card-full: {status: OOM, title: The card is full, lasting: true, retry: 'after:card-free', attribution: environment}
  card-busy: {status: CUDA_UNAVAILABLE, title: The card is busy, lasting: false, retry: now, attribution: environment}
  wrong-option: {status: FAIL_BOOT, title: An option is wrong, lasting: true, retry: never, attribution: user}
"""

CAUSE_RECORDS = {
    cause.id: cause
    for cause in (
        Cause("none", Status.PASS, "No failure", False, "now", "user", "", ()),
        Cause("unknown", Status.UNKNOWN, "Nothing is known", False, "now", "engine", "", ()),
        Cause("card-full", Status.OOM, "The card is full", True, "after:card-free", "environment", "", ()),
        Cause("card-busy", Status.CUDA_UNAVAILABLE, "The card is busy", False, "now", "environment", "", ()),
        Cause("wrong-option", Status.FAIL_BOOT, "An option is wrong", True, "never", "user", "", ()),
    )
}  # the same five as in CAUSES


# Rule sets from YAML


def pack_text(rules: str, *, name: str = "sample", more: str = "") -> str:
    """The text of a pack; `rules`: its list, indented as wished; `more`: further keys of the header, in front of the rules."""
    return f"pack: {name}\nversion: 1\nabout: a pack of a test\n{more}rules:\n{rules}"


def write_packs(folder: Path, *, causes: str = CAUSES, **files: str) -> Path:
    """Write `causes.yaml` and one file for each further argument (`cuda=...` becomes cuda.yaml) into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {"causes": causes, **files}.items():
        (folder / f"{name.replace('_', '-')}.yaml").write_text(text, "utf-8", newline="\n")
    return folder


def load(folder: Path) -> RuleSet:
    """The rule set of a folder or file."""
    return load_packs([PackSource("test", folder)])


def load_rules_text(folder: Path, rules: str, *, more: str = "", **files: str) -> RuleSet:
    """The rule set of one pack `sample` with these rules, beside the causes of CAUSES."""
    return load(write_packs(folder, sample=pack_text(rules, more=more), **files))


def problems_of(*contents: Path) -> tuple[Problem, ...]:
    """The problems for which a rule set of these folders and files is refused."""
    with pytest.raises(RulePackError) as caught:
        load_packs([PackSource("test", content) for content in contents])
    return caught.value.problems


# Records by hand


def rule(identity: str, **changes: Any) -> Rule:
    """A failure rule with the cause `card-full` and one pattern; `changes`: fields of `Rule` that differ."""
    plain = Rule(
        number=0, id=identity, pack=identity.partition("/")[0], pack_version=3, file="sample.yaml", line=1,
        role=Role.FAILURE, cause="card-full", priority=600, title=f"Title of {identity}", why=f"Why {identity} matters",
        any=(), all=(), none=(), when=(), unless=(), yields_to=(), explains=(), cancels=(), survives_ready=False, settles=False,
        track="", phase=0, repeats=False, found_by="", lasting=None, retry="", remedies=(), cause_remedies=True, references=(),
        sample_match=(), sample_no_match=(),
    )  # fmt: skip
    return plain._replace(**changes)


def rule_set(*rules: Rule) -> RuleSet:
    """A rule set of rules made by hand; each gets the pattern with its own number as its only clause."""
    numbered = tuple(one._replace(number=number, any=(Clause("regex", (number,)),)) for number, one in enumerate(rules))
    patterns = tuple(Pattern(one.number, one.number, one.id, (), False) for one in numbered)
    return RuleSet(numbered, patterns, CAUSE_RECORDS, {}, {})


def evidence(line: int, text: str = "", column: int = 1) -> Evidence:
    """A line of a log."""
    return Evidence(line, text, text, column)


def finding(rules: RuleSet, identity: str, line: int, text: str = "", column: int = 1, **changes: Any) -> Finding:
    """A finding of one of the rules; `changes`: fields of `Finding` that differ."""
    one = rules.by_id[identity]
    shown = text or f"line {line} says {identity}"
    plain = Finding(
        one.id, one.role, one.cause, one.priority, one.title, evidence(line, shown, column), (line,), {}, 1, one.why
    )
    return plain._replace(**changes)


def run(**changes: Any) -> Run:
    """A run of 100 lines in which nothing matched; `changes`: fields of `Run` that differ."""
    plain = Run(1, 100, (), {}, {}, {}, ((100, "the last line"),), {})
    return plain._replace(**changes)


def matches_by_line(text: str, rules: RuleSet) -> dict[int, list[Match]]:
    """The matches of every pattern on every line of a text, by line; found by nothing but trying them all."""
    found: dict[int, list[Match]] = {}
    for line, shown in enumerate(text.split("\n"), 1):
        for pattern in rules.patterns:
            hit = rules.compiled(pattern.number).search(shown)
            if hit:
                captures = {name: value for name, value in hit.groupdict().items() if value is not None}
                place = evidence(line, shown, hit.start() + 1)
                found.setdefault(line, []).append(Match(place, pattern.number, captures))
    return found


def run_of(text: str, rules: RuleSet, **changes: Any) -> Run:
    """One run that holds the whole of a text, with its matches; `changes`: fields of `Run` that differ."""
    matches = tuple(match for found in matches_by_line(text, rules).values() for match in found)
    counts: dict[int, int] = {}
    for match in matches:
        counts[match.pattern] = counts.get(match.pattern, 0) + 1
    lines = text.split("\n")
    tail = tuple((number, line) for number, line in enumerate(lines, 1) if line.strip())
    return Run(1, len(lines), matches, counts, {}, {}, tail, {})._replace(**changes)
