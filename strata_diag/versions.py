"""Versions as engines print them, and the ranges of versions for which a rule applies.

Comes in: text such as `0.1.40-rc1`, `v0.6.3.post1`, `b5432`, and ranges such as `engine >= 0.1.40, engine < 0.2`. Goes out:
keys that compare as the versions do, and whether a range holds. What can't be read as a version makes no range untrue: a
rule must not fall silent because a log doesn't say its version.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

VersionKey = tuple[tuple[int, ...], int, int]

LONGEST_VERSION = 80  # characters; a captured text may be anything
LONGEST_NUMBER = 18  # digits; a commit's hash or a mistake beyond
FINAL, AFTER = 0, 1  # ranks of a release, and of what came after it
_RANKS = {
    "dev": -4, "alpha": -3, "a": -3, "beta": -2, "b": -2, "pre": -1, "preview": -1, "rc": -1, "c": -1, "post": AFTER,
}  # fmt: skip
_WORD = rf"({'|'.join(sorted(_RANKS, key=len, reverse=True))})[.\-_]?(\d*)(?![a-z0-9])"
_SUFFIX = re.compile(rf"[.\-_]?{_WORD}", re.IGNORECASE)
# `v0.1.40`, `b5432`; a number behind a hyphen counts on (`0.1.40-5-gabc123`), the digits of a commit's hash don't
_NUMBERS = re.compile(rf"[vb]?(\d+(?:[.\-_]\d+(?:(?![a-z0-9])|(?={_WORD})))*)(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_COMPARISON = re.compile(r"\s*([a-z][a-z0-9_]*)\s*(<=|>=|==|!=|<|>)\s*(\S+)\s*", re.IGNORECASE)
_OPERATORS: Mapping[str, Callable[[VersionKey, VersionKey], bool]] = {
    "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">=": operator.ge, ">": operator.gt,
}  # fmt: skip


class VersionRangeError(ValueError):
    """The text is no range of versions; the message says which part."""


class Comparison(NamedTuple):
    """One part of a range: `engine >= 0.1.40` reads the value `engine_version`."""

    name: str
    operator: str
    version: VersionKey


def version_key(text: str) -> VersionKey | None:
    """A key by which versions compare; None for a text that is no version.

    Numbers compare as numbers (0.1.9 < 0.1.40) and zeros at the end don't count (0.1 = 0.1.0). `dev`, `alpha`, `beta`, `pre`
    and `rc` come before the release, `post` after it; any other word behind the numbers (`-sycl`, `+cu121`) says nothing.
    """
    found = _NUMBERS.match(text.strip()[:LONGEST_VERSION])
    if found is None:
        return None
    rest = found["rest"]
    suffix = _SUFFIX.match(rest)
    if rest[:1].isalnum() and suffix is None:
        return None
    words = re.split(r"[.\-_]", found[1])
    if any(len(word) > LONGEST_NUMBER for word in words):
        return None
    numbers = [int(word) for word in words]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    if suffix is None:
        return tuple(numbers), FINAL, 0
    return tuple(numbers), _RANKS[suffix[1].lower()], int(suffix[2][:LONGEST_NUMBER] or 0)


@lru_cache(maxsize=1024)
def parse_range(text: str) -> tuple[Comparison, ...]:
    """The comparisons of a range, all of which must hold. Raises VersionRangeError."""
    return tuple(_comparison(part) for part in text.split(","))


def _comparison(text: str) -> Comparison:
    found = _COMPARISON.fullmatch(text)
    if found is None:
        raise VersionRangeError(f"`{text.strip()}` is no comparison such as `engine >= 0.1.40`")
    key = version_key(found[3])
    if key is None:
        raise VersionRangeError(f"`{found[3]}` is no version such as 0.1.40, 0.1.40-rc1 or b5432")
    return Comparison(f"{found[1].lower()}_version", found[2], key)


def in_range(text: str, values: Mapping[str, object]) -> bool:
    """Whether a range holds for the versions among `values` (`engine` reads `engine_version`).

    A version that is missing or can't be read makes nothing untrue. Raises VersionRangeError for a text that is no range.
    """
    for comparison in parse_range(text):
        value = values.get(comparison.name)
        key = version_key(str(value)) if value is not None else None
        if key is not None and not _OPERATORS[comparison.operator](key, comparison.version):
            return False
    return True
