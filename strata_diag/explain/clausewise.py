"""Why a rule does or does not hold in a run, clause by clause.

Everything is asked of the `clauses` stage itself: a sequence that stops in the middle is found by asking it for the first
steps alone, a condition by asking it for this one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from strata_diag import clauses
from strata_diag.model import Match, Run
from strata_diag.ruleset import Clause, Rule, RuleSet

Matches = Mapping[int, list[Match]]


class StepState(NamedTuple):
    """One pattern of a clause in a run. lines: 1-based, as far as matches were kept; times: how many there were."""

    pattern: int
    source: str
    lines: tuple[int, ...]
    times: int


class ClauseState(NamedTuple):
    """One clause in a run. group: any | all | none; lines: where it holds; holds: whether it does; remark: how far it got."""

    group: str
    clause: Clause
    holds: bool
    lines: tuple[int, ...]
    steps: tuple[StepState, ...]
    remark: str


class ConditionState(NamedTuple):
    """A condition on values (`when`, `applies`, facts). values: those that it names, None for one that is not known."""

    text: str
    holds: bool
    values: Mapping[str, Any]


class VetoState(NamedTuple):
    """A rule that keeps another one out (`unless`). line: where it stands in the run; None where it does not."""

    rule: str
    line: int | None


class RuleState(NamedTuple):
    """A rule in a run. places: lines on which its clauses hold together; conditions: at the first place that they refuse, else
    at the first; refused: places that conditions refuse; missing: what keeps it from holding, one sentence, empty where it
    holds.
    """

    clauses: tuple[ClauseState, ...]
    places: tuple[int, ...]
    conditions: tuple[ConditionState, ...]
    refused: tuple[int, ...]
    vetoes: tuple[VetoState, ...]
    missing: str


def rule_state(rule: Rule, run: Run, rules: RuleSet, present: Mapping[str, int]) -> RuleState:
    """What a rule's clauses, conditions and vetoes come to in a run. present: rules that hold before vetoes, with their line."""
    matches = clauses.matches_by_pattern(run)
    groups = {"any": rule.any, "all": rule.all, "none": rule.none}
    states = tuple(
        _clause_state(group, clause, run, rules, matches) for group, found in groups.items() for clause in found
    )
    places = clauses.occurrences(rule, run, matches)
    asked = [(place.evidence.line, _conditions(rule, place.captures, run)) for place in places]
    refused = tuple(line for line, conditions in asked if not all(one.holds for one in conditions))
    shown = next((conditions for line, conditions in asked if not refused or line in refused), ())
    vetoes = tuple(VetoState(name, present.get(name)) for name in rule.unless)
    lines = tuple(line for line, _ in asked)
    state = RuleState(states, lines, shown or _conditions(rule, {}, run), refused, vetoes, "")
    return state._replace(missing=_missing(rule, state, present))


def _clause_state(group: str, clause: Clause, run: Run, rules: RuleSet, matches: Matches) -> ClauseState:
    lines = tuple(dict.fromkeys(place.evidence.line for place in clauses.places(clause, run, matches)))
    steps = tuple(_step(number, run, rules, matches) for number in clause.patterns)
    return ClauseState(
        group, clause, bool(lines), lines, steps, _remark(clause, run, matches, steps, holds=bool(lines))
    )


def _step(number: int, run: Run, rules: RuleSet, matches: Matches) -> StepState:
    lines = tuple(dict.fromkeys(match.evidence.line for match in matches.get(number, ())))
    return StepState(number, rules.patterns[number].source, lines, max(run.counts.get(number, 0), len(lines)))


def _remark(clause: Clause, run: Run, matches: Matches, steps: tuple[StepState, ...], *, holds: bool) -> str:
    """What a clause of several parts wants, and how much of it there is."""
    match clause.kind:
        case "count":
            return f"{steps[0].times} of at least {clause.at_least} matches"
        case "last":
            first = run.tail[-clause.within :][0][0] if run.tail else run.first_line
            return f"only in the last {clause.within} lines with text, here from line {first} on"
        case "near":
            return f"all of them within {clause.within} lines" if holds else _how_near(clause, run, matches)
        case "sequence":
            return f"in this order, {clause.within} lines apart at most" if holds else _how_far(clause, run, matches)
        case "facts":
            shown = _condition(clause.expression, {**run.details, **run.facts})
            return f"{clause.expression}: {values_text(shown.values)}"
        case _:
            return ""


def _how_far(clause: Clause, run: Run, matches: Matches) -> str:
    """Up to which step a sequence comes."""
    for count in range(len(clause.patterns) - 1, 0, -1):
        begun = next(clauses.places(clause._replace(patterns=clause.patterns[:count]), run, matches), None)
        if begun is not None:
            where = f"steps 1-{count}" if count > 1 else "step 1"
            return (
                f"{where} of {len(clause.patterns)} from line {begun.evidence.line} on; "
                f"step {count + 1} does not follow within {clause.within} lines"
            )
    return f"step 1 of {len(clause.patterns)} is not there"


def _how_near(clause: Clause, run: Run, matches: Matches) -> str:
    """Which companion of a line is missing."""
    first, *others = clause.patterns
    if not matches.get(first):
        return "the first pattern matches no line"
    alone = [
        number
        for number in others
        if next(clauses.places(clause._replace(patterns=(first, number)), run, matches), None) is None
    ]
    places = ", ".join(str(clause.patterns.index(number) + 1) for number in alone)
    if alone:
        return f"pattern {places} stands within {clause.within} lines of no line with the first"
    return f"the companions stand within {clause.within} lines, but never all of one line"


def _conditions(rule: Rule, captures: Mapping[str, str], run: Run) -> tuple[ConditionState, ...]:
    values = {**run.details, **captures, **run.facts}
    states = [_condition(condition, values) for condition in rule.when]
    if rule.applies:
        states.append(_applies(rule, values))
    return tuple(states)


def _condition(text: str, values: Mapping[str, Any]) -> ConditionState:
    from strata_diag import expression  # noqa: PLC0415 - only where a rule asks

    named = {name: values.get(name) for name in sorted(expression.names(text))}
    return ConditionState(text, clauses.holds(text, values), named)


def _applies(rule: Rule, values: Mapping[str, Any]) -> ConditionState:
    from strata_diag.versions import in_range, parse_range  # noqa: PLC0415 - few rules ask

    named = {part.name: values.get(part.name) for part in parse_range(rule.applies)}
    return ConditionState(f"applies: {rule.applies}", in_range(rule.applies, values), named)


def values_text(values: Mapping[str, Any]) -> str:
    """`slots = 4, floor_gib is not known`."""
    return ", ".join(f"{name} is not known" if value is None else f"{name} = {value}" for name, value in values.items())


def _missing(rule: Rule, state: RuleState, present: Mapping[str, int]) -> str:
    """What keeps a rule from holding; the first of what is missing, in the order in which it is asked."""
    if rule.found_by:
        return "" if rule.id in present else f"the plugin {rule.found_by} did not see it, or another rule keeps it out"
    if rule.silenced and not rule.clauses:
        return "it is silenced, as though it were not there"
    if not state.places:
        return next(_missing_clauses(state), "its clauses never hold together")
    if set(state.refused) == set(state.places):
        refusing = next(one for one in state.conditions if not one.holds)
        return f"its condition `{refusing.text}` is not true ({values_text(refusing.values)})"
    veto = next((one for one in state.vetoes if one.line is not None), None)
    if veto is not None:
        return f"{veto.rule} (line {veto.line}) keeps it out"
    return ""


def _missing_clauses(state: RuleState) -> Iterator[str]:
    for group in ("none", "any", "all"):
        asked = [one for one in state.clauses if one.group == group]
        if group == "none":
            against = next((one for one in asked if one.holds), None)
            if against is not None:
                yield f"line {against.lines[0]} holds what must not be there"
        elif group == "any":
            if asked and not any(one.holds for one in asked):
                yield "none of its clauses under `any` holds"
        else:
            for one in asked:
                if not one.holds:
                    yield f"a clause under `all` does not hold ({one.clause.kind})"
