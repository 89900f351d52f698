"""Names for the values that a pattern captures, taken from the words around them: `device 0`, `274 slots`, `455 MiB free`."""

from __future__ import annotations

import re
from typing import NamedTuple

MOST_NAMES = 99
UNIT_WORDS = {
    "bytes": "bytes", "b": "bytes", "s": "seconds", "sec": "seconds", "seconds": "seconds", "min": "minutes",
    "minutes": "minutes", "h": "hours", "hours": "hours", "c": "celsius", "°c": "celsius", "w": "watts", "µs": "us",
}  # fmt: skip
# words that say which of several sizes it is
QUALIFIERS = (
    "free", "total", "used", "available", "needed", "required", "requested", "reserved", "allocated", "allocating", "limit",
    "budget", "expected", "maximum", "minimum", "capacity", "remaining", "needs", "wants", "got", "have",
)  # fmt: skip
QUALIFIER_NAMES = {"allocating": "allocation", "needs": "needed", "wants": "needed", "have": "available"}
# words that stand before their number
_COUNTERS = """
    device gpu port pid line layer rank code node cpu slot task id batch step iteration attempt thread worker expert block tensor
    shard segment stage epoch request index row column page level socket fd process version
"""
COUNTERS = frozenset(_COUNTERS.split())
_STOP_WORDS = """
    of to from in at on for and or is are was were with by than a an the least most about only but not be as after within into
    over under up that this it its has have had got needs wants named called did you mean said already no
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())  # words that name no value
_LAST_WORD = re.compile(r"([A-Za-z_][\w-]*)(\s*[=:#(\[]\s*|\s+)\Z")
_OF_A_SIZE = re.compile(r"\d ?\S{1,5} (?:of|/) *\Z")
SOURCE_LINE = re.compile(r"\.(?:cpp|cc|cu|cuh|c|h|hpp|hip|py|rs|go|mm|cs|ts|js|java)[:(]\Z")
_NEXT_WORD = re.compile(r"\s*([A-Za-z_][A-Za-z_-]+)")


class Surroundings(NamedTuple):
    """A value in its line: the text before and behind it, and the name that was given out last, empty before the first."""

    value: str
    before: str
    after: str
    last: str


class Names:
    """Names given out for one pattern; each is given once."""

    def __init__(self) -> None:
        self._taken: dict[str, str] = {}

    def take(self, wanted: str, value: str) -> str:
        """The wanted name, or the first free one of `wanted_2`, `wanted_3`, ..."""
        name = wanted
        for number in range(2, MOST_NAMES):
            if name not in self._taken:
                break
            name = f"{wanted}_{number}"
        self._taken[name] = value
        return name

    def taken(self) -> tuple[tuple[str, str], ...]:
        """(name, value) of each, in order."""
        return tuple(self._taken.items())

    def last(self) -> str:
        """The name given out last; empty before the first."""
        return next(reversed(self._taken), "")


def size_name(unit: str, place: Surroundings) -> str:
    """The name of a size: its unit, with the word that says which size it is where one stands beside it."""
    plain = UNIT_WORDS.get(unit.lower(), unit.lower())
    if _OF_A_SIZE.search(place.before):
        return f"total_{plain}"
    clause = re.split(r"[,;]", place.after)[0]
    following = re.findall(r"[A-Za-z]+(?! *\d)\b", clause)[:2]  # a word in front of another number belongs to that one
    preceding = re.findall(r"[A-Za-z]+", place.before)[-2:][::-1]
    for word in (*following, *preceding):
        if word.lower() in QUALIFIERS:
            return f"{QUALIFIER_NAMES.get(word.lower(), word.lower())}_{plain}"
    return plain


def value_name(place: Surroundings) -> str:
    """The name of a bare number: the word that counts it, or the word that it belongs to."""
    if SOURCE_LINE.search(place.before):
        return "source_line"
    if place.last == "host" and re.search(r"\d[:<]\Z", place.before):
        return "port"
    if place.last and re.search(r"\d *(?:of|/) *\Z", place.before):
        return f"{place.last.removesuffix('_total')}_total"
    word, sign = _word_before(place.before)
    if word and (word in COUNTERS or sign in ("=", "#", "(")):
        return word
    following = _NEXT_WORD.match(place.after)
    counted = snake(following.group(1)) if following else ""
    if counted and counted not in STOP_WORDS:
        return counted
    return word or noun_before(place.before) or "number"


def _word_before(before: str) -> tuple[str, str]:
    """(word, sign between it and what follows) of the last word, where it may be a name; else two empty texts."""
    last = _LAST_WORD.search(before)
    word = snake(last.group(1)) if last else ""
    return (word, last.group(2).strip()) if last and word not in STOP_WORDS else ("", "")


def noun_before(before: str) -> str:
    """The last word before a value that says what it is; empty where there is none near."""
    near = re.split(r"[;,()]", before)[-1]
    words = [snake(word) for word in re.findall(r"[A-Za-z_][\w-]*", near)[-3:]]
    return next((word for word in reversed(words) if word not in STOP_WORDS), "")


def device_word(prefix: str) -> str:
    """The name of the number behind `CUDA`, `blk.` and the like."""
    word = prefix.rstrip(":._#-").lower()
    if word in ("blk", "layer", "layers", "block"):
        return "layer"
    return word if word in ("rank", "worker", "slot") else "device"


def snake(word: str) -> str:
    """A word as the name of a group: lower case, with underscores, no digit in front."""
    plain = re.sub(r"\W+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word)).lower().strip("_")
    return plain if plain.isidentifier() else ""
