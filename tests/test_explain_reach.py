"""How far a pattern gets in a line: cutting it into elements, and trying them one after the other."""

from __future__ import annotations

import pytest

from strata_diag import RuleSet
from strata_diag.explain.elements import beginning, cut, joined
from strata_diag.explain.reach import Probe, stopping_point


def pieces(pattern: str) -> list[list[str]]:
    """The sources of the elements of each alternative."""
    return [[element.source for element in way] for way in cut(pattern).ways]


def reached(pattern: str, *lines: str) -> tuple[str, str, str]:
    """(part of the best line that matches, part of the pattern, what does not follow)."""
    probe = Probe(pattern)
    for line in lines:
        probe.look([line])
    best = probe.best
    assert best is not None
    return best.text[best.start : best.end], best.matched, best.stopped_at


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"a\d+b", [["a", r"\d+", "b"]]),
        (r"a|b(c|d)|", [["a"], ["b", "(c|d)"], []]),
        (r"[]|)]x[^]a]{2,3}?y", [["[]|)]", "x", "[^]a]{2,3}?", "y"]]),
        (r"[[:alpha:]|]+z", [["[[:alpha:]|]+", "z"]]),
        (r"(?:a\)|[)])*+\x41\.", [[r"(?:a\)|[)])*+", r"\x41", r"\."]]),
        (r"{model}{e<=1}", [["{", "m", "o", "d", "e", "l", "}{e<=1}"]]),
        (r"(?#a|b)c\p{Lu}", [["(?#a|b)", "c", r"\p{Lu}"]]),
        (r"[\]a]b\\", [[r"[\]a]", "b", r"\\"]]),
    ],
)
def test_patterns_are_cut_between_elements(pattern: str, expected: list[list[str]]) -> None:
    """Classes, groups, escapes and quantifiers stay whole; alternatives are told apart."""
    assert pieces(pattern) == expected


@pytest.mark.parametrize("pattern", ["(", "[", "\\", "(?#", "[[:", "a{", "[^", "(?P<a"])
def test_what_is_cut_off_ends_with_the_text(pattern: str) -> None:
    """Text that is no pattern is cut all the same, without an error."""
    assert "".join(piece for way in pieces(pattern) for piece in way) == pattern


def test_every_pattern_of_the_rules_is_the_sum_of_its_elements(all_rules: RuleSet) -> None:
    """Nothing is lost or added, and flags stand in front."""
    for pattern in all_rules.patterns:
        found = cut(pattern.source)
        assert found.flags + "|".join(joined(way) for way in found.ways) == pattern.source


def test_a_pattern_over_several_lines_stays_whole() -> None:
    """Blanks and comments of `(?x)` are no elements."""
    assert pieces("(?x) a # b|c") == [[" a # b|c"]]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("out of memory: now", "out of m"), (r"\d+ ab \d+ abc", " ab "), (r"\w+x\d", ""), (r"a\.b: \d", "a.b: ")],
)
def test_lines_are_looked_up_by_the_first_plain_text(pattern: str, expected: str) -> None:
    """Long enough, plain, and at most eight characters."""
    assert beginning(cut(pattern).ways[0]) == expected


@pytest.mark.parametrize(
    ("pattern", "lines", "expected"),
    [
        (r"alloc \d+ MiB", ["alloc x", "alloc 12 GiB"], ("alloc 12 ", r"alloc \d+ ", "MiB")),
        (r"ab(?:cd|ce(?:fg|fh))x", ["abcefz"], ("abcef", r"ab(?:ce(?:f", "g")),
        (r"ab(?:cd|ce)x", ["ab", "abc"], ("abc", r"ab(?:c", "d")),
        (r"(?i)alloc failed|no room left", ["NO ROOM RIGHT"], ("NO ROOM ", "no room ", "left")),
        (r"ab(?P<number>\d+)?c", ["ab12d"], ("ab12", r"ab(?P<number>\d+)?", "c")),
        (r"(a)\1b", ["aac"], ("aa", r"(a)\1", "b")),
        (r"^alloc", ["x alloc"], ("", "^", "alloc")),
    ],
)
def test_the_furthest_line_wins(pattern: str, lines: list[str], expected: tuple[str, str, str]) -> None:
    """As many elements as match in some line, groups looked into."""
    assert reached(pattern, *lines) == expected


def test_a_worse_line_changes_nothing() -> None:
    """The first of equally near lines is kept."""
    probe = Probe("abcdef")
    assert probe.look(["abcx"])
    assert not probe.look(["abcy"])
    assert not probe.look(["nothing"])
    assert probe.best is not None
    assert probe.best.text == "abcx"


def test_the_redraw_that_gets_further_is_shown() -> None:
    """Of several redraws of a line the one that matches is named."""
    probe = Probe("abcdef")
    probe.look(["new", "abcd old"])
    assert probe.best is not None
    assert probe.best.text == "abcd old"


def test_a_pattern_that_takes_too_long_is_given_up() -> None:
    """A catastrophic pattern costs its time-out once."""
    slow = Probe(r"(?:a|aa)+$")
    for _ in range(3):
        slow.look(["a" * 80 + "!"])
    assert slow.gave_up


def test_the_whole_pattern_leaves_nothing_over() -> None:
    """What matches to its end stops nowhere."""
    assert reached("abc", "xabc") == ("abc", "abc", "")
    assert stopping_point([]) == ""
