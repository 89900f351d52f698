"""From the table of a rule to a draft: keys checked, vocabulary expanded, clauses made, references still by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from strata_diag.errors import Problem, ProblemCode
from strata_diag.model import Role
from strata_diag.rulepack import keys
from strata_diag.rulepack.sense import CLAUSE_GROUPS, CUTTING_ROLES, contradictions
from strata_diag.yamlfile import Items, Spot, Table

CLAUSE_KINDS = ("regex", "sequence", "near", "count", "last", "facts")
DEFAULT_WITHIN = {"sequence": 5, "near": 5, "last": 1}  # lines
TOKEN = re.compile(r"<<([a-z][a-z0-9_.-]*)>>")  # where a vocabulary's words go
DEFAULT_PRIORITY = {Role.INFO: 950, Role.FAILURE: 600, Role.SYMPTOM: 300}


class Entry(NamedTuple):
    """One text of a vocabulary: how it reads (a pattern), a sample of it, what it means, and how a title says it."""

    id: str
    text: str
    sample: str
    cause: str
    title: str


class DraftClause(NamedTuple):
    """A clause whose patterns are still texts; `spots`: where each of them stands."""

    kind: str
    patterns: tuple[str, ...]
    needs: tuple[str, ...]
    within: int
    at_least: int
    expression: str
    spots: tuple[Spot, ...]


class Draft(NamedTuple):
    """A rule before linking: `table` as written, `fields` expanded; `clauses` by group (any, all, none)."""

    id: str
    pack: str
    pack_version: int
    file: str
    line: int
    table: Table
    fields: Mapping[str, Any]
    clauses: Mapping[str, tuple[DraftClause, ...]]


def expand_rule(
    file: str, pack: Table, table: Table, vocabularies: Mapping[str, tuple[Entry, ...]], problems: list[Problem]
) -> list[Draft]:
    """The drafts of one rule: one, or one for each entry of the vocabulary that it expands."""
    label = f"the rule `{table.get('id', '?')}`"
    sound = keys.check_table(table, keys.RULE, label, file, problems)
    if isinstance(table.get("samples"), Table):
        sound &= keys.check_table(table["samples"], keys.SAMPLES, f"the samples of {label}", file, problems)
    if not sound:
        return []
    vocabulary = table.get("expand")
    if vocabulary is None:
        problems += _expands_nothing(file, table, label)
        return [_draft(file, pack, table, table, problems)]
    wrong = _cannot_expand(file, table, label, vocabularies)
    if wrong is not None:
        problems.append(wrong)
        return []
    entries = vocabularies[vocabulary]
    problems += _unknown_entries(file, table, label, {entry.id for entry in entries})
    wanted, left_out = table.get("only"), table.get("except", ())
    chosen = [entry for entry in entries if (wanted is None or entry.id in wanted) and entry.id not in left_out]
    token = _token(vocabulary)
    return [_draft(file, pack, table, _filled(table, token, entry, entries), problems) for entry in chosen]


def _token(vocabulary: str) -> str:
    """How a rule writes the place of a vocabulary's words."""
    return f"<<{vocabulary}>>"


def _cannot_expand(
    file: str, table: Table, label: str, vocabularies: Mapping[str, tuple[Entry, ...]]
) -> Problem | None:
    """Why a rule can't expand the vocabulary that it names, or None."""
    vocabulary = table["expand"]
    if vocabulary not in vocabularies:
        what = f"{label} expands the unknown vocabulary `{vocabulary}`"
        advice = f"there are: {', '.join(vocabularies) or 'none'}"
        return table.problem(file, "expand", what, advice, ProblemCode.VOCABULARY)
    token = _token(vocabulary)
    if token not in table["id"]:
        what = f"{label} expands a vocabulary but its id lacks {token}"
        return table.problem(file, "id", what, "each entry needs an id of its own", ProblemCode.VOCABULARY)
    return None


def _unknown_entries(file: str, table: Table, label: str, known: set[str]) -> list[Problem]:
    """Entries that a rule picks, leaves out or gives a cause, and that its vocabulary lacks."""
    advice = f"there are: {', '.join(sorted(known))}"
    return [
        table.problem(
            file,
            key,
            f"{label} names `{name}`, which the vocabulary `{table['expand']}` lacks",
            advice,
            ProblemCode.VOCABULARY,
        )
        for key in ("only", "except", "causes")
        for name in table.get(key, ())
        if name not in known
    ]


def _expands_nothing(file: str, table: Table, label: str) -> list[Problem]:
    """What only means something in a rule that expands a vocabulary."""
    found = [
        table.problem(
            file,
            key,
            f"{label} has `{key}` without `expand`",
            "write `expand:` with a vocabulary",
            ProblemCode.VOCABULARY,
        )
        for key in ("only", "except", "causes")
        if key in table
    ]
    token = TOKEN.search(table["id"])
    if token:
        advice = f"write `expand: {token.group(1)}` if that is a vocabulary"
        what = f"{label} has {token.group()} in its id and expands nothing"
        found.append(table.problem(file, "id", what, advice, ProblemCode.VOCABULARY))
    return found


def _filled(table: Table, token: str, entry: Entry, entries: tuple[Entry, ...]) -> dict[str, Any]:
    """The fields of a rule with a vocabulary's token replaced by one entry, in patterns, texts and samples."""
    words = {
        "any": entry.text,
        "all": entry.text,
        "none": entry.text,
        "id": entry.id,
        "title": entry.title,
        "why": entry.title,
    }
    fields = {
        key: _replaced(value, token, words.get(key, entry.id))
        for key, value in table.items()
        if key not in ("samples", "causes")
    }
    fields["cause"] = table.get("causes", {}).get(entry.id, table.get("cause", entry.cause))
    samples = table.get("samples", {})
    other = next((one for one in entries if one.sample not in entry.sample and entry.sample not in one.sample), entry)
    own = _replaced(samples.get("match", []), token, entry.sample)
    wrong = _replaced(samples.get("no_match", []), token, other.sample)
    if other is not entry:
        wrong = [*wrong, *_replaced([text for text in samples.get("match", []) if token in text], token, other.sample)]
    fields["samples"] = {"match": own, "no_match": wrong}
    return fields


def _replaced(value: Any, token: str, text: str) -> Any:
    if isinstance(value, str):
        return value.replace(token, text)
    if isinstance(value, list):
        made = Items()
        made += [_replaced(item, token, text) for item in value]
        made.lines, made.spots = list(getattr(value, "lines", ())), list(getattr(value, "spots", ()))
        return made
    if isinstance(value, Table):
        copy = Table(value.line, value.column)
        copy.place_as(value)
        for key, item in value.items():
            copy[key] = _replaced(item, token, text)
        return copy
    return value


def _draft(file: str, pack: Table, table: Table, fields: Mapping[str, Any], problems: list[Problem]) -> Draft:
    fields = {**_pack_wide(pack, fields), **fields}
    name = str(pack.get("pack"))
    clauses = {
        group: tuple(
            clause
            for item in fields.get(group, ())
            if (clause := _clause(file, item, fields["id"], problems)) is not None
        )
        for group in CLAUSE_GROUPS
    }
    version = pack.get("version")
    draft = Draft(
        f"{name}/{fields['id']}",
        name,
        version if isinstance(version, int) else 0,
        file,
        table.line,
        table,
        fields,
        clauses,
    )
    problems += [
        table.problem(file, "", f"the rule `{draft.id}` {what}", advice, ProblemCode.CONTRADICTION)
        for what, advice in contradictions(fields)
    ]
    return draft


def _pack_wide(pack: Table, fields: Mapping[str, Any]) -> dict[str, Any]:
    """What the header of a pack says for all its rules. Which version runs is known only once a run has begun."""
    said = {"settles": pack.get("settles", False)}
    if "applies" in pack and fields["role"] not in CUTTING_ROLES:
        said["applies"] = pack["applies"]
    return said


def _clause(file: str, table: Table, rule: str, problems: list[Problem]) -> DraftClause | None:
    label = f"a clause of the rule `{rule}`"
    if not keys.check_table(table, keys.CLAUSE, label, file, problems):
        return None
    kinds = [kind for kind in CLAUSE_KINDS if kind in table]
    if len(kinds) != 1:
        problems.append(
            table.problem(
                file,
                "",
                f"{label} has {len(kinds) or 'no'} kinds",
                f"give it exactly one of {', '.join(CLAUSE_KINDS)}",
                ProblemCode.CONTRADICTION,
            )
        )
        return None
    kind = kinds[0]
    value = table[kind]
    patterns = () if kind == "facts" else tuple(value) if isinstance(value, list) else (value,)
    problems += _clause_problems(file, table, kind, patterns, label)
    if kind in ("sequence", "near") and len(patterns) < 2:  # noqa: PLR2004 - a pair is what the words mean
        problems.append(
            table.problem(
                file,
                kind,
                f"{label}: `{kind}` needs two patterns or more",
                "use `regex` for one",
                ProblemCode.CONTRADICTION,
            )
        )
    return DraftClause(
        kind, patterns, tuple(table.get("needs", ())), table.get("within", DEFAULT_WITHIN.get(kind, 0)),
        table.get("at_least", 1), value if kind == "facts" else "",
        tuple(value.spots) if isinstance(value, Items) else (table.spots[kind],),
    )  # fmt: skip


def _clause_problems(file: str, table: Table, kind: str, patterns: tuple[str, ...], label: str) -> list[Problem]:
    """Keys that this kind of clause doesn't ask, and words of a vocabulary that nothing fills in."""
    found = []
    if "within" in table and kind not in DEFAULT_WITHIN:
        found.append((f"{label} has `within` beside `{kind}`", f"`within` goes with {', '.join(DEFAULT_WITHIN)}"))
    if "at_least" in table and kind != "count":
        found.append((f"{label} has `at_least` beside `{kind}`", "`at_least` goes with count"))
    for token in dict.fromkeys(name for pattern in patterns for name in TOKEN.findall(pattern)):
        advice = f"write `expand: {token}` if that is a vocabulary, else `<{{2}}` for two such signs"
        found.append((f"{label} has <<{token}>> in a pattern, and nothing fills it in", advice))
    return [table.problem(file, "", what, advice, ProblemCode.CONTRADICTION) for what, advice in found]
