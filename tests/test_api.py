"""The library's two calls: what goes in, what comes out, and that no log can break them."""

from __future__ import annotations

import functools
import io
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packs import load_rules_text

from strata_diag import NoRulesError, RuleSet, SourceError, Status, diagnose, load_rules
from strata_diag.api import examine

NO_DEVICE = "ggml_cuda_init: failed to initialize CUDA: no CUDA-capable device is detected"
GUARD = (
    "strata generate: memory guard: limit 40.0 GiB (source: meminfo), current 10.5 GiB, reclaimable cache credited 0.0 GiB; "
    "available 29.5 GiB (MemAvailable 29.5 GiB), floor 2560 MiB"
)
OUT_OF_MEMORY = (
    "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 900.00 MiB on device 0: cudaMalloc failed: out of memory"
)
BUSY = "cudaMalloc failed: CUDA-capable device(s) is/are busy or unavailable"
READY = "strata serve: 405 MiB of VRAM free with everything loaded"


@pytest.mark.parametrize(
    "wrap",
    [
        pytest.param(lambda text, _: text, id="text"),
        pytest.param(lambda text, _: text.encode(), id="bytes"),
        pytest.param(lambda text, _: io.BytesIO(text.encode()), id="stream"),
        pytest.param(lambda text, folder: written(folder, text), id="path"),
    ],
)
def test_every_kind_of_input_gets_the_same_verdict(
    wrap: Callable[[str, Path], str | bytes | Path | io.BytesIO], tmp_path: Path, rules: RuleSet
) -> None:
    """Text, bytes, a stream and a path with the same content have the same verdict."""
    verdict = diagnose(wrap(f"{NO_DEVICE}\n{GUARD}\n", tmp_path), rules=rules).verdict
    assert (verdict.status, verdict.cause, verdict.line) == (Status.CUDA_UNAVAILABLE, "no-device", 1)


def test_information_never_decides(rules: RuleSet) -> None:
    """The words `memory guard` alone are no failure."""
    verdict = diagnose(GUARD, rules=rules).verdict
    assert verdict.status is Status.UNKNOWN
    assert verdict.cause == "unknown"


def test_same_line_is_harmless_where_the_gpu_is_proved_to_work(rules: RuleSet) -> None:
    """The CUDA initialisation line means nothing in a run that uses the GPU afterwards."""
    log = f"{NO_DEVICE}\nstrata generate: GPU 0: NVIDIA GeForce RTX 4090, compute capability 8.9\n{READY}\n"
    found = diagnose(log, rules=rules)
    assert found.verdict.status is Status.PASS
    assert [loser.finding.line for loser in found.verdict.beaten] == [1]


def test_words_after_the_last_colon_decide(rules: RuleSet) -> None:
    """The same failed call is a full card or a busy one, by the driver's own words."""
    assert diagnose(OUT_OF_MEMORY, rules=rules).verdict.cause == "vram-exhausted"
    assert diagnose(BUSY, rules=rules).verdict.cause == "device-busy"


def test_headline_is_that_of_the_last_run(rules: RuleSet) -> None:
    """A healthy restart after a failure is a PASS, and the failure is still told."""
    header = "[strata] 2026-03-04 05:06:07 engine started: /srv/strata/engine/strata --serve\n"
    found = diagnose(f"{header}{OUT_OF_MEMORY}\n{header}{READY}\n", rules=rules)
    assert found.verdict.status is Status.PASS
    assert [str(run.verdict.status) for run in found.runs] == ["OOM", "PASS"]
    assert found.runs[1].details["started"] == "2026-03-04 05:06:07"


@pytest.mark.parametrize("log", [b"", "", b"\n\n\n"], ids=["no bytes", "no text", "blank lines"])
def test_nothing_proves_nothing(log: bytes | str, rules: RuleSet) -> None:
    """An empty log is UNKNOWN, never healthy."""
    assert diagnose(log, rules=rules).verdict.status is Status.UNKNOWN


def test_empty_log_says_so(rules: RuleSet) -> None:
    """A person reads that the log was empty and what to do instead."""
    found = diagnose(b"", rules=rules)
    assert "empty" in found.verdict.reason
    assert found.runs == ()
    assert "start the engine once" in found.notices[0].text


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        pytest.param(b"\x1f\x8b\x08\x00rest", "compressed", id="gzip"),
        pytest.param(b"PK\x03\x04rest", "compressed", id="zip"),
        pytest.param(b"\x7fELF" + bytes(range(256)) * 8, "binary", id="program"),
        pytest.param(bytes(range(256)) * 20, "binary", id="junk"),
    ],
)
def test_what_is_no_log_is_named(content: bytes, kind: str, rules: RuleSet) -> None:
    """An archive, a program or junk is UNKNOWN with a notice that says what it is."""
    found = diagnose(content, rules=rules)
    assert found.verdict.status is Status.UNKNOWN
    assert [notice.kind for notice in found.notices] == [kind]


def test_missing_path_says_what_to_do(tmp_path: Path, rules: RuleSet) -> None:
    """A path that isn't there raises the one error for it, with the path and an advice."""
    with pytest.raises(SourceError, match=r"no-such\.log: there is no such file; check the path"):
        diagnose(tmp_path / "no-such.log", rules=rules)


def test_folder_is_no_log(tmp_path: Path, rules: RuleSet) -> None:
    """A folder is refused by name."""
    with pytest.raises(SourceError, match="is a folder; name the log file itself"):
        diagnose(tmp_path, rules=rules)


def test_no_rules_is_an_error_and_not_health() -> None:
    """Without rules there is no verdict: a silent empty rule set would call everything healthy."""
    with pytest.raises(NoRulesError, match="every log would look healthy"):
        load_rules(builtin=False, discover=False)


def test_passed_before_is_never_lasting(rules: RuleSet) -> None:
    """A command line that has passed before is not remembered as bad for one failure."""
    assert diagnose(OUT_OF_MEMORY, rules=rules).verdict.lasting is True
    assert diagnose(OUT_OF_MEMORY, rules=rules, facts={"passed_before": True}).verdict.lasting is False


@given(st.binary(max_size=4000))
@settings(max_examples=150)
def test_no_bytes_can_make_it_raise(content: bytes) -> None:
    """Whatever is in a log, there is a verdict with a status and a cause that belong together."""
    rules = shared_rules()
    verdict = diagnose(content, rules=rules).verdict
    assert rules.causes[verdict.cause].status is verdict.status


@given(
    st.lists(
        st.sampled_from([NO_DEVICE, GUARD, OUT_OF_MEMORY, BUSY, READY, "", "\x1b[31mred\x1b[0m", "a\rb"]), max_size=12
    )
)
@settings(max_examples=150)
def test_line_ends_do_not_matter(lines: list[str]) -> None:
    """The same lines with CRLF, as UTF-16 and with a final line feed have the same verdict and line."""
    rules = shared_rules()
    text = "\n".join(lines)
    plain = diagnose(text, rules=rules).verdict
    for other in (text.replace("\n", "\r\n").encode(), text.encode("utf-16"), ("\ufeff" + text).encode()):
        verdict = diagnose(other, rules=rules).verdict
        assert (verdict.status, verdict.cause, verdict.line) == (plain.status, plain.cause, plain.line)


def test_threads_share_a_rule_set(rules: RuleSet) -> None:
    """Eight threads with one rule set get the answers that one thread gets."""
    logs = [NO_DEVICE, OUT_OF_MEMORY, BUSY, READY] * 25
    alone = [diagnose(log, rules=rules) for log in logs]
    together: list[object] = [None] * len(logs)

    def work(start: int) -> None:
        for position in range(start, len(logs), 8):
            together[position] = diagnose(logs[position], rules=rules)

    threads = [threading.Thread(target=work, args=(start,)) for start in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone


@functools.cache
def shared_rules() -> RuleSet:
    """The built-in rules for tests that hypothesis repeats, where a fixture can't be used."""
    return load_rules(discover=False)


def written(folder: Path, text: str) -> Path:
    """A log file with this text."""
    path = folder / "some.log"
    path.write_text(text, "utf-8")
    return path


def test_a_line_of_a_settled_pattern_counts_only_if_it_matches(tmp_path: Path) -> None:
    """After many matches a line with the literal is kept unseen; at the end of the run the ones that don't match are let go."""
    rules = load_rules_text(
        tmp_path,
        "- {id: full, role: failure, cause: card-full, priority: 800, title: Full, any: [{regex: 'no slot left: (?P<n>[0-9]+)'}],"
        " samples: {match: ['no slot left: 1'], no_match: [slots]}}\n",
    )
    log = "\n".join([*(f"no slot left: {number}" for number in range(1, 40_001)), "no slot left: none", "end"])
    found = diagnose(log.encode(), rules=rules)
    assert found.verdict.deciding is not None
    assert (found.verdict.deciding.times, found.verdict.deciding.captures) == (40_000, {"n": "1"})


def test_what_happens_in_every_block_is_counted_without_a_look(tmp_path: Path) -> None:
    """In a large log the lines of a settled pattern are counted, and the last of them still takes back what it takes back."""
    rules = load_rules_text(
        tmp_path,
        "- {id: full, role: failure, cause: card-full, priority: 800, title: Full, any: [{regex: 'no slot left'}],"
        " samples: {match: [no slot left], no_match: [slots]}}\n"
        "- {id: serving, role: ready, title: Serving, any: [{regex: 'all slots are idle'}],"
        " samples: {match: [all slots are idle], no_match: [slots]}}\n",
    )
    log = b"all slots are idle\n" * 60_000 + b"no slot left\n" + b"all slots are idle\n" * 60_000
    found, traces = examine(log, rules=rules)
    assert found.verdict.status is Status.PASS
    assert max(traces[0].run.counts.values()) == 120_000
    assert traces[0].run.matches[-1].evidence.line == 120_001
