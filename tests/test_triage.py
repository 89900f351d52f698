"""A triage from paths to results, in one process and in several."""

from __future__ import annotations

import io
import multiprocessing
import os
import time
import zipfile
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from strata_diag import Diagnosis, RuleSet, Status, api, load_rules
from strata_diag.redact import Redactor
from strata_diag.triage import Part, Triage, reading, triage, workers
from strata_diag.triage.plan import MOST_JOINED, Plan, Unit, batches_of, plan_of

CORPUS = Path(__file__).parent.parent / "corpus"
OOM = (
    "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 864.05 MiB on device 0: cudaMalloc failed: out of memory\n"
)
UNKNOWN = "strata serve: flux capacitor {} lost its phase lock - exiting\n"
STRANGE = "strata generate: FATAL: the moon of device {} is in the wrong quarter, giving up\n"
LOAD = partial(load_rules, discover=False)


def run(paths: list[Path], rules: RuleSet, jobs: int = 1, *, joined: bool = True) -> Triage:
    """A triage with the built-in rules."""
    return triage(paths, load=LOAD, rules=rules, jobs=jobs, joined=joined)


def load_or_die() -> RuleSet:
    """The rules here; in any other process the end of it."""
    if multiprocessing.parent_process() is not None:
        os._exit(7)
    return LOAD()


def many_logs(folder: Path, count: int) -> Path:
    """A folder with small logs of three kinds."""
    for number in range(count):
        text = (OOM, UNKNOWN.format(number), "loading\n" + OOM)[number % 3]
        (folder / f"{number:03}.log").write_text(text)
    return folder


def test_results_come_in_the_order_given(tmp_path: Path, rules: RuleSet) -> None:
    """Files are read in the order of the command line, those of a folder by name."""
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("b.log", "a.log"):
        (folder / name).write_text(OOM)
    first = tmp_path / "z.log"
    first.write_text(OOM)
    found = run([first, folder], rules)
    assert [Path(result.name).name for result in found.results] == ["z.log", "a.log", "b.log"]
    assert found.results[0].file == str(first)
    assert found.results[0].size_bytes == len(OOM)


def test_an_unreadable_file_stops_nothing(tmp_path: Path, rules: RuleSet) -> None:
    """What can't be read is told with its reason, between logs that are read."""
    for name in ("a.log", "c.log"):
        (tmp_path / name).write_text(OOM)
    (tmp_path / "b.log").symlink_to(tmp_path / "nowhere")
    found = run([tmp_path, tmp_path / "missing.log"], rules)
    assert [Path(result.name).name for result in found.results] == ["a.log", "c.log"]
    assert [Path(one.name).name for one in found.unreadable] == ["b.log", "missing.log"]
    assert all("no such file" in one.error for one in found.unreadable)


def test_a_damaged_archive_is_unreadable(tmp_path: Path, rules: RuleSet) -> None:
    """An archive of which nothing can be read counts as not read, not as one without a log."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as bundle:
        bundle.writestr("a.log", OOM)
    (tmp_path / "cut.zip").write_bytes(made.getvalue()[:-20])
    found = run([tmp_path], rules)
    assert not found.results
    assert [Path(one.name).name for one in found.unreadable] == ["cut.zip"]


def test_a_fault_inside_stops_nothing(tmp_path: Path, rules: RuleSet, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log on which a part of ours raises is told under its name, and the next log is read."""
    whole = api.diagnose

    def diagnose(target: BinaryIO, **more: Any) -> Diagnosis:
        calls.append(target)
        if len(calls) == 1:
            raise RecursionError("too deep")
        return whole(target, **more)

    calls: list[object] = []
    monkeypatch.setattr(api, "diagnose", diagnose)
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text(OOM)
    found = run([tmp_path], rules, joined=False)
    assert [Path(result.name).name for result in found.results] == ["b.log"]
    assert "RecursionError: too deep" in found.unreadable[0].error


def test_an_empty_folder(tmp_path: Path, rules: RuleSet) -> None:
    """A folder without any file gives a triage without anything."""
    assert run([tmp_path], rules) == Triage(())


def test_a_picture_is_skipped(tmp_path: Path, rules: RuleSet) -> None:
    """What holds no log is named with the reason and is no failure to read."""
    (tmp_path / "photo.log").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(64))
    found = run([tmp_path], rules)
    assert not found.results
    assert not found.unreadable
    assert "PNG picture" in found.skipped[0].error


def test_excerpts_hold_the_lines_around_the_evidence(tmp_path: Path, rules: RuleSet) -> None:
    """Twelve lines before the deciding one and six behind it, numbered as an editor does."""
    lines = [f"step {number}" for number in range(1, 101)]
    lines[49] = OOM.strip()
    (tmp_path / "a.log").write_text("\n".join(lines) + "\n")
    (excerpt,) = run([tmp_path], rules).results[0].excerpts
    assert excerpt.first == 38
    assert excerpt.lines == tuple(lines[37:56])


def test_a_large_log_is_read_a_second_time(tmp_path: Path, rules: RuleSet, monkeypatch: pytest.MonkeyPatch) -> None:
    """The excerpts of a log that is not kept are those of one that is, also out of an archive and in UTF-16."""
    text = "".join(f"step {number}\n" for number in range(200)) + OOM + "end\n"
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as bundle:
        bundle.writestr("first.log", "step\n")
        bundle.writestr("second.log", text)
    (tmp_path / "b.log").write_bytes(text.encode("utf-16"))
    kept = [result.excerpts for result in run([tmp_path], rules).results]
    monkeypatch.setattr(reading, "KEPT_BYTES", 100)
    again = run([tmp_path], rules).results
    assert [result.excerpts for result in again] == kept
    assert again[1].excerpts[0].lines[-2:] == (OOM.strip(), "end")
    assert [result.size_bytes for result in again] == [5, len(text), len(text.encode("utf-16"))]


def test_logs_of_one_folder_are_joined(tmp_path: Path, all_rules: RuleSet) -> None:
    """The kernel's word on the end of an engine decides, and is named; `joined=False` leaves it out."""
    (tmp_path / "engine.log").write_text("strata serve: starting, pid 4711\nloading the model\n")
    (tmp_path / "dmesg.txt").write_text(
        "[  100.000000] Out of memory: Killed process 4711 (strata) total-vm:100kB, anon-rss:99kB, file-rss:0kB, "
        "shmem-rss:0kB, UID:1000 pgtables:1kB oom_score_adj:0\n"
    )
    found = triage([tmp_path], load=LOAD, rules=all_rules, jobs=1)
    engine = found.results[1]
    assert engine.diagnosis.verdict.cause == "host-memory"
    assert [Path(name).name for name in engine.beside] == ["dmesg.txt"]
    alone = triage([tmp_path], load=LOAD, rules=all_rules, jobs=1, joined=False)
    assert alone.results[1].diagnosis.verdict.cause != "host-memory"
    assert alone.results[1].beside == ()


def test_logs_of_one_engine_are_no_copies(all_rules: RuleSet) -> None:
    """In a folder with many logs of one engine, one that ends with the kernel's word says nothing about healthy ones."""
    healthy = ("calibration-three-starts", "hip-desktop-window", "notes-and-hints", "peer-device")
    names = [*(f"healthy-{name}" for name in healthy), "oom-killer-in-kernel-log"]
    paths = [CORPUS / "strata" / f"{name}.log" for name in names]
    found = [result.diagnosis.verdict.cause for result in run(paths, all_rules).results]
    assert found == ["none"] * 4 + ["host-memory"]


def test_a_fault_in_joining_leaves_the_diagnoses(
    tmp_path: Path, rules: RuleSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where logs can't be compared each keeps its own diagnosis, which is said."""

    def broken(*_: object, **__: object) -> None:
        raise ValueError("no")

    monkeypatch.setattr("strata_diag.triage.joining.companions", broken)
    found = run([many_logs(tmp_path, 2)], rules)
    assert [result.diagnosis.verdict.status for result in found.results] == [Status.OOM, Status.UNKNOWN]
    assert "ValueError: no" in found.notices[0].text


def test_a_crowded_folder_is_not_joined(tmp_path: Path) -> None:
    """A folder with too many logs to compare becomes units of one file, and is named."""
    plan = plan_of([many_logs(tmp_path, MOST_JOINED + 1)])
    assert [len(unit.paths) for unit in plan.units] == [1] * (MOST_JOINED + 1)
    assert plan.crowded == (str(tmp_path),)
    (tmp_path / "000.log").unlink()
    assert [len(unit.paths) for unit in plan_of([tmp_path]).units] == [MOST_JOINED]


def test_the_first_batch_is_small(tmp_path: Path) -> None:
    """The first batch holds a few files, so that its answers are there at once; all batches together hold every unit."""
    plan = plan_of([many_logs(tmp_path, 230)])
    batches = list(batches_of(plan.units))
    assert [len(batch) for batch in batches] == [8, 100, 100, 22]
    assert [unit for batch in batches for unit in batch] == list(plan.units)


def test_processes_give_the_same(tmp_path: Path, rules: RuleSet) -> None:
    """150 logs have the same results, in the same order, whether one process reads them or two."""
    many_logs(tmp_path, 150)
    one = run([tmp_path], rules)
    assert len(one.results) == 150
    assert run([tmp_path], rules, jobs=2) == one


def test_a_dead_process_loses_nothing(tmp_path: Path, rules: RuleSet) -> None:
    """Where processes die, their logs are read by the first one, which is said."""
    many_logs(tmp_path, 150)
    found = triage([tmp_path], load=load_or_die, rules=rules, jobs=2)
    one = run([tmp_path], rules)
    assert found.results == one.results
    assert any("a process that was reading logs ended" in notice.text for notice in found.notices)


def test_an_interruption_leaves_what_is_done(tmp_path: Path, rules: RuleSet) -> None:
    """Ctrl+C ends a triage with the results so far, grouped."""

    def told(part: Part) -> None:
        seen.append(part)
        if len(seen) == 3:
            raise KeyboardInterrupt

    seen: list[Part] = []
    found = triage([many_logs(tmp_path, 60)], load=LOAD, rules=rules, jobs=1, told=told)
    assert found.interrupted
    assert [Path(result.name).name for result in found.results] == ["000.log", "001.log", "002.log"]
    assert sum(len(group.results) for group in found.groups) == 3


def test_an_interruption_ends_the_processes(tmp_path: Path, rules: RuleSet) -> None:
    """No process is left behind by Ctrl+C."""

    def told(_part: Part) -> None:
        raise KeyboardInterrupt

    found = triage([many_logs(tmp_path, 150)], load=LOAD, rules=rules, jobs=2, told=told)
    assert found.interrupted
    deadline = time.monotonic() + 10
    while multiprocessing.active_children() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not multiprocessing.active_children()


def test_redaction_reaches_everything(tmp_path: Path, rules: RuleSet) -> None:
    """No name of a person is left in names, evidence, excerpts, shapes or notices."""
    folder = tmp_path / "home" / "rumpelstil"
    folder.mkdir(parents=True)
    (folder / "a.log").write_text("open /home/rumpelstil/model.gguf\n" + STRANGE.format("/home/rumpelstil/x"))
    with zipfile.ZipFile(folder / "b.zip", "w") as bundle:
        bundle.writestr("c.log", "reading /home/rumpelstil/model.gguf\n" + OOM)
    found = triage([f"{folder}/a.log", folder / "b.zip"], load=LOAD, rules=rules, redactor=Redactor())
    assert [result.diagnosis.verdict.status for result in found.results] == [Status.UNKNOWN, Status.OOM]
    assert "rumpelstil" not in repr(found)


@pytest.mark.parametrize(
    ("files", "size", "wanted", "jobs"),
    [(2, 0, None, 1), (workers.LEAST_FILES, 0, None, 3), (2, workers.LEAST_BYTES, None, 2), (2, 0, 5, 5)],
)
def test_processes_where_they_pay(
    files: int, size: int, wanted: int | None, jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes are started from a number of files or bytes on, or where they are asked for."""
    monkeypatch.setattr(workers, "_cores", lambda: 3)
    units = tuple(Unit((f"{number}.log",), size) for number in range(files))
    assert workers.jobs_for(Plan(units), wanted) == jobs
