"""The parts of a pattern: its certain words, and texts that lead into each of its repeats."""

from __future__ import annotations

import pytest
from hypothesis import given
from patterns import Example, examples

from strata_diag.workshop.lint.syntax import GAP, certain_text, parse, pumps


@pytest.mark.parametrize(
    ("source", "certain"),
    [
        ("cannot place", "cannot place"),
        (r"cannot \S+ place", f"cannot {GAP * 3} place"),
        ("(?:the engine |)failed", "failed"),
        ("(?:crashed|the engine is gone)", "crashed"),
        ("[Ff]ailed$", "failed"),
        ("(?=never)failed(?!ever)", "failed"),
        ("(?>failed)", "failed"),
        ("(?:no room )?full", f"{GAP}full"),
    ],
)
def test_certain_text_is_what_every_match_holds(source: str, certain: str) -> None:
    """Optional parts and look-arounds say nothing, and of an alternative the shortest side counts."""
    assert certain_text(parse(source)) == certain


@pytest.mark.parametrize("source", ["(", "(?P<a>x)|(?P<a>y)", "(?<a", "a{1,99999999999999999999}"])
def test_a_pattern_of_another_language_has_no_parts(source: str) -> None:
    """What the standard library can't read is left alone."""
    assert parse(source) is None


def test_each_long_repeat_has_its_pumps() -> None:
    """A bounded repeat can't wear a pattern out; an unbounded one is led to by what stands before it."""
    assert pumps(parse(r"a{1,9}[bc]?")) == []
    found = pumps(parse(r"no (?:\w+ )*room"))
    assert {pump.lead for pump in found} >= {"no "}
    assert {"a ", "a"} <= {pump.repeated for pump in found}
    assert {"room"} <= {pump.rest for pump in found}


@given(examples())
def test_any_pattern_can_be_taken_apart(example: Example) -> None:
    """Whatever the standard library reads has certain text and pumps that repeat something."""
    tree = parse(example.source)
    if tree is not None:
        assert isinstance(certain_text(tree), str)
        assert all(pump.repeated for pump in pumps(tree))
