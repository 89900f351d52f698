"""Options in texts: one that the program doesn't have sends a person astray.

Which options there are is data: `flags:` in a file beside the packs, a list for each program. Texts of packs are checked whose
engines all have such a list, and those of the catalogues beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from strata_diag.rulepack.load import FLAGS
from strata_diag.workshop.lint.codes import UNKNOWN_FLAG
from strata_diag.workshop.lint.subject import NOWHERE, PackFile, Subject, spot_of
from strata_diag.workshop.lint.violations import Violation
from strata_diag.workshop.lint.wording import did_you_mean
from strata_diag.yamlfile import Items, Table

_FLAG = re.compile(r"(?<![\w<>$/-])--[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


class Catalogue(NamedTuple):
    """What is known of options. programs: that have a list; flags: of all of them; folders: in which a list stands."""

    programs: frozenset[str]
    flags: frozenset[str]
    folders: frozenset[Path]


def check(subject: Subject) -> Iterator[Violation]:
    """Every option that a rule's or a remedy's text names."""
    catalogue = _catalogue(subject)
    for file in subject.files:
        if _is_judged(file, catalogue):
            for key in ("rules", "remedies"):
                yield from _unknown(file, key, catalogue.flags)


def _catalogue(subject: Subject) -> Catalogue:
    files = [file for file in (*subject.others, *subject.files) if isinstance(file.content.get(FLAGS), Table)]
    lists = [item for file in files for item in file.content[FLAGS].items()]
    return Catalogue(
        frozenset(program for program, _ in lists),
        frozenset(flag for _, flags in lists for flag in flags),
        frozenset(Path(file.shown).parent for file in files),
    )


def _is_judged(file: PackFile, catalogue: Catalogue) -> bool:
    """Whether the options of every program that a file speaks of are known."""
    engines = file.content.get("engines")
    if isinstance(engines, Items):
        return bool(engines) and set(engines) <= catalogue.programs
    return "pack" not in file.content and Path(file.shown).parent in catalogue.folders


def _unknown(file: PackFile, key: str, known: frozenset[str]) -> Iterator[Violation]:
    tables = file.content.get(key)
    named = tables.items() if isinstance(tables, Table) else enumerate(tables if isinstance(tables, Items) else ())
    for step, table in named:
        if not isinstance(table, Table):
            continue
        label = f"the remedy `{step}`" if key == "remedies" else f"the rule `{file.content['pack']}/{table.get('id')}`"
        for path, text in _prose(table):
            for flag in dict.fromkeys(_FLAG.findall(text)):
                if flag not in known:
                    spot = spot_of(file.content, (key, step, *path)) or NOWHERE
                    what = f"{label} names {flag}, which no program of the list has"
                    advice = did_you_mean(flag, known, f"if it exists, add it to the `{FLAGS}:` of its program")
                    yield Violation(file.shown, spot.line, spot.column, UNKNOWN_FLAG, what, advice)


def _prose(table: Table) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """What a person reads of a rule or a remedy: (where, text)."""
    for key in ("title", "why", "text", "risk"):
        if key in table:
            yield (key,), table[key]
    for index, text in enumerate(table.get("texts", ())):
        yield ("texts", index), text
    for system, command in table.get("commands", {}).items():
        yield ("commands", system), command
