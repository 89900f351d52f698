"""Labels of a corpus, read so that every mistake in one is named with its line: `<case>.yaml` beside `<case>.log`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from strata_diag.errors import Problem
from strata_diag.model import Status
from strata_diag.rulepack.keys import Key, check_table, one_of, text
from strata_diag.ruleset import RuleSet
from strata_diag.testing import Label, read_label
from strata_diag.workshop.errors import WorkshopError
from strata_diag.yamlfile import Table, read_yaml

WITHOUT_LINE = (Status.PASS, Status.UNKNOWN)  # statuses whose label may have no line


class Case(NamedTuple):
    """A labelled log. label: None where it can't be used, then `problems` says why; rule: the rule that must decide, or empty."""

    name: str
    log: Path
    path: Path
    label: Label | None
    rule: str
    lines: Mapping[str, int]
    problems: tuple[Problem, ...]

    def line_of(self, key: str) -> int:
        """The line of a key of the label, 1 where it lacks the key."""
        return self.lines.get(key, 1)


def _line(value: Any) -> str | None:
    good = value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0)
    return None if good else "write the number of a line, counted from 1, or null for PASS"


def _lines(value: Any) -> str | None:
    good = isinstance(value, list) and all(item is not None and _line(item) is None for item in value)
    return None if good else "write a list of line numbers, counted from 1"


def _notes(value: Any) -> str | None:
    good = isinstance(value, list) and all(isinstance(item, str | int) for item in value)
    return None if good else "write a list of remarks"


def _runs(value: Any) -> str | None:
    good = isinstance(value, list) and all(
        isinstance(item, dict) and set(item) == {"status", "cause"} and item["status"] in tuple(Status)
        for item in value
    )
    return None if good else "write a list of {status: ..., cause: ...}, one for each start in the log"


LABEL: Mapping[str, Key] = {
    "status": Key(one_of(*Status), required=True),
    "cause": Key(text, required=True),
    "line": Key(_line, required=True),
    "line_ok": Key(_lines),
    "rule": Key(text),
    "symptoms": Key(_lines),
    "harmless": Key(_lines),
    "runs": Key(_runs),
    "why": Key(text),
    "confusers": Key(_notes),
    "covers": Key(_notes),
}


def read_cases(folders: Iterable[Path], rules: RuleSet) -> list[Case]:
    """The cases of folders and whatever lies below them, by path. Raises WorkshopError for a folder without any."""
    found: list[Case] = []
    for folder in folders:
        if not folder.is_dir():
            raise WorkshopError(f"{folder}: is no folder; name the folder with the logs and their labels")
        paths = {path.with_suffix("") for kind in ("*.log", "*.yaml") for path in folder.rglob(kind)}
        if not paths:
            raise WorkshopError(f"{folder}: holds no log; put <case>.log and its label <case>.yaml into it")
        found += [read_case(path, rules) for path in sorted(paths)]
    return found


def read_case(stem: Path, rules: RuleSet) -> Case:
    """The case of `<stem>.log` and `<stem>.yaml`; whatever is missing or wrong is among its problems."""
    log, path = Path(f"{stem}.log"), Path(f"{stem}.yaml")
    problems: list[Problem] = []
    content: Table | None = None
    if path.is_file():
        content = read_yaml(path, str(path), problems)
    else:
        advice = f"write {path.name} beside it with status, cause and line, or let `corpus add` ask for them"
        problems.append(Problem(str(log), 0, "has no label", advice))
    if not log.is_file():
        problems.append(
            Problem(str(path), 0, f"labels no log: there is no {log.name}", "add the log, or remove the label")
        )
    if content is not None:
        problems += content_problems(content, str(path), rules)
    usable = content is not None and not problems
    rule = str(content.get("rule", "")) if content is not None else ""
    lines = content.lines if content is not None else {}
    return Case(stem.name, log, path, read_label(path) if usable else None, rule, lines, tuple(problems))


def content_problems(content: Table, file: str, rules: RuleSet) -> list[Problem]:
    """What is wrong with the keys and values of a label, and where they don't go together."""
    problems: list[Problem] = []
    if check_table(content, LABEL, "the label", file, problems):
        problems += [
            Problem(file, content.lines.get(key, 1), what, advice) for key, what, advice in _senses(content, rules)
        ]
    return problems


def _senses(content: Table, rules: RuleSet) -> list[tuple[str, str, str]]:
    """(key, what is wrong, advice) where the values of a label don't go together."""
    status, cause = content["status"], content["cause"]
    line, rule = content["line"], content.get("rule")
    found = []
    if cause not in rules.causes:
        found.append(("cause", f"no pack knows the cause `{cause}`", "`rules list` shows the causes of the rules"))
    elif str(rules.causes[cause].status) != status:
        found.append(
            ("cause", f"the cause `{cause}` means {rules.causes[cause].status}, not {status}", "mend one of them")
        )
    if status == Status.PASS and line is not None:
        found.append(("line", "a healthy log has no line that decides", "write null"))
    if status not in WITHOUT_LINE and line is None:
        found.append(("line", f"{status} needs the line that decides", "write its number, counted from 1"))
    if rule and rule not in rules.by_id:
        found.append(("rule", f"there is no rule `{rule}`", "`rules list` shows all of them"))
    return found
