"""Unknown failures by the shape of their lines: the list of rules to write next.

Comes in: results. Goes out: shapes, the most frequent first. Variable parts (numbers, addresses, paths, quoted text, times) are
masked; two lines have one shape when they have as many words and at least half of them are the same.

Tried beside drain3 0.9.11 on the suspects of 140 labelled logs that the built-in rules alone leave unknown (301 lines, 27
causes). A line is pure when its log has the cause that most logs of its shape have.

| | shapes | purity | shapes of two or more lines | their purity |
|---|---|---|---|---|
| these, first suspects | 134 | 0.986 | 6 | 0.83 |
| drain3, first suspects | 135 | 0.986 | 5 | 0.80 |
| drain3 behind our masks | 136 | 0.986 | 4 | 0.75 |
| these, all suspects | 229 | 0.950 | 22 | 0.75 |
| drain3, all suspects | 238 | 0.958 | 18 | 0.74 |
| drain3 behind our masks | 237 | 0.958 | 17 | 0.73 |

Ours with half of the words equal (0.4 and 0.6 gave nearly the same), drain3 with its best threshold of 0.4, 0.5 and 0.6. Few logs
there share a shape, so the differences are of a few shapes: this shows no better grouping, only that ours is not worse. It
needs no package; the release of drain3 that was tried pins exact versions of two others.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from strata_diag.model import Status
from strata_diag.triage.records import Result, Shape, ShapeExample

VARIABLE = "<*>"
LEAST_EQUAL = 0.5  # share of the words that must be the same
MOST_WORDS = 60  # of a line that are compared
LONGEST_LINE = 2000  # characters of a line that are compared
MOST_EXAMPLES = 5  # lines that are kept of one shape
PACK = "my-pack"  # of the rule that a command starts
MOST_NAME_WORDS = 4
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
_NAME = re.compile(r"(?<![A-Za-z])[A-Za-z]{3,16}(?![A-Za-z])")


class Cluster:
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


def shapes_of(results: Sequence[Result]) -> tuple[Shape, ...]:
    """The shapes of the lines that unknown logs should be looked at for, the most frequent first, then in order of logs.

    A shape that only further suspects have, of logs whose first one has another, is left out: one rule a log is enough.
    """
    led = [one for one in clusters_of(_suspected(results)) if one.leads]
    led.sort(key=lambda one: -len(one.logs))
    names: dict[str, int] = {}
    return tuple(_shape(one, results, names) for one in led)


def _suspected(results: Sequence[Result]) -> Iterator[Suspected]:
    for place, result in enumerate(results):
        verdict = result.diagnosis.verdict
        if verdict.status is Status.UNKNOWN:
            for number, suspect in enumerate(verdict.suspects):
                yield Suspected(ShapeExample(place, suspect.line, suspect.text), number == 0)


def _shape(cluster: Cluster, results: Sequence[Result], names: dict[str, int]) -> Shape:
    example = cluster.examples[0]
    name = _rule_name(cluster.words)
    names[name] = names.get(name, 0) + 1
    if names[name] > 1:
        name = f"{name}-{names[name]}"
    source = shlex.quote(f"{results[example.result].name}:{example.line}")
    command = f"strata-diag rules new {PACK}/{name} --from {source}"
    return Shape(" ".join(cluster.words), len(cluster.logs), tuple(cluster.examples), command)


def _rule_name(words: Sequence[str]) -> str:
    """A name for the rule out of the constant words of a shape."""
    plain = [part.lower() for word in words for part in _NAME.findall(word)]
    return "-".join(plain[-MOST_NAME_WORDS:]) or "new-rule"


def words_of(text: str) -> list[str]:
    """The words of a line, the variable parts masked."""
    return [word for word in _SPLIT.split(_MASKED.sub(VARIABLE, text[:LONGEST_LINE])) if word][:MOST_WORDS]


def clusters_of(lines: Iterable[Suspected]) -> list[Cluster]:
    """The lines by shape, in order of their first line."""
    by_length: dict[int, list[Cluster]] = {}
    found: list[Cluster] = []
    for line in lines:
        words = words_of(line.example.text)
        peers = by_length.setdefault(len(words), [])
        best = max(peers, key=lambda one: _alike(one.words, words), default=None)
        if best is None or _alike(best.words, words) < LEAST_EQUAL:
            if len(found) == MOST_CLUSTERS:
                continue
            best = Cluster(words)
            peers.append(best)
            found.append(best)
        best.add(words, line.example, first=line.first)
    return found


def _alike(some: Sequence[str], others: Sequence[str]) -> float:
    """The share of words that are the same, beside those that are variable in both."""
    if some == others:
        return 1.0
    same = sum(one == other != VARIABLE for one, other in zip(some, others, strict=True))
    variable = sum(one == other == VARIABLE for one, other in zip(some, others, strict=True))
    return same / max(len(some) - variable, 1)
