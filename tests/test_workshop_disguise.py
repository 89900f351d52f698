"""Values of a log become others of the same shape, the same everywhere, as long as the answer stays."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata_diag.workshop.disguise import Disguised, disguise

WORDS = frozenset({"strata", "vision", "models"})


def always(_: tuple[str, ...]) -> bool:
    """An answer that no change changes."""
    return True


def changed(*lines: str, seed: int = 1) -> tuple[str, ...]:
    """The lines with other values."""
    return disguise(lines, WORDS, always, random.Random(seed)).lines


@pytest.mark.parametrize(
    "line",
    [
        "layer 3 of 48 on device 0: 7 experts",
        "exit code 137, error 1455, errno 104, HTTP 4031, status 3221225477",
        "error code 0xC0000005 and 0x80070005",
        "limit of 1000 rows, 8192 tokens, 65536 cells",
        "CUDA version 12040, driver 55054",
        "ggml-backend.cpp:194: failed",
        'File "/usr/lib/python3.11/socket.py", line 1803',
        "/opt/lib/python3.11/site-packages/vllm/entrypoints/api.py",
        "/proc/sys/kernel/hung_task_timeout_secs",
        "started in 2026",
        "at 16:40:00.123",
        "misc/socket.cc:4840 failed",
        "/opt/strata/models/iq3_s and C:\\Strata\\vision.exe",
        "",
    ],
)
def test_what_says_nothing_about_a_machine_stays(line: str) -> None:
    """Small and round numbers, codes of errors, versions, lines of source, times of day, folders of systems and programs."""
    assert changed(line) == (line,)


def test_numbers_grow_or_shrink_together() -> None:
    """All sizes by one factor: what was larger stays larger, what was the same stays the same, decimals are kept."""
    (line,) = changed("needs 1874 MiB, has 1532.75 MiB of 24,563 MiB, asked 1965031424 bytes, again 1874 MiB\n")
    found = [float(one.replace(",", "")) for one in re.findall(r"\d[\d,.]*\d", line)]
    before = [1874, 1532.75, 24563, 1965031424, 1874]
    assert found[0] == found[4] != 1874
    factors = [after / number for after, number in zip(found, before, strict=True)]
    assert max(factors) - min(factors) < 0.001
    assert re.search(r"has \d+\.\d\d MiB of \d\d,\d{3} MiB", line)


def test_addresses_and_hashes_keep_their_shape() -> None:
    """As many digits, zeros where there were zeros, the same stand-in for the same one."""
    first, second = changed("at 0x7f889a9b61ca, build 3fa94c1", "again 0x7f889a9b61ca")
    assert re.fullmatch(r"at 0x[1-9a-f]{12}, build [1-9a-f]{7}", first)
    assert "7f889a9b61ca" not in first
    assert "3fa94c1" not in first
    assert first[3:17] == second[6:]


def test_dates_move_together() -> None:
    """All by the same number of days; what is no date stays."""
    first, second, third = changed("2026-10-25 16:40:00 start", "2026/10/28 end", "2026-13-45 odd")
    one = re.match(r"(\d{4})-(\d\d)-(\d\d) 16:40:00", first)
    other = re.match(r"(\d{4})/(\d\d)/(\d\d)", second)
    assert one
    assert other
    assert first != "2026-10-25 16:40:00 start"
    import datetime as dt

    days = dt.date(*map(int, other.groups())) - dt.date(*map(int, one.groups()))
    assert days.days == 3
    assert third == "2026-13-45 odd"


def test_folders_and_files_get_numbers() -> None:
    """The same name the same stand-in; words of rules and of systems, endings, shards and stand-ins stay."""
    lines = changed(
        "/mnt/bigdisk/acme/models/acme-7b-00001-of-00002.gguf",
        "C:\\acme\\strata\\notes.txt",
        "'/home/user-1/acme/models/other.gguf' missing",
        "meta-llama/Llama-3-8B on acme-corp/Tune-9",
    )
    assert lines == (
        "/mnt/folder-1/folder-2/models/model-1-00001-of-00002.gguf",
        "C:\\folder-2\\strata\\file-1.txt",
        "'/home/user-1/folder-2/models/model-2.gguf' missing",
        "owner-1/model-3 on owner-2/model-4",
    )


def test_where_a_program_was_built_is_nobody_s_business() -> None:
    """The folders of a source file change, its name stays, since rules know it."""
    assert changed("/build/acme/ggml/src/ggml.cpp:91") == ("/folder-1/folder-2/ggml/src/ggml.cpp:91",)


def test_a_value_on_which_the_answer_depends_stays() -> None:
    """The others of its kind are changed all the same."""
    lines = tuple(f"table {number}\n" for number in range(1101, 1133))

    def same(some: tuple[str, ...]) -> bool:
        return "table 1117\n" in some

    made = disguise(lines, WORDS, same, random.Random(3))
    assert made.kept == ("1117",)
    assert made.changed == {"number": 31}
    assert [line for line in made.lines if line in lines] == ["table 1117\n"]


def test_where_no_change_is_possible_nothing_changes() -> None:
    """An answer that hangs on everything leaves everything."""
    lines = ("table 1117 of /srv/acme at 0x7f889a9b61ca\n",)
    made = disguise(lines, WORDS, lambda some: some == lines, random.Random(3))
    assert made == Disguised(lines, {}, ("1117", "/srv/acme", "0x7f889a9b61ca"))


def test_another_chance_makes_other_values() -> None:
    """Nobody who has the program can work out the old value."""
    assert len({changed("needs 1874 MiB", seed=seed) for seed in range(8)}) > 4


@given(st.text(max_size=80))
def test_any_line_survives(line: str) -> None:
    """Whatever a log holds, there are as many lines, and their words stay."""
    (made,) = changed(line)
    assert made.count("\n") == line.count("\n")
