"""What healthy logs look like, and that the file which says so is current."""

from __future__ import annotations

import pytest
from conftest import ROOT

from strata_diag import healthy
from strata_diag.workshop.everyday import TARGET, everyday_lines


def test_the_kept_lines_are_those_of_the_corpus() -> None:
    """`healthy.txt` holds what the healthy logs of the corpus hold today; `./dev bless` makes it anew."""
    assert TARGET.read_bytes() == everyday_lines(ROOT / "corpus")


def test_lines_that_differ_in_digits_are_kept_once() -> None:
    """A line stands for all of its shape, in the order in which they came."""
    assert healthy.distinct_lines([b"read 17 of 20\n\nread 18 of 21\r\n", b"done\n"]) == b"read 00 of 00\ndone\n"


@pytest.mark.parametrize(
    ("text", "held"),
    [
        (b"MEMORY GUARD: LIMIT", True),
        (b"memory guard: gone", False),
        (b"12345678", False),
        (b"no such words here", False),
    ],
)
def test_a_text_of_healthy_lines_is_known(text: bytes, *, held: bool) -> None:
    """Letters' case counts for nothing; a number by itself stands nowhere."""
    assert healthy.holds(text) is held
