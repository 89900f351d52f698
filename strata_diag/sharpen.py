"""Other literals for patterns whose own ones a log turns out to be full of.

What is rare was chosen by what healthy logs hold; a log may be full of something else. Comes in: which literals cost most in
vain so far, and a block of the log. Goes out: for each the texts to search for in its place, so that still no line which one
of its patterns matches is passed over. Found on large logs only, while they are read; no verdict can depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from strata_diag import literals
from strata_diag.ruleset import Pattern, ScanIndex

MOST_TEXTS = 64  # in the place of one literal
WORTH = 4  # times fewer lines that the new texts must nominate
SHARE = 0.02  # of all that was in vain, above which a literal is looked at


def sharper_texts(
    index: ScanIndex, pattern_of: Callable[[int], Pattern], block: bytes, vain: Mapping[int, int]
) -> dict[int, tuple[bytes, ...]]:
    """Texts to search for in place of some literals, by the literal's number.

    vain: how often each literal sent a pattern to a line in vain. A literal is left as it is where one of its patterns offers
    nothing better.
    """
    lowered = block.lower()
    found = {}
    for number in costly(vain):
        held = lowered if index.caseless[number] else block
        most = held.count(index.texts[number]) // WORTH
        sets = [_rarest(pattern_of(pattern), held) for pattern in index.patterns[number]]
        texts = tuple(dict.fromkeys(text for one in sets for text in one))
        if all(sets) and len(texts) <= MOST_TEXTS and sum(map(held.count, texts)) <= most:
            found[number] = texts
    return found


def costly(vain: Mapping[int, int]) -> list[int]:
    """The numbers to which a good part of all counts belongs."""
    least = SHARE * sum(vain.values())
    return [number for number, times in vain.items() if times > least]


def _rarest(pattern: Pattern, held: bytes) -> tuple[bytes, ...]:
    """The set of literals of a pattern that stands in the fewest places of a block; of equals, that which is rarest elsewhere."""
    sets = literals.usable_choices(pattern.source).sets
    return min(sets, key=lambda texts: sum(map(held.count, texts)), default=())
