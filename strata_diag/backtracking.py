"""How many repetitions of a pattern may trade characters with each other: what a search may cost on a line, at worst.

With k of them a line of n characters costs at most about n over k + 1 steps (every choice of a start and of k ends), so it
is known beforehand on which lines a time-out is needed, which costs as much as the search itself on a short one. A
repetition of anything but single characters, a back-reference, and what the standard library's parser does not understand
count as `UNBOUNDED`.
"""

from __future__ import annotations

import functools
import re
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as sre_parser  # type: ignore[attr-defined]
from typing import Any

from strata_diag.literals import reads_otherwise
from strata_diag.patterns import MOST_KEPT
from strata_diag.ruleset import UNBOUNDED

FEW = 8  # repeats of at most so many characters only multiply the cost by a small number
_SINGLE = frozenset({sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN})
_GREEDY = frozenset({sre.MAX_REPEAT, sre.MIN_REPEAT})


@functools.lru_cache(maxsize=MOST_KEPT)
def count_repeats(pattern: str) -> int:
    """The repetitions of a pattern, at most UNBOUNDED."""
    if reads_otherwise(pattern):
        return UNBOUNDED
    try:
        tree = sre_parser.parse(pattern)
    except (re.error, RecursionError, OverflowError):
        return UNBOUNDED
    return min(_repeats(tree), UNBOUNDED)


def _repeats(tree: Any) -> int:
    return sum(_repeats_of(operation, argument) for operation, argument in tree)


def _repeats_of(operation: Any, argument: Any) -> int:  # noqa: PLR0911 - one return a kind of operation
    if operation in _GREEDY:
        return _repetition(*argument)
    if operation is sre.SUBPATTERN:
        return _repeats(argument[3])
    if operation is sre.ATOMIC_GROUP:
        return _repeats(argument)
    if operation is sre.POSSESSIVE_REPEAT:
        return _repetition(*argument)
    if operation is sre.BRANCH:
        return sum(_repeats(branch) for branch in argument[1])
    if operation in {sre.ASSERT, sre.ASSERT_NOT}:
        return _repeats(argument[1])
    if operation in _SINGLE or operation is sre.AT:
        return 0
    return UNBOUNDED


def _repetition(least: int, most: int, inner: Any) -> int:
    single = len(inner) == 1 and inner[0][0] in _SINGLE
    if single:
        return 1 if most - least > FEW else 0
    if most <= 1:
        return _repeats(inner)
    fixed = least == most <= FEW
    return most * _repeats(inner) if fixed else UNBOUNDED
