r"""Literals that every match of a pattern must hold, so that a search for bytes can rule out almost every line.

Comes in: the text of a regular expression. Goes out: a few byte strings, one of which stands in any line that the
pattern matches; nothing where that can't be promised. Being wrong here loses findings, so each construct that isn't
understood ends a literal instead of being guessed at. The pattern is read by the standard library's own parser; what only
the `regex` package understands (fuzzy matching, nested sets, `\K`) is not understood and yields no literal.
"""

from __future__ import annotations

import re
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as sre_parser  # type: ignore[attr-defined]
from typing import Any

PRINTABLE = range(32, 127)  # ASCII only: a log's other characters depend on its encoding
SHORTEST = 4  # bytes; anything shorter stands in nearly every line
MOST_ALTERNATIVES = 40
# Words of healthy logs. A literal that is little more than one of them nominates lines of every run.
COMMON = (
    "error",
    "failed",
    "fail",
    "out of memory",
    "memory",
    "warning",
    "strata generate: ",
    "strata serve: ",
    "device",
    "cuda",
)

Alternatives = tuple[str, ...]

_ESCAPED = re.compile(r"\\.", re.DOTALL)
_FUZZY = re.compile(r"\{[\s\d<=+,]*[eids][^}]*\}")  # wider than the syntax: a literal lost is time lost, no more
_SETS = re.compile(r"\[\^?\]?([^\]]*)")
_SET_WORDS = re.compile(r"\[|--|&&|~~|\|\|")


def required_literals(pattern: str) -> tuple[tuple[bytes, ...], bool]:
    """(literals, caseless): any line that `pattern` matches holds one of the literals; empty when nothing is known."""
    if _reads_otherwise(pattern):
        return (), False
    try:
        tree = sre_parser.parse(pattern)
    except (re.error, RecursionError, OverflowError):
        return (), False
    flags = tree.state.flags
    if flags & re.VERBOSE:
        return (), False
    caseless = bool(flags & re.IGNORECASE) or _has_inline_case(tree)
    best = _best(tree)
    if not best or len(best) > MOST_ALTERNATIVES:
        return (), False
    if caseless:
        best = tuple(dict.fromkeys(literal.lower() for literal in best))
    return tuple(literal.encode("ascii") for literal in best), caseless


def _reads_otherwise(pattern: str) -> bool:
    """Whether `regex` may read what the standard library takes for plain characters: `{e<=1}`, `[[:alpha:]]`, `[a--b]`."""
    bare = _ESCAPED.sub("_", pattern)
    return bool(_FUZZY.search(bare)) or any(_SET_WORDS.search(found) for found in _SETS.findall(bare))


def _has_inline_case(tree: Any) -> bool:
    for operation, argument in tree:
        if operation is sre.SUBPATTERN:
            if argument[1] & re.IGNORECASE or _has_inline_case(argument[3]):
                return True
        elif operation is sre.BRANCH:
            if any(_has_inline_case(branch) for branch in argument[1]):
                return True
        elif operation in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            if _has_inline_case(argument[2]):
                return True
        elif operation is sre.ATOMIC_GROUP and _has_inline_case(argument):
            return True
    return False


def _best(tree: Any) -> Alternatives:
    """The best set of alternatives of which every match of `tree` holds one; empty when there is none."""
    candidates: list[Alternatives] = []
    run = ""
    for operation, argument in tree:
        if operation is sre.LITERAL and argument in PRINTABLE:
            run += chr(argument)
            continue
        inner = _plain_text(operation, argument)
        if inner is not None:
            run += inner
            continue
        candidates.append((run,))
        run = ""
        candidates.append(_inside(operation, argument))
    candidates.append((run,))
    usable = [found for found in candidates if found and all(len(literal) >= SHORTEST for literal in found)]
    return max(usable, key=_rarity, default=())


def _plain_text(operation: Any, argument: Any) -> str | None:
    """The text of a group that holds nothing but literal characters, so that a run can go on through it."""
    if operation is sre.SUBPATTERN and not argument[2]:
        parts = [chr(value) for inner, value in argument[3] if inner is sre.LITERAL and value in PRINTABLE]
        if parts and len(parts) == len(argument[3]):
            return "".join(parts)
    return None


def _inside(operation: Any, argument: Any) -> Alternatives:
    if operation is sre.SUBPATTERN:
        return _best(argument[3])
    if operation is sre.ATOMIC_GROUP:
        return _best(argument)
    if operation in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT) and argument[0] >= 1:
        return _best(argument[2])
    if operation is sre.BRANCH:
        branches = [_best(branch) for branch in argument[1]]
        if all(branches):
            return tuple(dict.fromkeys(literal for branch in branches for literal in branch))
    return ()


def _rarity(found: Alternatives) -> tuple[int, int]:
    """Rarer first: the length that remains once common words are taken out, of the weakest alternative."""

    def weight(literal: str) -> int:
        rest = literal.lower()
        for word in COMMON:
            rest = rest.replace(word, "")
        return min(len(rest.strip()), 24) * 4 + min(len(literal), 24)

    return min(weight(literal) for literal in found), -len(found)
