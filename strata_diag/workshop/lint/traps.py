"""YAML's traps: plain values that other readers take for something else than the text that their author meant.

`no` is a truth value, `1.10` the number 1.1, `010` the number 8, `12:30` the number 750. Our own reader keeps some of them as
texts; editors, other tools and the next reader don't.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from strata_diag.rulepack import keys
from strata_diag.workshop.lint.codes import YAML_NUMBER, YAML_OCTAL, YAML_OTHER, YAML_SEXAGESIMAL, YAML_TRUTH
from strata_diag.workshop.lint.subject import PackFile
from strata_diag.workshop.lint.violations import Fix, Violation
from strata_diag.yamlfile import TAGS, Items, Spot, Table

KNOWN_KEYS = {
    **keys.ENTRY,
    **keys.CAUSE,
    **keys.REMEDY,
    **keys.OVERRIDE,
    **keys.SAMPLES,
    **keys.CLAUSE,
    **keys.RULE,
    **keys.PACK,
}
READINGS = {
    YAML_TRUTH: "a truth value",
    YAML_NUMBER: "a number",
    YAML_OCTAL: "an octal number",
    YAML_SEXAGESIMAL: "a number to the base of 60",
    YAML_OTHER: "an empty value or a date",
}


class Trap(NamedTuple):
    """A trap, and the 1-based line of the key whose value it is part of."""

    violation: Violation
    key_line: int


def find_traps(file: PackFile) -> Iterator[Trap]:
    """The traps of one file, in order of lines."""
    for key, line, spot in _scalars(file.content, "", 0):
        written = file.text[spot.start : spot.end]
        code = None if spot.style else _trap(written)
        if code is None:
            continue
        if _expects_text(key):
            what = f"`{key}` holds {written}, which YAML reads as {READINGS[code]}"
            fix, advice = f"'{written}'", f"write '{written}' in quotes"
        elif code == YAML_OCTAL:
            what = f"`{key}` holds {written}, which YAML reads as {READINGS[code]}"
            fix = written.replace("_", "").lstrip("0") or "0"
            advice = f"write {fix}"
        else:
            continue
        change = Fix(spot.start, spot.end, fix)
        yield Trap(Violation(file.shown, spot.line, spot.column, code, what, advice, fix=change), line)


def _scalars(value: Any, key: str, line: int) -> Iterator[tuple[str, int, Spot]]:
    """(innermost known key, its line, place) of every value that is no collection."""
    if isinstance(value, Table):
        for name, item in value.items():
            inner = (name, value.lines[name]) if name in KNOWN_KEYS or not key else (key, line)
            yield from (
                _scalars(item, *inner) if isinstance(item, Table | Items) else iter([(*inner, value.spots[name])])
            )
    elif isinstance(value, Items):
        for item, spot in zip(value, value.spots, strict=True):
            yield from _scalars(item, key, line) if isinstance(item, Table | Items) else iter([(key, line, spot)])


def _expects_text(key: str) -> bool:
    known = KNOWN_KEYS.get(key)
    takes_truth_or_number = known is not None and (known.check(True) is None or known.check(7) is None)  # noqa: FBT003
    return not takes_truth_or_number


def _trap(written: str) -> str | None:
    """The code of what YAML 1.1 makes of a plain value; None for a text."""
    import yaml  # noqa: PLC0415 - as everywhere

    if not written:
        return None  # a key without a value, which loading refuses
    tag: str = yaml.resolver.Resolver().resolve(yaml.ScalarNode, written, (True, False))  # type: ignore[no-untyped-call]
    kind = tag.removeprefix(TAGS)
    if kind == "bool":
        return YAML_TRUTH
    if kind in ("int", "float"):
        digits = written.lstrip("+-")
        if ":" in written:
            return YAML_SEXAGESIMAL
        return (
            YAML_OCTAL
            if kind == "int" and len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()
            else YAML_NUMBER
        )
    return YAML_OTHER if kind in ("null", "timestamp") else None
