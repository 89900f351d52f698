"""What a triage is made of: one result a log, groups by cause, shapes of what nobody knows yet."""

from __future__ import annotations

from typing import NamedTuple

from strata_diag.model import Diagnosis, Notice


class Excerpt(NamedTuple):
    """Lines of a log around its evidence, as a person reads them: without colours, and of a redrawn line the newest drawing.

    first: the 1-based number of the first of `lines`. Nothing in them is escaped, and a long line is cut.
    """

    first: int
    lines: tuple[str, ...]


class Result(NamedTuple):
    """The diagnosis of one log.

    name: the file, and where in it the log stood (`report.zip!logs/engine.log`, `issue.md, log 2 at line 41`); first_line:
    1-based, of the log in that file; excerpts: in order of lines, none touching the next; notices: of whoever read the
    attachment; beside: names of the logs that took part in the diagnosis; file: the path of the file itself.
    """

    name: str
    diagnosis: Diagnosis
    first_line: int = 1
    size_bytes: int = 0
    excerpts: tuple[Excerpt, ...] = ()
    notices: tuple[Notice, ...] = ()
    beside: tuple[str, ...] = ()
    file: str = ""


class Unreadable(NamedTuple):
    """What could not be read, and why."""

    name: str
    error: str


class Skipped(Unreadable):
    """What holds no log, and why: a picture, a document without one, an empty archive."""

    __slots__ = ()


Outcome = Result | Unreadable
"""What became of one thing that was looked at."""


class Group(NamedTuple):
    """The results with one status and cause. results: their places in the triage, in the order given."""

    status: str
    cause: str
    title: str
    rules: tuple[str, ...]
    results: tuple[int, ...]


class ShapeExample(NamedTuple):
    """A line of an unknown failure. result: the place of its log in the triage; line: 1-based."""

    result: int
    line: int
    text: str


class Shape(NamedTuple):
    """Lines of unknown failures that differ in their variable parts only.

    template: the line with `<*>` for these; logs: how many hold one; command: what starts a rule for it.
    """

    template: str
    logs: int
    examples: tuple[ShapeExample, ...]
    command: str


class Triage(NamedTuple):
    """What a triage found. results: in the order given; groups: the worst first; shapes: the most frequent first.

    interrupted: whether it was ended before all was looked at;
    notices: what went wrong, or was left out, beyond single logs.
    """

    results: tuple[Result, ...]
    unreadable: tuple[Unreadable, ...] = ()
    groups: tuple[Group, ...] = ()
    shapes: tuple[Shape, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    interrupted: bool = False
    notices: tuple[Notice, ...] = ()


class Part(NamedTuple):
    """What came out of a few files that were read together. files: how many of them; size_bytes: of them, as they lie there."""

    files: int = 0
    size_bytes: int = 0
    results: tuple[Result, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    notices: tuple[Notice, ...] = ()
