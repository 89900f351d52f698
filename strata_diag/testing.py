"""What rule authors and tests need: the plain, slow matcher, and checks of samples and labels.

The slow matcher tries every pattern on every line. It is the judge of the fast way and stays for ever; nothing in it is
shared with `scan` or `match`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from strata_diag.api import diagnose
from strata_diag.linetext import redraws
from strata_diag.match import TIMEOUT_SECONDS, Matcher
from strata_diag.model import Diagnosis, Finding
from strata_diag.needles import build_index
from strata_diag.ruleset import Rule, RuleSet
from strata_diag.scan import Scanner
from strata_diag.text import Reader

if TYPE_CHECKING:
    import regex


class LineMatch(NamedTuple):
    """A pattern that matches a line: 1-based line, number of the pattern, captured values in order of names."""

    line: int
    pattern: int
    captures: tuple[tuple[str, str], ...]


def slow_matches(data: bytes, rules: RuleSet) -> set[LineMatch]:
    """Every match of every pattern of `rules` in a log, by trying all of them on all lines."""
    patterns = [(pattern.number, rules.compiled(pattern.number)) for pattern in rules.patterns]
    found = set()
    for number, line in _lines(data):
        shown = redraws(line)
        for pattern, compiled in patterns:
            hit = next((hit for text in shown if (hit := compiled.search(text))), None)
            if hit:
                captures = {name: value for name, value in hit.groupdict().items() if value is not None}
                found.add(LineMatch(number, pattern, tuple(sorted(captures.items()))))
    return found


def fast_matches(data: bytes, rules: RuleSet) -> set[LineMatch]:
    """The same by the stages that `diagnose` uses, with the patterns of `info` rules nominating lines too."""
    scanner, matcher = _whole_scanner(rules), Matcher(rules)
    found = set()
    for window in Reader(iter([data])):
        clean = window.block.clean
        for candidate in scanner.scan(clean):
            line = window.block.first_line + clean.count(b"\n", 0, candidate.start)
            for hit in matcher.hits(redraws(clean[candidate.start : candidate.end]), candidate.patterns):
                found.add(LineMatch(line, hit.pattern, tuple(sorted(hit.captures.items()))))
    return found


@functools.lru_cache(maxsize=2)
def _whole_scanner(rules: RuleSet) -> Scanner:
    """A scanner for every pattern of a rule set: making its index takes a second, and a corpus has many logs."""
    return Scanner(build_index(rules.patterns))


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    for window in Reader(iter([data])):
        lines = window.block.clean.split(b"\n")
        for offset, line in enumerate(lines[:-1] if lines[-1] == b"" else lines):
            yield window.block.first_line + offset, line


def search(pattern: regex.Pattern[str], text: str) -> regex.Match[str] | None:
    """The first match in a text; None where the pattern runs out of time, as it would in a log."""
    try:
        return pattern.search(text, timeout=TIMEOUT_SECONDS)
    except (TimeoutError, MemoryError):
        return None


class SampleFault(NamedTuple):
    """What is wrong with a rule's samples. kind: unmatched (no sample matches the pattern with this number) | no-other (no
    sample that must not match) | missed (the rule does not match this one of `sample_match`) | caught (it matches this one of
    `sample_no_match`). pattern: -1 and sample: -1 where none is meant.
    """

    kind: str
    pattern: int = -1
    sample: int = -1


def sample_faults(rule: Rule, rules: RuleSet) -> Iterator[SampleFault]:
    """What is wrong with the samples of a rule, in the order in which an author would mend it.

    A sample may hold several lines. A rule without clauses (found by a plugin, or by facts alone) needs none.
    """
    numbers = [number for clause in rule.any + rule.all for number in clause.patterns]
    if not numbers:
        return
    for number in numbers:
        pattern = rules.compiled(number)
        if not any(search(pattern, line) for sample in rule.sample_match for line in sample.split("\n")):
            yield SampleFault("unmatched", pattern=number)
    if not rule.sample_no_match:
        yield SampleFault("no-other")
    for index, sample in enumerate(rule.sample_match):
        if not rule_matches(rule, sample, rules):
            yield SampleFault("missed", sample=index)
    for index, sample in enumerate(rule.sample_no_match):
        if rule_matches(rule, sample, rules):
            yield SampleFault("caught", sample=index)


def sample_problems(rule: Rule, rules: RuleSet) -> list[str]:
    """The faults of a rule's samples, one sentence each."""
    return [f"{rule.id}: {_sentence(fault, rule, rules)}" for fault in sample_faults(rule, rules)]


def _sentence(fault: SampleFault, rule: Rule, rules: RuleSet) -> str:
    match fault.kind:
        case "unmatched":
            return f"no matching sample for the pattern {rules.patterns[fault.pattern].source}"
        case "missed":
            return f"does not match its sample {rule.sample_match[fault.sample]!r}"
        case "caught":
            return f"matches {rule.sample_no_match[fault.sample]!r}, which it must not"
        case _:
            return "no sample that must not match"


def rule_matches(rule: Rule, sample: str, rules: RuleSet) -> bool:
    """Whether any pattern of the clauses of `rule` matches a line of a sample, conditions on numbers included."""
    from strata_diag import expression  # noqa: PLC0415 - only where a rule has conditions

    for number in (number for clause in rule.any + rule.all for number in clause.patterns):
        for line in sample.split("\n"):
            hit = search(rules.compiled(number), line)
            values: dict[str, Any] = hit.groupdict() if hit else {}
            if hit and all(
                expression.holds(condition, values) or not _answerable(condition, values) for condition in rule.when
            ):
                return True
    return False


def _answerable(condition: str, values: dict[str, Any]) -> bool:
    from strata_diag import expression  # noqa: PLC0415

    return expression.names(condition) <= {name for name, value in values.items() if value is not None}


class Label(NamedTuple):
    """A hand-written answer for a log of the corpus; `line` is None for PASS."""

    log: Path
    status: str
    cause: str
    line: int | None
    line_ok: tuple[int, ...]
    symptoms: tuple[int, ...]
    harmless: tuple[int, ...]
    runs: tuple[tuple[str, str], ...]


def read_label(path: Path) -> Label:
    """The label in a `<case>.yaml` of the corpus. Raises KeyError where a needed key is missing."""
    content = yaml.safe_load(path.read_text("utf-8"))
    line = content["line"]
    lines_ok = tuple(content.get("line_ok") or ([line] if line else []))
    return Label(
        path.with_suffix(".log"), content["status"], content["cause"], line, lines_ok,
        tuple(content.get("symptoms") or ()), tuple(content.get("harmless") or ()),
        tuple((run["status"], run["cause"]) for run in content.get("runs") or ()),
    )  # fmt: skip


def label_problems(label: Label, found: Diagnosis) -> list[str]:
    """Where a diagnosis differs from its label, one sentence each; empty when it is right."""
    verdict = found.verdict
    problems = []
    if (str(verdict.status), verdict.cause) != (label.status, label.cause):
        problems.append(
            f"labelled {label.status}/{label.cause}, found {verdict.status}/{verdict.cause} at line {verdict.line}"
        )
    elif label.status not in ("PASS", "UNKNOWN") and verdict.line not in label.line_ok:
        problems.append(f"labelled line {label.line}, found line {verdict.line}")
    runs = tuple((str(run.verdict.status), run.verdict.cause) for run in found.runs)
    if label.runs and runs != label.runs:
        problems.append(f"labelled runs {label.runs}, found {runs}")
    explained = _lines_of(verdict.chain[1:])
    problems += [f"line {line} is labelled a symptom and is none" for line in label.symptoms if line not in explained]
    calm = _lines_of(verdict.harmless) | _lines_of(tuple(loser.finding for loser in verdict.beaten))
    problems += [
        f"line {line} is labelled harmless and is not shown as such"
        for line in label.harmless
        if line not in calm and line in explained
    ]
    return problems


def _lines_of(findings: tuple[Finding, ...]) -> set[int]:
    return {line for finding in findings for line in finding.lines}


def check_corpus(folder: Path, rules: RuleSet) -> dict[str, list[str]]:
    """The problems of every labelled log below a folder, by the name of the case; right ones are left out."""
    found = {
        path.stem: label_problems(read_label(path), diagnose(path.with_suffix(".log"), rules=rules))
        for path in sorted(folder.rglob("*.yaml"))
    }
    return {name: problems for name, problems in found.items() if problems}
