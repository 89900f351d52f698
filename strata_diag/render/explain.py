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
from strata_diag.render.cells import padded
from strata_diag.render.escape import visible
from strata_diag.render.layout import FAILURE_STYLE, STYLES, Line, Span, Translate, unchanged

LONGEST_SHOWN = 240  # characters of a line of the log
CONTEXT_SHOWN = 60  # of them in front of a match
FINDINGS_SHOWN = 3  # of one candidate; the rest is counted
LINES_SHOWN = 8  # numbers of lines in a row
MARK_COLUMNS = 3  # of what says whether a clause holds
LABEL_COLUMNS = 19  # of what stands in front of a part of a line
_OUTCOME_STYLES = {DECIDES: "bold red", "consequence": "red", "information": "green", "recovery": "green"}


def explanation_lines(found: Explanation, translate: Translate = unchanged) -> Iterator[Line]:
    """The text: what was asked about rules and lines, else every run with its candidates."""
    yield from _head(found, translate)
    for one in found.rules:
        yield from _rule(one, len(found.runs), translate)
    for line in found.lines:
        yield from _log_line(line, translate)
    if not found.rules and not found.lines:
        for run in found.runs:
            yield from _run(run, translate)
    for notice in found.notices:
        yield _line(("", ""))
        yield _line((f"{translate('Notice:')} {translate(visible(notice.text))}", "yellow"), indent=8)


def _head(found: Explanation, translate: Translate) -> Iterator[Line]:
    diagnosis = found.diagnosis
    counts = f"{_count(diagnosis.line_count, 'line', translate)}, {_count(len(found.runs), 'run', translate)}"
    yield _line((f"{visible(diagnosis.name)}: {counts}", "dim"))
    yield _line(*_verdict(diagnosis.verdict, translate), indent=2)
    if not found.runs:
        yield _line((f"  {translate(visible(diagnosis.verdict.reason))}", ""), indent=2)


def _verdict(verdict: Verdict, translate: Translate) -> list[tuple[str, str]]:
    word = str(verdict.status) if verdict.status in STYLES else f"{verdict.status} / {verdict.cause}"
    where = f"  {translate(f'line {verdict.line}')}" if verdict.line else ""
    return [(word, STYLES.get(verdict.status, FAILURE_STYLE)), (f"  {visible(verdict.title)}{where}", "bold")]


def _run(run: RunExplanation, translate: Translate) -> Iterator[Line]:
    found = run.diagnosis
    yield _line(("", ""))
    told = [translate(f"Run {run.number}, lines {found.first_line}-{found.last_line}")]
    told += [translate(f"engine {visible(found.engine)}" if found.engine else "no engine recognised")]
    told += [translate(f"phase {visible(found.phase)}")] if found.phase else []
    yield _line((", ".join(told), "bold"))
    yield _line(("  ", ""), *_verdict(found.verdict, translate), indent=4)
    if found.verdict.status in {Status.PASS, Status.UNKNOWN}:
        reason = visible(found.verdict.reason)
        yield _line((f"  {reason if found.verdict.suspects else translate(reason)}", ""), indent=4)
    for candidate in run.candidates:
        yield from _candidate(candidate, translate)
    if not run.candidates:
        yield _line((f"  {translate('no rule holds in this run')}", "dim"))
    yield from _unheld(run, translate)
    yield from _suspects(run, translate)


def _candidate(candidate: Candidate, translate: Translate) -> Iterator[Line]:
    told = [translate(f"{candidate.role}, priority {candidate.priority}"), _lines(candidate.lines, translate)]
    told += [translate(f"{candidate.times} times")] if candidate.times > 1 else []
    yield _line(("", ""))
    yield _line(
        (f"  {translate(candidate.outcome)}", _OUTCOME_STYLES.get(candidate.outcome, "yellow")),
        (f"  {visible(candidate.rule)}", "bold"),
        (f"  {', '.join(told)}", ""),
        indent=4,
    )
    yield _line((f"    {visible(candidate.title)}", ""), indent=4)
    yield _line((f"    {translate(visible(candidate.why))}", "dim"), indent=4)
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


def _unheld(run: RunExplanation, translate: Translate) -> Iterator[Line]:
    if not run.unheld:
        return
    yield _line(("", ""))
    yield _line((f"  {translate('Rules that match lines here and do not hold')}", "bold"))
    for one in run.unheld:
        told = f"{translate(one.role)}, {_lines(one.lines, translate)}"
        yield _line((f"    {visible(one.rule)}", ""), (f"  {told}", "dim"), indent=6)
        yield _line((f"      {translate(visible(one.why))}", "dim"), indent=6)


def _suspects(run: RunExplanation, translate: Translate) -> Iterator[Line]:
    if not run.suspects:
        return
    yield _line(("", ""))
    yield _line((f"  {translate('Lines that look most like an error, though no rule knows them')}", "bold"))
    for one in run.suspects:
        yield _line((f"    {one.suspect.line:>6} | ", "dim"), (_short(one.suspect.text), "yellow"), indent=13)
        if one.suspect.nearest:
            nearest = f"{translate('nearest by its words:')} {visible(one.suspect.nearest)}"
            yield _line((f"           {nearest}", "dim"), indent=13)
        for near in one.near:
            yield from _near_rule(near, "           ", translate)


def _rule(one: RuleExplanation, runs: int, translate: Translate) -> Iterator[Line]:
    rule, state = one.rule, one.state
    cause = f"cause {visible(rule.cause or '-')}"
    yield _line(("", ""))
    yield _line(
        (visible(rule.id), "bold"),
        (f"  {translate(f'{rule.role}, priority {rule.priority}')}, {translate(cause)}", ""),
        (f"  {visible(rule.title)}", "dim"),
        indent=2,
    )
    where = f" in run {one.run}" if runs > 1 else ""
    if state.missing:
        yield _line(
            (f"  {translate(f'does not hold{where}:')} {translate(visible(state.missing))}", "yellow"), indent=4
        )
    elif one.candidate is not None:
        told = f"{translate(one.candidate.outcome)}; {translate(visible(one.candidate.why))}"
        yield _line((f"  {translate(f'holds{where}:')} {told}", "green"), indent=4)
    if rule.override_place:
        told = f"{translate('silenced:')} {visible(rule.silenced)}" if rule.silenced else visible(rule.overridden)
        yield _line((f"  {translate(f'changed in {visible(rule.override_place)}:')} {told}", "yellow"), indent=4)
    if rule.found_by:
        told = translate(f"found by the plugin {visible(rule.found_by)}, not by patterns")
        yield _line((f"  {told}", "dim"), indent=4)
    for number, clause in enumerate(state.clauses, 1):
        yield from _clause(number, clause, one, translate)
    for condition in state.conditions:
        yield _line(
            _mark(translate, holds=condition.holds),
            (f"{translate('when')} {visible(condition.text)}", ""),
            (f"  ({visible(values_text(condition.values))})", "dim"),
            indent=6,
        )
    for veto in state.vetoes:
        told = "is not in this run" if veto.line is None else f"holds at line {veto.line} and keeps this rule out"
        veto_told = f"{translate(f'unless {visible(veto.rule)}:')} {translate(told)}"
        yield _line(_mark(translate, holds=veto.line is None), (veto_told, ""), indent=6)
    for run, outcome in one.elsewhere.items():
        yield _line(
            (f"  {translate(f'run {run}')}: {translate(outcome)}  ({translate(f'--run {run} says more')})", "dim"),
            indent=4,
        )


def _mark(translate: Translate, *, holds: bool) -> tuple[str, str]:
    return (f"  {padded(translate('yes' if holds else 'no'), MARK_COLUMNS)} ", "green" if holds else "red")


def _clause(number: int, state: ClauseState, one: RuleExplanation, translate: Translate) -> Iterator[Line]:
    where = f"{translate('holds at')} {_lines(state.lines, translate)}" if state.lines else translate("does not hold")
    fulfilled = state.holds is not (state.group == "none")
    clause = translate(f"clause {number}, {state.group}, {state.clause.kind}:")
    yield _line(_mark(translate, holds=fulfilled), (f"{clause} {where}", ""), indent=6)
    if state.remark:
        yield _line((f"      {translate(visible(state.remark))}", "dim"), indent=6)
    for step in state.steps:
        yield _line((f"      {visible(step.source)}", "cyan"), indent=8)
        if step.times:
            yield _line((f"        {translate('matches')} {_lines(step.lines, translate)}", ""), indent=8)
        else:
            yield from _survey(one.surveys[step.pattern], one.run, translate)


def _survey(found: PatternSurvey, run: int, translate: Translate) -> Iterator[Line]:
    """What the run holds of a pattern that no finding rests on."""
    if found.matched:
        looked_at = translate("no deciding rule looked at them")
        told = f"{translate('matches')} {_lines(found.lines, translate, found.matched)}; {looked_at}"
        yield _line((f"        {told}", ""), indent=8)
        return
    literal = "no line holds a literal of it"
    if found.nominated:
        literal = f"{_count(found.nominated, 'line', unchanged)} of run {run} with a literal of it"
    yield _line((f"        {translate('matches no line')}; {translate(literal)}", ""), indent=8)
    if found.nearest is not None:
        yield from _near_miss(found.nearest, translate)
    if not found.complete:
        tried = translate(f"only the first {LINES_TRIED} lines with its beginning were tried piece by piece")
        yield _line((f"        {tried}", "dim"))


def _near_miss(near: NearMiss, translate: Translate) -> Iterator[Line]:
    scan = f"the scan hands it over for `{visible(near.literal)}`" if near.literal else "the scan hands over every line"
    if not near.nominated:
        scan = "the scan passes it over: no literal of the pattern is in it"
    yield _line((f"        {translate(f'nearest is line {near.line}')}; {translate(scan)}", ""), indent=8)
    yield from _reached(near.reached, "          ", translate)


def _reached(reached: Reached, blank: str, translate: Translate) -> Iterator[Line]:
    """`matched up to here`, with the part of the line, and what of the pattern does not follow."""
    yield _line((f"{blank}| ", "dim"), *_shown(reached.text, reached.start, reached.end), indent=len(blank) + 2)
    matched = visible(reached.text[reached.start : reached.end])
    here, missing = (padded(translate(label), LABEL_COLUMNS) for label in ("matched up to here:", "does not follow:"))
    yield _line((f"{blank}{here} ", "dim"), (f"`{_short(matched)}`", "green"), indent=len(blank) + 2)
    if reached.stopped_at:
        yield _line((f"{blank}{missing} ", "dim"), (f"`{visible(reached.stopped_at)}`", "red"), indent=len(blank) + 2)


def _near_rule(near: NearRule, blank: str, translate: Translate) -> Iterator[Line]:
    told = f"{translate('near:')} {visible(near.rule)}"
    yield _line((f"{blank}{told}", ""), (f"  {visible(near.title)}", "dim"), indent=len(blank) + 2)
    yield from _reached(near.reached, blank + "  ", translate)


def _log_line(one: LineExplanation, translate: Translate) -> Iterator[Line]:
    yield _line(("", ""))
    where = f"run {one.run}" if one.run else "in no run"
    yield _line((f"{translate(f'Line {one.line}')}, {translate(where)}", "bold"))
    yield _line(("  | ", "dim"), (_short(one.text), ""), indent=4)
    if not one.hits:
        yield _line((f"  {translate('no pattern of any rule matches it')}", "yellow"))
    for hit in one.hits:
        yield from _hit(hit, translate)
    for title, rules in (("gets the line from the scan and does not match it:", one.missed), ("near:", one.near)):
        if rules:
            yield _line((f"  {translate(title)}", "bold"))
        for near in rules:
            yield from _near_rule(near, "    ", translate)
    if one.words:
        yield _line((f"  {translate('nearest by its words:')} {visible(one.words)}", "dim"), indent=4)


def _hit(hit: LineHit, translate: Translate) -> Iterator[Line]:
    yield _line(
        (f"  {translate(hit.outcome)}", _OUTCOME_STYLES.get(hit.outcome, "yellow")),
        (f"  {visible(hit.rule)}", "bold"),
        (f"  {translate(f'{hit.role}, priority {hit.priority}')}", ""),
        (f"  {visible(hit.title)}", "dim"),
        indent=4,
    )
    yield _line((f"    {translate(visible(hit.remark))}", "dim"), indent=4)
    yield _line(
        (f"    {translate('matches:')} ", "dim"), (f"`{_short(hit.text[hit.start : hit.end])}`", "green"), indent=6
    )
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


def _lines(numbers: tuple[int, ...], translate: Translate, count: int = 0) -> str:
    """`line 3`, `lines 3, 8, 12 and 40 more`. count: how many there are in all, where these are only the first."""
    shown = [str(number) for number in numbers[:LINES_SHOWN]]
    more = max(count, len(numbers)) - len(shown)
    if not shown:
        return translate("no line")
    return translate(f"line{'s' if len(shown) > 1 else ''} {', '.join(shown)}" + (f" and {more} more" if more else ""))


def _count(number: int, word: str, translate: Translate) -> str:
    return translate(f"{number} {word}{'' if number == 1 else 's'}")


def _line(*spans: tuple[str, str], indent: int = 0) -> Line:
    return Line(tuple(Span(text, style) for text, style in spans), indent)
