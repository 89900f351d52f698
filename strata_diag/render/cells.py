"""How many columns a text takes on a terminal: Chinese, Japanese and Korean signs take two.

For columns of our own only; where rich prints a table it counts by itself.
"""

from __future__ import annotations


def width(text: str) -> int:
    """Columns of a text that `visible` has made harmless."""
    if text.isascii():
        return len(text)
    import unicodedata  # noqa: PLC0415 - English needs none

    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def padded(text: str, columns: int) -> str:
    """A text with blanks behind it up to so many columns; a longer one stays as it is."""
    return text + " " * (columns - width(text))
