"""Diagnoses of logs that are still being written: the same answers as for whole logs, as soon as they are certain."""

from __future__ import annotations

import io
import random
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import CORPUS
from packs import load_rules_text

from strata_diag import Diagnosis, RuleSet, SourceError, Status, diagnose, diagnose_stream
from strata_diag.live import LiveDiagnosis
from strata_diag.live import diagnosis as diagnosis_module

LOGS = sorted(CORPUS.rglob("*.log"))
HEADER = b"[strata] 2026-03-04 05:06:07 engine started: /srv/strata/engine/strata --serve\n"
FULL = b"cudaMalloc failed: out of memory\n"
ASSERT = b"ggml-backend.cpp:194: GGML_ASSERT(buffer) failed\n"
READY = b"strata serve: 405 MiB of VRAM free with everything loaded\n"
CALM = b"strata serve: slot 3 is working on its answer\n"
RULES = """\
- id: ending
  role: failure
  cause: card-full
  priority: 800
  title: It stands at the end
  any: [{last: 'the end of it', within: 2}]
- id: plain
  role: failure
  cause: card-busy
  priority: 300
  title: A plain failure
  any: [{regex: 'it failed plainly'}]
- id: stronger
  role: failure
  cause: wrong-option
  priority: 900
  title: A stronger failure
  any: [{regex: 'it failed badly'}]
- id: again
  role: recovery
  title: It works again
  cancels: [plain]
  any: [{regex: 'it works again'}]
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """A few rules, one of which must stand among the last lines."""
    return load_rules_text(tmp_path_factory.mktemp("packs"), RULES)


def pieces(data: bytes, seed: int) -> Iterator[bytes]:
    """The bytes in pieces of random sizes."""
    dice = random.Random(seed)
    position = 0
    while position < len(data):
        size = dice.choice([1, 5, 60, 700, 9000, 80000])
        yield data[position : position + size]
        position += size


def told(answers: Iterator[Diagnosis] | list[Diagnosis]) -> list[tuple[str, int | None]]:
    """Status and line of each answer."""
    return [(str(one.verdict.status), one.verdict.line) for one in answers]


def unnamed(found: Diagnosis) -> Diagnosis:
    return found._replace(name="")


# The same answers as `diagnose`


@pytest.mark.parametrize("part", range(8))
def test_the_last_answer_is_that_of_the_whole_log(part: int, all_rules: RuleSet) -> None:
    """Every log of the corpus, cut anywhere, has in the end the very diagnosis of `diagnose`, evidence and notices included."""
    for number, log in enumerate(LOGS[part::8]):
        data = log.read_bytes()
        *_, last = diagnose_stream(pieces(data, number), rules=all_rules)
        assert unnamed(last) == unnamed(diagnose(data, rules=all_rules)), log


@pytest.mark.parametrize("log", LOGS[::17], ids=lambda path: path.stem)
def test_an_answer_for_now_is_that_of_the_complete_lines(log: Path, all_rules: RuleSet) -> None:
    """At any moment the answer is that of a log that ends with the last complete line."""
    live = LiveDiagnosis(all_rules)
    data = log.read_bytes()
    fed = b""
    for piece in pieces(data, 1):
        live.feed(piece)
        fed += piece
        if len(fed) < 400 or random.Random(len(fed)).random() < 0.1:
            complete = fed[: fed.rfind(b"\n") + 1]
            assert unnamed(live.so_far()) == unnamed(diagnose(complete, rules=all_rules))
    assert unnamed(live.finish()) == unnamed(diagnose(data, rules=all_rules))


def test_blocks_have_their_neighbours(rules: RuleSet) -> None:
    """Lines around the evidence and line numbers are right far into a log that came in small pieces."""
    data = b"".join(b"line %d of a long log without anything in it\n" % number for number in range(20_000))
    data = data[:600_000] + b"\n" + FULL + data[600_000:]
    found = [*diagnose_stream(pieces(data, 3), rules=rules)]
    assert unnamed(found[-1]) == unnamed(diagnose(data, rules=rules))
    assert found[0].verdict.line == found[-1].verdict.line


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig", "utf-32"])
def test_other_encodings_are_read_as_they_come(encoding: str, rules: RuleSet) -> None:
    """A failure in UTF-16 is told as soon as its line is complete."""
    text = (CALM * 3 + FULL + CALM * 200).decode()
    answers = list(diagnose_stream(pieces(text.encode(encoding), 5), rules=rules))
    assert told(answers) == [("OOM", 4), ("OOM", 4)]
    assert unnamed(answers[-1]) == unnamed(diagnose(text.encode(encoding), rules=rules))


@pytest.mark.parametrize(
    "data", [b"", b"no end", b"\n", b"\x1f\x8b\x08\x00rest", b"a" * 9000, b"x\r" * 200_000], ids=repr
)
def test_odd_streams_get_the_answer_of_odd_logs(data: bytes, rules: RuleSet) -> None:
    """Nothing, one line without an end, an archive, and a progress bar."""
    *_, last = diagnose_stream(iter([data]), rules=rules)
    assert unnamed(last) == unnamed(diagnose(data, rules=rules))


# When something is told


def test_a_failure_is_told_as_soon_as_its_line_is_complete(rules: RuleSet) -> None:
    """Not while the line is being written, and only once."""
    live = LiveDiagnosis(rules)
    assert live.feed(CALM + FULL[:-1]) is None
    found = live.feed(b"\n")
    assert found is not None
    assert (found.verdict.status, found.verdict.line) == (Status.OOM, 2)
    assert live.is_certain
    assert live.feed(CALM) is None
    assert live.feed(FULL) is None


def test_readiness_takes_a_failure_back(rules: RuleSet) -> None:
    """What failed while the engine started is told, and then that it got ready."""
    live = LiveDiagnosis(rules)
    answers = [live.feed(piece) for piece in (HEADER, FULL, CALM, READY)]
    assert [one is not None for one in answers] == [False, True, False, True]
    assert live.is_ready
    assert told([one for one in answers if one]) == [("OOM", 2), ("PASS", None)]


def test_readiness_alone_is_told(rules: RuleSet) -> None:
    """That the engine got ready is certain, too."""
    assert told(diagnose_stream([HEADER, READY, CALM], rules=rules)) == [("PASS", None), ("PASS", None)]


def test_a_new_start_begins_anew(rules: RuleSet) -> None:
    """The verdict of the last start is taken back by the next one, of which nothing is known yet."""
    answers = list(diagnose_stream([HEADER, FULL, HEADER, CALM, READY], rules=rules))
    assert told(answers) == [("OOM", 2), ("UNKNOWN", None), ("PASS", None), ("PASS", None)]
    assert [str(run.verdict.status) for run in answers[-1].runs] == ["OOM", "PASS"]


def test_a_symptom_waits_for_its_cause(rules: RuleSet) -> None:
    """An assertion alone is told only in the end."""
    assert len(list(diagnose_stream([HEADER, ASSERT, CALM], rules=rules))) == 1


def test_recoveries_and_stronger_rules_correct_what_was_told(small: RuleSet) -> None:
    """A recovery leaves nothing; a stronger failure takes the place of a weaker one."""
    log = [b"it failed plainly\n", b"it works again\n", b"it failed plainly\n", b"it failed badly\n"]
    answers = list(diagnose_stream(log, rules=small))
    assert [one.verdict.rule for one in answers] == [
        *("sample/plain", None, "sample/plain", "sample/stronger"),
        "sample/stronger",
    ]


def test_what_stands_at_the_end_only_for_now_is_not_certain(small: RuleSet) -> None:
    """A rule about the last lines is told in the end alone, and hides a weaker failure only as long as it holds."""
    assert told(diagnose_stream([b"the end of it\n"], rules=small)) == [("OOM", 1)]
    live = LiveDiagnosis(small)
    assert live.feed(b"the end of it\nit failed plainly\n") is None
    found = live.feed(b"calm\n")
    assert found is not None
    assert found.verdict.rule == "sample/plain"


def test_calm_lines_cost_no_look(rules: RuleSet, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run is resolved only when a line came that a rule may match."""
    looks: list[Diagnosis] = []
    so_far = LiveDiagnosis.so_far

    def counted(self: LiveDiagnosis) -> Diagnosis:
        looks.append(so_far(self))
        return looks[-1]

    monkeypatch.setattr(LiveDiagnosis, "so_far", counted)
    list(diagnose_stream([CALM] * 500 + [FULL] + [CALM] * 500, rules=rules))
    assert len(looks) == 1


# Where it comes from


def test_exit_code_is_asked_for_when_the_stream_has_ended(rules: RuleSet) -> None:
    """A process's exit code is known last, and sharpens the last answer alone."""
    asked: list[int] = []

    def stream() -> Iterator[bytes]:
        yield CALM
        assert not asked

    def wait() -> int:
        asked.append(1)
        return 137

    *_, last = diagnose_stream(stream(), rules=rules, exit_code=wait)
    assert asked
    assert last.verdict == diagnose(CALM, rules=rules, exit_code=137).verdict
    assert last.verdict.status is Status.KILLED


def test_facts_speak_of_the_last_run(rules: RuleSet) -> None:
    """What the caller knows counts as it does for `diagnose`."""
    *_, last = diagnose_stream([FULL], rules=rules, facts={"passed_before": True}, timed_out=True)
    assert last.verdict == diagnose(FULL, rules=rules, timed_out=True, facts={"passed_before": True}).verdict
    assert last.verdict.lasting is False


def test_a_pipe_is_read_as_it_is_written(rules: RuleSet) -> None:
    """The failure is told while the process still runs."""
    code = f"import sys, time; sys.stdout.buffer.write({FULL!r}); sys.stdout.flush(); time.sleep(30)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        begun = time.monotonic()
        found = next(diagnose_stream(process.stdout, rules=rules))
        process.kill()
    assert found.verdict.status is Status.OOM
    assert time.monotonic() - begun < 20


def test_streams_that_can_not_be_read(rules: RuleSet) -> None:
    """A stream of text is refused with what to do; the name of a stream is that of the answer."""
    with pytest.raises(SourceError, match="binary mode"):
        list(diagnose_stream(io.StringIO("text"), rules=rules))  # type: ignore[arg-type]
    assert next(diagnose_stream(FULL, rules=rules)).name == "<stream>"


# Without an end


def endless(count: int) -> Iterator[bytes]:
    """Pieces of an engine's log, some 64 KiB each, with a failure that is taken back now and then."""
    calm = CALM * (64 * 1024 // len(CALM))
    for number in range(count):
        yield calm
        if number % 50 == 0:
            yield HEADER + FULL + READY


def test_an_endless_stream_takes_bounded_memory(rules: RuleSet) -> None:
    """Over fifty megabytes with a start every three or so, no more than a few are held at any time."""
    for _ in diagnose_stream(endless(60), rules=rules):
        pass  # patterns are compiled once, and not counted
    tracemalloc.start()
    try:
        for _ in diagnose_stream(endless(800), rules=rules):
            pass
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6_000_000


def test_only_the_last_starts_are_kept(rules: RuleSet, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of any number of starts the last ones stay, with their right lines, and a notice counts the others."""
    monkeypatch.setattr(diagnosis_module, "MOST_RUNS", 5)
    live = LiveDiagnosis(rules)
    calm = CALM * 2000
    for _ in range(20):
        live.feed(HEADER + FULL + calm)
    found = live.finish()
    assert len(found.runs) < 10
    assert found.verdict.line == 19 * 2002 + 2
    (notice,) = [one for one in found.notices if "earlier starts" in one.text]
    assert notice.kind == "evidence-cap"


def test_a_line_without_an_end_is_held_to_its_limit(rules: RuleSet) -> None:
    """Twenty megabytes without a line feed are no twenty megabytes in memory."""
    live = LiveDiagnosis(rules)
    tracemalloc.start()
    try:
        for _ in range(320):
            live.feed(b"x" * 65536)
        live.feed(b"\n" + FULL)
        found = live.finish()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (found.verdict.status, found.verdict.line) == (Status.OOM, 2)
    assert [notice.kind for notice in found.notices] == ["truncated-line"]
    assert peak < 4_000_000
