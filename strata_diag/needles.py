"""What scan searches for, chosen once when a rule set is compiled: literals, rare pieces of them, and words that give them away.

Comes in: patterns with the literals that their matches must hold. Goes out: a `ScanIndex`. Rare is what healthy logs don't
hold (`healthy`); a common prefix would nominate every line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from strata_diag import healthy
from strata_diag.ruleset import Literal, Pattern, ScanIndex

KEY_BYTES = 4  # of a word that a literal's edge may have cut


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
    telling = tuple(telling_words(literal.text) for literal in literals)
    words: dict[bytes, list[int]] = {}
    pieces: dict[bytes, list[int]] = {}
    for number, (literal, found) in enumerate(zip(literals, telling, strict=True)):
        plain = literal.text.translate(healthy.WORDS)
        if found or b" " in plain:
            words.setdefault(found[0] if found else b"", []).append(number)
        else:
            pieces.setdefault(plain, []).append(number)
    return ScanIndex(
        literals,
        tuple(tuple(sorted(set(found))) for found in numbers.values()),
        tuple(everywhere),
        rare_windows(literals),
        telling,
        {word: tuple(found) for word, found in words.items()},
        {piece: tuple(found) for piece, found in pieces.items()},
    )


def rare_windows(literals: Sequence[Literal]) -> tuple[tuple[int, int], ...]:
    """For each literal where its rarest eight bytes begin and end; all of it where it is shorter.

    Rare is first what no healthy line holds, then what few literals share, since each of them must be looked at where it
    stands, then what has rare pieces.
    """
    owners = Counter(window for literal in literals for window in {*_windows(literal.text).values()})

    def rank(window: bytes) -> tuple[bool, int, int]:
        return healthy.holds(window), owners[window], healthy.commonness(window)

    found = []
    for literal in literals:
        windows = _windows(literal.text)
        start = min(windows, key=lambda start: rank(windows[start]))
        found.append((start, start + len(windows[start])))
    return tuple(found)


def _windows(text: bytes) -> dict[int, bytes]:
    lowered = text.lower()
    starts = range(max(len(text) - healthy.WINDOW_BYTES, 0) + 1)
    return {start: lowered[start : start + healthy.WINDOW_BYTES] for start in starts}


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
