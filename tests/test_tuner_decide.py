"""The word for a run, and the next step after it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import CORPUS, ROOT
from histories import (
    KINDS,
    MEMORY_GUARD,
    NO_DEVICE,
    NO_ROOM,
    NOBODY_KNOWS,
    PLACE,
    row,
)  # fmt: skip

from strata_diag import RuleSet, SourceError, Status, load_rules
from strata_diag.tuner import (
    classify_run,
    failure_kind,
    make_row,
    next_step,
)
from strata_diag.tuner.decide import MOST_TRIES
from strata_diag.tuner.records import ACTIONS
from strata_diag.tuner.reread import RowReader

RULES = load_rules(discover=False)
READER = RowReader(RULES)
HEALTHY = CORPUS / "strata" / "cpu-encoder-healthy.log"
BUSY_LOG = CORPUS / "strata" / "v100-busy-engine-log.log"


# The word for a run


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_is_what_its_reason_says(kind: str) -> None:
    """The stored word counts only as far as the reason does not speak against it."""
    _, _, expected, lasting = KINDS[kind]
    found = READER.read(row(kind))
    assert (f"{found.status} / {found.cause}", found.lasting) == (expected, lasting)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param(
            {"status": "PASS", "reason": NO_ROOM, "decode_tok_s": 41.0}, "PASS", id="measured speeds prove it"
        ),
        pytest.param({"status": "PASS", "reason": NO_ROOM}, "OOM", id="no speeds, and a reason that names a failure"),
        pytest.param({"status": "PASS", "reason": MEMORY_GUARD}, "PASS", id="no speeds, and a harmless reason"),
        pytest.param({"status": "PASS"}, "PASS", id="nothing but the word"),
        pytest.param({"status": "PASS", "reason": NO_ROOM, "pp_tok_s": True}, "OOM", id="a truth value is no speed"),
        pytest.param({"status": "OOM", "cause": "vram-budget"}, "OOM", id="the cause that a classifier stored"),
        pytest.param({"status": "OOM", "cause": "no-device"}, "UNKNOWN", id="a cause that does not fit the word"),
        pytest.param({"status": "OOM", "cause": "made-up"}, "UNKNOWN", id="a cause that nobody knows"),
        pytest.param({"status": "FAIL_BOOT", "cause": "killed"}, "KILLED", id="one of the four words for the cause"),
        pytest.param({"status": "KILLED", "cause": "killed"}, "KILLED", id="the full word for the cause"),
        pytest.param({"status": "FAIL_BOOT", "exit_code": -9}, "KILLED", id="the exit code that the row keeps"),
        pytest.param(
            {"status": "FAIL_BOOT", "error": "startup_wait_expired"}, "TIMEOUT", id="the word of the run record"
        ),
        pytest.param(
            {"status": "OOM", "cause": "vram-budget", "reason": NO_DEVICE}, "CUDA_UNAVAILABLE", id="reason wins"
        ),
        pytest.param({"status": "MELTED"}, "UNKNOWN", id="a word that nobody knows"),
        pytest.param({"reason": NO_ROOM}, "OOM", id="no word at all"),
        pytest.param({"status": ["OOM"], "reason": {"text": NO_ROOM}}, "UNKNOWN", id="no texts"),
    ],
)
def test_evidence_beats_the_stored_word(fields: dict[str, Any], expected: str) -> None:
    """Speeds prove a PASS, the reason decides a failure, and a word alone proves nothing."""
    found = READER.read(fields)
    assert found.status == expected
    assert bool(found.problem) == (expected == "UNKNOWN" or (fields.get("status") == "PASS" != expected))


def test_a_verdict_that_was_not_lasting_stays_so() -> None:
    """A row of a contested run says so, and its one reason can't make it lasting again."""
    assert READER.read(row("no room")).lasting
    assert not READER.read(row("no room", lasting=False)).lasting
    assert not READER.read({"status": "OOM", "cause": "vram-budget", "lasting": False}).lasting


@pytest.mark.parametrize("log", sorted(CORPUS.rglob("*.log"))[::3], ids=lambda path: path.stem)
def test_a_row_reads_as_the_run_was(log: Path) -> None:
    """What `make_row` stores of a whole log is read again as the same status, cause and memory."""
    found = classify_run(log, rules=RULES)
    made = make_row(found, sig="--base", **PLACE)
    again = READER.read(json.loads(json.dumps(dict(made.raw))))
    assert (again.status, again.cause, again.lasting) == (made.status, made.cause, made.lasting)
    assert "\n" not in again.reason
    assert made.raw["status"] in ("PASS", "OOM", "UNSUPPORTED", "FAIL_BOOT")


def test_rows_fit_their_schema() -> None:
    """The rows that are written are what the shipped schema describes."""
    schema = json.loads((ROOT / "strata_diag" / "schema" / "history-row-1.json").read_text("utf-8"))
    for log in (HEALTHY, BUSY_LOG):
        made = make_row(classify_run(log, rules=RULES), sig="--base", exit_code=6, note="mine", **PLACE)
        jsonschema.validate(dict(made.raw), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"status": "MELTED"}, schema)


def test_own_fields_never_replace_those_of_the_verdict() -> None:
    """A tuner may store whatever it likes, but not another status."""
    made = make_row(classify_run(NO_ROOM, rules=RULES), sig="--base", label="base", status="PASS", note=7)
    assert (made.raw["status"], made.raw["note"]) == ("OOM", 7)


@pytest.mark.parametrize(
    ("output", "facts", "expected"),
    [
        pytest.param(BUSY_LOG, {}, "FAIL_BOOT", id="a path"),
        pytest.param(BUSY_LOG.read_bytes(), {}, "FAIL_BOOT", id="bytes"),
        pytest.param(NO_ROOM, {}, "OOM", id="a tail"),
        pytest.param(
            f"{NO_DEVICE} | {MEMORY_GUARD} | strata generate: expert arena: lock…", {}, "FAIL_BOOT", id="a cut reason"
        ),
        pytest.param(KINDS["elastic"][1], {}, "UNSUPPORTED", id="unsupported"),
        pytest.param(HEALTHY, {}, "PASS", id="a healthy log"),
        pytest.param(HEALTHY, {"exit_code": 0}, "PASS", id="a healthy log that ended well"),
        pytest.param(HEALTHY, {"exit_code": 1}, "FAIL_BOOT", id="a healthy log that ended with an error code"),
        pytest.param(NO_ROOM, {"exit_code": 137}, "OOM", id="a code never overrules a line"),
        pytest.param(None, {"exit_code": 0}, "PASS", id="no output, and all was well"),
        pytest.param("", {}, "FAIL_BOOT", id="nothing is known"),
    ],
)
def test_failure_kind_is_one_of_four_words(output: Any, facts: dict[str, Any], expected: str) -> None:
    """The tuner's own word, from whatever was kept of the output."""
    assert failure_kind(output, **facts, rules=RULES) == expected


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"exit_code": -9}, "KILLED / killed"),
        ({"exit_code": 137}, "KILLED / killed"),
        ({"exit_code": 124}, "TIMEOUT / timeout"),
        ({"timed_out": True}, "TIMEOUT / timeout"),
        ({"error": "startup_wait_expired"}, "TIMEOUT / timeout"),
        ({"error": "startup_wait_expired", "timed_out": False}, "UNKNOWN / unknown"),
        ({"error": "server_exited"}, "FAIL_BOOT / boot-unknown"),
        ({"error": "server_exited", "exit_code": -9}, "KILLED / killed"),
        ({"exit_code": -15}, "KILLED / killed"),
        ({"exit_code": 127}, "FAIL_BOOT / missing-library"),
        ({"exit_code": 0xC0000135}, "FAIL_BOOT / missing-library"),
        ({"exit_code": 0xC0000135 - 2**32}, "FAIL_BOOT / missing-library"),
        ({"exit_code": -4}, "UNSUPPORTED / cpu-unsupported"),
        ({"exit_code": -6}, "CRASH / internal-error"),
        ({"exit_code": 0xC0000005}, "CRASH / internal-error"),
        ({"exit_code": 0xC000012D}, "OOM / host-memory"),
        ({"exit_code": 1}, "UNKNOWN / unknown"),
        ({"exit_code": 0}, "PASS / none"),
    ],
    ids=str,
)
@pytest.mark.parametrize("output", [None, "", b"", f"{MEMORY_GUARD}\n"], ids=["none", "empty", "no bytes", "harmless"])
def test_facts_speak_where_no_line_does(output: Any, facts: dict[str, Any], expected: str) -> None:
    """Exit codes, time-outs and words of the run record decide only where the output says nothing."""
    verdict = classify_run(output, **facts, rules=RULES).verdict
    assert f"{verdict.status} / {verdict.cause}" == expected
    assert not verdict.contested
    assert MEMORY_GUARD not in verdict.reason


def test_an_engine_that_was_stopped_when_ready_passed() -> None:
    """A tuner ends an engine by a signal when it has measured; that is no failure."""
    assert classify_run(HEALTHY, exit_code=-15, rules=RULES).verdict.status is Status.PASS
    assert classify_run(HEALTHY, exit_code=-9, rules=RULES).verdict.status is Status.KILLED
    assert classify_run(HEALTHY, timed_out=True, rules=RULES).verdict.status is Status.TIMEOUT


def test_an_empty_file_keeps_its_name(tmp_path: Path) -> None:
    """A log without a line is still the log of a run, of which the facts speak; a missing one is an error."""
    log = tmp_path / "empty.log"
    log.write_bytes(b"")
    found = classify_run(log, exit_code=-9, rules=RULES)
    assert (found.name, found.verdict.status) == (str(log), Status.KILLED)
    with pytest.raises(SourceError):
        classify_run(tmp_path / "missing.log", exit_code=-9, rules=RULES)


def test_what_waits_for_free_memory_is_never_lasting(rules: RuleSet) -> None:
    """Other programs take memory and give it back, so no command line is remembered as bad because of it."""
    assert [name for name, cause in rules.causes.items() if cause.retry == "after:memory-free" and cause.lasting] == []


# The next step


@pytest.mark.parametrize(
    ("run", "before", "label", "expected"),
    [
        pytest.param("pass", [], "base", "continue", id="it passed"),
        pytest.param("no room", [], "ctx 262144", "skip", id="a candidate that can't fit"),
        pytest.param("elastic", [], "elastic", "skip", id="an option that this card lacks"),
        pytest.param("no room", [], "base", "stop", id="a baseline that can't fit"),
        pytest.param("no room", ["no device"], "base end", "stop", id="every run of the baseline"),
        pytest.param("no room", [], "baseline", "stop", id="by its long name"),
        pytest.param("no room", [], "base-2 variant", "skip", id="a name that only begins alike"),
        pytest.param("no room", ["pass"], "base", "wait-and-retry:card-free", id="a baseline that passed before"),
        pytest.param(
            "no room", ["pass"], "ctx 262144", "wait-and-retry:card-free", id="a candidate that passed before"
        ),
        pytest.param("session", ["pass"], "base", "wait-and-retry:card-free", id="a full card after a PASS"),
        pytest.param(
            "elastic", ["pass"], "elastic", "wait-and-retry:now", id="settings that passed are not what must change"
        ),
        pytest.param("no device", [], "base", "wait-and-retry:card-free", id="a card that could not be used"),
        pytest.param(
            "no device", ["pass"] + ["no device"] * 7, "base", "wait-and-retry:card-free", id="again and again"
        ),
        pytest.param("busy", [], "ctx 262144", "wait-and-retry:card-free", id="a busy card"),
        pytest.param("arena", [], "kv fp16", "wait-and-retry:memory-free", id="memory that others hold"),
        pytest.param("waited", [], "base", "wait-and-retry:now", id="a start that took too long"),
        pytest.param("nobody knows", [], "base", "wait-and-retry:now", id="an end that nobody knows"),
    ],
)
def test_the_next_step(run: str, before: list[str], label: str, expected: str) -> None:
    """Passed: go on. Lasting: leave it out, or stop where nothing can be compared. Anything else: wait and try again."""
    found = classify_run(KINDS[run][1], exit_code=0 if run == "pass" else None, rules=RULES)
    step = next_step(found, [row(kind) for kind in before], sig="--base", label=label, **PLACE, rules=RULES)
    assert step.action in ACTIONS
    assert (f"{step.action}:{step.wait_for}" if step.wait_for else step.action) == expected
    assert step.why
    assert step.remedies == (() if run == "pass" else found.remedies)
    assert not step.needs_person


def test_a_pass_elsewhere_proves_nothing_here() -> None:
    """Only a PASS of the same signature, machine, model and engine speaks for a baseline; left out, they are not asked for."""
    found = classify_run(NO_ROOM, rules=RULES)
    elsewhere = [row("pass", engine="engine-2"), row("pass", sig="--other")]
    assert next_step(found, elsewhere, sig="--base", label="base", **PLACE, rules=RULES).action == "stop"
    assert next_step(found, elsewhere, sig="--base", label="base", rules=RULES).action == "wait-and-retry"
    assert next_step(found, None, sig="--base", label="base", rules=RULES).action == "stop"


def test_a_candidate_is_not_tried_for_ever() -> None:
    """After some tries in one search it is left out, without being remembered as bad; the search goes on, baseline or not."""
    found = classify_run(NO_DEVICE, rules=RULES)
    steps = [
        next_step(found, [], sig="--base", label="base", tries=tries, rules=RULES) for tries in range(MOST_TRIES + 1)
    ]
    assert [step.action for step in steps] == ["wait-and-retry"] * MOST_TRIES + ["skip"]
    assert "not remembered as bad" in steps[-1].why


def test_a_verdict_without_hope_is_left_out() -> None:
    """A failure that is not lasting and yet never to be retried waits for nothing."""
    found = classify_run(NO_DEVICE, rules=RULES)
    hopeless = found._replace(verdict=found.verdict._replace(retry="never"))
    assert next_step(hopeless, [], sig="--base", label="base", rules=RULES).action == "skip"


def test_a_contested_verdict_never_ends_a_search() -> None:
    """Where two causes stand side by side, the search tries again instead of giving up."""
    found = classify_run(NO_ROOM, rules=RULES)
    contested = found._replace(verdict=found.verdict._replace(contested=True))
    assert next_step(contested, [], sig="--base", label="base", rules=RULES).action == "wait-and-retry"


def test_some_waits_need_a_person() -> None:
    """A taken port or an old driver does not mend itself, and the step says so."""
    found = classify_run(NO_DEVICE, rules=RULES)
    driver = found._replace(verdict=found.verdict._replace(retry="after:driver-change"))
    step = next_step(driver, [], sig="--base", label="base", rules=RULES)
    assert (step.wait_for, step.needs_person) == ("driver-change", True)


def test_unknown_words_stay_unknown() -> None:
    """A sentence of an engine that nobody knows is UNKNOWN, whatever a tuner once called it."""
    assert classify_run(NOBODY_KNOWS, rules=RULES).verdict.status is Status.UNKNOWN
