"""The finders of literals: three ways with one result."""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING

import pytest
from conftest import CORPUS
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_diag import RuleSet, load_rules
from strata_diag.finders import (
    WINDOWS_FROM,
    WORDS_FROM,
    AhoCorasickFinder,
    HyperscanFinder,
    PlainFinder,
)
from strata_diag.needles import Literal, build_index
from strata_diag.ruleset import Pattern, ScanIndex
from strata_diag.scan import Scanner

if TYPE_CHECKING:
    from strata_diag.finders import Finder

NATIVE = {"hyperscan": HyperscanFinder, "ahocorasick-rs": AhoCorasickFinder}


def lines_found(finder: Finder, data: bytes) -> set[tuple[int, int]]:
    """(line, literal) pairs that a finder reports."""
    return {(data.count(b"\n", 0, position), literal) for position, literal in finder.hits(data, len(data))}


def index_of(literals: tuple[Literal, ...]) -> ScanIndex:
    """What to search for where each literal is a pattern of its own."""
    return build_index(Pattern(number, number, "", (one.text,), one.caseless) for number, one in enumerate(literals))


def plain(literals: tuple[Literal, ...]) -> Finder:
    """The finder that the others are held to."""
    return PlainFinder(index_of(literals))


def native(name: str, literals: tuple[Literal, ...]) -> Finder:
    """A finder by name; skips where its package isn't installed."""
    pytest.importorskip({"hyperscan": "hyperscan", "ahocorasick-rs": "ahocorasick_rs"}[name])
    made: Finder = NATIVE[name](index_of(literals))
    return made


@functools.cache
def builtin_literals() -> tuple[Literal, ...]:
    """The literals of the built-in rules: more than enough for the search by rare windows."""
    rules = load_rules(discover=False)
    return tuple({Literal(text, one.caseless) for one in rules.patterns for text in one.literals})


@pytest.mark.parametrize("name", NATIVE)
def test_corpus_gives_the_same_hits(name: str) -> None:
    """On every log of the corpus, and on all of them in one block, a native finder names the lines that the plain one does."""
    literals = builtin_literals()
    assert len(literals) > WINDOWS_FROM
    judge, other = plain(literals), native(name, literals)
    logs = [path.read_bytes() for path in sorted(CORPUS.rglob("*.log"))]
    for data in [*logs, b"\n".join(logs)]:
        assert lines_found(other, data) == lines_found(judge, data)


WORDS = st.text(alphabet="abAB .:(", min_size=1, max_size=6).map(str.encode)
LITERALS = st.lists(st.tuples(WORDS, st.booleans()), min_size=1, max_size=6, unique=True).map(
    lambda pairs: tuple({Literal(text.lower() if caseless else text, caseless) for text, caseless in pairs})
)


@pytest.mark.parametrize("name", NATIVE)
@given(literals=LITERALS, data=st.text(alphabet="abAB .:(\n", max_size=80).map(str.encode))
@settings(max_examples=120)
def test_any_text_gives_the_same_hits(name: str, literals: tuple[Literal, ...], data: bytes) -> None:
    """Overlapping, nested and caseless literals too are found by all of them on the same lines."""
    assert lines_found(native(name, literals), data) == lines_found(plain(literals), data)


@given(literals=LITERALS, data=st.text(alphabet="abAB .:(\n", max_size=80).map(str.encode))
@settings(max_examples=60)
def test_rare_windows_give_the_same_hits(literals: tuple[Literal, ...], data: bytes) -> None:
    """The search by windows, which many literals ask for, is as exact as that by whole literals."""
    padding = tuple(Literal(b"never in a log %d" % number, False) for number in range(WINDOWS_FROM))
    many = (*literals, *padding)
    assert lines_found(native("hyperscan", many), data) == lines_found(plain(many), data)


@given(literals=LITERALS, data=st.text(alphabet="abAB .:(\n", max_size=80).map(str.encode))
@settings(max_examples=120)
def test_telling_words_rule_no_literal_out(literals: tuple[Literal, ...], data: bytes) -> None:
    """With so many literals that words choose among them, the plain search finds what looking for each finds."""
    padding = tuple(Literal(b"never in a log %d" % number, caseless=False) for number in range(WORDS_FROM))
    lines = data.split(b"\n")
    expected = {
        (line, number)
        for number, one in enumerate((*literals, *padding))
        for line, text in enumerate(lines)
        if one.text in (text.lower() if one.caseless else text)
    }
    assert lines_found(plain((*literals, *padding)), data) == expected


def test_what_stands_behind_the_end_is_not_there() -> None:
    """A buffer that is longer than its block gives no hit from what a former block left in it."""
    literals = builtin_literals()
    data = bytearray(b"ready\n" + b"\n".join(one.text for one in literals))
    for finder in (plain(literals), native("hyperscan", literals), native("ahocorasick-rs", literals)):
        assert finder.hits(data, 6) == []


def test_a_large_log_gets_the_candidates_of_a_small_one(rules: RuleSet) -> None:
    """The scanner nominates the same lines for the same patterns with whatever finder it takes."""
    data = b"\n".join(path.read_bytes() for path in sorted(CORPUS.rglob("*.log")))
    index = build_index(rules.scanned_patterns)
    small, large = Scanner(index), Scanner(index)
    large.expect(2**50)
    assert isinstance(large._finder, HyperscanFinder | AhoCorasickFinder)
    assert isinstance(small._finder, PlainFinder)
    small._spent = -(2**50)
    assert large.scan(data) == small.scan(data)


def test_threads_share_a_finder() -> None:
    """Several threads at once get what one gets."""
    literals = builtin_literals()
    finder = native("hyperscan", literals)
    data = b"\n".join(path.read_bytes() for path in sorted(CORPUS.rglob("*.log"))[:40])
    expected = lines_found(finder, data)
    results: list[set[tuple[int, int]]] = []
    threads = [threading.Thread(target=lambda: results.append(lines_found(finder, data))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 6
