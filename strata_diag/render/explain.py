"""The text of `strata-diag explain`: every candidate and what became of it, rules clause by clause, single lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from strata_diag.explain.candidates import DECIDES, Candidate
from strata_diag.explain.clausewise import ClauseState, values_text
from strata_diag.explain.reach import Reached
from strata_diag.explain.records import (
    Explanation,
    LineExplanation,
    LineHit,
    NearRule,
    RuleExplanation,
    RunExplanation,
)
from strata_diag.explain.survey import LINES_TRIED, NearMiss, PatternSurvey
from strata_diag.model import Finding, Status, Verdict
from strata_diag.render.escape import visible
from strata_diag.render.layout import FAILURE_STYLE, STYLES, Line, Span

LONGEST_SHOWN = 240  # characters of a line of the log
CONTEXT_SHOWN = 60  # of them in front of a match
FINDINGS_SHOWN = 3  # of one candidate; the rest is counted
LINES_SHOWN = 8  # numbers of lines in a row
_OUTCOME_STYLES = {DECIDES: "bold red", "consequence": "red", "information": "green", "recovery": "green"}


def explanation_lines(found: Explanation) -> Iterator[Line]:
    """The text: what was asked about rules and lines, else every run with its candidates."""
    yield from _head(found)
    for one in found.rules:
        yield from _rule(one, len(found.runs))
    for line in found.lines:
        yield from _log_line(line)
    if not found.rules and not found.lines:
        for run in found.runs:
            yield from _run(run)
    for notice in found.notices:
        yield _line(("", ""))
        yield _line((f"Notice: {visible(notice.text)}", "yellow"), indent=8)


def _head(found: Explanation) -> Iterator[Line]:
    diagnosis = found.diagnosis
    count = len(found.runs)
    yield _line((f"{visible(diagnosis.name)}: {_count(diagnosis.line_count, 'line')}, {_count(count, 'run')}", "dim"))
    yield _line(*_verdict(diagnosis.verdict), indent=2)
    if not found.runs:
        yield _line((f"  {visible(diagnosis.verdict.reason)}", ""), indent=2)


def _verdict(verdict: Verdict) -> list[tuple[str, str]]:
    word = str(verdict.status) if verdict.status in STYLES else f"{verdict.status} / {verdict.cause}"
    where = f"  line {verdict.line}" if verdict.line else ""
    return [(word, STYLES.get(verdict.status, FAILURE_STYLE)), (f"  {visible(verdict.title)}{where}", "bold")]


def _run(run: RunExplanation) -> Iterator[Line]:
    found = run.diagnosis
    yield _line(("", ""))
    told = [f"Run {run.number}, lines {found.first_line}-{found.last_line}"]
    told += [f"engine {visible(found.engine)}"] if found.engine else ["no engine recognised"]
    told += [f"phase {visible(found.phase)}"] if found.phase else []
    yield _line((", ".join(told), "bold"))
    yield _line(("  ", ""), *_verdict(found.verdict), indent=4)
    if found.verdict.status in {Status.PASS, Status.UNKNOWN}:
        yield _line((f"  {visible(found.verdict.reason)}", ""), indent=4)
    for candidate in run.candidates:
        yield from _candidate(candidate)
    if not run.candidates:
        yield _line(("  no rule holds in this run", "dim"))
    yield from _unheld(run)
    yield from _suspects(run)


def _candidate(candidate: Candidate) -> Iterator[Line]:
    times = f", {candidate.times} times" if candidate.times > 1 else ""
    yield _line(("", ""))
    yield _line(
        (f"  {candidate.outcome}", _OUTCOME_STYLES.get(candidate.outcome, "yellow")),
        (f"  {visible(candidate.rule)}", "bold"),
        (f"  {candidate.role}, priority {candidate.priority}, {_lines(candidate.lines)}{times}", ""),
        indent=4,
    )
    yield _line((f"    {visible(candidate.title)}", ""), indent=4)
    yield _line((f"    {visible(candidate.why)}", "dim"), indent=4)
    for finding in candidate.findings[:FINDINGS_SHOWN]:
        yield from _finding(finding)


def _finding(finding: Finding) -> Iterator[Line]:
    evidence = finding.evidence
    start = evidence.column - 1
    yield _line((f"    {evidence.line:>6} | ", "dim"), *_shown(evidence.text, start, start), indent=13)
    if finding.captures:
        yield _line((f"           {_values(finding.captures)}", "dim"), indent=11)


def _values(values: Mapping[str, str]) -> str:
    return ", ".join(f"{visible(name)} = {_short(value)}" for name, value in values.items())


def _unheld(run: RunExplanation) -> Iterator[Line]:
    if not run.unheld:
        return
    yield _line(("", ""))
    yield _line(("  Rules that match lines here and do not hold", "bold"))
    for one in run.unheld:
        yield _line((f"    {visible(one.rule)}", ""), (f"  {one.role}, {_lines(one.lines)}", "dim"), indent=6)
        yield _line((f"      {visible(one.why)}", "dim"), indent=6)


def _suspects(run: RunExplanation) -> Iterator[Line]:
    if not run.suspects:
        return
    yield _line(("", ""))
    yield _line(("  Lines that look most like an error, though no rule knows them", "bold"))
    for one in run.suspects:
        yield _line((f"    {one.suspect.line:>6} | ", "dim"), (_short(one.suspect.text), "yellow"), indent=13)
        if one.suspect.nearest:
            yield _line((f"           nearest by its words: {visible(one.suspect.nearest)}", "dim"), indent=13)
        for near in one.near:
            yield from _near_rule(near, "           ")


def _rule(one: RuleExplanation, runs: int) -> Iterator[Line]:
    rule, state = one.rule, one.state
    yield _line(("", ""))
    yield _line(
        (visible(rule.id), "bold"),
        (f"  {rule.role}, priority {rule.priority}, cause {visible(rule.cause or '-')}", ""),
        (f"  {visible(rule.title)}", "dim"),
        indent=2,
    )
    where = f" in run {one.run}" if runs > 1 else ""
    if state.missing:
        yield _line((f"  does not hold{where}: {visible(state.missing)}", "yellow"), indent=4)
    elif one.candidate is not None:
        yield _line((f"  holds{where}: {one.candidate.outcome}; {visible(one.candidate.why)}", "green"), indent=4)
    if rule.override_place:
        told = f"silenced: {rule.silenced}" if rule.silenced else rule.overridden
        yield _line((f"  changed in {visible(rule.override_place)}: {visible(told)}", "yellow"), indent=4)
    if rule.found_by:
        yield _line((f"  found by the plugin {visible(rule.found_by)}, not by patterns", "dim"), indent=4)
    for number, clause in enumerate(state.clauses, 1):
        yield from _clause(number, clause, one)
    for condition in state.conditions:
        yield _line(
            _mark(holds=condition.holds),
            (f"when {visible(condition.text)}", ""),
            (f"  ({visible(values_text(condition.values))})", "dim"),
            indent=6,
        )
    for veto in state.vetoes:
        told = "is not in this run" if veto.line is None else f"holds at line {veto.line} and keeps this rule out"
        yield _line(_mark(holds=veto.line is None), (f"unless {visible(veto.rule)}: {told}", ""), indent=6)
    for run, outcome in one.elsewhere.items():
        yield _line((f"  run {run}: {outcome}  (--run {run} says more)", "dim"), indent=4)


def _mark(*, holds: bool) -> tuple[str, str]:
    return ("  yes ", "green") if holds else ("  no  ", "red")


def _clause(number: int, state: ClauseState, one: RuleExplanation) -> Iterator[Line]:
    where = f"holds at {_lines(state.lines)}" if state.lines else "does not hold"
    fulfilled = state.holds is not (state.group == "none")
    yield _line(_mark(holds=fulfilled), (f"clause {number}, {state.group}, {state.clause.kind}: {where}", ""), indent=6)
    if state.remark:
        yield _line((f"      {visible(state.remark)}", "dim"), indent=6)
    for step in state.steps:
        yield _line((f"      {visible(step.source)}", "cyan"), indent=8)
        if step.times:
            yield _line((f"        matches {_lines(step.lines)}", ""), indent=8)
        else:
            yield from _survey(one.surveys[step.pattern], one.run)


def _survey(found: PatternSurvey, run: int) -> Iterator[Line]:
    """What the run holds of a pattern that no finding rests on."""
    if found.matched:
        told = f"matches {_lines(found.lines, found.matched)}, which no deciding rule looked at"
        yield _line((f"        {told}", ""), indent=8)
        return
    literal = f"{_count(found.nominated, 'line')} of run {run} with a literal of it" if found.nominated else ""
    yield _line(
        (f"        matches no line{'; ' + literal if literal else '; no line holds a literal of it'}", ""), indent=8
    )
    if found.nearest is not None:
        yield from _near_miss(found.nearest)
    if not found.complete:
        yield _line((f"        only the first {LINES_TRIED} lines with its beginning were tried piece by piece", "dim"))


def _near_miss(near: NearMiss) -> Iterator[Line]:
    scan = f"the scan hands it over for `{visible(near.literal)}`" if near.literal else "the scan hands over every line"
    if not near.nominated:
        scan = "the scan passes it over: no literal of the pattern is in it"
    yield _line((f"        nearest is line {near.line}; {scan}", ""), indent=8)
    yield from _reached(near.reached, "          ")


def _reached(reached: Reached, blank: str) -> Iterator[Line]:
    """`matched up to here`, with the part of the line, and what of the pattern does not follow."""
    yield _line((f"{blank}| ", "dim"), *_shown(reached.text, reached.start, reached.end), indent=len(blank) + 2)
    matched = visible(reached.text[reached.start : reached.end])
    yield _line((f"{blank}matched up to here: ", "dim"), (f"`{_short(matched)}`", "green"), indent=len(blank) + 2)
    if reached.stopped_at:
        yield _line(
            (f"{blank}does not follow:    ", "dim"), (f"`{visible(reached.stopped_at)}`", "red"), indent=len(blank) + 2
        )


def _near_rule(near: NearRule, blank: str) -> Iterator[Line]:
    yield _line((f"{blank}near: {visible(near.rule)}", ""), (f"  {visible(near.title)}", "dim"), indent=len(blank) + 2)
    yield from _reached(near.reached, blank + "  ")


def _log_line(one: LineExplanation) -> Iterator[Line]:
    yield _line(("", ""))
    where = f"run {one.run}" if one.run else "in no run"
    yield _line((f"Line {one.line}, {where}", "bold"))
    yield _line(("  | ", "dim"), (_short(one.text), ""), indent=4)
    if not one.hits:
        yield _line(("  no pattern of any rule matches it", "yellow"))
    for hit in one.hits:
        yield from _hit(hit)
    for title, rules in (("gets the line from the scan and does not match it", one.missed), ("near", one.near)):
        if rules:
            yield _line((f"  {title}:", "bold"))
        for near in rules:
            yield from _near_rule(near, "    ")
    if one.words:
        yield _line((f"  nearest by its words: {visible(one.words)}", "dim"), indent=4)


def _hit(hit: LineHit) -> Iterator[Line]:
    yield _line(
        (f"  {hit.outcome}", _OUTCOME_STYLES.get(hit.outcome, "yellow")),
        (f"  {visible(hit.rule)}", "bold"),
        (f"  {hit.role}, priority {hit.priority}", ""),
        (f"  {visible(hit.title)}", "dim"),
        indent=4,
    )
    yield _line((f"    {visible(hit.remark)}", "dim"), indent=4)
    yield _line(("    matches: ", "dim"), (f"`{_short(hit.text[hit.start : hit.end])}`", "green"), indent=6)
    if hit.captures:
        yield _line((f"    {_values(hit.captures)}", "dim"), indent=4)


def _shown(text: str, start: int, end: int) -> list[tuple[str, str]]:
    """A line of the log, or the part around a match, with the match in a style of its own."""
    first = max(start - CONTEXT_SHOWN, 0) if len(text) > LONGEST_SHOWN else 0
    last = min(first + LONGEST_SHOWN, len(text))
    before, matched, after = text[first:start], text[start : min(end, last)], text[max(end, start) : last]
    return [
        (("…" if first else "") + visible(before), ""),
        (visible(matched), "bold green"),
        (visible(after) + ("…" if last < len(text) else ""), ""),
    ]


def _short(text: str) -> str:
    shown = visible(text)
    return shown if len(shown) <= LONGEST_SHOWN else shown[: LONGEST_SHOWN - 1] + "…"


def _lines(numbers: tuple[int, ...], count: int = 0) -> str:
    """`line 3`, `lines 3, 8, 12 and 40 more`. count: how many there are in all, where these are only the first."""
    shown = [str(number) for number in numbers[:LINES_SHOWN]]
    more = max(count, len(numbers)) - len(shown)
    if not shown:
        return "no line"
    return f"line{'s' if len(shown) > 1 else ''} {', '.join(shown)}" + (f" and {more} more" if more else "")


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _line(*spans: tuple[str, str], indent: int = 0) -> Line:
    return Line(tuple(Span(text, style) for text, style in spans), indent)
