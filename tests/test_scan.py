"""Candidate lines: the law that no matching line is left out, and the offsets that come with it."""

from __future__ import annotations

import pytest
import regex
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from patterns import Example, examples, made

from strata_diag.linetext import clean, redraws
from strata_diag.needles import build_index
from strata_diag.ruleset import Pattern, compile_pattern
from strata_diag.scan import Candidate, Scanner

ENCODINGS = ("utf-8", "gb18030", "cp1252")


def wanting(number: int, *literals: bytes, caseless: bool = False) -> Pattern:
    """A pattern with these literals; what it would match is nobody's business here."""
    return Pattern(number, number, "", literals, caseless)


def found(data: bytes, *patterns: Pattern) -> list[tuple[bytes, tuple[int, ...]]]:
    """The candidate lines of a block as bytes, with the patterns that nominate them."""
    return [(data[one.start : one.end], one.patterns) for one in Scanner(build_index(patterns)).scan(data)]


@settings(max_examples=120)
@given(
    st.lists(examples(), min_size=1, max_size=3),
    st.sampled_from(ENCODINGS),
    st.sampled_from([b"\n", b"\r\n"]),
    st.booleans(),
)
def test_no_line_that_a_pattern_matches_is_left_out(
    wanted: list[Example], encoding: str, end: bytes, ended: bool
) -> None:
    """The law of scan: whatever the encoding and the neighbours, each matching line is nominated for its pattern."""
    lines = [example.text.replace("\n", " ").encode(encoding, "replace") for example in (*wanted, Example("", "ready"))]
    data = clean(end.join(lines) + (end if ended else b""))
    patterns = [made(example.source, number) for number, example in enumerate(wanted)]
    nominated = {
        (data.count(b"\n", 0, candidate.start), number)
        for candidate in Scanner(build_index(patterns)).scan(data)
        for number in candidate.patterns
    }
    matching = set()
    for pattern in patterns:
        for line, content in enumerate(data.split(b"\n")[: len(lines)]):
            try:
                if any(compile_pattern(pattern.source).search(text, timeout=2) for text in redraws(content)):
                    matching.add((line, pattern.number))
            except (regex.error, TimeoutError, MemoryError):
                assume(False)
    assume(matching)
    assert matching - nominated == set()


@given(
    st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"x")), max_size=8),
    st.lists(st.tuples(st.lists(st.text("abAB", min_size=1, max_size=3), max_size=2), st.booleans()), max_size=4),
    st.booleans(),
    st.booleans(),
)
def test_exactly_the_lines_with_a_literal_are_nominated(
    others: list[bytes], wishes: list[tuple[list[str], bool]], ended: bool, heavy: bool
) -> None:
    """A line is a candidate for a pattern if and only if one of its literals stands in it, or it has none.

    heavy: found as in a large log, by a native finder where there is one.
    """
    lines = [part for other in others for part in (other, other.upper().translate(None, b"\x00"), b"abBA" + other[:3])]
    data = b"\n".join(lines) + (b"\n" if ended else b"")
    patterns = [
        wanting(number, *((word.lower() if folded else word).encode() for word in words), caseless=folded)
        for number, (words, folded) in enumerate(wishes)
    ]
    expected = []
    position = 0
    for line in data.removesuffix(b"\n").split(b"\n") if data else []:
        numbers = tuple(
            pattern.number
            for pattern in patterns
            if not pattern.literals
            or any(literal in (line.lower() if pattern.caseless else line) for literal in pattern.literals)
        )
        if numbers:
            expected.append(Candidate(position, position + len(line), numbers))
        position += len(line) + 1
    scanner = Scanner(build_index(patterns))
    if heavy:
        scanner.expect(2**50)
    assert scanner.scan(data) == expected


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        pytest.param(b"", [], id="an empty block"),
        pytest.param(b"one", [b"one"], id="without an end"),
        pytest.param(b"one\n", [b"one"], id="with an end"),
        pytest.param(b"one\n\ntwo\n", [b"one", b"", b"two"], id="with a blank line"),
        pytest.param(b"\n", [b""], id="only a blank line"),
        pytest.param(b"one\r\ntwo\r\n", [b"one\r", b"two\r"], id="Windows' line ends"),
        pytest.param(b"one\rtwo\n", [b"one\rtwo"], id="a redraw"),
    ],
)
def test_a_pattern_without_a_literal_nominates_every_line(data: bytes, lines: list[bytes]) -> None:
    """Where nothing is known of a pattern it is tried on all lines there are, and on none that is not there."""
    assert found(data, wanting(4)) == [(line, (4,)) for line in lines]


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        pytest.param(b"lost", [b"lost"], id="the whole block"),
        pytest.param(b"lost device\nready\n", [b"lost device"], id="at the start"),
        pytest.param(b"ready\ndevice lost", [b"device lost"], id="at the very end"),
        pytest.param(b"lost, lost and lost\nready\n", [b"lost, lost and lost"], id="several times in a line"),
        pytest.param(b"lost\nlost\n", [b"lost", b"lost"], id="on two lines in a row"),
        pytest.param(b"lo\nst\n", [], id="broken over two lines"),
        pytest.param(b"Lost LOST\n", [], id="in other letters"),
        pytest.param(b"\n\nlost\n\n", [b"lost"], id="between blank lines"),
    ],
)
def test_a_literal_nominates_its_line_once(data: bytes, lines: list[bytes]) -> None:
    """A literal nominates the whole line around it, without its line feed, once."""
    assert found(data, wanting(0, b"lost")) == [(line, (0,)) for line in lines]


def test_caseless_literals_are_found_in_any_letters() -> None:
    """A caseless pattern nominates its line however it is written; an exact one beside it keeps to the letter."""
    data = "CUDA Lost\ncuda lost\nCuda\nßcUDA LOST\n".encode()
    exact, folded = wanting(0, b"cuda lost"), wanting(1, b"cuda lost", caseless=True)
    assert found(data, exact, folded) == [
        (b"CUDA Lost", (1,)),
        (b"cuda lost", (0, 1)),
        ("ßcUDA LOST".encode(), (1,)),
    ]


def test_patterns_that_share_a_line_come_together_in_order() -> None:
    """A line is one candidate, with all its patterns by number, each once, however many literals speak for it."""
    patterns = [wanting(16, b"lost", b"device"), wanting(9, b"device"), wanting(33), wanting(1, b"DEVICE", b"ready")]
    assert found(b"device lost\nready\n", *patterns) == [(b"device lost", (9, 16, 33)), (b"ready", (1, 33))]


def test_candidates_come_in_the_order_of_lines() -> None:
    """Whatever literal was looked for first, the lines come from top to bottom."""
    data = b"".join(b"%s %d\n" % (word, number) for number, word in enumerate([b"late", b"early"] * 50))
    candidates = Scanner(build_index([wanting(0, b"early"), wanting(1, b"late")])).scan(data)
    assert [one.start for one in candidates] == sorted({one.start for one in candidates})
    assert len(candidates) == 100


def test_without_patterns_nothing_is_a_candidate() -> None:
    """An empty scanner nominates nothing and does not fail."""
    assert found(b"device lost\n") == []


def test_a_scanner_keeps_nothing_between_blocks() -> None:
    """The second reading of a block finds the same as the first, and another block in between changes nothing."""
    scanner = Scanner(build_index([wanting(0, b"lost"), wanting(1)]))
    first = scanner.scan(b"device lost\nready\n")
    scanner.scan(b"lost\n" * 9)
    assert scanner.scan(b"device lost\nready\n") == first
