"""A line of a log as a pattern: its words kept, what varies captured under a name that says what it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata_diag.ruleset import compile_pattern
from strata_diag.workshop.captures import MOST_NAMES, Names, device_word, snake
from strata_diag.workshop.generalise import LONGEST_LINE, generalise
from strata_diag.workshop.prefixes import Message, message_of

# a line, and the pattern that a careful author would write for it
LINES = {
    "cudaMalloc failed: allocating 858.10 MiB on device 0: out of memory": (
        r"cudaMalloc failed: allocating (?P<allocation_mib>[\d.]+) MiB on device (?P<device>\d+): out of memory"
    ),
    "error 1455: the paging file is too small (needs 12,345 KB)": (
        r"error 1455: the paging file is too small \(needs (?P<needed_kb>[\d,]+) KB\)"
    ),
    "exit code 137 after 12 s": r"exit code 137 after (?P<seconds>\d+) s",
    "failed with 0x80070005 code 0x1f": r"failed with (?P<address>0x[0-9a-fA-F]+) code 0x1f",
    "HTTP 403 for https://example.org/x?y=1": r"HTTP 403 for (?P<url>https?://\S+)",
    "connect to 10.0.0.5:8080 failed": r"connect to (?P<host>[\d.]+):(?P<port>\d+) failed",
    "layer 12 of 48 on CUDA1, blk.7, rank3": (
        r"layer (?P<layer>\d+) of (?P<layer_total>\d+) on CUDA(?P<device>\d+), blk\.(?P<layer_2>\d+), rank(?P<rank>\d+)"
    ),
    "GPU 3: NVIDIA GeForce RTX 3090 Ti, 12.5% used": (
        r"GPU (?P<gpu>\d+): (?P<card>[\w() -]{3,60}), (?P<percent>[\d.]+)% used"
    ),
    "GPU-8f1d2c3a-1111-2222-3333-444455556666 lost": r"GPU-(?P<uuid>[0-9a-fA-F-]{36}) lost",
    "open '/srv/models/x y.gguf' failed": r"open '(?P<path>[^']+)' failed",
    r"C:\Strata\engine\strata.exe: not found": r"[A-Za-z]:\\(?P<path>\S+): not found",
    r"C:\Program Files\x\strata.exe: not found": r"[A-Za-z]:\\(?P<path>[^:*?\"<>|]+): not found",
    r"\\server\share\x.bin missing": r"(?P<path>\S+) missing",
    "cannot read ../models/a.bin": r"cannot read (?P<path>\S+)",
    "loading models/a.gguf": r"loading (?P<file>\S+)",
    "model 'qwen-7b' is missing; it says 'the model could not be read: 12 tensors'": (
        r"model '(?P<model>[^']+)' is missing; it says 'the model could not be read: (?P<tensors>\d+) tensors'"
    ),
    "ggml-cuda.cu:194: CUDA error": r"ggml-cuda\.cu:(?P<source_line>\d+): CUDA error",
    "at /build/x/ggml/src/ggml.cpp:91: GGML_ASSERT(x) failed": (
        r"at \S*ggml\.cpp:(?P<source_line>\d+): GGML_ASSERT\(x\) failed"
    ),
    "meta-llama/Llama-3-8B is gated": r"(?P<model>\S+) is gated",
    "commit 3fa94c1 at 0x7f889a9b61ca": r"commit (?P<hash>[0-9a-f]+) at (?P<address>0x[0-9a-fA-F]+)",
    "on 2026-10-25 16:40:00 it stopped": r"on (?P<time>\d[\d:.,/TZ +-]*\d\w?) it stopped",
    "at 16:40:00.5 it stopped": r"at (?P<time>\d[\d:.,/TZ+-]+) it stopped",
    "version 12.4.1 wanted": r"version (?P<version>v?\d+(?:\.\d+)+[\w.+-]*) wanted",
    "0.44 GiB free, 700 MiB reserved (+143 MiB for the draft head) -> 0 slots": (
        r"(?P<free_gib>[\d.]+) GiB free, (?P<reserved_mib>\d+) MiB reserved \(\+(?P<reserved_mib_2>\d+) MiB for the draft "
        r"head\) -> (?P<slots>\d+) slots"
    ),
    "free memory 1.5 GiB of 24 GiB, budget=1234, lr 1e-05": (
        r"free memory (?P<free_gib>[\d.]+) GiB of (?P<total_gib>\d+) GiB, budget=(?P<budget>\d+), lr (?P<lr>[\d.e+-]+)"
    ),
    "pid=771 name   with\ttabs": r"pid=(?P<pid>\d+) name\s+with\s+tabs",
    "value -5 and +7": r"value (?P<value>-?\d+) and (?P<value_2>\+?\d+)",
    "slots: 12 / 48": r"slots: (?P<slots>\d+) / (?P<slots_total>\d+)",
    "temperature 85 °C": r"temperature (?P<celsius>\d+) °C",
    "of 7": r"of (?P<number>\d+)",
}


@pytest.mark.parametrize(("line", "pattern"), LINES.items())
def test_words_stay_and_values_are_captured(line: str, pattern: str) -> None:
    """Codes that say what went wrong are words; sizes, numbers, paths and the like are values with a name."""
    made = generalise(line)
    assert made.source == pattern
    assert not made.cut


@pytest.mark.parametrize("line", LINES)
def test_the_pattern_matches_its_line_with_its_values(line: str) -> None:
    """Whatever was captured while writing is captured again while matching."""
    made = generalise(line)
    hit = compile_pattern(made.source).search(line)
    assert hit
    assert {name: value.lstrip("-") for name, value in hit.groupdict().items()} == {
        name: value.lstrip("-") for name, value in made.captures
    }


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=60))
def test_any_line_becomes_a_pattern_that_matches_it(line: str) -> None:
    """No sign of a line is taken for a sign of a pattern."""
    made = generalise(line)
    assert compile_pattern(made.source).search(line.strip())


def test_a_long_line_is_cut_at_a_blank() -> None:
    """What follows seldom tells lines apart, and a pattern has to be read."""
    made = generalise("word " * LONGEST_LINE)
    assert made.cut
    assert len(made.source) <= LONGEST_LINE
    assert made.source.endswith("word")
    assert len(generalise("x" * 2 * LONGEST_LINE).source) == LONGEST_LINE


def test_names_are_given_once() -> None:
    """The second device is `device_2`; after very many of them the last name is used again."""
    names = Names()
    given_out = [names.take("device", str(number)) for number in range(MOST_NAMES)]
    assert given_out[:3] == ["device", "device_2", "device_3"]
    assert names.last() == given_out[-1]
    assert dict(names.taken())["device_2"] == "1"


def test_words_become_names_of_groups() -> None:
    """A name has only letters, digits and underscores, and begins with a letter."""
    assert [snake(word) for word in ("freeMemory", "KV-cache", "2nd", "  ")] == ["free_memory", "kv_cache", "", ""]
    assert [device_word(word) for word in ("CUDA", "blk.", "rank", "GPU#")] == ["device", "layer", "rank", "device"]


@pytest.mark.parametrize(
    ("line", "text", "level"),
    [
        ("engine-1  | 2026-10-25 16:40:00 ERROR boom here", "boom here", "ERROR"),
        ("2026-10-25T16:40:00Z stderr F boom", "boom", ""),
        ("Oct 25 16:40:00 host strata[12]: boom", "boom", ""),
        ("E1025 16:40:00.123456  77 file.cc:12] boom", "boom", ""),
        ("[   12.345678] boom", "boom", ""),
        ("(EngineCore pid=12) ERROR 10-25 16:40:00 [core.py:77] boom", "boom", "ERROR"),
        ("[16:40:00] [foo/bar:1] boom", "boom", ""),
        ("ERROR: boom", "ERROR: boom", "ERROR"),
        ("INFO boom", "INFO boom", "INFO"),
        ("16:40:00 info", "info", ""),
        ("16:40:00", "16:40:00", ""),
        ("[foo] boom", "[foo] boom", ""),
        ("", "", ""),
    ],
)
def test_what_stands_before_a_message_is_no_part_of_it(line: str, text: str, level: str) -> None:
    """Times, hosts, containers and, behind a time, levels and loggers; a level alone is the program's own word."""
    assert message_of(line) == Message(text, level)
