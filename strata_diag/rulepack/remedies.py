"""A remedy of a catalogue or of a pack: its keys checked, its wordings and formulas too."""

from __future__ import annotations

import string
from typing import Any

from strata_diag.errors import Problem, ProblemCode
from strata_diag.rulepack import keys
from strata_diag.ruleset import RemedyTemplate, RemedyText
from strata_diag.yamlfile import Table


def read_remedy(file: str, line: int, action: str, table: Any, problems: list[Problem]) -> RemedyTemplate | None:
    """A remedy of a catalogue or of a pack; None, with the problems added, where it can't be used."""
    label = f"the remedy `{action}`"
    if not isinstance(table, Table):
        what = f"{label} is no mapping"
        problems.append(Problem(file, line, what, "give it `text:`", code=ProblemCode.UNUSABLE_VALUE))
        return None
    if not keys.check_table(table, keys.REMEDY, label, file, problems):
        return None
    wordings = [*table.get("texts", ()), *([table["text"]] if "text" in table else [])]
    if not wordings:
        advice = "give it `text:`, or `texts:` with the most precise wording first"
        problems.append(Problem(file, line, f"{label} has no text", advice, code=ProblemCode.MISSING_KEY))
        return None
    problems += _value_problems(file, table, label)
    texts = tuple(RemedyText(wording, frozenset(_holes(wording))) for wording in wordings)
    problems += _text_problems(file, line, texts, label)
    return RemedyTemplate(
        action, texts, dict(table.get("commands", {})), table.get("risk", ""), table.get("link", ""),
        tuple(table.get("when", ())), tuple(table.get("compute", {}).items()),
    )  # fmt: skip


def _value_problems(file: str, table: Table, label: str) -> list[Problem]:
    """Commands for systems that don't exist, and formulas that can't be read."""
    found = [
        table["commands"].problem(
            file,
            system,
            f"{label} has a command for `{system}`",
            f"systems are: {', '.join(keys.SYSTEMS)}",
            ProblemCode.UNUSABLE_VALUE,
        )
        for system in table.get("commands", {})
        if system not in keys.SYSTEMS
    ]
    for name, formula in table.get("compute", {}).items():
        wrong = keys.condition(formula)
        if wrong:
            what = f"{label} computes `{name}` from `{formula}`"
            found.append(table["compute"].problem(file, name, what, wrong, ProblemCode.UNUSABLE_VALUE))
    return found


def _text_problems(file: str, line: int, texts: tuple[RemedyText, ...], label: str) -> list[Problem]:
    """Wordings that a log may leave without a value, and holes that can't be read."""
    found = []
    if all(text.names for text in texts):
        advice = "end `texts:` with one that needs no value: a log may be cut"
        what = f"{label} has no wording without a hole"
        found.append(Problem(file, line, what, advice, code=ProblemCode.WORDING))
    for text in texts:
        if not string.Template(text.text).is_valid():
            what = f"{label} has a broken hole in `{text.text:.50}`"
            advice = "write ${name}, and $$ for a dollar sign"
            found.append(Problem(file, line, what, advice, code=ProblemCode.WORDING))
    return found


def _holes(wording: str) -> list[str]:
    template = string.Template(wording)
    return template.get_identifiers() if template.is_valid() else []
