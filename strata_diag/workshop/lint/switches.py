"""What an author switched off for one rule or remedy, and why: `lint: {SD205: the program prints nothing else}`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from strata_diag.workshop.lint.codes import BY_NAME, CODES, UNKNOWN_SWITCH, USELESS_SWITCH
from strata_diag.workshop.lint.subject import PackFile
from strata_diag.workshop.lint.violations import Violation
from strata_diag.yamlfile import Items, Table

KEY = "lint"


class Switch(NamedTuple):
    """One code that is switched off between two lines of a file, and where it says so."""

    file: str
    first_line: int
    last_line: int
    code: str
    line: int
    column: int


def read_switches(files: Iterable[PackFile]) -> list[Switch]:
    """The switches of all rules and remedies."""
    return [switch for file in files for table, end in _spans(file) for switch in _switches(file, table, end)]


def _spans(file: PackFile) -> Iterator[tuple[Table, int]]:
    """Each table that may hold a switch, with its last line."""
    remedies, rules = file.content.get("remedies"), file.content.get("rules")
    found = [(remedies[name], remedies.spots[name]) for name in remedies] if isinstance(remedies, Table) else []
    found += list(zip(rules, rules.spots, strict=True)) if isinstance(rules, Items) else []
    for table, spot in found:
        if isinstance(table, Table):
            yield table, file.text[: spot.end].rstrip().count("\n") + 1


def _switches(file: PackFile, table: Table, end: int) -> Iterator[Switch]:
    switched = table.get(KEY)
    if not isinstance(switched, Table):
        return
    for code in switched:
        yield Switch(file.shown, table.line, end, code, switched.lines[code], switched.columns[code])


def apply_switches(
    found: list[Violation], switches: list[Switch], looked_for: frozenset[str]
) -> tuple[list[Violation], list[Violation]]:
    """(what stays, what was switched off). A switch of a code that is looked for and found nothing is a violation itself."""
    kept: list[Violation] = []
    hidden: list[Violation] = []
    used: set[Switch] = set()
    for violation in found:
        switch = next((one for one in switches if _switches_off(one, violation)), None)
        if switch is None:
            kept.append(violation)
        else:
            used.add(switch)
            hidden.append(violation)
    for switch in switches:
        code = CODES.get(switch.code)
        place = (switch.file, switch.line, switch.column)
        if code is None or code.loads:
            named = BY_NAME.get(switch.code)
            advice = (
                f"write {named.id}" if named and not named.loads else "take it out; `rules lint --list-codes` has all"
            )
            what = f"switches off `{switch.code}`, which is no code that can be switched off"
            kept.append(Violation(*place, UNKNOWN_SWITCH, what, advice))
        elif switch not in used and switch.code in looked_for:
            what = f"switches off {switch.code}, and nothing of that kind is found"
            kept.append(Violation(*place, USELESS_SWITCH, what, "take it out, so that it hides nothing later"))
    return kept, hidden


def _switches_off(switch: Switch, violation: Violation) -> bool:
    inside = switch.file == violation.file and switch.first_line <= violation.line <= switch.last_line
    return inside and switch.code == violation.code and not CODES[violation.code].loads
