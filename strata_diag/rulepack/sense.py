"""What the keys of a rule must say together: each wish by itself, so that a message says exactly what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from strata_diag.model import DECIDING_ROLES, Role

CLAUSE_GROUPS = ("any", "all", "none")
CUTTING_ROLES = frozenset({Role.RUN_START, Role.RUN_END})  # decide where a run begins and ends


def contradictions(fields: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What is wrong between the keys of a rule, and what to do about it."""
    wishes = (*_by_role(fields), *_by_matching(fields), *_by_lifecycle(fields))
    return [(what, advice) for wrong, what, advice in wishes if wrong]


def _by_role(fields: Mapping[str, Any]) -> tuple[tuple[bool, str, str], ...]:
    role = Role(fields["role"])
    decides, cause, cancels = role in DECIDING_ROLES, bool(fields.get("cause")), bool(fields.get("cancels"))
    return (
        (
            decides and not cause,
            "has no cause",
            "name one of causes.yaml: a failure without a cause can't be advised",
        ),
        (
            cause and not decides,
            f"has a cause but the role {role}",
            "only failures and symptoms have causes",
        ),
        (
            role is Role.RECOVERY and not cancels,
            "cancels nothing",
            "name in `cancels` the rules that it takes back",
        ),
        (
            cancels and role is not Role.RECOVERY,
            "has `cancels` without being a recovery",
            "use the role recovery",
        ),
        (
            role is Role.RUN_START and not fields.get("phase"),
            "starts a run without a phase",
            "write `phase: track/name`",
        ),
        (
            role in CUTTING_ROLES and "applies" in fields,
            f"has `applies` and the role {role}",
            "take it out: which version runs is known only once the run has begun",
        ),
    )


def _by_matching(fields: Mapping[str, Any]) -> tuple[tuple[bool, str, str], ...]:
    return (
        (
            not any(fields.get(key) for key in ("found_by", "any", "all")),
            "has nothing to match",
            "give it `any` or `all`",
        ),
        (
            bool(fields.get("found_by")) and any(fields.get(group) for group in CLAUSE_GROUPS),
            "has clauses and `found_by`",
            "a plugin finds it or a pattern does, not both",
        ),
    )


def _by_lifecycle(fields: Mapping[str, Any]) -> tuple[tuple[bool, str, str], ...]:
    deprecated, replaced = fields.get("lifecycle") == "deprecated", "replaced_by" in fields
    return (
        (
            deprecated and not replaced,
            "is deprecated and names no other",
            "write `replaced_by: pack/rule`, or remove the rule",
        ),
        (
            replaced and not deprecated,
            "has `replaced_by` without being deprecated",
            "write `lifecycle: deprecated`",
        ),
    )
