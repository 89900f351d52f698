"""The finders of literals: three ways with one result."""

from __future__ import annotations

import functools
import threading

import pytest
from conftest import CORPUS
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_diag import RuleSet, load_rules
from strata_diag.finders import (
    WINDOWS_FROM,
    AhoCorasickFinder,
    Finder,
    HyperscanFinder,
    Literal,
    PlainFinder,
    rare_windows,
)
from strata_diag.scan import Scanner

NATIVE = {"hyperscan": HyperscanFinder, "ahocorasick-rs": AhoCorasickFinder}


def lines_found(finder: Finder, data: bytes) -> set[tuple[int, int]]:
    """(line, literal) pairs that a finder reports."""
    return {(data.count(b"\n", 0, position), literal) for position, literal in finder.hits(data)}


def native(name: str, literals: tuple[Literal, ...]) -> Finder:
    """A finder by name; skips where its package isn't installed."""
    pytest.importorskip({"hyperscan": "hyperscan", "ahocorasick-rs": "ahocorasick_rs"}[name])
    made: Finder = NATIVE[name](literals)
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
    plain, other = PlainFinder(literals), native(name, literals)
    logs = [path.read_bytes() for path in sorted(CORPUS.rglob("*.log"))]
    for data in [*logs, b"\n".join(logs)]:
        assert lines_found(other, data) == lines_found(plain, data)


WORDS = st.text(alphabet="abAB .:(", min_size=1, max_size=6).map(str.encode)
LITERALS = st.lists(st.tuples(WORDS, st.booleans()), min_size=1, max_size=6, unique=True).map(
    lambda pairs: tuple({Literal(text.lower() if caseless else text, caseless) for text, caseless in pairs})
)


@pytest.mark.parametrize("name", NATIVE)
@given(literals=LITERALS, data=st.text(alphabet="abAB .:(\n", max_size=80).map(str.encode))
@settings(max_examples=120, deadline=None)
def test_any_text_gives_the_same_hits(name: str, literals: tuple[Literal, ...], data: bytes) -> None:
    """Overlapping, nested and caseless literals too are found by all of them on the same lines."""
    assert lines_found(native(name, literals), data) == lines_found(PlainFinder(literals), data)


@given(literals=LITERALS, data=st.text(alphabet="abAB .:(\n", max_size=80).map(str.encode))
@settings(max_examples=60, deadline=None)
def test_rare_windows_give_the_same_hits(literals: tuple[Literal, ...], data: bytes) -> None:
    """The search by windows, which many literals ask for, is as exact as that by whole literals."""
    padding = tuple(Literal(b"never in a log %d" % number, False) for number in range(WINDOWS_FROM))
    many = (*literals, *padding)
    assert lines_found(native("hyperscan", many), data) == lines_found(PlainFinder(many), data)


def test_a_window_avoids_what_is_common() -> None:
    """The eight bytes that stand for a literal are not those of a prefix that every line has."""
    literals = (Literal(b"strata serve: wedged zyxwv", False), Literal(b"short", False))
    windows = rare_windows(literals, [b"strata serve: prompt 12 tokens", b"strata serve: wedged no more"])
    assert b"strata" not in windows[0]
    assert len(windows[0]) == 8
    assert windows[1] == b"short"


def test_a_large_log_gets_the_candidates_of_a_small_one(rules: RuleSet) -> None:
    """The scanner nominates the same lines for the same patterns with whatever finder it takes."""
    data = b"\n".join(path.read_bytes() for path in sorted(CORPUS.rglob("*.log")))
    scanner = Scanner(rules.scanned_patterns)
    assert scanner.scan(data, heavy=True) == scanner.scan(data)


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
