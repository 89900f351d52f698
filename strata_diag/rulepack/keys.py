"""The keys that each kind of table in a pack may hold, and the checks of their values.

A check returns None for a good value and otherwise what to do about it. The wording of a complaint is made in one place,
so that every table complains alike.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from strata_diag import expression
from strata_diag.errors import Problem, ProblemCode
from strata_diag.model import Role, Status
from strata_diag.versions import VersionRangeError, parse_range
from strata_diag.yamlfile import Table

RETRIES = (
    "now", "never", "after:card-free", "after:memory-free", "after:config-change", "after:engine-change",
    "after:driver-change", "after:model-change", "after:hardware-change",
)  # fmt: skip
ATTRIBUTIONS = ("user", "environment", "engine", "hardware")
SYSTEMS = ("any", "linux", "windows", "macos")
HIGHEST_PRIORITY = 999
LIFECYCLES = ("experimental", "stable", "deprecated")

Check = Callable[[Any], str | None]


class Key(NamedTuple):
    """One key of a table: how its value is checked, and whether it must be there."""

    check: Check
    required: bool = False


def text(value: Any) -> str | None:
    """A non-empty text. YAML's own readings (`no`, `1.10`) are no texts."""
    if isinstance(value, str) and value.strip():
        return None
    return "write a text, in quotes if YAML reads it as something else"


def name(value: Any) -> str | None:
    """A name in lower case with hyphens, as ids are."""
    plain = (
        isinstance(value, str)
        and value.replace("-", "").replace("_", "").replace(".", "").isalnum()
        and value == value.lower()
    )
    return None if plain or (isinstance(value, str) and "<<" in value) else "write a name in lower case with hyphens"


def number(lowest: int, highest: int) -> Check:
    """A whole number between two bounds."""

    def check(value: Any) -> str | None:
        good = isinstance(value, int) and not isinstance(value, bool) and lowest <= value <= highest
        return None if good else f"write a whole number from {lowest} to {highest}"

    return check


def flag(value: Any) -> str | None:
    """True or false."""
    return None if isinstance(value, bool) else "write true or false"


def one_of(*choices: str) -> Check:
    """One of a few words."""

    def check(value: Any) -> str | None:
        if value in choices:
            return None
        near = difflib.get_close_matches(str(value), choices, 1)
        return f"did you mean `{near[0]}`?" if near else f"write one of: {', '.join(choices)}"

    return check


def texts(value: Any) -> str | None:
    """A list of texts; an empty list is allowed."""
    good = isinstance(value, list) and all(isinstance(item, str) and item for item in value)
    return None if good else "write a list of texts"


def ascii_texts(value: Any) -> str | None:
    """A list of texts in ASCII: other letters have other bytes in other encodings, and a search for bytes would miss them."""
    wrong = texts(value)
    return wrong or (None if all(item.isascii() for item in value) else "write words of plain ASCII letters")


def table(value: Any) -> str | None:
    """A mapping."""
    return None if isinstance(value, dict) else "write a mapping (`key: value` lines, indented)"


def tables(value: Any) -> str | None:
    """A list of mappings."""
    good = isinstance(value, list) and all(isinstance(item, dict) for item in value)
    return None if good else "write a list of mappings (`- key: value`)"


def words(value: Any) -> str | None:
    """A mapping of texts."""
    good = isinstance(value, dict) and all(isinstance(item, str) and item for item in value.values())
    return None if good else "write a mapping of texts"


def conditions(value: Any) -> str | None:
    """A list of expressions."""
    wrong = texts(value)
    if wrong:
        return "write a list of comparisons such as `slots == 0`"
    for item in value:
        try:
            expression.parse(item)
        except expression.ExpressionError as error:
            return f"mend `{item}`: {error}"
    return None


def condition(value: Any) -> str | None:
    """One expression."""
    return conditions([value])


def version_range(value: Any) -> str | None:
    """A range of versions."""
    try:
        parse_range(value if isinstance(value, str) else "")
    except VersionRangeError as error:
        return f"write comparisons such as `engine >= 0.1.40, engine < 0.2`: {error}"
    return None


PACK: Mapping[str, Key] = {
    "pack": Key(name, required=True),
    "version": Key(number(1, 1_000_000), required=True),
    "about": Key(text, required=True),
    "engines": Key(texts),
    "settles": Key(flag),
    "applies": Key(version_range),
    "phases": Key(table),
    "remedies": Key(table),
    "overrides": Key(tables),
    "rules": Key(tables),
}
RULE: Mapping[str, Key] = {
    "id": Key(name, required=True),
    "role": Key(one_of(*Role), required=True),
    "cause": Key(text),
    "causes": Key(words),
    "expand": Key(name),
    "only": Key(texts),
    "except": Key(texts),
    "priority": Key(number(0, HIGHEST_PRIORITY)),
    "title": Key(text, required=True),
    "why": Key(text),
    "any": Key(tables),
    "all": Key(tables),
    "none": Key(tables),
    "found_by": Key(text),
    "when": Key(conditions),
    "unless": Key(texts),
    "yields_to": Key(texts),
    "explains": Key(texts),
    "cancels": Key(texts),
    "survives_ready": Key(flag),
    "settles": Key(flag),
    "phase": Key(text),
    "repeats": Key(flag),
    "lasting": Key(flag),
    "retry": Key(one_of(*RETRIES)),
    "remedies": Key(texts),
    "cause_remedies": Key(flag),
    "references": Key(texts),
    "applies": Key(version_range),
    "lifecycle": Key(one_of(*LIFECYCLES)),
    "replaced_by": Key(text),
    "samples": Key(table),
    "lint": Key(words),
}
CLAUSE: Mapping[str, Key] = {
    "regex": Key(text),
    "sequence": Key(texts),
    "near": Key(texts),
    "count": Key(text),
    "last": Key(text),
    "facts": Key(condition),
    "within": Key(number(1, 1000)),
    "at_least": Key(number(2, 1_000_000)),
    "needs": Key(ascii_texts),
}
SAMPLES: Mapping[str, Key] = {"match": Key(texts), "no_match": Key(texts)}
OVERRIDE: Mapping[str, Key] = {
    "rule": Key(text, required=True),
    "priority": Key(number(0, HIGHEST_PRIORITY)),
    "cause": Key(text),
    "remedies": Key(texts),
    "silence": Key(text),
    "reason": Key(text),
}
CAUSE: Mapping[str, Key] = {
    "status": Key(one_of(*Status), required=True),
    "title": Key(text, required=True),
    "about": Key(text),
    "lasting": Key(flag, required=True),
    "retry": Key(one_of(*RETRIES), required=True),
    "attribution": Key(one_of(*ATTRIBUTIONS), required=True),
    "remedies": Key(texts),
}
REMEDY: Mapping[str, Key] = {
    "text": Key(text),
    "texts": Key(texts),
    "commands": Key(words),
    "risk": Key(text),
    "link": Key(text),
    "when": Key(conditions),
    "compute": Key(words),
    "lint": Key(words),
}
ENTRY: Mapping[str, Key] = {
    "id": Key(name, required=True),
    "text": Key(text, required=True),
    "sample": Key(text, required=True),
    "cause": Key(text, required=True),
    "title": Key(text, required=True),
}


def check_table(found: Table, keys: Mapping[str, Key], what: str, file: str, problems: list[Problem]) -> bool:
    """Check every key and value of a table; adds to `problems`. Whether the table can be used."""
    before = len(problems)
    for key, value in found.items():
        if key not in keys:
            near = difflib.get_close_matches(key, keys, 2)
            advice = f"did you mean `{near[0]}`?" if near else f"{what} knows: {', '.join(keys)}"
            instead = near[0] if len(near) == 1 and near[0] not in found else ""
            said = f"unknown key `{key}` in {what}"
            problems.append(found.problem(file, key, said, advice, ProblemCode.UNKNOWN_KEY, instead))
            continue
        advice_or_none = keys[key].check(value)
        if advice_or_none:
            said = f"`{key}` of {what} has an unusable value ({value!r:.60})"
            problems.append(found.problem(file, key, said, advice_or_none, ProblemCode.UNUSABLE_VALUE))
    for key, rule in keys.items():
        if rule.required and key not in found:
            problems.append(found.problem(file, key, f"{what} lacks `{key}`", f"add `{key}:`", ProblemCode.MISSING_KEY))
    return len(problems) == before
