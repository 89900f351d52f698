"""What the bytes of a log read as: their encoding, a line without colours, and what it showed, redraw by redraw.

Comes in: the first bytes of a log, or one line. Goes out: the name of an encoding, or text. Knows nothing of blocks and files.
"""

from __future__ import annotations

import codecs

from strata_diag.lazy import later_regex

LONGEST_LINE = 64 * 1024  # bytes that anybody looks at: a pattern's time-out overshoots on longer ones
KEPT_HALF = LONGEST_LINE // 2
HEAD_BYTES = 4096  # by which an encoding is told
WIDEST_GAP = 80  # blanks for one cursor movement: five bytes must not become a thousand

DIRT = (b"\x1b", b"\x00", b"\x08")  # without which a line is clean
_CURSOR_RIGHT = later_regex(rb"\x1b\[(\d{0,3})C")  # Windows' console writes it in place of runs of blanks
_ESCAPES = later_regex(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # colours, cursor, erase
    rb"|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # titles and links
    rb"|[PX^_][^\x1b\n]*(?:\x1b\\)?"
    rb"|[ -/]*[0-~])?"
)
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CHINESE, _WESTERN = "gb18030", "cp1252"  # what Windows writes where it does not write Unicode
_HIGH_BYTES = later_regex(rb"[\x80-\xff]+")
# Chinese comes in rows of byte pairs; an accent stands alone, or as one pair inside a word (two curly quotes never touch)
_ACCENTS = later_regex(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])|(?<=[A-Za-z])[\x80-\xff]{2}(?=[A-Za-z])")


def detect_encoding(head: bytes) -> tuple[str, int]:
    """(encoding, bytes of its mark) of a log that starts like this: mark, share of NULs, strict UTF-8, code pages."""
    for mark, name in _BOMS:
        if head.startswith(mark):
            return name, len(mark)
    pairs = len(head) // 2
    first_line, _, rest = head.partition(b"\n")
    if pairs >= 4 and b"\x00" in first_line + rest[:1]:  # noqa: PLR2004 - less proves nothing, and UTF-16 may be appended
        even, odd = head[0 : 2 * pairs : 2].count(0), head[1 : 2 * pairs : 2].count(0)
        if odd > 0.3 * pairs and even < 0.05 * pairs:
            return "utf-16-le", 0
        if even > 0.3 * pairs and odd < 0.05 * pairs:
            return "utf-16-be", 0
    if _decodes(head, "utf-8"):
        return "utf-8", 0
    return next((name for name in _code_pages(head) if _decodes(head, name)), "latin-1"), 0


def _code_pages(data: bytes | bytearray) -> tuple[str, str]:
    """The code pages in which text that is no UTF-8 may be written, the likelier one first."""
    western = 2 * len(_ACCENTS.findall(data)) > len(_HIGH_BYTES.findall(data))
    return (_WESTERN, _CHINESE) if western else (_CHINESE, _WESTERN)


def _decodes(head: bytes, encoding: str) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)("strict").decode(head)  # a character that the cut splits is no fault
    except UnicodeDecodeError:
        return False
    return True


def looks_binary(head: bytes) -> bool:
    """Whether a log that starts like this is no text: a twentieth and more of control bytes that no console writes.

    NULs prove nothing, since a crash leaves them in a log and UTF-16 is full of them, unless there is nothing else.
    """
    plain = head.replace(b"\x00", b"")
    odd = sum(plain.count(byte) for byte in range(32) if byte not in (8, 9, 10, 12, 13, 27))
    return odd > len(plain) / 20 or (head != b"" and plain == b"")


def clean(raw: bytes) -> bytes:
    """`raw` without colours, NULs and cursor movements; the same object where there are none, always as many lines."""
    if not any(mark in raw for mark in DIRT):
        return raw
    text = _CURSOR_RIGHT.sub(lambda found: b" " * min(int(found.group(1) or b"1"), WIDEST_GAP), raw)
    return _ESCAPES.sub(b"", text).replace(b"\x00", b"").replace(b"\x08", b"")


def shorten(line: bytes | bytearray) -> bytes:
    """A line as far as anybody looks at it: all of it, or its two ends as two redraws, so that nothing matches across the gap."""
    if len(line) <= LONGEST_LINE:
        return bytes(line)
    return bytes(line[:KEPT_HALF]) + b"\r" + bytes(line[-KEPT_HALF:])


def decode_line(line: bytes | bytearray) -> str:
    """One line as text: UTF-8, else the first code page that fits, else with replacement characters."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        pass
    if len(line) <= LONGEST_LINE:  # in a longer one the cut may have split a character
        for encoding in _code_pages(line):
            try:
                return line.decode(encoding)
            except UnicodeDecodeError:
                continue
    return line.decode("utf-8", "replace")


def redraws(line: bytes | bytearray) -> list[str]:
    """What a line showed, newest first: a lone carriage return draws the same line anew."""
    if len(line) <= LONGEST_LINE and b"\r" not in line:
        return [decode_line(line)]
    parts = decode_line(shorten(line)).rstrip("\r").split("\r")
    return [part for part in reversed(parts) if part] or [""]
