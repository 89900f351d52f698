"""A log for a corpus: cut to the window that keeps the answer, without names and secrets, with other values, and labelled.

Comes in: a log, and what a person says is right about it. Goes out: the bytes of the case and the text of its label. A label is
never taken from what the program answers: where the two differ, that is said, and whoever asked decides.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from strata_diag.api import diagnose
from strata_diag.errors import Problem
from strata_diag.model import Diagnosis
from strata_diag.redact import Redactor, words_of
from strata_diag.redact.standins import Replaced
from strata_diag.ruleset import RuleSet
from strata_diag.testing import Label, label_problems
from strata_diag.workshop.disguise import Disguised, disguise
from strata_diag.workshop.errors import WorkshopError
from strata_diag.workshop.insertion import write_whole
from strata_diag.workshop.labels import content_problems
from strata_diag.workshop.logtext import LogText, log_text, whole_lines
from strata_diag.workshop.window import CONTEXT, Essence, Window, essence, evidence_lines, smallest_window
from strata_diag.yamlfile import parse_yaml

WIDER_CONTEXT = 20  # lines around a line that no rule knows yet: its rule may need its neighbours
WIDEST = 10_000  # columns of a label's line; a sentence is never broken


class Opinion(NamedTuple):
    """What a person says is right about a log. Lines are those of the log as it is, counted from 1; line: None for PASS."""

    status: str
    cause: str
    line: int | None
    why: str
    symptoms: tuple[int, ...] = ()
    harmless: tuple[int, ...] = ()

    @property
    def lines(self) -> tuple[int, ...]:
        """Every line that it names."""
        return (*((self.line,) if self.line else ()), *self.symptoms, *self.harmless)


class Manner(NamedTuple):
    """How a log becomes a case. window: these lines; None for the smallest that keeps the answer; keep_values: change none."""

    window: Window | None = None
    keep_values: bool = False


class NewCase(NamedTuple):
    """A case, not yet written. window: of the log that was given; differences: where the program says something else.

    redacted: what was replaced; changed, kept: values as in `Disguised`.
    """

    log: bytes
    label: str
    opinion: Opinion
    window: Window
    line_count: int
    answer: Diagnosis
    differences: tuple[str, ...]
    redacted: tuple[Replaced, ...]
    changed: Mapping[str, int]
    kept: tuple[str, ...]


def opinion_problems(opinion: Opinion, rules: RuleSet, line_count: int) -> list[str]:
    """Why this can be no label of a log with so many lines, one sentence each."""
    problems: list[Problem] = []
    content = parse_yaml(label_text(opinion), "label", problems)
    found = [*problems, *(content_problems(content, "label", rules) if content is not None else ())]
    beyond = sorted({line for line in opinion.lines if not 1 <= line <= line_count})
    missing = [] if opinion.why.strip() else ["a label says why it is right; write it in one sentence"]
    return [
        *(f"{problem.what}; {problem.advice}" for problem in found),
        *(f"there is no line {line}; the log has {line_count} lines" for line in beyond),
        *missing,
    ]


def label_text(opinion: Opinion) -> str:
    """The YAML of a label, with the keys in the order in which a person reads them."""
    content: dict[str, Any] = {"status": opinion.status, "cause": opinion.cause, "line": opinion.line}
    content |= {key: list(lines) for key in ("symptoms", "harmless") if (lines := getattr(opinion, key))}
    content["why"] = opinion.why
    written: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=WIDEST, default_flow_style=None)
    return written


def make_case(data: bytes, opinion: Opinion, rules: RuleSet, manner: Manner, chance: random.Random) -> NewCase:
    """The case of a log. Raises WorkshopError for an opinion that can be no label, and for a window that has another answer.

    chance: where other values come from; one with a seed makes the same case again.
    """
    text = log_text(data)
    if not text.lines:
        raise WorkshopError("the log is empty; there is nothing to keep of it")
    problems = opinion_problems(opinion, rules, len(text.lines))
    if problems:
        raise WorkshopError("\n".join(problems))
    found = diagnose(data, rules=rules)
    window = manner.window or find_window(text, found, rules, opinion)
    wanted = _within(text, window, found, opinion, rules)
    redactor = Redactor(words_of(rules))
    redactor.learn("".join(text.lines))
    lines = whole_lines(redactor.line("".join(text.lines[window.first - 1 : window.last])))
    changed = Disguised(lines, {}, ())

    def same(some: tuple[str, ...]) -> bool:
        return _essence(text, some, rules, window.first - 1) == wanted

    if not same(lines):
        raise WorkshopError("without names and secrets the log gets another answer; write this case by hand")
    if not manner.keep_values:
        changed = disguise(lines, words_of(rules), same, chance)
    return _case(text, opinion, window, changed, redactor, rules)


def find_window(text: LogText, found: Diagnosis, rules: RuleSet, opinion: Opinion | None = None) -> Window:
    """The smallest window with the same answer and all lines that the opinion names.

    Where the opinion is another than the answer, with more lines around its line.
    """
    wanted = essence(found)
    named = opinion.lines if opinion else ()
    differs = opinion is not None and bool(label_problems(_label(opinion), found))
    around = WIDER_CONTEXT if differs else CONTEXT

    def same(window: Window) -> bool:
        lines = text.lines[window.first - 1 : window.last]
        return _essence(text, lines, rules, window.first - 1) == wanted

    return smallest_window(len(text.lines), [*evidence_lines(found), *named], same, around)


def _within(text: LogText, window: Window, found: Diagnosis, opinion: Opinion, rules: RuleSet) -> Essence:
    """The answer of a window. Raises WorkshopError where it is not the one of the whole log, or lacks a line that was named."""
    outside = sorted({line for line in opinion.lines if not window.first <= line <= window.last})
    if outside or window.last > len(text.lines):
        named = f"line {outside[0]}, which the label names, is not in it" if outside else "the log is shorter"
        raise WorkshopError(f"the lines {window.first} to {window.last} can't be the case: {named}")
    its = _essence(text, text.lines[window.first - 1 : window.last], rules, window.first - 1)
    whole = essence(found)
    if (its.status, its.cause, its.line, its.rule) != (whole.status, whole.cause, whole.line, whole.rule):
        said = f"{its.status}/{its.cause} instead of {whole.status}/{whole.cause}"
        raise WorkshopError(
            f"the lines {window.first} to {window.last} alone get another answer ({said}); take more of the log"
        )
    return its


def _essence(text: LogText, lines: tuple[str, ...], rules: RuleSet, before: int) -> Essence:
    return essence(diagnose(text.encoded(lines), rules=rules), before)


def _case(
    text: LogText, opinion: Opinion, window: Window, changed: Disguised, redactor: Redactor, rules: RuleSet
) -> NewCase:
    log = text.encoded(changed.lines)
    answer = diagnose(log, rules=rules)
    moved = _moved(opinion, window.first - 1)._replace(why=redactor.line(" ".join(opinion.why.split())))
    return NewCase(
        log, label_text(moved), moved, window, len(text.lines), answer, tuple(label_problems(_label(moved), answer)),
        redactor.summary(), changed.changed, changed.kept,
    )  # fmt: skip


def _moved(opinion: Opinion, before: int) -> Opinion:
    """The opinion for a log that lacks the first `before` lines."""
    return opinion._replace(
        line=opinion.line - before if opinion.line else None,
        symptoms=tuple(line - before for line in opinion.symptoms),
        harmless=tuple(line - before for line in opinion.harmless),
    )


def _label(opinion: Opinion) -> Label:
    lines = (opinion.line,) if opinion.line else ()
    return Label(
        Path("case.log"), opinion.status, opinion.cause, opinion.line, lines, opinion.symptoms, opinion.harmless, ()
    )


def write_case(case: NewCase, folder: Path, name: str) -> tuple[Path, Path]:
    """Write `<name>.log` and `<name>.yaml` into a folder, which is made; their paths.

    Raises WorkshopError where one of them exists, and for what the system refuses.
    """
    log, label = free_paths(folder, name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorkshopError(f"{folder}: can't be made ({error.strerror or error}); name another folder") from None
    write_whole(log, case.log)
    write_whole(label, case.label.encode("utf-8"))
    return log, label


def free_paths(folder: Path, name: str) -> tuple[Path, Path]:
    """Where the log and the label of a case go. Raises WorkshopError where one of them exists."""
    paths = folder / f"{name}.log", folder / f"{name}.yaml"
    taken = next((path for path in paths if path.exists()), None)
    if taken:
        raise WorkshopError(f"{taken} exists already; choose another name with --name")
    return paths
