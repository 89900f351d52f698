"""Private keys: the only secret that goes over several lines.

The lines between `-----BEGIN ... PRIVATE KEY-----` and its end are replaced one by one, so that every other line keeps its
number. A block that never ends takes no log with it: the first line that does not end in a long word of base64 ends it.
"""

from __future__ import annotations

import re

from strata_diag.redact.detector import Found

MOST_LINES = 400  # of one key; an RSA key of 16,384 bits has 200
_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_INLINE = re.compile(r"(?:\\{0,4}[rn]|[A-Za-z0-9+/=]){40,}+[^\s\"'\\-]*+")
_BODY = re.compile(r"[A-Za-z0-9+/]{40,}={0,2}(?=\s*$)")
_LAST = re.compile(r"(?<![^\s|>\"'])[A-Za-z0-9+/]+={0,2}(?=\s*$)")
_HEADER = re.compile(r"(?:Proc-Type|DEK-Info|Version|Comment): |^\s*$")
_END = "-----END"


class KeyBlocks:
    """Finds the lines of private keys, also where a key goes on in the next text."""

    def __init__(self) -> None:
        self._left = 0  # lines that may still belong to the open key
        self._secret = ""  # its first line: all of them get the same stand-in

    def find(self, text: str) -> list[Found]:
        """The bodies of the keys in a text that begins at the start of a line or goes on where the last one ended."""
        if not self._left and "PRIVATE KEY" not in text:
            return []
        found: list[Found] = []
        position = 0
        while position < len(text):
            if not self._left:
                begin = _BEGIN.search(text, position)
                if begin is None:
                    break
                position = self._open(text, begin.end(), found)
            else:
                position = self._line(text, position, found)
        return found

    def _open(self, text: str, position: int, found: list[Found]) -> int:
        """Take what follows in the same line (JSON writes a key in one) and go to the next line."""
        inline = _INLINE.match(text, position)
        if inline:
            found.append(Found(*inline.span(), "key", inline[0]))
            return inline.end()
        following = _next_line(text, position)
        if _BEGIN.search(text, position, following):
            return position
        self._left = 0 if _END in text[position:following] else MOST_LINES
        self._secret = ""
        return following

    def _line(self, text: str, start: int, found: list[Found]) -> int:
        following = _next_line(text, start)
        line = text[start:following]
        body = _BODY.search(line)
        last = body or (_LAST.search(line) if self._left < MOST_LINES else None)
        if _END in line or not (last or _HEADER.search(line)):
            self._left = 0
            return following
        if last:
            self._secret = self._secret or last[0]
            found.append(Found(start + last.start(), start + last.end(), "key", self._secret))
            self._left = self._left - 1 if body else 0
        return following


def _next_line(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end + 1
