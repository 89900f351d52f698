"""A log that is full of a pattern's literal: other literals are searched for, and nothing is passed over."""

from __future__ import annotations

import pytest
from patterns import made

from strata_diag import diagnose, scan
from strata_diag.needles import build_index
from strata_diag.ruleset import Pattern
from strata_diag.scan import Scanner
from strata_diag.sharpen import costly, sharper_texts

SOURCES = (r"retrying with (?:a )?(?:smaller|larger) pool", r"the pool is gone for good", r"retrying with \d+")


def patterns() -> list[Pattern]:
    """The patterns of SOURCES, with the literals that a healthy log would have them searched by."""
    return [made(source, number) for number, source in enumerate(SOURCES)]


def test_a_common_literal_gives_way_to_rare_ones() -> None:
    """Where a block is full of a literal, longer texts of the same pattern are searched for."""
    found = patterns()
    own = [found[0]._replace(literals=(b"retrying with ",)), found[1]]
    block = b"retrying with a shorter draft\n" * 500
    index = build_index(own)
    sharper = sharper_texts(index, own.__getitem__, block, {index.texts.index(b"retrying with "): 500})
    (texts,) = sharper.values()
    assert b"retrying with smaller pool" in texts
    assert all(text not in block for text in texts)


def test_a_literal_stays_where_a_pattern_has_nothing_better() -> None:
    """A literal that a second pattern needs is kept, however common it is."""
    own = [one._replace(literals=(b"retrying with ",)) for one in (patterns()[0], patterns()[2])]
    own = [one._replace(number=number) for number, one in enumerate(own)]
    index = build_index(own)
    assert sharper_texts(index, own.__getitem__, b"retrying with 17\n" * 90, {0: 90}) == {}


@pytest.mark.parametrize(("counts", "found"), [({}, []), ({1: 99, 2: 1}, [1]), ({1: 50, 2: 50}, [1, 2])])
def test_only_what_costs_a_good_part_is_looked_at(counts: dict[int, int], found: list[int]) -> None:
    """A literal that is in vain once in a while is left alone."""
    assert costly(counts) == found


def test_a_sharpened_scanner_finds_what_the_others_find(monkeypatch: pytest.MonkeyPatch) -> None:
    """After other literals were taken, every matching line is still a candidate, and the near misses are none."""
    pytest.importorskip("hyperscan")
    monkeypatch.setattr(scan, "SHARPEN_EVERY", 1)
    own = [
        one._replace(literals=(literal,))
        for one, literal in zip(patterns(), (b"retrying with ", b"the pool "), strict=False)
    ]
    near = b"retrying with a shorter draft\nthe pool is fine\n" * 400
    hit = b"now retrying with a smaller pool\nthe pool is gone for good\n"
    scanner = Scanner(build_index(own))
    scanner.expect(10**12)
    monkeypatch.setattr(scanner, "_sharpen_from", 100)
    before = scanner.scan(near + hit)
    assert len(before) == 802
    scanner.sharpen(near + hit, len(near + hit), {0: 400, 1: 400}, own.__getitem__)
    after = scanner.scan(near + hit)
    assert [(one.start, one.patterns) for one in after] == [(one.start, one.patterns) for one in before[-2:]]


def test_a_log_full_of_near_misses_keeps_its_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is searched for may change within a log; what is found does not."""
    near = b"[ 12.345] speculative: 17 drafted; retrying with a shorter draft\n" * 30_000
    failure = b"ggml_cuda_init: failed to initialize CUDA: no CUDA-capable device is detected\n"
    expected = diagnose(near[:6500] + failure)
    monkeypatch.setattr(scan, "SHARPEN_FROM", 1000)
    monkeypatch.setattr(scan, "SHARPEN_EVERY", 1)
    found = diagnose(near + failure)
    assert (found.verdict.status, found.verdict.cause) == (expected.verdict.status, expected.verdict.cause)
    assert found.verdict.line == 30_001
