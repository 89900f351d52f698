"""From drafts to linked rules: ids resolved, causes and remedies known, patterns compiled once, no circles."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping

from strata_diag.backtracking import count_repeats
from strata_diag.errors import Problem, ProblemCode
from strata_diag.literals import Choices, literal_choices, telling_apart
from strata_diag.model import Role, Status
from strata_diag.rulepack.build import DEFAULT_PRIORITY, Draft, DraftClause
from strata_diag.ruleset import Cause, Clause, Pattern, RemedyTemplate, Rule, compile_pattern, expand_ids

REFERENCES = ("unless", "yields_to", "explains", "cancels")
LONGEST_CIRCLE = 9  # rules that a message about a circle names


def link_rules(
    drafts: list[Draft],
    causes: Mapping[str, Cause],
    remedies: Mapping[str, RemedyTemplate],
    tracks: Mapping[str, tuple[str, ...]],
    problems: list[Problem],
) -> tuple[tuple[Rule, ...], tuple[Pattern, ...]]:
    """All rules with their patterns, numbered in the order of the drafts. Problems are added, never raised."""
    known = dict.fromkeys(draft.id for draft in drafts)
    _check_duplicates(drafts, problems)
    patterns: list[Pattern] = []
    choices: list[Choices] = []
    rules = []
    for number, draft in enumerate(drafts):
        clauses = {
            group: tuple(
                _clause(clause, number, draft, (patterns, choices), problems) for clause in draft.clauses[group]
            )
            for group in draft.clauses
        }
        _check_names(draft, causes, remedies, problems)
        linked = {key: _linked(draft, key, known, problems) for key in REFERENCES}
        linked["replaced_by"] = _replacement(draft, known, problems)
        track, phase = _phase(draft, tracks, problems)
        rules.append(_rule(number, draft, clauses, linked, track, phase))
    _check_circles(rules, problems)
    literals = telling_apart(choices)
    return tuple(rules), tuple(one._replace(literals=literals[one.number]) for one in patterns)


def _rule(
    number: int,
    draft: Draft,
    clauses: dict[str, tuple[Clause, ...]],
    linked: dict[str, tuple[str, ...]],
    track: str,
    phase: int,
) -> Rule:
    fields = draft.fields
    role = Role(fields["role"])
    samples = fields.get("samples", {})
    return Rule(
        number=number, id=draft.id, pack=draft.pack, pack_version=draft.pack_version, file=draft.file, line=draft.line,
        role=role, cause=fields.get("cause", ""), priority=fields.get("priority", DEFAULT_PRIORITY.get(role, 0)),
        title=fields["title"], why=fields.get("why", ""), any=clauses["any"], all=clauses["all"], none=clauses["none"],
        when=tuple(fields.get("when", ())), unless=linked["unless"], yields_to=linked["yields_to"],
        explains=linked["explains"], cancels=linked["cancels"], survives_ready=fields.get("survives_ready", False),
        settles=role is Role.INFO and fields.get("settles", False),
        track=track, phase=phase, repeats=fields.get("repeats", False), found_by=fields.get("found_by", ""),
        lasting=fields.get("lasting"), retry=fields.get("retry", ""), remedies=tuple(fields.get("remedies", ())),
        cause_remedies=fields.get("cause_remedies", True),
        references=tuple(fields.get("references", ())), sample_match=tuple(samples.get("match", ())),
        sample_no_match=tuple(samples.get("no_match", ())), applies=fields.get("applies", ""),
        lifecycle=fields.get("lifecycle", "stable"), replaced_by="".join(linked["replaced_by"]),
        override_place=fields.get("override_place", ""), overridden=fields.get("overridden", ""),
        silenced=fields.get("silenced", ""),
    )  # fmt: skip


def _clause(
    clause: DraftClause,
    rule: int,
    draft: Draft,
    gathered: tuple[list[Pattern], list[Choices]],
    problems: list[Problem],
) -> Clause:
    patterns, choices = gathered
    numbers = []
    for source, spot in zip(clause.patterns, clause.spots, strict=False):
        try:
            compile_pattern(source)
        except Exception as error:  # noqa: BLE001 - regex raises its own error, and others for absurd repeats
            what = f"the rule `{draft.id}` has a pattern that can't be compiled ({error}): {source:.80}"
            advice = "mend the pattern; escape ( ) [ ] { } . * + ? | \\ where they are meant literally"
            column = spot.column_in(source, getattr(error, "pos", None) or 0)
            problems.append(Problem(draft.file, spot.line, what, advice, column, ProblemCode.PATTERN))
        found = literal_choices(source)
        if clause.needs:
            needed = tuple((word.lower() if found.caseless else word).encode("utf-8") for word in clause.needs)
            found = found._replace(sets=(needed,))
        numbers.append(len(patterns))
        patterns.append(Pattern(len(patterns), rule, source, (), found.caseless, count_repeats(source)))
        choices.append(found)
    return Clause(clause.kind, tuple(numbers), clause.within, clause.at_least, clause.expression)


def _linked(draft: Draft, key: str, known: dict[str, None], problems: list[Problem]) -> tuple[str, ...]:
    """Full ids for the names in `yields_to` and its like; a name without a pack means the same pack."""
    return _full_ids(draft, key, draft.fields.get(key, ()), known, problems)


def _replacement(draft: Draft, known: dict[str, None], problems: list[Problem]) -> tuple[str, ...]:
    """The full id of the rule to use instead of a deprecated one."""
    wanted = draft.fields.get("replaced_by")
    found = _full_ids(draft, "replaced_by", (wanted,) if wanted else (), known, problems)
    if len(found) > 1:
        what = f"the rule `{draft.id}` names several rules in `replaced_by`"
        problems.append(draft.table.problem(draft.file, "replaced_by", what, "name one", ProblemCode.UNKNOWN_RULE))
    return found[:1]


def _full_ids(
    draft: Draft, key: str, names: Iterable[str], known: dict[str, None], problems: list[Problem]
) -> tuple[str, ...]:
    found: list[str] = []
    for name in names:
        full = name if "/" in name else f"{draft.pack}/{name}"
        matching = [one for one in expand_ids(full, known) if one != draft.id]
        if not matching:
            near = difflib.get_close_matches(full, [one for one in known if one != draft.id], 1, 0.75)
            what = f"the rule `{draft.id}` names `{name}` in `{key}`, and there is no such rule"
            advice = f"did you mean `{near[0]}`?" if near else "name a rule as pack/rule, or several with *"
            if full == draft.id:
                what, advice = f"the rule `{draft.id}` names itself in `{key}`", "take it out"
            problems.append(draft.table.problem(draft.file, key, what, advice, ProblemCode.UNKNOWN_RULE))
        found += matching
    return tuple(dict.fromkeys(found))


def _phase(draft: Draft, tracks: Mapping[str, tuple[str, ...]], problems: list[Problem]) -> tuple[str, int]:
    wanted = draft.fields.get("phase")
    if not wanted:
        return "", 0
    track, _, name = wanted.partition("/")
    if name in tracks.get(track, ()):
        return track, tracks[track].index(name)
    names = [f"{one}/{phase}" for one, phases in tracks.items() for phase in phases]
    near = difflib.get_close_matches(wanted, names, 1)
    advice = f"did you mean `{near[0]}`?" if near else "declare it under `phases:` of a pack"
    what = f"the rule `{draft.id}` names the unknown phase `{wanted}`"
    problems.append(draft.table.problem(draft.file, "phase", what, advice, ProblemCode.UNKNOWN_PHASE))
    return "", 0


def _check_names(
    draft: Draft, causes: Mapping[str, Cause], remedies: Mapping[str, RemedyTemplate], problems: list[Problem]
) -> None:
    cause = draft.fields.get("cause")
    if cause and cause not in causes:
        problems.append(_unknown(draft, "cause", cause, causes, "declare it in causes.yaml"))
    if cause and cause in causes and causes[cause].status is Status.PASS:
        what = f"the rule `{draft.id}` has the cause `{cause}`, which means PASS"
        advice = "use the role info for what is harmless information"
        problems.append(draft.table.problem(draft.file, "cause", what, advice, ProblemCode.CONTRADICTION))
    declare = "declare it in remedies.yaml or under `remedies:` of the pack"
    problems += [
        _unknown(draft, "remedies", action, remedies, declare)
        for action in draft.fields.get("remedies", ())
        if action not in remedies
    ]


def _unknown(draft: Draft, key: str, name: str, known: Iterable[str], declare: str) -> Problem:
    """The problem of a rule that names a cause or a remedy that nobody declares."""
    near = difflib.get_close_matches(name, known, 1)
    advice = f"did you mean `{near[0]}`?" if near else declare
    kind = {"cause": "cause", "remedies": "remedy"}[key]
    code = {"cause": ProblemCode.UNKNOWN_CAUSE, "remedies": ProblemCode.UNKNOWN_REMEDY}[key]
    return draft.table.problem(
        draft.file, key, f"the rule `{draft.id}` names the unknown {kind} `{name}`", advice, code
    )


def _check_duplicates(drafts: list[Draft], problems: list[Problem]) -> None:
    first: dict[str, Draft] = {}
    for draft in drafts:
        if draft.id in first:
            other = first[draft.id]
            problems.append(
                draft.table.problem(
                    draft.file,
                    "id",
                    f"the id `{draft.id}` stands twice (first in {other.file}:{other.line})",
                    "rename one of them",
                    ProblemCode.DUPLICATE_ID,
                )
            )
        first.setdefault(draft.id, draft)


def _check_circles(rules: list[Rule], problems: list[Problem]) -> None:
    """Rules that yield to each other in a circle, or veto each other in one, would leave no verdict at all."""
    yields = {rule.id: set(rule.yields_to) for rule in rules}
    for rule in rules:
        for symptom in rule.explains:
            yields[symptom].add(rule.id)
    vetoes = {rule.id: set(rule.unless) for rule in rules}
    by_id = {rule.id: rule for rule in rules}
    for edges, what, keys in (
        (yields, "yield to", "`yields_to` or `explains`"),
        (vetoes, "veto", "`unless`"),
    ):
        for circle in _circles(edges):
            shown = circle if len(circle) <= LONGEST_CIRCLE else [*circle[:LONGEST_CIRCLE], "...", circle[0]]
            rule = by_id[circle[0]]
            problems.append(
                Problem(
                    rule.file,
                    rule.line,
                    f"rules {what} each other in a circle: {' -> '.join(shown)}",
                    f"let the more specific one win: remove one {keys}",
                    code=ProblemCode.CIRCLE,
                )
            )


def _circles(edges: Mapping[str, Collection[str]]) -> Iterator[list[str]]:
    """The circles that a walk along the edges meets, each with its first rule once more at the end."""
    done: set[str] = set()
    for start in edges:
        path: dict[str, None] = {}
        waiting = [iter([start])]
        while waiting:
            node = next(waiting[-1], None)
            if node is None:
                waiting.pop()
                if path:
                    done.add(path.popitem()[0])
            elif node in path:
                walked = list(path)
                yield [*walked[walked.index(node) :], node]
            elif node not in done:
                path[node] = None
                waiting.append(iter(sorted(edges[node])))
