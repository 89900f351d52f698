"""Adding a rule to a pack file without touching a character of what stands in it."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path
from typing import Any

import yaml

from strata_diag.errors import Problem, RulePackError
from strata_diag.workshop.errors import WorkshopError
from strata_diag.yamlfile import parse_yaml

INDENT = 2  # columns of a list under its key, where the file has none to go by


def with_rule(text: str, rule: str, shown: str) -> str:
    """The text of a pack file with a rule behind its last one. rule: one list item, not indented; shown: the file's name.

    Raises RulePackError where the file is no valid YAML, WorkshopError where it is no pack or its rules stand in one line.
    """
    problems: list[Problem] = []
    content = parse_yaml(text, shown, problems)
    if problems or content is None:
        raise RulePackError(problems)
    if "pack" not in content:
        raise WorkshopError(f"{shown}: is no pack; name a file that begins with `pack:`, or one that there isn't yet")
    feed = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith(("\n", "\r")):
        lines[-1] += feed
    place, indent = _end_of_rules(yaml.compose(text, Loader=yaml.SafeLoader), lines, shown)
    added = textwrap.indent(rule, " " * indent).replace("\n", feed)
    if "rules" not in content:
        added = f"rules:{feed}{added}"
    made = "".join([*lines[:place], added, *lines[place:]])
    _check(made, shown, len(content.get("rules") or ()) + 1)
    return made


def _end_of_rules(root: Any, lines: list[str], shown: str) -> tuple[int, int]:
    """(number of lines in front of the place for a new rule, columns by which it is indented)."""
    for key, value in root.value:
        if key.value != "rules":
            continue
        if not isinstance(value, yaml.SequenceNode) or not value.value:
            if lines[key.start_mark.line].split("#")[0].strip() == "rules:":
                return key.start_mark.line + 1, INDENT
            raise WorkshopError(
                f"{shown}:{key.start_mark.line + 1}: write `rules:` alone in its line, then a rule can be added"
            )
        if value.flow_style:
            raise WorkshopError(
                f"{shown}:{key.start_mark.line + 1}: the rules stand in brackets; write them as a list of `- id:`"
            )
        return _last_line(value.value[-1]), value.start_mark.column
    return len(lines), INDENT


def _last_line(node: Any) -> int:
    """The 1-based last line of a node's text. A block ends where the next begins, so its last scalar is asked."""
    while not isinstance(node, yaml.ScalarNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    end = node.end_mark
    block = isinstance(node, yaml.ScalarNode) and node.style in ("|", ">")
    return int(end.line) if block and end.column == 0 else int(end.line) + 1


def _check(made: str, shown: str, wanted: int) -> None:
    problems: list[Problem] = []
    content = parse_yaml(made, shown, problems)
    rules = content.get("rules") if content is not None else None
    if problems or not isinstance(rules, list) or len(rules) != wanted:
        raise WorkshopError(
            f"{shown}: a rule can't be added without changing what is there; print it and put it in by hand"
        )


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all. Raises WorkshopError for what the system refuses."""
    made = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        made.write_bytes(content)
        if path.exists():
            made.chmod(path.stat().st_mode & 0o777)
        made.replace(path)
    except OSError as error:
        raise WorkshopError(
            f"{path}: can't be written ({error.strerror or error}); check its folder and rights"
        ) from None
    finally:
        made.unlink(missing_ok=True)
