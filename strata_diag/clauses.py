"""From the matches of one run to findings: which rules hold in it.

Comes in: a run, the rules, what plugins saw. Goes out: findings, every occurrence one, in order of lines. Here the clauses
of a rule are put together (any, all, none, sequences, counts), conditions on numbers are checked (`when`), and vetoes
(`unless`). Which finding wins is not decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from strata_diag.model import Evidence, Finding, Match, Run, Sighting
from strata_diag.record import TYPE_CHECKING, NamedTuple
from strata_diag.ruleset import Clause, Rule, RuleSet

if TYPE_CHECKING:
    from typing import Any

MORE_MATCHES_KEPT = 64  # occurrences of a rule in a run that resolution looks at


class Occurrence(NamedTuple):
    """One place where a clause holds."""

    evidence: Evidence
    lines: tuple[int, ...]
    captures: Mapping[str, str]


def find(run: Run, rules: RuleSet, sightings: Iterable[Sighting] = ()) -> list[Finding]:
    """The findings of a run, ordered by line, then by the rules' ids: the order of loading says nothing."""
    findings = before_vetoes(run, rules, sightings)
    present = {finding.rule for finding in findings if not rules.by_id[finding.rule].silenced}
    kept = [finding for finding in findings if not present & set(rules.by_id[finding.rule].unless)]
    return sorted(kept, key=lambda finding: (finding.line, finding.rule))


def before_vetoes(run: Run, rules: RuleSet, sightings: Iterable[Sighting] = ()) -> list[Finding]:
    """The findings of a run before any of them keeps another one out (`unless`)."""
    matches = matches_by_pattern(run)
    touched = {rules.patterns[number].rule for number in matches}
    findings: list[Finding] = []
    for number in sorted({*touched, *rules.facts_alone}):
        findings += _findings_of(rules.rules[number], run, matches)
    return findings + list(_sighted(sightings, run, rules))


def matches_by_pattern(run: Run) -> dict[int, list[Match]]:
    """The matches of a run by the number of their pattern, each in order of lines."""
    matches: dict[int, list[Match]] = {}
    for match in run.matches:
        matches.setdefault(match.pattern, []).append(match)
    return matches


def _findings_of(rule: Rule, run: Run, matches: Mapping[int, list[Match]]) -> list[Finding]:
    found = occurrences(rule, run, matches)
    good = [place for place in found if _conditions_hold(rule, place.captures, run)]
    count = len(good) + (_left_out(rule, run, matches) if len(good) == len(found) else 0)
    return [_finding(rule, place, count) for place in good[:MORE_MATCHES_KEPT]]


def _left_out(rule: Rule, run: Run, matches: Mapping[int, list[Match]]) -> int:
    """How many matches of the clauses that give a rule its places the evidence cap left out."""
    numbers = [clause.patterns[0] for clause in _placing(rule) if clause.kind == "regex"]
    return sum(max(run.counts.get(number, 0) - len(matches.get(number, ())), 0) for number in numbers)


def _placing(rule: Rule) -> tuple[Clause, ...]:
    """The clauses whose places are the rule's: those of `any`, else the first of `all` that points at a line."""
    return rule.any or tuple(sorted(rule.all, key=lambda clause: clause.kind == "facts")[:1])


def _finding(rule: Rule, place: Occurrence, count: int) -> Finding:
    return Finding(
        rule.id,
        rule.role,
        rule.cause,
        rule.priority,
        f"{rule.title} (experimental rule)" if rule.lifecycle == "experimental" else rule.title,
        place.evidence,
        () if rule.silenced else place.lines,  # it explains no line away
        place.captures,
        count,
        rule.why,
    )


def _conditions_hold(rule: Rule, captures: Mapping[str, str], run: Run) -> bool:
    if not rule.when and not rule.applies:
        return True
    values: dict[str, Any] = {**run.details, **captures, **run.facts}
    return all(holds(condition, values) for condition in rule.when) and _applies(rule, values)


def holds(condition: str, values: Mapping[str, Any]) -> bool:
    """Whether a condition is true. One that names only what is not known is untrue, and needs no parser."""
    if condition.upper() != condition.lower() and not any(name in condition for name in values):
        return False
    from strata_diag import expression  # noqa: PLC0415 - 20 ms, for a condition that can be answered

    return expression.holds(condition, values)


def _applies(rule: Rule, values: Mapping[str, Any]) -> bool:
    """Whether the rule is meant for the version that ran, as far as the run or the caller tells it."""
    if not rule.applies:
        return True
    from strata_diag.versions import in_range  # noqa: PLC0415 - few rules ask

    return in_range(rule.applies, values)


def occurrences(rule: Rule, run: Run, matches: Mapping[int, list[Match]]) -> list[Occurrence]:
    """Where the clauses of a rule hold together, one place a line; its conditions (`when`) are not asked."""
    if any(next(places(clause, run, matches), None) for clause in rule.none):
        return []
    placing = _placing(rule)
    base = [place for clause in placing for place in places(clause, run, matches)]
    others = [list(places(clause, run, matches)) for clause in rule.all if rule.any or clause is not placing[0]]
    if not base or not all(others):
        return []
    unique = {place.evidence.line: place for place in reversed(base)}
    return [_joined(unique[line], others) for line in sorted(unique)]


def _joined(place: Occurrence, others: list[list[Occurrence]]) -> Occurrence:
    """An occurrence with the nearest ones of the other clauses that must hold too."""
    lines, captures = set(place.lines), dict(place.captures)
    for other in others:
        nearest = min(other, key=lambda found: abs(found.evidence.line - place.evidence.line))
        lines |= set(nearest.lines)
        captures = {**nearest.captures, **captures}
    return Occurrence(place.evidence, tuple(sorted(lines)), captures)


def places(clause: Clause, run: Run, matches: Mapping[int, list[Match]]) -> Iterator[Occurrence]:
    """Where a clause holds in a run, in order of lines."""
    first = matches.get(clause.patterns[0], []) if clause.patterns else []
    match clause.kind:
        case "regex":
            yield from (_place(found) for found in first)
        case "count":
            counted = run.counts.get(clause.patterns[0], 0)
            if first and max(counted, len(first)) >= clause.at_least:
                yield _place(first[0])
        case "last":
            last_lines = {line for line, _ in run.tail[-clause.within :]}
            yield from (_place(found) for found in first if found.evidence.line in last_lines)
        case "near":
            yield from _near(clause, first, matches)
        case "sequence":
            yield from _sequences(clause, matches)
        case _:  # facts
            if holds(clause.expression, {**run.details, **run.facts}):
                yield Occurrence(_end_of(run), (), {})


def _place(found: Match) -> Occurrence:
    return Occurrence(found.evidence, (found.evidence.line,), found.captures)


def _end_of(run: Run) -> Evidence:
    line, text = run.tail[-1] if run.tail else (run.last_line, "")
    return Evidence(line, text, text)


def _near(clause: Clause, first: list[Match], matches: Mapping[int, list[Match]]) -> Iterator[Occurrence]:
    for found in first:
        companions = [
            next(
                (
                    other
                    for other in matches.get(number, ())
                    if abs(other.evidence.line - found.evidence.line) <= clause.within
                ),
                None,
            )
            for number in clause.patterns[1:]
        ]
        together = [found, *(other for other in companions if other is not None)]
        if len(together) == len(clause.patterns):
            yield _together(found, together)


def _sequences(clause: Clause, matches: Mapping[int, list[Match]]) -> Iterator[Occurrence]:
    """From the last step to the first, so that a step that leads nowhere doesn't hide a later one that does."""
    ends = [[found] for found in matches.get(clause.patterns[-1], ())]
    for number in reversed(clause.patterns[:-1]):
        longer = []
        for found in matches.get(number, ()):
            line = found.evidence.line
            end = next((end for end in ends if line < end[0].evidence.line <= line + clause.within), None)
            if end is not None:
                longer.append([found, *end])
        ends = longer
    yield from (_together(together[0], together) for together in ends)


def _together(found: Match, together: list[Match]) -> Occurrence:
    captures: dict[str, str] = {}
    for match in together:
        captures.update({name: value for name, value in match.captures.items() if name not in captures})
    return Occurrence(found.evidence, tuple(sorted({match.evidence.line for match in together})), captures)


def _sighted(sightings: Iterable[Sighting], run: Run, rules: RuleSet) -> Iterator[Finding]:
    """Findings of plugins, as the rules of their packs describe them; the line is shown as far as the run still holds it."""
    texts = {match.evidence.line: match.evidence for match in run.matches}
    tail = dict(run.tail)
    for sighting in sightings:
        rule = rules.by_id[sighting.rule]
        line = min(max(sighting.line, run.first_line), run.last_line)
        evidence = texts.get(line) or Evidence(line, tail.get(line, ""), tail.get(line, ""))
        place = Occurrence(evidence, (line,), sighting.captures)
        if _conditions_hold(rule, sighting.captures, run):
            yield _finding(rule, place, 1)
