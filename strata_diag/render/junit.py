"""JUnit's XML, as Jenkins and GitLab read it.

XML 1.0 has no way to write most control characters, not even escaped, so they are shown as `visible` shows them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from strata_diag.render.escape import visible

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

LONGEST_TEXT = 400  # characters of a name or a message


def xml_text(value: str, longest: int = LONGEST_TEXT) -> str:
    """A piece of text as one line of bounded length, of characters that XML has."""
    shown = visible(value)
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def xml_lines(values: Iterable[str], longest: int = LONGEST_TEXT) -> str:
    """Several pieces of text, a line each."""
    return "\n".join(xml_text(value, longest) for value in values)


def xml_document(root: Element) -> str:
    """The whole file, indented, with its declaration."""
    import xml.etree.ElementTree as ET  # noqa: PLC0415 - only this format writes XML

    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
