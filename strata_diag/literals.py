r"""Literals that every match of a pattern must hold, so that a search for bytes can rule out almost every line.

Comes in: the text of a regular expression. Goes out: a few byte strings, one of which stands in any line that the
pattern matches; nothing where that can't be promised. Being wrong here loses findings, so each construct that isn't
understood ends a literal instead of being guessed at. The pattern is read by the standard library's own parser; what only
the `regex` package understands (fuzzy matching, nested sets, `\K`) is not understood and yields no literal.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Sequence
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as sre_parser  # type: ignore[attr-defined]
from typing import Any

from strata_diag import healthy
from strata_diag.patterns import MOST_KEPT
from strata_diag.record import NamedTuple

PRINTABLE = range(32, 127)  # ASCII only: a log's other characters depend on its encoding
SHORTEST = 4  # bytes; anything shorter stands in nearly every line
MOST_ALTERNATIVES = 40
RARE_ENOUGH = 36  # weight of some six letters that are no common word, in a text of twelve
# Words of healthy logs. A literal that is little more than one of them nominates lines of every run.
COMMON = (
    "error",
    "exception",
    "failed",
    "fail",
    "out of memory",
    "memory",
    "warning",
    "strata generate: ",
    "strata serve: ",
    "device",
    "cuda",
    "strata",
    "engine",
    "server",
    "generate",
    "loaded",
    "buffer",
    "native ",
    "verify",
)

Alternatives = tuple[str, ...]

_ESCAPED = re.compile(r"\\.", re.DOTALL)
_FUZZY = re.compile(r"\{[\s\d<=+,]*[eids][^}]*\}")  # wider than the syntax: a literal lost is time lost, no more
_SETS = re.compile(r"\[\^?\]?([^\]]*)")
_SET_WORDS = re.compile(r"\[|--|&&|~~|\|\|")


class Choices(NamedTuple):
    """Sets of literals for a pattern, the best first: any line that the pattern matches holds one of each set."""

    sets: tuple[tuple[bytes, ...], ...]
    caseless: bool


def required_literals(pattern: str) -> tuple[tuple[bytes, ...], bool]:
    """(literals, caseless): any line that `pattern` matches holds one of the literals; empty when nothing is known."""
    choices = literal_choices(pattern)
    return (choices.sets[0] if choices.sets else ()), choices.caseless


@functools.lru_cache(maxsize=MOST_KEPT)
def literal_choices(pattern: str) -> Choices:
    """The sets of literals that are about as good as the best one."""
    found, caseless = _ranked(pattern)
    good = [one for one in found if _rarity(one)[:2] == _rarity(found[0])[:2]]
    return Choices(_as_bytes_each(good, caseless=caseless), caseless)


def usable_choices(pattern: str) -> Choices:
    """Every set of literals that a pattern allows, the best first."""
    found, caseless = _ranked(pattern)
    return Choices(_as_bytes_each(found, caseless=caseless), caseless)


def _ranked(pattern: str) -> tuple[list[Alternatives], bool]:
    """The usable sets of a pattern, the rarest first, and whether its letters' case counts for nothing."""
    if reads_otherwise(pattern):
        return [], False
    try:
        tree = sre_parser.parse(pattern)
    except (re.error, RecursionError, OverflowError):
        return [], False
    flags = tree.state.flags
    if flags & re.VERBOSE:
        return [], False
    caseless = bool(flags & re.IGNORECASE) or _has_inline_case(tree)
    found = sorted(_usable(tree), key=_rarity, reverse=True)
    return [one for one in found if len(one) <= MOST_ALTERNATIVES], caseless


def _as_bytes_each(sets: list[Alternatives], *, caseless: bool) -> tuple[tuple[bytes, ...], ...]:
    return tuple(dict.fromkeys(_as_bytes(one, caseless=caseless) for one in sets))


def _as_bytes(literals: Alternatives, *, caseless: bool) -> tuple[bytes, ...]:
    return tuple(dict.fromkeys((one.lower() if caseless else one).encode("ascii") for one in literals))


def telling_apart(choices: Sequence[Choices]) -> list[tuple[bytes, ...]]:
    """One set of literals for each of many patterns: of equally good ones that which fewest others need.

    `cudaMalloc failed: ` before an error text and the text itself are both rare in healthy logs; the one that fewer rules
    share sends fewer patterns to a line.
    """
    owners = Counter(literal for choice in choices for literals in choice.sets for literal in literals)
    return [
        min(choice.sets, key=lambda literals: sum(owners[one] for one in literals), default=()) for choice in choices
    ]


def reads_otherwise(pattern: str) -> bool:
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
    return max(_usable(tree), key=_rarity, default=())


def _usable(tree: Any) -> list[Alternatives]:
    """Every set of alternatives of which each match of `tree` holds one.

    Neighbours are joined as long as what they spell can be listed: `strata (?:serve|generate): x` is two whole literals, not
    a common prefix that stands in every line.
    """
    candidates: list[Alternatives] = []
    runs: Alternatives = ("",)
    plain = ""  # the stretch of certain text that ends here
    for operation, argument in tree:
        spelled = _spelled(operation, argument)
        if spelled is not None and len(spelled) == 1:
            plain += spelled[0]
        else:
            candidates += [(plain,), runs, spelled or _inside(operation, argument)]
            plain = ""
        if spelled is not None and len(runs) * len(spelled) <= MOST_ALTERNATIVES:
            runs = tuple(dict.fromkeys(run + text for run in runs for text in spelled))
        else:
            runs = ("",)
    candidates += [(plain,), runs]
    return [_minimal(found) for found in candidates if found and all(len(literal) >= SHORTEST for literal in found)]


def _minimal(found: Alternatives) -> Alternatives:
    """Without the literals that hold another one of them: the shorter one finds their lines too."""
    if len(found) == 1:
        return found
    return tuple(one for one in found if not any(other in one for other in found if other != one))


def _spelled(operation: Any, argument: Any) -> Alternatives | None:
    """Every text that a part of a pattern can be, where these are few and known; else None."""
    if operation is sre.LITERAL:
        return (chr(argument),) if argument in PRINTABLE else None
    if operation is sre.SUBPATTERN:
        return _all_spelled(argument[3])
    if operation is sre.BRANCH:
        branches = [_all_spelled(branch) for branch in argument[1]]
        if any(branch is None for branch in branches):
            return None
        texts = tuple(dict.fromkeys(text for branch in branches for text in branch or ()))
        return texts if len(texts) <= MOST_ALTERNATIVES else None
    if operation in (sre.MAX_REPEAT, sre.MIN_REPEAT) and tuple(argument[:2]) == (0, 1):
        inner = _all_spelled(argument[2])
        return None if inner is None else tuple(dict.fromkeys(("", *inner)))
    return None


def _all_spelled(tree: Any) -> Alternatives | None:
    texts: Alternatives = ("",)
    for operation, argument in tree:
        spelled = _spelled(operation, argument)
        if spelled is None or len(texts) * len(spelled) > MOST_ALTERNATIVES:
            return None
        texts = tuple(dict.fromkeys(text + more for text in texts for more in spelled))
    return texts


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


def _rarity(found: Alternatives) -> tuple[int, int, int]:
    """What is rare enough, then what has fewest alternatives, then the rarest: every literal is one more to search for."""
    weight = min(_weight(literal) for literal in found)
    return min(weight, RARE_ENOUGH), -len(found), weight


@functools.lru_cache(maxsize=MOST_KEPT)
def _weight(literal: str) -> int:
    """How rare a literal is likely to be: its length without common words, and a little its whole length."""
    if healthy.holds(literal.encode("ascii")):
        return min(len(literal), 24) // 2  # it nominates lines of healthy logs
    rest = literal.lower()
    if any(rest in word for word in COMMON):
        return len(literal)  # a piece of a common word is no rarer than the word
    for word in COMMON:
        rest = rest.replace(word, "")
    return min(len(rest.strip()), 24) * 4 + min(len(literal), 24)
