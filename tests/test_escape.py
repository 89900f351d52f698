"""Text of a log on a terminal: nothing that it would obey, nothing that it can't show."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_diag.render.escape import encodable, visible

EVERYTHING = st.text(st.characters(exclude_categories=()), max_size=60)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("cudaMalloc failed: out of memory", "cudaMalloc failed: out of memory", id="plain"),
        pytest.param("", "", id="empty"),
        pytest.param("显存不足 für 80 € 🙂", "显存不足 für 80 € 🙂", id="other scripts and pictures"),
        pytest.param("e\u0301 \u0939\u093f", "e\u0301 \u0939\u093f", id="combined letters"),
        pytest.param("[/foo] [red]x[/red]", "[/foo] [red]x[/red]", id="what looks like markup"),
        pytest.param("D:\\models\\x1b", "D:\\models\\x1b", id="a backslash of its own"),
        pytest.param("a\tb", "a    b", id="tabulator"),
        pytest.param("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m", id="colour"),
        pytest.param("\x1b]0;title\x07", "\\x1b]0;title\\x07", id="title"),
        pytest.param("a\nb\r\nc", "a\\x0ab\\x0d\\x0ac", id="line ends"),
        pytest.param("a\x00b\x7fc", "a\\x00b\\x7fc", id="NUL and delete"),
        pytest.param("a\x9b31mb", "a\\x9b31mb", id="the one-byte form of an escape"),
        pytest.param("exe\u202egpj", "exe\\u202egpj", id="text from right to left"),
        pytest.param("a\u2066b\u2069", "a\\u2066b\\u2069", id="isolated direction"),
        pytest.param("pass\u200bword", "pass\\u200bword", id="a blank without a width"),
        pytest.param("\ufeffready", "\\ufeffready", id="byte order mark"),
        pytest.param("a\u2028b\u2029c", "a\\u2028b\\u2029c", id="line separators"),
        pytest.param("a\u061cb", "a\\u061cb", id="Arabic letter mark"),
        pytest.param("a\u00adb", "a\\xadb", id="soft hyphen"),
        pytest.param("model \udce9.gguf", "model \\udce9.gguf", id="half a character"),
        pytest.param("a\ue000b", "a\\ue000b", id="private character"),
        pytest.param("a\U000e0041b", "a\\U000e0041b", id="invisible tag"),
    ],
)
def test_what_a_terminal_would_obey_becomes_visible(text: str, shown: str) -> None:
    """Control, direction and invisible characters are written out; all else stays as it is."""
    assert visible(text) == shown


@settings(max_examples=500)
@given(EVERYTHING)
def test_nothing_harmful_remains(text: str) -> None:
    """Whatever a log holds, what is shown is one line of printable characters in one direction that can be encoded."""
    shown = visible(text)
    categories = {unicodedata.category(character) for character in shown}
    assert not categories & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert len(f"{shown}|".splitlines()) == 1
    shown.encode("utf-8")


@given(EVERYTHING)
def test_showing_twice_changes_nothing(text: str) -> None:
    """A text that has been made visible is its own visible form."""
    assert visible(visible(text)) == visible(text)


@pytest.mark.parametrize(
    ("text", "encoding", "shown"),
    [
        pytest.param("显存 für", "utf-8", "显存 für", id="UTF-8"),
        pytest.param("显存 für", "cp1252", "\\u663e\\u5b58 für", id="a Western console"),
        pytest.param("显存 für 🙂", "gbk", "显存 für \\U0001f642", id="a Chinese console"),
        pytest.param("显存 für", "ascii", "\\u663e\\u5b58 f\\xfcr", id="no more than ASCII"),
        pytest.param("显存 für", None, "显存 für", id="a stream that names no encoding"),
        pytest.param("显存 für", "", "显存 für", id="a stream with an empty name"),
        pytest.param("显存 für", "no-such-encoding", "\\u663e\\u5b58 f\\xfcr", id="an encoding that nobody knows"),
        pytest.param("plain", "no-such-encoding", "plain", id="plain text in an unknown encoding"),
        pytest.param("half \udce9", "utf-8", "half \\udce9", id="half a character"),
        pytest.param("🙂", "utf-16", "🙂", id="UTF-16"),
    ],
)
def test_what_an_encoding_lacks_is_written_out(text: str, encoding: str | None, shown: str) -> None:
    """A console shows what it can, and the rest as a code, instead of failing."""
    assert encodable(text, encoding) == shown


@given(EVERYTHING, st.sampled_from(["ascii", "cp1252", "cp437", "gbk", "cp932", "latin-1", "utf-8"]))
def test_whatever_comes_out_can_be_written(text: str, encoding: str) -> None:
    """No text of a log makes writing to a stream fail, and what the encoding has is left alone."""
    shown = encodable(text, encoding)
    shown.encode(encoding)
    assert encodable(shown, encoding) == shown
