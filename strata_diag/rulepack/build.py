"""From the table of a rule to a draft: keys checked, vocabulary expanded, clauses made, references still by name."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from typing import Any, NamedTuple

from strata_diag import expression
from strata_diag.errors import Problem
from strata_diag.model import DECIDING_ROLES, Role
from strata_diag.rulepack import keys
from strata_diag.ruleset import RemedyTemplate, RemedyText
from strata_diag.yamlfile import Items, Table

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
    """A clause whose patterns are still texts."""

    kind: str
    patterns: tuple[str, ...]
    needs: tuple[str, ...]
    within: int
    at_least: int
    expression: str
    line: int


class Draft(NamedTuple):
    """A rule before linking: `fields` as written, expanded; `clauses` by group (any, all, none)."""

    id: str
    pack: str
    pack_version: int
    file: str
    line: int
    lines: Mapping[str, int]
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
    if vocabulary not in vocabularies:
        problems.append(
            Problem(
                file,
                table.lines["expand"],
                f"{label} expands the unknown vocabulary `{vocabulary}`",
                f"there are: {', '.join(vocabularies) or 'none'}",
            )
        )
        return []
    token = f"<<{vocabulary}>>"
    if token not in table["id"]:
        problems.append(
            Problem(
                file,
                table.lines["id"],
                f"{label} expands a vocabulary but its id lacks {token}",
                "each entry needs an id of its own",
            )
        )
        return []
    entries = vocabularies[vocabulary]
    wanted, left_out = table.get("only"), table.get("except", ())
    known = {entry.id for entry in entries}
    for key in ("only", "except", "causes"):
        for name in table.get(key, ()):
            if name not in known:
                problems.append(
                    Problem(
                        file,
                        table.lines[key],
                        f"{label} names `{name}`, which the vocabulary `{vocabulary}` lacks",
                        f"there are: {', '.join(sorted(known))}",
                    )
                )
    chosen = [entry for entry in entries if (wanted is None or entry.id in wanted) and entry.id not in left_out]
    return [_draft(file, pack, table, _filled(table, token, entry, entries), problems) for entry in chosen]


def _expands_nothing(file: str, table: Table, label: str) -> list[Problem]:
    """What only means something in a rule that expands a vocabulary."""
    found = [
        Problem(file, table.lines[key], f"{label} has `{key}` without `expand`", "write `expand:` with a vocabulary")
        for key in ("only", "except", "causes")
        if key in table
    ]
    token = TOKEN.search(table["id"])
    if token:
        advice = f"write `expand: {token.group(1)}` if that is a vocabulary"
        found.append(
            Problem(file, table.lines["id"], f"{label} has {token.group()} in its id and expands nothing", advice)
        )
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
        made.lines = list(getattr(value, "lines", ()))
        return made
    if isinstance(value, Table):
        copy = Table(value.line)
        copy.lines = value.lines
        for key, item in value.items():
            copy[key] = _replaced(item, token, text)
        return copy
    return value


def _draft(file: str, pack: Table, table: Table, fields: Mapping[str, Any], problems: list[Problem]) -> Draft:
    fields = {"settles": pack.get("settles", False), **fields}
    name = str(pack.get("pack"))
    clauses = {
        group: tuple(
            clause
            for item in fields.get(group, ())
            if (clause := _clause(file, item, fields["id"], problems)) is not None
        )
        for group in ("any", "all", "none")
    }
    version = pack.get("version")
    draft = Draft(
        f"{name}/{fields['id']}",
        name,
        version if isinstance(version, int) else 0,
        file,
        table.line,
        table.lines,
        fields,
        clauses,
    )
    _check_sense(draft, problems)
    return draft


def _clause(file: str, table: Table, rule: str, problems: list[Problem]) -> DraftClause | None:
    label = f"a clause of the rule `{rule}`"
    if not keys.check_table(table, keys.CLAUSE, label, file, problems):
        return None
    kinds = [kind for kind in CLAUSE_KINDS if kind in table]
    if len(kinds) != 1:
        problems.append(
            Problem(
                file,
                table.line,
                f"{label} has {len(kinds) or 'no'} kinds",
                f"give it exactly one of {', '.join(CLAUSE_KINDS)}",
            )
        )
        return None
    kind = kinds[0]
    value = table[kind]
    patterns = () if kind == "facts" else tuple(value) if isinstance(value, list) else (value,)
    problems += _clause_problems(file, table, kind, patterns, label)
    if kind in ("sequence", "near") and len(patterns) < 2:  # noqa: PLR2004 - a pair is what the words mean
        problems.append(
            Problem(file, table.line, f"{label}: `{kind}` needs two patterns or more", "use `regex` for one")
        )
    return DraftClause(
        kind, patterns, tuple(table.get("needs", ())), table.get("within", DEFAULT_WITHIN.get(kind, 0)),
        table.get("at_least", 1), value if kind == "facts" else "", table.line,
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
    return [Problem(file, table.line, what, advice) for what, advice in found]


def _check_sense(draft: Draft, problems: list[Problem]) -> None:
    """What the keys of a rule must say together, by its role."""
    role = Role(draft.fields["role"])
    wishes: list[tuple[bool, str, str]] = [
        (
            role in DECIDING_ROLES and not draft.fields.get("cause"),
            "has no cause",
            "name one of causes.yaml: a failure without a cause can't be advised",
        ),
        (
            role not in DECIDING_ROLES and bool(draft.fields.get("cause")),
            f"has a cause but the role {role}",
            "only failures and symptoms have causes",
        ),
        (
            role is Role.RECOVERY and not draft.fields.get("cancels"),
            "cancels nothing",
            "name in `cancels` the rules that it takes back",
        ),
        (
            role is not Role.RECOVERY and bool(draft.fields.get("cancels")),
            "has `cancels` without being a recovery",
            "use the role recovery",
        ),
        (
            role is Role.RUN_START and not draft.fields.get("phase"),
            "starts a run without a phase",
            "write `phase: track/name`",
        ),
        (
            not any(draft.fields.get(key) for key in ("found_by", "any", "all")),
            "has nothing to match",
            "give it `any` or `all`",
        ),
        (
            bool(draft.fields.get("found_by")) and any(draft.fields.get(group) for group in draft.clauses),
            "has clauses and `found_by`",
            "a plugin finds it or a pattern does, not both",
        ),
    ]
    for wrong, what, advice in wishes:
        if wrong:
            problems.append(Problem(draft.file, draft.line, f"the rule `{draft.id}` {what}", advice))


def read_remedy(file: str, line: int, action: str, table: Any, problems: list[Problem]) -> RemedyTemplate | None:
    """A remedy of a catalogue or of a pack; None, with the problems added, where it can't be used."""
    label = f"the remedy `{action}`"
    if not isinstance(table, Table):
        problems.append(Problem(file, line, f"{label} is no mapping", "give it `text:`"))
        return None
    if not keys.check_table(table, keys.REMEDY, label, file, problems):
        return None
    wordings = [*table.get("texts", ()), *([table["text"]] if "text" in table else [])]
    if not wordings:
        problems.append(
            Problem(
                file, line, f"{label} has no text", "give it `text:`, or `texts:` with the most precise wording first"
            )
        )
        return None
    for system in table.get("commands", {}):
        if system not in keys.SYSTEMS:
            problems.append(
                Problem(
                    file,
                    table.lines["commands"],
                    f"{label} has a command for `{system}`",
                    f"systems are: {', '.join(keys.SYSTEMS)}",
                )
            )
    for value_name, formula in table.get("compute", {}).items():
        wrong = keys.condition(formula)
        if wrong:
            problems.append(
                Problem(file, table.lines["compute"], f"{label} computes `{value_name}` from `{formula}`", wrong)
            )
    texts = tuple(RemedyText(wording, frozenset(_holes(wording))) for wording in wordings)
    if all(text.names for text in texts):
        problems.append(
            Problem(
                file,
                line,
                f"{label} has no wording without a hole",
                "end `texts:` with one that needs no value: a log may be cut",
            )
        )
    for text in texts:
        if not string.Template(text.text).is_valid():
            problems.append(
                Problem(
                    file,
                    line,
                    f"{label} has a broken hole in `{text.text:.50}`",
                    "write ${name}, and $$ for a dollar sign",
                )
            )
    return RemedyTemplate(
        action, texts, dict(table.get("commands", {})), table.get("risk", ""), table.get("link", ""),
        tuple(table.get("when", ())), tuple(table.get("compute", {}).items()),
    )  # fmt: skip


def _holes(wording: str) -> list[str]:
    template = string.Template(wording)
    return template.get_identifiers() if template.is_valid() else []


__all__ = ["Draft", "DraftClause", "Entry", "expand_rule", "expression", "read_remedy"]
