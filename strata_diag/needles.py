"""What scan searches for, chosen once when a rule set is compiled: literals, rare pieces of them, and words that give them away.

Comes in: patterns with the literals that their matches must hold. Goes out: a `ScanIndex`. Rare is what healthy logs don't
hold (`healthy`); a common prefix would nominate every line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from strata_diag import healthy
from strata_diag.healthy import WINDOW_BYTES
from strata_diag.record import NamedTuple
from strata_diag.ruleset import Pattern, ScanIndex

KEY_BYTES = 4  # of a word that a literal's edge may have cut


class Literal(NamedTuple):
    """A byte string to find; lower case where it is caseless."""

    text: bytes
    caseless: bool


def build_index(patterns: Iterable[Pattern]) -> ScanIndex:
    """What to search for, so that no line which one of these patterns matches is passed over."""
    numbers: dict[Literal, list[int]] = {}
    everywhere: list[int] = []
    for pattern in patterns:
        if not pattern.literals:
            everywhere.append(pattern.number)
        for text in pattern.literals:
            numbers.setdefault(Literal(text, pattern.caseless), []).append(pattern.number)
    literals = tuple(numbers)
    texts = tuple(literal.text for literal in literals)
    telling = tuple(map(telling_words, texts))
    words: dict[bytes, list[int]] = {}
    pieces: dict[bytes, list[int]] = {}
    for number, (text, found) in enumerate(zip(texts, telling, strict=True)):
        plain = text.translate(healthy.WORDS)
        if found or b" " in plain:
            words.setdefault(found[0] if found else b"", []).append(number)
        else:
            pieces.setdefault(plain, []).append(number)
    return ScanIndex(
        texts,
        bytes(literal.caseless for literal in literals),
        tuple(tuple(sorted(set(found))) for found in numbers.values()),
        tuple(everywhere),
        rare_windows(texts),
        telling,
        {word: tuple(found) for word, found in words.items()},
        {piece: tuple(found) for piece, found in pieces.items()},
    )


def rare_windows(texts: Sequence[bytes]) -> tuple[int, ...]:
    """For each literal where its rarest WINDOW_BYTES begin.

    Rare is first what no healthy line holds, then what few literals share, since each of them must be looked at where it
    stands, then what has rare pieces.
    """
    owners = Counter(window for text in texts for window in {*_windows(text)})

    def rank(window: bytes) -> tuple[bool, int, int]:
        return healthy.holds(window), owners[window], healthy.commonness(window)

    return tuple(min(range(len(found)), key=lambda start: rank(found[start])) for found in map(_windows, texts))


def _windows(text: bytes) -> list[bytes]:
    lowered = text.lower()
    starts = range(max(len(text) - WINDOW_BYTES, 0) + 1)
    return [lowered[start : start + WINDOW_BYTES] for start in starts]


def telling_words(text: bytes) -> tuple[bytes, ...]:
    """The words that any text with this literal holds, the rarest first; none where no word of it is certain.

    A word inside is whole. One at an edge may go on outside: `<abcd` stands for words that begin so, `>abcd` for such that
    end so.
    """
    parts = text.translate(healthy.WORDS).split(b" ")
    found = {word: -len(word) for word in parts[1:-1] if word}
    if len(parts) > 1:
        first, last = parts[0], parts[-1]
        found |= {b">" + first[-KEY_BYTES:]: -KEY_BYTES} if len(first) >= KEY_BYTES else {}
        found |= {b"<" + last[:KEY_BYTES]: -KEY_BYTES} if len(last) >= KEY_BYTES else {}
    return tuple(sorted(found, key=lambda word: (healthy.word_count(word), found[word], word)))
