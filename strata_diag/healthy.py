"""What healthy logs look like: the distinct lines of those in `corpus/`, by which the rare is told from the common.

A rule set that is compiled chooses, for each pattern, the text to search for by what stands here: a piece that healthy
lines hold would send every one of them to the matcher. Read when packs are compiled, never while a log is read.
`healthy.txt` is made by `python -m strata_diag.workshop.everyday corpus`; each line stands for all that differ in their digits.
"""

from __future__ import annotations

import functools
import os
from collections import Counter

FILE = "healthy.txt"
WINDOW_BYTES = 8  # of a rare piece: few are shared by chance, and Hyperscan is fastest with short ones
FEWEST_LETTERS = 3  # beside digits, of a text that can be looked up
LONGEST_KEPT = 300  # bytes of a line
_DIGITS = bytes.maketrans(b"123456789", b"000000000")
# what words are made of stays, in lower case; everything else parts them
WORDS = bytes(
    byte if chr(byte) in "abcdefghijklmnopqrstuvwxyz0123456789_" else ord(" ") for byte in bytes(range(256)).lower()
)


@functools.cache
def _text() -> bytes:
    path = os.path.join(os.path.dirname(__file__), FILE)
    with open(path, "rb") as file:
        return file.read().lower()


@functools.cache
def _words() -> Counter[bytes]:
    counts: Counter[bytes] = Counter()
    for word in _text().translate(WORDS).split():
        counts.update((word, b"<" + word[:4], b">" + word[-4:]))
    return counts


@functools.cache
def _pieces() -> Counter[bytes]:
    text = _text()
    return Counter(text[start : start + 3] for start in range(len(text) - 2))


def _plain(text: bytes) -> bytes:
    return text.lower().translate(_DIGITS)


@functools.cache
def _windows() -> frozenset[bytes]:
    text = _text()
    return frozenset(text[start : start + WINDOW_BYTES] for start in range(len(text) - WINDOW_BYTES + 1))


def holds(text: bytes) -> bool:
    """Whether a text stands in a healthy line, whatever its letters' case and its digits.

    A number stands in none: that some number does says nothing about this one.
    """
    plain = _plain(text)
    if len(plain.replace(b"0", b"")) < FEWEST_LETTERS:
        return False
    return plain in (_windows() if len(plain) == WINDOW_BYTES else _text())


def word_count(key: bytes) -> int:
    """How often a word stands in healthy lines; `<abcd` asks for words that begin so, `>abcd` for such that end so."""
    return _words()[key.translate(_DIGITS)]


def commonness(text: bytes) -> int:
    """How common the rarest three bytes of a text are: a guess for what stands in no healthy line itself."""
    plain = _plain(text)
    return min((_pieces()[plain[start : start + 3]] for start in range(len(plain) - 2)), default=0)


def distinct_lines(logs: list[bytes]) -> bytes:
    """The lines of healthy logs, each shape once, in order: what `healthy.txt` holds."""
    lines = (line.strip()[:LONGEST_KEPT].translate(_DIGITS) for log in logs for line in log.splitlines())
    return b"\n".join(dict.fromkeys(line for line in lines if line)) + b"\n"
