"""Unknown failures by the shape of their lines: the list of rules to write next.

Comes in: results. Goes out: shapes, the most frequent first. Variable parts (numbers, addresses, paths, quoted text, times) are
masked; two lines have one shape when they have as many words and at least half of them are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from strata_diag.model import Status
from strata_diag.triage.records import Result, Shape, ShapeExample

VARIABLE = "<*>"
LEAST_EQUAL = 0.5  # share of the words that must be the same
MOST_WORDS = 60  # of a line that are compared
LONGEST_LINE = 2000  # characters of a line that are compared
MOST_EXAMPLES = 5  # lines that are kept of one shape
MOST_CLUSTERS = 2000  # shapes that are told apart; a further line without a known one is left out

_MASKED = re.compile(
    r"""
      "[^"]{0,300}" | (?<![\w'])'[^']{0,300}'(?!\w) | `[^`]{0,300}`
    | \b[a-z]{2,10}://\S+
    | \b\d{4}-\d\d-\d\d(?:[T\ ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?
    | \b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?
    | (?:\b[A-Za-z]:)?(?:[/\\][\w.@+~%-]+){2,}[/\\]?
    | \b0x[0-9a-fA-F]+\b | \b[0-9a-fA-F]*\d[0-9a-fA-F]{7,}\b
    | (?<![A-Za-z_])[-+]?\d+(?:[.,:]\d+)*
    """,
    re.VERBOSE,
)
_SPLIT = re.compile(r"[\s=,;()\[\]{}|]+")


class _Cluster:
    """Lines of one shape. words: their common ones, with VARIABLE where they differ; logs: places of the logs that hold one."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.logs: set[int] = set()
        self.examples: list[ShapeExample] = []
        self.leads = False  # whether some log's first line to look at has this shape

    def add(self, words: Sequence[str], example: ShapeExample, *, first: bool) -> None:
        """Take one more line of this shape."""
        self.words = [mine if mine == other else VARIABLE for mine, other in zip(self.words, words, strict=True)]
        self.leads |= first
        if example.result not in self.logs and len(self.examples) < MOST_EXAMPLES:
            self.examples.append(example)
        self.logs.add(example.result)


class Suspected(NamedTuple):
    """A line to look at. first: whether it is the most alarming of its log."""

    example: ShapeExample
    first: bool


def words_of(text: str) -> list[str]:
    """The words of a line, the variable parts masked."""
    return [word for word in _SPLIT.split(_MASKED.sub(VARIABLE, text[:LONGEST_LINE])) if word][:MOST_WORDS]


def clusters_of(lines: Iterable[Suspected]) -> list[_Cluster]:
    """The lines by shape, in order of their first line."""
    by_length: dict[int, list[_Cluster]] = {}
    found: list[_Cluster] = []
    for line in lines:
        words = words_of(line.example.text)
        peers = by_length.setdefault(len(words), [])
        best = max(peers, key=lambda one: _alike(one.words, words), default=None)
        if best is None or _alike(best.words, words) < LEAST_EQUAL:
            if len(found) == MOST_CLUSTERS:
                continue
            best = _Cluster(words)
            peers.append(best)
            found.append(best)
        best.add(words, line.example, first=line.first)
    return found


def _alike(some: Sequence[str], others: Sequence[str]) -> float:
    same = sum(one == other != VARIABLE for one, other in zip(some, others, strict=True))
    variable = sum(one == other == VARIABLE for one, other in zip(some, others, strict=True))
    return same / max(len(some) - variable, 1) if some != others else 1.0
