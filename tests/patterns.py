"""Regular expressions drawn by hypothesis, each with a text that it was built to match."""

from __future__ import annotations

import re
from typing import NamedTuple

from hypothesis import strategies as st

from strata_diag.literals import required_literals
from strata_diag.ruleset import Pattern


class Example(NamedTuple):
    """A regular expression and a text that it most likely matches; whether it does is for `regex` to say."""

    source: str
    text: str


def made(source: str, number: int = 0) -> Pattern:
    """The pattern of a rule as the linker makes it."""
    return Pattern(number, number, source, *required_literals(source))


_WORDS = st.text("abcdeKSks (:.[{|-é中", min_size=1, max_size=9)
_PIECES = st.sampled_from([
    Example(r"\d+", "42"),
    Example(r"\w", "x"),
    Example(".", "?"),
    Example(".*", ""),
    Example(r"\s*", " "),
    Example(r"[^\s]", "z"),
    Example(r"[]ab]", "]"),
    Example(r"[[:alpha:]]", "q"),
    Example(r"[[:digit:]ab]+", "7"),
    Example(r"\x41\u0042\103", "ABC"),
    Example(r"(?#a remark)", ""),
    Example(r"\b", ""),
    Example("^", ""),
    Example("$", ""),
])  # fmt: skip


def _quoted(word: str) -> Example:
    return Example(re.escape(word), word)


def _joined(parts: list[Example]) -> Example:
    return Example("".join(part.source for part in parts), "".join(part.text for part in parts))


def _chosen(parts: list[Example]) -> Example:
    return Example(f"(?:{'|'.join(part.source for part in parts)})", parts[-1].text)


@st.composite
def _wrapped(draw: st.DrawFn, inner: st.SearchStrategy[Example]) -> Example:
    source, text = draw(inner)
    return draw(
        st.sampled_from([
            Example(f"({source})", text),
            Example(f"(?i:{source})", text.swapcase()),
            Example(f"(?-i:{source})", text),
            Example(f"(?>{source})", text),
            Example(f"(?:{source})?", text),
            Example(f"(?:{source})?", ""),
            Example(f"(?:{source})*", ""),
            Example(f"(?:{source})+", text * 2),
            Example(f"(?:{source})+?", text),
            Example(f"(?:{source})++", text),
            Example(f"(?:{source}){{2}}", text * 2),
            Example(f"(?:{source}){{,2}}", ""),
            Example(f"(?:{source}){{0}}", ""),
            Example(f"(?={source})", ""),
            Example(f"(?={source}){source}", text),
            Example(f"(?!{source})", ""),
            Example(f"(?:{source}){{e<=1}}", text[:-1] + "#"),
            Example(f"(?:{source}){{1i+1d+1s<=2}}", text[1:]),
            Example(f"(?:{source}){{d}}", ""),
        ])
    )  # fmt: skip


def _grown(inner: st.SearchStrategy[Example]) -> st.SearchStrategy[Example]:
    return st.one_of(
        st.lists(inner, min_size=1, max_size=4).map(_joined),
        st.lists(inner, min_size=2, max_size=3).map(_chosen),
        _wrapped(inner),
    )


@st.composite
def examples(draw: st.DrawFn) -> Example:
    """A whole pattern, now and then caseless from its start, and a text inside other text."""
    words = _WORDS.map(_quoted)
    found = draw(st.recursive(st.one_of(words, words, _PIECES), _grown, max_leaves=8))
    before, after = draw(st.sampled_from(["", "E ", "错误", "\x1b[1m"])), draw(st.sampled_from(["", " !", "é"]))
    text = f"{before}{found.text}{after}"
    return draw(st.sampled_from([Example(found.source, text), Example(f"(?i){found.source}", text.swapcase())]))
