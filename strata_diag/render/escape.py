r"""Text of a log made harmless for a terminal.

A log is hostile: escape sequences could rewrite the screen, set the window's title or forge a verdict, and lone surrogates
break `print`. Whatever is no printable character becomes visible as \x1b or \u202e; tabs become blanks.
"""

from __future__ import annotations

# Characters that are printable by class and still change how the rest of a line is shown or read
_DIRECTION = {*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF, 0x2028, 0x2029, 0x061C}

LAST_ASCII = 0x7F


def visible(text: str) -> str:
    """`text` as one line without anything that a terminal would obey."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    code = ord(character)
    if character == "\t":
        return "    "
    if code in _DIRECTION or not character.isprintable():
        return character.encode("ascii", "backslashreplace").decode("ascii") if code > LAST_ASCII else f"\\x{code:02x}"
    return character


def encodable(text: str, encoding: str | None) -> str:
    """`text` with whatever this encoding lacks as backslash escapes: a Windows console may know only cp1252."""
    name = encoding or "utf-8"
    try:
        text.encode(name)
    except (UnicodeEncodeError, LookupError):
        return text.encode("ascii" if _unknown(name) else name, "backslashreplace").decode(
            "ascii" if _unknown(name) else name
        )
    return text


def _unknown(encoding: str) -> bool:
    try:
        "".encode(encoding)
    except LookupError:
        return True
    return False
