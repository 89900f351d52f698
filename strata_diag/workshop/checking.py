"""Testing packs: their samples, and the logs of a labelled corpus; which clauses nothing exercises.

Comes in: a rule set, the rules to be tested, folders of a corpus. Goes out: an outcome for each rule and each log, with what
was expected and what came instead. Whether a rule matches is asked of `testing`, the slow judge of the fast way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from strata_diag.api import diagnose
from strata_diag.model import Diagnosis, Status
from strata_diag.ruleset import Clause, Rule, RuleSet
from strata_diag.testing import SampleFault, fast_matches, label_problems, sample_faults, search
from strata_diag.workshop.labels import Case
from strata_diag.workshop.logs import file_bytes, lines_of
from strata_diag.workshop.places import Places
from strata_diag.workshop.snapshots import snapshot_faults, take_snapshot


class Fault(NamedTuple):
    """Something that is not as its author wrote it.

    file, line: where the expectation stands; expected, got: each a sentence or a quoted line, empty where `what` says all.
    """

    file: str
    line: int
    what: str
    expected: str = ""
    got: str = ""


class Outcome(NamedTuple):
    """One rule or one log that was tested. kind: rule | log; subject: its id or name."""

    kind: str
    subject: str
    file: str
    line: int
    faults: tuple[Fault, ...]
    notes: tuple[str, ...] = ()


class ClauseUse(NamedTuple):
    """A pattern of a clause, and what exercises it: samples of its rule, logs of the corpus (how many)."""

    rule: str
    group: str
    pattern: str
    file: str
    line: int
    samples: int
    logs: int


class Report(NamedTuple):
    """What a test of packs found. blessed: the snapshots that were written."""

    outcomes: tuple[Outcome, ...]
    clauses: tuple[ClauseUse, ...]
    blessed: tuple[str, ...]
    with_corpus: bool

    @property
    def failed(self) -> list[Outcome]:
        """The outcomes with a fault."""
        return [outcome for outcome in self.outcomes if outcome.faults]

    @property
    def unexercised(self) -> list[ClauseUse]:
        """The clauses that neither a sample nor a log exercises."""
        return [use for use in self.clauses if not use.samples and not use.logs]


def check(rules: RuleSet, chosen: Iterable[Rule], cases: Iterable[Case], *, bless: bool = False) -> Report:
    """Test the chosen rules by their samples, and the whole rule set by the labelled logs.

    bless: write the snapshot of each log that gets the answer of its label. Labels are never written.
    """
    places = Places()
    tested = list(chosen)
    outcomes = [_rule_outcome(rule, rules, places) for rule in tested]
    logs_by_pattern: dict[int, int] = {}
    blessed: list[str] = []
    with_corpus = False
    for case in cases:
        with_corpus = True
        outcomes.append(_log_outcome(case, rules, logs_by_pattern, blessed if bless else None))
    uses = [use for rule in tested for use in _uses(rule, rules, places, logs_by_pattern)]
    return Report(tuple(outcomes), tuple(uses), tuple(blessed), with_corpus)


def _rule_outcome(rule: Rule, rules: RuleSet, places: Places) -> Outcome:
    return Outcome("rule", rule.id, rule.file, rule.line, tuple(_sample_faults(rule, rules, places)))


def _sample_faults(rule: Rule, rules: RuleSet, places: Places) -> Iterator[Fault]:
    """What `testing` finds wrong with the samples, with the place of each fault and what was expected."""
    for fault in sample_faults(rule, rules):
        yield _FAULTS[fault.kind](fault, rule, rules, places)


def _unmatched(fault: SampleFault, rule: Rule, rules: RuleSet, places: Places) -> Fault:
    group, index = next((group, index) for group, index, clause in _clauses(rule) if fault.pattern in clause.patterns)
    wanted = f"a line with {rules.patterns[fault.pattern].source}"
    what = "no matching sample exercises this pattern"
    return Fault(rule.file, places.clause(rule, group, index), what, wanted, "none")


def _no_other(_: SampleFault, rule: Rule, __: RuleSet, places: Places) -> Fault:
    wanted = "a line under `no_match` that comes near and must not match"
    return Fault(rule.file, places.key(rule, "samples"), "has no sample that must not match", wanted, "none")


def _missed(fault: SampleFault, rule: Rule, rules: RuleSet, places: Places) -> Fault:
    sample = rule.sample_match[fault.sample]
    line, got = places.sample(rule, "match", fault.sample), _nearest_miss(rule, sample, rules)
    return Fault(rule.file, line, "does not match its sample", f"a match of `{sample}`", got)


def _caught(fault: SampleFault, rule: Rule, rules: RuleSet, places: Places) -> Fault:
    sample = rule.sample_no_match[fault.sample]
    line, got = places.sample(rule, "no_match", fault.sample), f"a match of `{_matched_part(rule, sample, rules)}`"
    return Fault(rule.file, line, "matches a sample that it must not match", f"no match in `{sample}`", got)


_FAULTS: Mapping[str, Callable[[SampleFault, Rule, RuleSet, Places], Fault]] = {
    "unmatched": _unmatched, "no-other": _no_other, "missed": _missed, "caught": _caught,
}  # fmt: skip


def _clauses(rule: Rule) -> Iterator[tuple[str, int, Clause]]:
    for group, clauses in (("any", rule.any), ("all", rule.all), ("none", rule.none)):
        for index, clause in enumerate(clauses):
            yield group, index, clause


def _matching_samples(number: int, rule: Rule, rules: RuleSet) -> int:
    pattern = rules.compiled(number)
    return sum(any(search(pattern, line) for line in sample.split("\n")) for sample in rule.sample_match)


def _numbers(rule: Rule) -> list[int]:
    return [number for clause in rule.any + rule.all for number in clause.patterns]


def _matched_part(rule: Rule, sample: str, rules: RuleSet) -> str:
    for number in _numbers(rule):
        for line in sample.split("\n"):
            hit = search(rules.compiled(number), line)
            if hit:
                return hit.group()
    return ""


def _nearest_miss(rule: Rule, sample: str, rules: RuleSet) -> str:
    """How far the pattern that comes nearest matches, or that conditions keep the rule out."""
    from strata_diag.workshop.misses import matching_part  # noqa: PLC0415 - only where something failed

    if _matched_part(rule, sample, rules):
        return f"its pattern matches, but not its conditions: {'; '.join(rule.when)}"
    lines = sample.split("\n")
    sources = [rules.patterns[number].source for number in _numbers(rule)]
    begun, rest = max(
        (matching_part(source, line) for source in sources for line in lines), key=lambda part: len(part[0])
    )
    return (
        f"none: it matches as far as `{begun}`, then wants `{rest}`" if begun else f"none: nothing of `{rest}` is in it"
    )


def _log_outcome(case: Case, rules: RuleSet, logs_by_pattern: dict[int, int], blessed: list[str] | None) -> Outcome:
    faults = [Fault(problem.file, problem.line, f"{problem.what}; {problem.advice}") for problem in case.problems]
    notes: list[str] = []
    if case.log.is_file():
        data = file_bytes(case.log)
        for number in {match.pattern for match in fast_matches(data, rules)}:
            logs_by_pattern[number] = logs_by_pattern.get(number, 0) + 1
        if case.label is not None:
            found = diagnose(data, rules=rules)
            faults += _label_faults(case, found, lines_of(data))
            if blessed is None:
                faults += [Fault(str(path), 1, *said) for path, *said in snapshot_faults(case.log, found)]
            elif faults:
                notes.append("no snapshot was taken, since the log does not get the answer of its label")
            else:
                blessed += take_snapshot(case.log, found)
    return Outcome("log", case.name, str(case.path), 1, tuple(faults), tuple(notes))


def _label_faults(case: Case, found: Diagnosis, lines: list[str]) -> Iterator[Fault]:
    label, verdict = case.label, found.verdict
    if label is None:
        return
    if label.line is not None and label.line > len(lines):
        yield Fault(
            str(case.path), case.line_of("line"), f"names line {label.line}, and the log has {len(lines)} lines"
        )
        return
    expected = _answer(label.status, label.cause, label.line, lines)
    got = _answer(str(verdict.status), verdict.cause, verdict.line, lines, verdict.rule or "")
    for what in label_problems(label, found):
        if what.startswith("labelled"):
            key = "line" if what.startswith("labelled line") else "runs" if "runs" in what else "status"
            yield Fault(str(case.path), case.line_of(key), what, expected, got)
        else:
            key = "symptoms" if "symptom" in what else "harmless"
            yield Fault(str(case.path), case.line_of(key), what)
    if case.rule and case.rule != verdict.rule:
        yield Fault(
            str(case.path), case.line_of("rule"), f"the rule {case.rule} does not decide", f"the rule {case.rule}", got
        )


def _answer(status: str, cause: str, line: int | None, lines: list[str], rule: str = "") -> str:
    """A verdict in words, with the text of its line."""
    words = status if status in (Status.PASS, Status.UNKNOWN) else f"{status} / {cause}"
    by = f" by the rule {rule}" if rule else ""
    where = f" at line {line}: {lines[line - 1].strip()}" if line is not None and line <= len(lines) else ""
    return words + by + where


def _uses(rule: Rule, rules: RuleSet, places: Places, logs_by_pattern: dict[int, int]) -> Iterator[ClauseUse]:
    for group, index, clause in _clauses(rule):
        for number in clause.patterns:
            yield ClauseUse(
                rule.id, group, rules.patterns[number].source, rule.file, places.clause(rule, group, index),
                _matching_samples(number, rule, rules), logs_by_pattern.get(number, 0),
            )  # fmt: skip
