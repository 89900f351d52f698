"""From the findings of one run to its verdict, with a reason for every candidate that lost.

Comes in: findings, in order of lines. Goes out: one verdict. The steps and their order are the contract: information claims
its line, recoveries take back what came before, readiness takes back the boot, a symptom gives way to its cause, then
priority, then the earliest line. Never a guess: where nothing is left, PASS needs a reason too, else it is UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from strata_diag.model import DECIDING_ROLES, Beaten, Evidence, Finding, Role, Run, Suspect, Verdict
from strata_diag.ruleset import Cause, Rule, RuleSet

LONGEST_REASON = 600  # characters of a line that is stored in a history row
EVERYDAY_PRIORITY = 100  # an `info` rule of no more than this knows a line that nobody would take for an error
MESSAGE_JOINT = " | "  # between the lines of a log that a tuner's reason joins, and after a container's name


class _Field:
    """The candidates of a run while the steps strike them out."""

    def __init__(self, findings: list[Finding], rules: RuleSet) -> None:
        self.rules = rules
        self.remaining = [finding for finding in findings if finding.role in DECIDING_ROLES]
        self.beaten: list[Beaten] = []
        self.silenced: list[Beaten] = []

    def rule(self, finding: Finding) -> Rule:
        return self.rules.by_id[finding.rule]

    def strike(self, kind: str, losers: list[tuple[Finding, str]]) -> None:
        gone = {id(finding) for finding, _ in losers}
        self.remaining = [finding for finding in self.remaining if id(finding) not in gone]
        self.beaten += [Beaten(finding, why, kind) for finding, why in losers]


def resolve(findings: list[Finding], run: Run, rules: RuleSet, *, ends_alarmingly: bool = False) -> Verdict:
    """The verdict of a run.

    ends_alarmingly: its last line looks like an error that no rule knows; asked only where no finding decides.
    """
    silenced = [finding for finding in findings if rules.by_id[finding.rule].silenced]
    findings = [finding for finding in findings if not rules.by_id[finding.rule].silenced]
    field = _Field(findings, rules)
    field.silenced = _silenced(silenced, rules)
    harmless = tuple(_one_a_rule([finding for finding in findings if _looks_bad(finding)]))
    _claim(field, findings)
    _recover(field, findings)
    ready = _get_ready(field, findings)
    explainers = _yield(field)
    failures = [finding for finding in field.remaining if finding.role is Role.FAILURE]
    candidates = failures or field.remaining
    if not candidates:
        return _undecided(field, findings, run, harmless, ends_alarmingly=ends_alarmingly)
    winner = min(candidates, key=lambda finding: (-finding.priority, finding.order, finding.line, finding.rule))
    return _decided(winner, field, harmless, explainers, ready, run)


def _silenced(findings: list[Finding], rules: RuleSet) -> list[Beaten]:
    """Step 0: what a local file silenced takes no part; what could have decided is still shown, with the reason given."""
    told = ((finding, rules.by_id[finding.rule]) for finding in findings if finding.role in DECIDING_ROLES)
    return [Beaten(one, f"silenced in {rule.override_place}: {rule.silenced}", "silenced") for one, rule in told]


def _looks_bad(finding: Finding) -> bool:
    """Whether an `info` finding tells why a line is harmless, rather than only that it is an everyday one."""
    return finding.role is Role.INFO and finding.priority > EVERYDAY_PRIORITY


def _claim(field: _Field, findings: list[Finding]) -> None:
    """Step 1: an `info` finding claims its message against findings of lower priority on the same line."""
    claims: dict[tuple[str, int], list[Finding]] = {}
    for finding in findings:
        if finding.role is Role.INFO:
            claims.setdefault(_place(finding), []).append(finding)
    losers = []
    for finding in field.remaining:
        stronger = [
            claim
            for claim in claims.get(_place(finding), ())
            if finding.lines and claim.priority > finding.priority and _same_message(claim.evidence, finding.evidence)
        ]
        if stronger:
            losers.append((finding, f"the line is information ({stronger[0].rule}): {stronger[0].title}"))
    field.strike("claimed", losers)


def _place(finding: Finding) -> tuple[str, int]:
    """The file, empty for the log itself, and the line of a finding."""
    return finding.evidence.file, finding.line


def _told_place(finding: Finding) -> str:
    """The same in words."""
    return f"line {finding.line} of {finding.evidence.file}" if finding.evidence.file else f"line {finding.line}"


def _same_message(one: Evidence, other: Evidence) -> bool:
    """Whether two matches on a line stand in one message: in the same redraw, and in the same part of a joined history row."""
    first, last = sorted((one.column, other.column))
    return one.text == other.text and MESSAGE_JOINT not in one.text[first - 1 : last - 1]


def _message(evidence: Evidence) -> str:
    """The message of a line in which a pattern matched: the line, or its part of a joined history row."""
    start = evidence.text.rfind(MESSAGE_JOINT, 0, evidence.column - 1 + len(MESSAGE_JOINT))
    begin = start + len(MESSAGE_JOINT) if start >= 0 else 0
    if begin == 0 and evidence.text.lstrip().startswith(('"', "{")) and MESSAGE_JOINT in evidence.text:
        begin = evidence.column - 1  # the row's own JSON stands before its first message
    end = evidence.text.find(MESSAGE_JOINT, max(evidence.column - 1, begin))
    return evidence.text[begin : end if end >= 0 else None]


def _recover(field: _Field, findings: list[Finding]) -> None:
    """Step 2: a recovery takes back the earlier findings that it names."""
    recoveries = [finding for finding in findings if finding.role is Role.RECOVERY]
    losers = []
    for finding in field.remaining:
        undoing = [
            other for other in recoveries if finding.rule in field.rule(other).cancels and other.order > finding.order
        ]
        if undoing:
            losers.append((finding, f"{_told_place(undoing[0])} takes it back ({undoing[0].rule}): {undoing[0].title}"))
    field.strike("recovered", losers)


def _get_ready(field: _Field, findings: list[Finding]) -> int:
    """Step 3: what failed before the engine got ready did not stop it. The last line that proves readiness; 0 for none."""
    last = max((finding.order for finding in findings if finding.role is Role.READY), default=0)
    losers = [
        (finding, f"the engine got ready afterwards (line {last})")
        for finding in field.remaining
        if finding.order < last and not field.rule(finding).survives_ready
    ]
    field.strike("ready", losers)
    return last


def _yield(field: _Field) -> dict[str, list[str]]:
    """Step 4: a finding gives way to the ones that explain it. The explainers that are present, by rule."""
    present = {finding.rule for finding in field.remaining}
    explainers = _explainers(present, field.rules)
    losers = []
    for finding in field.remaining:
        if explainers[finding.rule]:
            explainer = explainers[finding.rule][0]
            losers.append((finding, f"explained by {explainer} ({_told_place(_first_of(explainer, field.remaining))})"))
    field.strike("explained", losers)
    return explainers


def _explainers(present: Collection[str], rules: RuleSet) -> dict[str, list[str]]:
    """For each rule that is present the present ones that explain it, the strongest first."""
    names = {rule: {name for name in rules.by_id[rule].yields_to if name in present} for rule in present}
    for rule in present:
        for explained in rules.by_id[rule].explains:
            if explained in names:
                names[explained].add(rule)
    return {rule: sorted(found, key=lambda name: (-rules.by_id[name].priority, name)) for rule, found in names.items()}


def _first_of(rule: str, findings: list[Finding]) -> Finding:
    return min((finding for finding in findings if finding.rule == rule), key=lambda finding: finding.order)


def _decided(
    winner: Finding,
    field: _Field,
    harmless: tuple[Finding, ...],
    explainers: Mapping[str, list[str]],
    ready: int,
    run: Run,
) -> Verdict:
    """Steps 5 and 6: the winner, its symptoms in order of lines, and whether another cause stands beside it."""
    rule, cause = field.rule(winner), field.rules.cause_of(winner.cause)
    others = [finding for finding in field.remaining if finding.rule != winner.rule]
    # what the caller knows beside the log rests on no line: it sharpens, and contradicts no line
    rivals = [
        finding
        for finding in others
        if finding.role is winner.role and finding.cause != winner.cause and finding.lines and winner.lines
    ]
    for finding in _one_a_rule(sorted(others, key=lambda finding: finding.order)):
        kind = "symptom" if finding.role is not winner.role else "outranked"
        field.beaten.append(Beaten(finding, _why_outranked(finding, winner), kind))
    chain = (winner, *_led_to(winner, field, explainers))
    in_chain = {finding.rule for finding in chain}
    shown = [
        loser for loser in _one_loser_a_rule([*field.beaten, *field.silenced]) if loser.finding.rule not in in_chain
    ]
    return Verdict(
        status=cause.status, cause=cause.id, title=winner.title, line=winner.line, rule=winner.rule,
        reason=_one_line(_message(winner.evidence)) if winner.lines else winner.title,
        lasting=_lasting(rule, cause, run) and not rivals, retry=rule.retry or cause.retry,
        attribution=cause.attribution, contested=bool(rivals),
        degraded=rule.survives_ready and winner.order < ready, deciding=winner, chain=chain, beaten=tuple(shown),
        harmless=_unclaimed(harmless, chain), pack_version=rule.pack_version,
    )  # fmt: skip


def _led_to(winner: Finding, field: _Field, explainers: Mapping[str, list[str]]) -> list[Finding]:
    """What the winner led to: what it explains, through others too, and the symptoms that stand beside it."""
    explains: dict[str, list[str]] = {}
    for rule, names in explainers.items():
        for name in names:
            explains.setdefault(name, []).append(rule)
    # a weaker reading of the same cause speaks for the winner, and so does what it explains
    led_to = {winner.rule, *(finding.rule for finding in field.remaining if finding.cause == winner.cause)}
    waiting = list(led_to)
    while waiting:
        new = [rule for rule in explains.get(waiting.pop(), ()) if rule not in led_to]
        led_to.update(new)
        waiting += new
    consequences = [
        loser.finding
        for loser in field.beaten
        if loser.kind == "symptom" or (loser.kind == "explained" and loser.finding.rule in led_to)
    ]
    return _one_a_rule(sorted(consequences, key=lambda finding: finding.order))


def _why_outranked(finding: Finding, winner: Finding) -> str:
    if finding.role is Role.SYMPTOM and winner.role is Role.FAILURE:
        return "a symptom gives way to any failure"
    if finding.priority < winner.priority:
        return f"priority {finding.priority} is lower than {winner.priority}"
    if _place(finding) == _place(winner):
        return f"{winner.rule} with the same priority stands in the same line {winner.line}; the names decide"
    return f"{_told_place(winner)} with the same priority comes first"


def _lasting(rule: Rule, cause: Cause, run: Run) -> bool:
    """A transient cause is never lasting, whatever a rule says; nor is an experimental rule's, nor one that passed before."""
    trusted = rule.lasting is not False and rule.lifecycle != "experimental"
    return cause.lasting and trusted and not run.facts.get("passed_before")


def _unclaimed(harmless: tuple[Finding, ...], chain: tuple[Finding, ...]) -> tuple[Finding, ...]:
    used = {_place(finding) for finding in chain}
    return tuple(finding for finding in harmless if _place(finding) not in used)


def with_suspects(verdict: Verdict, suspects: tuple[Suspect, ...]) -> Verdict:
    """An UNKNOWN verdict that points at the lines which look most like an error; a line that a rule decided on stays first."""
    if not suspects:
        return verdict
    if verdict.deciding is not None and verdict.deciding.lines:
        return verdict._replace(suspects=suspects)
    return verdict._replace(line=suspects[0].line, reason=_one_line(suspects[0].text), suspects=suspects)


def _undecided(
    field: _Field, findings: list[Finding], run: Run, harmless: tuple[Finding, ...], *, ends_alarmingly: bool
) -> Verdict:
    """Step 7: PASS with a reason for it, or UNKNOWN."""
    why = None if ends_alarmingly else _reason_to_pass(findings, run, harmless, field)
    cause = field.rules.cause_of("unknown" if why is None else "none")
    return Verdict(
        status=cause.status, cause=cause.id, title=cause.title, line=None, rule=None,
        reason=why or "nothing in the log says how this run ended", lasting=cause.lasting, retry=cause.retry,
        attribution=cause.attribution, beaten=tuple(_one_loser_a_rule([*field.beaten, *field.silenced])),
        harmless=harmless,
    )  # fmt: skip


def _reason_to_pass(findings: list[Finding], run: Run, harmless: tuple[Finding, ...], field: _Field) -> str | None:
    ready = [finding for finding in findings if finding.role is Role.READY]
    if ready:
        return f"the engine got ready (line {ready[0].line})"
    ended = [finding for finding in findings if finding.role is Role.RUN_END]
    if ended:
        return f"the run ended in order (line {ended[-1].line})"
    calmed = [*harmless, *(loser.finding for loser in field.beaten)]
    last = run.tail[-1][0] if run.tail else 0
    if calmed and not run.phases and _goes_on(calmed, last, field):
        return "everything that looks like an error is known to be harmless, and the log goes on after it"
    return None


def _goes_on(calmed: list[Finding], last: int, field: _Field) -> bool:
    """Whether the log goes on after all that looks like an error, or ends with a remark that settles itself."""
    end = [finding for finding in calmed if not finding.evidence.file and max(finding.lines) >= last]
    return last > 0 and all(field.rule(finding).settles for finding in end)


def _one_a_rule(findings: list[Finding]) -> list[Finding]:
    """The first finding of each rule in each file, in the order given, resting on the lines of all of them there."""
    first: dict[tuple[str, str], Finding] = {}
    lines: dict[tuple[str, str], set[int]] = {}
    for finding in findings:
        one = (finding.rule, finding.evidence.file)
        first.setdefault(one, finding)
        lines.setdefault(one, set()).update(finding.lines)
    return [finding._replace(lines=tuple(sorted(lines[one]))) for one, finding in first.items()]


def _one_loser_a_rule(beaten: list[Beaten]) -> list[Beaten]:
    ordered = sorted(beaten, key=lambda loser: loser.finding.order)
    merged = _one_a_rule([loser.finding for loser in ordered])
    first: dict[tuple[str, str], Beaten] = {}
    for loser in ordered:
        first.setdefault((loser.finding.rule, loser.finding.evidence.file), loser)
    return [loser._replace(finding=finding) for loser, finding in zip(first.values(), merged, strict=True)]


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_REASON else line[: LONGEST_REASON - 1] + "…"
