"""Versions: compared as engines count them, and ranges that only a known version can leave."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata_diag.versions import VersionRangeError, in_range, parse_range, version_key

ASCENDING = (
    ("0.1.9", "0.1.40"),
    ("0.1.40-rc1", "0.1.40"),
    ("0.1.40.dev3", "0.1.40a1"),
    ("0.1.40a1", "0.1.40-beta.2"),
    ("0.1.40-beta.2", "0.1.40rc1"),
    ("0.1.40rc1", "0.1.40rc2"),
    ("0.1.40", "0.1.40.post1"),
    ("0.1.40", "0.1.40-5-gabc1234"),  # what `git describe` prints five commits later
    ("b5432", "b10001"),
    ("b5432", "5433"),
    ("2024-01-31", "2024-02-01"),
    ("v0.6.3", "0.10.0"),
)
EQUAL = (
    ("0.1", "0.1.0"),
    ("v0.1.40", "0.1.40"),
    ("0.1.38-sycl", "0.1.38"),
    ("0.6.3+cu121", "0.6.3"),
    ("b5432", "5432"),
)
NO_VERSIONS = ("", "unknown", "abcdef1", "7f3a2b1", "1e400x", "build", "-1", "9" * 30, "\x1b[31m1", "0x10")


@pytest.mark.parametrize(("earlier", "later"), ASCENDING)
def test_the_earlier_version_compares_lower(earlier: str, later: str) -> None:
    """Numbers count as numbers, and words before or after a release where they belong."""
    first, second = version_key(earlier), version_key(later)
    assert first is not None
    assert second is not None
    assert first < second


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_what_says_nothing_about_the_order_is_ignored(one: str, other: str) -> None:
    """A prefix, zeros at the end and the kind of a build don't make another version."""
    assert version_key(one) == version_key(other) is not None


@pytest.mark.parametrize("text", NO_VERSIONS)
def test_what_is_no_version_has_no_key(text: str) -> None:
    """A commit's hash, a word or a number without end is no version."""
    assert version_key(text) is None


@given(st.text(max_size=200))
def test_no_text_raises(text: str) -> None:
    """A log can hold anything where a version is captured."""
    key = version_key(text)
    assert key is None or key == version_key(text.strip())


@given(
    st.lists(st.integers(0, 10_000), min_size=1, max_size=5), st.lists(st.integers(0, 10_000), min_size=1, max_size=5)
)
def test_plain_versions_compare_as_their_numbers(one: list[int], other: list[int]) -> None:
    """Two versions of plain numbers compare like the lists of their numbers, filled up with zeros."""
    first, second = (version_key(".".join(map(str, numbers))) for numbers in (one, other))
    assert first is not None
    assert second is not None
    longest = max(len(one), len(other))
    filled = [numbers + [0] * (longest - len(numbers)) for numbers in (one, other)]
    assert (first < second) == (filled[0] < filled[1])


@pytest.mark.parametrize(
    ("text", "version", "expected"),
    [
        ("engine >= 0.1.40", "0.1.40", True),
        ("engine >= 0.1.40", "0.1.9", False),
        ("engine >= 0.1.40, engine < 0.2", "0.1.46", True),
        ("engine >= 0.1.40, engine < 0.2", "0.2.0", False),
        ("engine != 0.1.44", "0.1.44-sycl", False),
        ("engine == b5432", "5432", True),
        ("engine > 0.1.40", "0.1.40", False),
        ("engine <= 0.1.40", "0.1.40-rc1", True),
    ],
)
def test_a_known_version_decides(text: str, version: str, expected: bool) -> None:
    """Every comparison of a range must hold for the version."""
    assert in_range(text, {"engine_version": version}) is expected


@pytest.mark.parametrize(
    "values", [{}, {"engine_version": None}, {"engine_version": "a1b2c3d"}, {"driver_version": "1"}]
)
def test_an_unknown_version_leaves_the_rule_in(values: dict[str, object]) -> None:
    """A missing or unreadable version makes no range untrue."""
    assert in_range("engine >= 99", values)


def test_a_range_can_ask_for_another_version() -> None:
    """The name in front reads the value of that name with `_version` behind it."""
    assert not in_range("driver >= 550", {"driver_version": "535.104", "engine_version": "999"})
    assert not in_range("vllm < 1", {"vllm_version": 2})


@pytest.mark.parametrize(
    "text", ["", "engine", "engine >= ", "engine >= new", ">= 0.1", "engine => 0.1", "engine > 1,"]
)
def test_what_is_no_range_is_refused(text: str) -> None:
    """A range that can't be read says which part."""
    with pytest.raises(VersionRangeError, match="is no"):
        parse_range(text)
