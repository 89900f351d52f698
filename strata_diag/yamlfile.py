"""YAML files read so that every later complaint can name the line.

Comes in: a path or text. Goes out: plain lists, strings, numbers and `Table`s (dicts that know where each key stands),
and the problems found. Refused: anchors and aliases (alias bombs, and a pack should read from top to bottom), duplicate
keys, tags, files over a megabyte.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import yaml
from yaml.reader import Reader, ReaderError

from strata_diag.errors import Problem, ProblemCode

LARGEST_FILE = 1_000_000  # bytes; the largest real pack has about 20,000
DEEPEST = 20
TAGS = "tag:yaml.org,2002:"
COLLECTIONS = (f"{TAGS}map", f"{TAGS}seq")
TRUTHS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Spot(NamedTuple):
    """Where a value stands: its 1-based line and column, and the offsets of its first character and of the one behind its last.

    style: YAML's own sign for how it is written (`'`, `"`, `|`, `>`), empty for a plain value or a collection.
    """

    line: int
    column: int
    start: int
    end: int
    style: str

    def column_in(self, value: str, offset: int) -> int:
        """The column of a character of the value; that of the value itself where it is not written letter by letter."""
        quotes = 1 if self.style in ("'", '"') else 0
        literally = self.end - self.start == len(value) + 2 * quotes and "\n" not in value
        return self.column + quotes + offset if literally else self.column


class Table(dict[str, Any]):
    """A mapping of a YAML file: `line` and `column` are its own, `lines` and `columns` those of each key, all 1-based.

    spots: where the value of each key stands.
    """

    def __init__(self, line: int, column: int = 0) -> None:
        super().__init__()
        self.line = line
        self.column = column
        self.lines: dict[str, int] = {}
        self.columns: dict[str, int] = {}
        self.spots: dict[str, Spot] = {}

    def problem(self, file: str, key: str, what: str, advice: str, code: str, instead: str = "") -> Problem:
        """A problem at one of the keys, or at the mapping itself where it lacks the key."""
        line, column = self.lines.get(key, self.line), self.columns.get(key, self.column)
        return Problem(file, line, what, advice, column, code, instead)

    def place_as(self, other: Table) -> None:
        """Let the keys stand where those of another table do."""
        self.lines, self.columns, self.spots = other.lines, other.columns, other.spots


class Items(list[Any]):
    """A sequence of a YAML file, with the 1-based line of each item in `lines` and its whole place in `spots`."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[int] = []
        self.spots: list[Spot] = []


def read_yaml(path: Path, shown: str, problems: list[Problem]) -> Table | None:
    """The top mapping of a file, or None with the reason added to `problems`. `shown`: the name used in messages."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        problems.append(
            Problem(
                shown,
                0,
                f"can't be read ({error.strerror or error})",
                "check the path and its rights",
                code=ProblemCode.UNREADABLE,
            )
        )
        return None
    if len(data) > LARGEST_FILE:
        what = f"is more than {LARGEST_FILE} bytes long"
        problems.append(Problem(shown, 0, what, "split it by subject", code=ProblemCode.UNREADABLE))
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problems.append(Problem(shown, line, "is not UTF-8", "save the file as UTF-8", code=ProblemCode.UNREADABLE))
        return None
    return parse_yaml(text, shown, problems)


def parse_yaml(text: str, shown: str, problems: list[Problem]) -> Table | None:
    """The top mapping of YAML text, or None with the reason added to `problems`."""
    try:
        problems += _aliases(text, shown)
        node = yaml.compose(text, Loader=Loader)
    except (ReaderError, UnicodeEncodeError) as error:
        odd = Reader.NON_PRINTABLE.search(text)
        line = text.count("\n", 0, odd.start()) + 1 if odd else 0
        column = odd.start() - text.rfind("\n", 0, odd.start()) if odd else 0
        what, advice = f"is not valid YAML: {error.reason}", 'write it as an escape in double quotes ("\\x1b")'
        problems.append(Problem(shown, line, what, advice, column, ProblemCode.NOT_YAML))
        return None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or str(error).splitlines()[0]
        problems.append(
            Problem(
                shown,
                mark.line + 1 if mark else 0,
                f"is not valid YAML: {what}",
                "mend the indentation or the quotes there",
                mark.column + 1 if mark else 0,
                ProblemCode.NOT_YAML,
            )
        )
        return None
    except RecursionError:
        advice = "a pack has no more than a few levels"
        problems.append(Problem(shown, 0, "is nested too deeply", advice, code=ProblemCode.NOT_YAML))
        return None
    if not isinstance(node, yaml.MappingNode):
        advice = "a pack starts with `pack: name`"
        problems.append(Problem(shown, 1, "is no mapping", advice, code=ProblemCode.UNREADABLE))
        return None
    found = _Reader(shown, problems).value(node, 0)
    return found if isinstance(found, Table) else None


def _aliases(text: str, shown: str) -> list[Problem]:
    """A problem for each line with an alias; composed nodes no longer tell where one stood."""
    if "&" not in text or "*" not in text:
        return []
    found: dict[int, tuple[int, str]] = {}
    for event in yaml.parse(text, Loader=Loader):
        if isinstance(event, yaml.AliasEvent) and event.start_mark is not None:
            found[event.start_mark.line + 1] = (event.start_mark.column + 1, str(event.anchor))
    advice = "write the value out: packs are read without anchors and aliases"
    return [
        Problem(shown, line, f"an alias (*{name}) is used", advice, column, ProblemCode.NOT_YAML)
        for line, (column, name) in found.items()
    ]


def _spot(node: Any) -> Spot:
    start, end = node.start_mark, node.end_mark
    return Spot(start.line + 1, start.column + 1, start.index, end.index, getattr(node, "style", None) or "")


class _Reader:
    """Turns composed nodes into plain values; each list and table is visited once, whatever aliases point at it."""

    def __init__(self, shown: str, problems: list[Problem]) -> None:
        self.shown = shown
        self.problems = problems
        self.seen: set[int] = set()

    def complain(self, node: Any, what: str, advice: str, code: str = ProblemCode.NOT_YAML) -> None:
        mark = node.start_mark
        self.problems.append(Problem(self.shown, mark.line + 1, what, advice, mark.column + 1, code))

    def value(self, node: Any, depth: int) -> Any:
        if depth > DEEPEST:
            self.complain(node, "is nested too deeply", "a pack has no more than a few levels")
            return None
        if not isinstance(node, yaml.ScalarNode):
            if id(node) in self.seen:
                return None
            self.seen.add(id(node))
            if node.tag not in COLLECTIONS:
                self.complain(node, f"the tag {node.tag} is not allowed", "write a plain value")
        if isinstance(node, yaml.MappingNode):
            return self.table(node, depth)
        if isinstance(node, yaml.SequenceNode):
            items = Items()
            for child in node.value:
                items.append(self.value(child, depth + 1))
                items.lines.append(child.start_mark.line + 1)
                items.spots.append(_spot(child))
            return items
        return self.scalar(node)

    def table(self, node: Any, depth: int) -> Table:
        table = Table(node.start_mark.line + 1, node.start_mark.column + 1)
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self.complain(key_node, "a key is not a word", "write keys as plain words")
                continue
            key = key_node.value
            if key in table:
                what = f"the key `{key}` stands twice (first in line {table.lines[key]})"
                self.complain(key_node, what, "keep one of them", ProblemCode.DUPLICATE_KEY)
            table[key] = self.value(value_node, depth + 1)
            table.lines[key] = key_node.start_mark.line + 1
            table.columns[key] = key_node.start_mark.column + 1
            table.spots[key] = _spot(value_node)
        return table

    def scalar(self, node: Any) -> Any:
        kind = node.tag.removeprefix(TAGS)
        value: str = node.value
        if kind == "null":
            return None
        if kind == "bool" and value.lower() in TRUTHS:
            return TRUTHS[value.lower()]
        if kind in ("int", "float"):
            try:  # base 10 only: YAML would read 010 as 8 and 12:30 as 750
                return int(value) if kind == "int" else float(value)
            except ValueError:
                return value
        if kind not in ("str", "timestamp", "merge", "value"):
            self.complain(node, f"the tag {node.tag} is not allowed", "write a plain value")
        return value
