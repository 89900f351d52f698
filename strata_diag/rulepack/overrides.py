"""What a pack or a settings file changes of rules that others wrote: another priority, cause or advice, or silence.

    overrides:
      - rule: cuda-malloc/device-busy
        priority: 650
        reason: our cards are in exclusive mode on purpose
      - rule: server/port-in-use
        silence: a test of ours holds the port

Every change has a reason, and is said aloud: in the notices of each diagnosis, and by `strata-diag rules show`.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, NamedTuple

from strata_diag.errors import Problem, ProblemCode
from strata_diag.model import DECIDING_ROLES, Role, Status
from strata_diag.rulepack import keys
from strata_diag.rulepack.build import DEFAULT_PRIORITY, Draft
from strata_diag.ruleset import Cause, RemedyTemplate
from strata_diag.settings import Silence
from strata_diag.yamlfile import Items, Table

CHANGEABLE = ("priority", "cause", "remedies")


class Override(NamedTuple):
    """One change of one rule. changes: its fields by key, empty where the rule is silenced; reason: why."""

    rule: str
    file: str
    line: int
    changes: Mapping[str, Any]
    reason: str


def read_overrides(file: str, line: int, found: Any, problems: list[Problem]) -> list[Override]:
    """The list under `overrides:` of a file; what can't be used is added to `problems`."""
    if keys.tables(found) or not isinstance(found, Items):
        advice = "write a list of `- rule: pack/rule` with what changes and a reason"
        what = "`overrides` is no list of mappings"
        problems.append(Problem(file, line, what, advice, code=ProblemCode.UNUSABLE_VALUE))
        return []
    return [made for table in found if (made := _override(file, table, problems)) is not None]


def _override(file: str, table: Table, problems: list[Problem]) -> Override | None:
    label = f"the override of `{table.get('rule', '?')}`"
    if not keys.check_table(table, keys.OVERRIDE, label, file, problems):
        return None
    changes = {key: table[key] for key in CHANGEABLE if key in table}
    silence, reason = table.get("silence", ""), table.get("reason", "")
    for wrong, what, advice in (
        (bool(silence and (changes or reason)), "silences the rule and changes it", "keep `silence: <why>` alone"),
        (not silence and not changes, "changes nothing", f"give it {', '.join(CHANGEABLE)} or `silence: <why>`"),
        (not silence and not reason, "gives no reason", "write `reason:`, which every diagnosis shows"),
    ):
        if wrong:
            problems.append(table.problem(file, "", f"{label} {what}", advice, ProblemCode.CONTRADICTION))
            return None
    return Override(table["rule"], file, table.line, changes, silence or reason)


def silences(file: str, found: tuple[Silence, ...]) -> list[Override]:
    """The overrides that a settings file asks for."""
    return [Override(one.rule, file, one.line, {}, one.reason) for one in found]


def apply_overrides(
    drafts: list[Draft],
    overrides: list[Override],
    causes: Mapping[str, Cause],
    remedies: Mapping[str, RemedyTemplate],
    problems: list[Problem],
) -> list[Draft]:
    """The drafts as the overrides leave them. Problems are added, never raised."""
    by_rule: dict[str, Override] = {}
    known = {draft.id: draft for draft in drafts}
    for override in overrides:
        wrong = _problem(override, known, by_rule) or _wrong_name(override, known[override.rule], causes, remedies)
        if wrong is not None:
            problems.append(Problem(override.file, override.line, *wrong))
        else:
            by_rule[override.rule] = override
    return [_changed(draft, by_rule[draft.id]) if draft.id in by_rule else draft for draft in drafts]


def _problem(override: Override, known: Mapping[str, Draft], earlier: Mapping[str, Override]) -> tuple[str, str] | None:
    if override.rule not in known:
        near = difflib.get_close_matches(override.rule, known, 1)
        advice = f"did you mean `{near[0]}`?" if near else "name it as pack/rule; `strata-diag rules list` has all"
        return f"overrides the rule `{override.rule}`, and there is no such rule", advice
    if override.rule in earlier:
        first = earlier[override.rule]
        what = f"overrides the rule `{override.rule}` once more (first in {first.file}:{first.line})"
        return what, "keep one of them"
    return None


def _wrong_name(
    override: Override, draft: Draft, causes: Mapping[str, Cause], remedies: Mapping[str, RemedyTemplate]
) -> tuple[str, str] | None:
    cause = override.changes.get("cause")
    label = f"the override of `{override.rule}`"
    if cause and Role(draft.fields["role"]) not in DECIDING_ROLES:
        return (
            f"{label} gives it a cause, but its role is {draft.fields['role']}",
            "only failures and symptoms have causes",
        )
    if cause and (cause not in causes or causes[cause].status is Status.PASS):
        near = difflib.get_close_matches(cause, causes, 1)
        advice = f"did you mean `{near[0]}`?" if near and near[0] != cause else "name a failure's cause of causes.yaml"
        return f"{label} names the cause `{cause}`, which no failure has", advice
    unknown = next((action for action in override.changes.get("remedies", ()) if action not in remedies), None)
    if unknown:
        near = difflib.get_close_matches(unknown, remedies, 1)
        advice = f"did you mean `{near[0]}`?" if near else "declare it in remedies.yaml or under `remedies:` of a pack"
        return f"{label} names the unknown remedy `{unknown}`", advice
    return None


def _changed(draft: Draft, override: Override) -> Draft:
    place = f"{override.file}:{override.line}"
    if not override.changes:
        fields = {**draft.fields, "silenced": override.reason, "override_place": place}
        # as though it weren't there; of a rule that decides, what it would have said is still shown
        silent = Role(draft.fields["role"]) not in DECIDING_ROLES
        return draft._replace(fields=fields, clauses=dict.fromkeys(draft.clauses, ()) if silent else draft.clauses)
    was = {"priority": DEFAULT_PRIORITY.get(Role(draft.fields["role"]), 0), **draft.fields}
    told = [f"{key} {_shown(was.get(key))} became {_shown(value)}" for key, value in override.changes.items()]
    words = f"{', '.join(told)}: {override.reason}"
    return draft._replace(fields={**draft.fields, **override.changes, "overridden": words, "override_place": place})


def _shown(value: Any) -> str:
    return (", ".join(value) or "none") if isinstance(value, list) else str(value or "none")
