"""Where the parts of a rule stand in its file: a complaint about a sample names the sample's own line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from strata_diag.errors import Problem
from strata_diag.ruleset import Rule
from strata_diag.yamlfile import Items, Table, read_yaml


class Places:
    """Finds lines in pack files, each read once; where a part can't be found, the line of its rule stands for it."""

    def __init__(self) -> None:
        self._rules: dict[str, dict[int, Table]] = {}

    def sample(self, rule: Rule, kind: str, index: int) -> int:
        """The line of a sample. kind: match | no_match; index: its place among the rule's samples of that kind."""
        samples = self._table(rule).get("samples")
        return _item_line(samples.get(kind) if isinstance(samples, Table) else None, index, rule.line)

    def clause(self, rule: Rule, group: str, index: int) -> int:
        """The line of a clause. group: any | all | none; index: its place in the group."""
        return _item_line(self._table(rule).get(group), index, rule.line)

    def key(self, rule: Rule, key: str) -> int:
        """The line of a key of the rule, such as `samples`."""
        return self._table(rule).lines.get(key, rule.line)

    def _table(self, rule: Rule) -> Table:
        if rule.file not in self._rules:
            self._rules[rule.file] = _tables(Path(rule.file))
        return self._rules[rule.file].get(rule.line, Table(rule.line))


def _tables(path: Path) -> dict[int, Table]:
    """The rules of a pack file by their lines; nothing for a pack that is no file."""
    if not path.is_file():
        return {}
    problems: list[Problem] = []  # the pack was loaded, so whatever is wrong with it was said then
    content = read_yaml(path, str(path), problems)
    rules = content.get("rules") if content is not None else None
    return {table.line: table for table in rules if isinstance(table, Table)} if isinstance(rules, Items) else {}


def _item_line(items: Any, index: int, otherwise: int) -> int:
    return items.lines[index] if isinstance(items, Items) and index < len(items) else otherwise
