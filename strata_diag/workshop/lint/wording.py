"""Names of values: a condition on one that no line gives, a remedy that waits for it, a hole that nothing fills in."""

from __future__ import annotations

import difflib
import re
import string
from collections.abc import Iterable, Iterator

from strata_diag import expression
from strata_diag.ruleset import RemedyTemplate, Rule, RuleSet
from strata_diag.workshop.lint.codes import UNBOUND_NAME, UNFILLED_HOLE
from strata_diag.workshop.lint.subject import NOWHERE, PackFile, Subject, spot_of
from strata_diag.workshop.lint.violations import Violation
from strata_diag.yamlfile import Table

# what callers of `diagnose` may know beside the log; others may pass more, and then say so with a switch
FACTS = frozenset({"exit_code", "timed_out", "passed_before", "free_vram_mib", "engine_version", "waited_s", "error"})
NEAR_ENOUGH = 0.75
_HOLE = re.compile(r"\$\{?[a-z_]\w*")


def check(subject: Subject) -> Iterator[Violation]:
    """The conditions and texts of rules, and the wordings of remedies."""
    details = _bound([rule for rule in subject.rules.rules if rule.track], subject.rules)
    everything = _bound(subject.rules.rules, subject.rules)
    for rule in subject.own:
        yield from _conditions(subject, rule, details)
        yield from _unfilled(subject, rule)
    for file in subject.files:
        yield from _remedies(subject, file, everything)


def _bound(rules: Iterable[Rule], known: RuleSet) -> frozenset[str]:
    """The names to which the clauses of these rules give values."""
    numbers = [number for rule in rules for clause in rule.any + rule.all for number in clause.patterns]
    return frozenset(name for number in numbers for name in known.compiled(number).groupindex)


def _conditions(subject: Subject, rule: Rule, details: frozenset[str]) -> Iterator[Violation]:
    """Names in `when` and `facts` that nothing gives a value, so that the condition can never hold."""
    if rule.found_by:
        return
    own = _bound([rule], subject.rules)
    nothing: frozenset[str] = frozenset()
    asked: list[tuple[tuple[str | int, ...], str, frozenset[str]]] = [
        (("when", index), condition, own) for index, condition in enumerate(rule.when)
    ]
    for group, clauses in (("any", rule.any), ("all", rule.all), ("none", rule.none)):
        asked += [
            ((group, index, "facts"), one.expression, nothing) for index, one in enumerate(clauses) if one.expression
        ]
    for path, condition, captured in asked:
        known = captured | details | FACTS
        for name in sorted(expression.names(condition) - known):
            what = f"asks for `{name}` in `{condition}`, and nothing gives it a value"
            yield subject.violation(
                UNBOUND_NAME, rule, path, what, did_you_mean(name, known, f"capture it: (?P<{name}>...)")
            )


def _unfilled(subject: Subject, rule: Rule) -> Iterator[Violation]:
    for key, text in (("title", rule.title), ("why", rule.why)):
        hole = _HOLE.search(text)
        if hole:
            advice = "say it without the value: the deciding line shows it"
            yield subject.violation(
                UNFILLED_HOLE, rule, (key,), f"has {hole.group()} in its {key}, which nothing fills in", advice
            )


def _remedies(subject: Subject, file: PackFile, bound: frozenset[str]) -> Iterator[Violation]:
    """Holes and formulas of remedies whose names no rule captures: their wording would never be used."""
    tables = file.content.get("remedies")
    if not isinstance(tables, Table):
        return
    for action, table in tables.items():
        template = subject.rules.remedies[action]
        known = bound | FACTS | {name for name, _ in template.compute}
        unknown = [(path, name) for path, name in _asked(template, table) if name not in known]
        if unknown and _is_for_plugins(action, subject.rules):
            continue
        for path, name in unknown:
            spot = spot_of(tables, (action, *path)) or NOWHERE
            what = f"the remedy `{action}` asks for `{name}`, and no rule captures it"
            advice = did_you_mean(name, known, f"capture it in a rule: (?P<{name}>...)")
            yield Violation(file.shown, spot.line, spot.column, UNBOUND_NAME, what, advice)


def _is_for_plugins(action: str, rules: RuleSet) -> bool:
    """Whether a rule that a plugin finds advises it: what such a rule captures, only the plugin knows."""
    return any(
        action in rule.remedies or (rule.cause_remedies and action in rules.causes[rule.cause].remedies)
        for rule in rules.rules
        if rule.found_by and rule.cause
    )


def _asked(template: RemedyTemplate, table: Table) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """(where, name) of every name that a remedy asks for, each once."""
    several = len(table.get("texts", ()))
    found: dict[str, tuple[str | int, ...]] = {}
    for index, wording in enumerate(template.texts):
        for name in sorted(wording.names):
            found.setdefault(name, ("texts", index) if index < several else ("text",))
    for system, command in template.commands.items():
        for name in string.Template(command).get_identifiers():
            found.setdefault(name, ("commands", system))
    for index, condition in enumerate(template.when):
        for name in expression.names(condition):
            found.setdefault(name, ("when", index))
    for target, formula in template.compute:
        for name in expression.names(formula):
            found.setdefault(name, ("compute", target))
    yield from ((path, name) for name, path in found.items())


def did_you_mean(word: str, known: frozenset[str], otherwise: str) -> str:
    """The nearest known word as a question, else another advice."""
    near = difflib.get_close_matches(word, sorted(known), 1, NEAR_ENOUGH)
    return f"did you mean `{near[0]}`?" if near else otherwise
