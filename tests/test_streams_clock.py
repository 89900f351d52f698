"""Times in front of lines: which are understood, and how far two of them lie apart."""

from __future__ import annotations

import pytest

from strata_diag.streams.clock import Gap, Stamp, gap, stamp_of

MOMENT = "2026-03-11 08:02:14"


def stamped(text: str) -> Stamp:
    """The time of a line that has one."""
    found = stamp_of(text, kernel=True)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-11T08:02:14.655123456 container oom",
        "[Wed Mar 11 08:02:14 2026] Out of memory",
        "Mar 11 08:02:14 box kernel: Out of memory",
        "(EngineCore_DP0 pid=118) ERROR 03-11 08:02:14 [core.py:710]",
        "E0311 08:02:14.655123 4711 server.cc:12] failed",
        "vllm-1  | INFO 03-11 08:02:14 [core.py:1]",
        "[GIN] 2026/03/11 - 08:02:14 | 200 |",
        "      Finished:     Wed, 11 Mar 2026 08:02:14",
        "[2026-03-11 08:02:14 TP0] loading",
        "08:02:14 INFO loading",
        "2026-03-11T09:02:14+01:00 loading",
    ],
)
def test_a_moment_is_the_same_in_every_form(text: str) -> None:
    """Every form of a date and time that engines and systems write is the moment that it says."""
    found = gap(stamped(f"{MOMENT}Z"), stamped(text))
    assert found is not None
    assert abs(found.seconds) < 1
    assert found.agrees


@pytest.mark.parametrize(
    "text",
    [
        "took 00:03:12 in all",
        "[ +0.0001] x",
        "Feb 30 10:00:00 box kernel: x",
        "ratio 12:99:00",
        "",
        "50%| 1/2 [00:01:03<00:01:03]",
    ],
)
def test_what_is_no_time_is_none(text: str) -> None:
    """Durations, dates that no calendar has and other numbers are not taken for a time."""
    assert stamp_of(text) is None


def test_seconds_since_the_start_of_the_machine_compare_only_with_each_other() -> None:
    """The kernel's own clock has nothing in common with a clock on the wall, and an engine's seconds are not the kernel's."""
    kernel = stamped("[48211.330127] Out of memory")
    assert gap(kernel, stamped(MOMENT)) is None
    assert gap(kernel, stamped("[48221.330127] next")) == Gap(10.0)
    assert stamp_of("[48211.330127] Out of memory") is None
    assert stamp_of("[48211.330127] box ollama[12]: text") == stamped("[48211.330127] box ollama[12]: text")


@pytest.mark.parametrize(
    ("earlier", "later", "seconds", "shift"),
    [
        (MOMENT, "2026-03-11 08:02:44", 30, 0),
        (MOMENT, "2026-03-11 10:02:15", 7201, 7200),
        (MOMENT, "2026-03-11 08:32:15", 1801, 0),
        (MOMENT, "2026-03-11 09:20:00", 4666, 0),
        (f"{MOMENT}Z", "2026-03-11 10:02:14Z", 7200, 0),
        ("2026-03-11T08:02:14+01:00", "2026-03-11 08:02:20", 6, 0),
        ("2025-12-31 23:59:59", "Jan  1 00:00:09 box kernel: x", 10, 0),
        ("2026-03-11 23:59:55", "00:00:05 INFO x", 10, 0),
        (MOMENT, "2026-03-14 08:02:14", 3 * 86400, 0),
    ],
)
def test_how_far_two_times_lie_apart(earlier: str, later: str, seconds: int, shift: int) -> None:
    """What is left out, a year or a date, is bridged the short way; a zone is only named, never assumed."""
    found = gap(stamped(earlier), stamped(later))
    assert found is not None
    assert (round(found.seconds), found.shift) == (seconds, shift)
    assert found.agrees is (seconds <= 120)


def test_another_zone_brings_two_clocks_together() -> None:
    """The gap as it would be if one of the clocks were in another zone."""
    found = gap(stamped(MOMENT), stamped("2026-03-11 06:02:10"))
    assert found is not None
    assert found.in_another_zone == Gap(-4.0)
    near = gap(stamped(MOMENT), stamped(MOMENT))
    assert near is not None
    assert near.in_another_zone is None
