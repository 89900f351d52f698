"""A search of 12 candidates from end to end: real processes, an engine that fails in every way, and a card that is held at first.

The tuner is the one of `examples/tuner`. Beside it stands what tuners did before, written down as a function, on the same engine.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from machines import compile_library, machine_environment, needs_compiler

from strata_diag import RuleSet, Status
from strata_diag.tuner import History, audit_history, bad_signatures

TUNER = ROOT / "examples" / "tuner" / "tuner.py"
ENGINE = [sys.executable, str(TUNER.with_name("fake_engine.py"))]
FREE = "driver 581.15\ncard 16311 15600 0 12 0 NVIDIA GeForce RTX 5060 Ti\n"
HELD = FREE.replace("15600", "1600") + "process 0 compute 999001 14000 /opt/strata/engine/strata\n"
LASTING = {"context 262144": "vram-budget", "kv fp16": "vram-exhausted"}


def example() -> Any:
    """The example tuner as a module: its candidates are those of the old search too."""
    spec = importlib.util.spec_from_file_location("example_tuner", TUNER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def signatures() -> dict[str, str]:
    """The signature of each candidate, by its label."""
    tuner = example()
    return {label: " ".join(tuner.merged(tuner.BASE, changes)) for label, changes in tuner.CANDIDATES.items()}


# What tuners did before --------------------------------------------------------------------------------------------------


def old_failure_kind(output: str) -> str:
    """Words anywhere in the output decide, those of a line of information too."""
    text = output.lower()
    if "out of memory" in text or "memory guard" in text:
        return "OOM"
    return "UNSUPPORTED" if "not supported" in text else "FAIL_BOOT"


def old_search(folder: Path, history: list[dict[str, str]]) -> str:
    """Settings that ever were OOM are never tried again, and the first OOM ends the search. What the search ends with."""
    bad = {row["sig"] for row in history if row["status"] in ("OOM", "UNSUPPORTED")}
    environment = {**os.environ, "FAKE_ENGINE_STATE": str(folder)}
    for label, sig in signatures().items():
        if sig in bad:
            continue
        words = [*ENGINE, *sig.split()]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=20)
        status = "PASS" if done.returncode == 0 else old_failure_kind(done.stderr)
        history.append({"label": label, "sig": sig, "status": status})
        if status == "OOM":
            return "an engine ran out of memory; the search stopped (nothing was retried)"
    return "done"


def test_the_old_search_ended_at_once_and_forgot_its_baseline(tmp_path: Path) -> None:
    """A busy card at the first start is stored as OOM, ends the search, and disables the baseline in every later one."""
    history: list[dict[str, str]] = []
    assert "the search stopped" in old_search(tmp_path, history)
    assert [(row["label"], row["status"]) for row in history] == [("base", "OOM")]
    assert "the search stopped" in old_search(tmp_path, history)
    assert "base" not in [row["label"] for row in history[1:]]
    assert history[-1]["label"] == "context 262144"


# What the example does ---------------------------------------------------------------------------------------------------


class Searched:
    """The example's searches in one folder, each a process of its own on a machine whose card is held at first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.history = folder / "history.jsonl"
        self.cards = folder / "cards.txt"
        self.library = compile_library(folder)

    def search(self, *arguments: str) -> tuple[int, list[str]]:
        """One search, with times of seconds: its exit code and what it said. The card becomes free once it waits for it."""
        environment = {**machine_environment(self.library, self.cards), "FAKE_ENGINE_STATE": str(self.folder)}
        limits = ["--start-limit", "1.5", "--card-limit", "20", "--pause", "0.1", "--tries", "1", *arguments]
        files = ["--history", str(self.history), "--logs", str(self.folder / "logs")]
        shown: list[str] = []
        with subprocess.Popen(
            [sys.executable, str(TUNER), *files, *limits, "--", *ENGINE],
            env={**os.environ, "STRATA_DIAG_NO_PLUGIN": "*", **environment},
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                shown.append(line.rstrip("\n"))
                if "waits: Card 0" in line:
                    self.cards.write_text(FREE, "ascii")
        return process.returncode, shown

    def starts(self) -> Counter[str]:
        """How often the engine was started, by signature."""
        return Counter((self.folder / "starts.txt").read_text("utf-8").splitlines())


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Searched, list[str]]:
    """The first search: the card is held when it begins, and becomes free while it waits."""
    searched = Searched(tmp_path_factory.mktemp("search"))
    searched.cards.write_text(HELD, "ascii")
    code, shown = searched.search()
    assert code == 0, shown
    return searched, shown


@needs_compiler
def test_the_search_waits_for_the_card_and_finishes(first: tuple[Searched, list[str]]) -> None:
    """It names who holds the card, begins once it is free, and ends with the fastest of all candidates."""
    _, shown = first
    waited = "base: waits: Card 0 (NVIDIA GeForce RTX 5060 Ti) is held by strata (process 999001, 14000 MiB)."
    assert waited in shown
    assert shown[-1].startswith("best: ")
    assert {line.split(":")[0] for line in shown} == {*signatures(), "best"}


@needs_compiler
def test_every_run_gets_its_own_word(first: tuple[Searched, list[str]], rules: RuleSet) -> None:
    """What was transient is measured after all, what is lasting is not tried twice, and a hang is neither."""
    searched, _ = first
    found: dict[str, list[str]] = {}
    for row in History(searched.history, rules=rules):
        found.setdefault(row.label, []).append(row.cause)
    assert found == {
        **{label: ["none"] for label in signatures()},
        **{label: [cause] for label, cause in LASTING.items()},
        "base": ["device-busy", "none"],
        "workers 12": ["gpu-fault", "none"],
        "workers 16": ["timeout", "timeout"],
    }


@needs_compiler
def test_only_what_is_lasting_is_remembered(first: tuple[Searched, list[str]], rules: RuleSet) -> None:
    """Exactly the two lasting failures are bad signatures until the engine changes, and every stored reason is one line."""
    searched, _ = first
    rows = list(History(searched.history, rules=rules))
    place = {key: rows[0].raw[key] for key in ("hw", "model", "engine")}
    assert bad_signatures(rows, rules=rules, **place) == {signatures()[label] for label in LASTING}
    assert bad_signatures(rows, rules=rules, recheck=[{"reason": "engine_changed"}], **place) == set()
    assert all(" | " not in row.reason for row in rows)
    assert {row.stored for row in rows if row.status is Status.CUDA_UNAVAILABLE} == {"FAIL_BOOT"}


@needs_compiler
def test_the_history_audits_clean(first: tuple[Searched, list[str]], rules: RuleSet) -> None:
    """An audit of it finds no wrong status and nothing blocked that should not be."""
    found = audit_history(History(first[0].history, rules=rules), rules=rules)
    assert found.clean
    assert {one.label for one in found.signatures if one.blocked} == set(LASTING)


@needs_compiler
def test_a_second_search_leaves_out_what_is_lasting(first: tuple[Searched, list[str]]) -> None:
    """A later search starts neither of the two again; everything else is measured anew, the baseline too."""
    searched, _ = first
    before = searched.starts()
    code, shown = searched.search()
    assert code == 0
    assert [line.split(":")[0] for line in shown if "left out: it failed before" in line] == list(LASTING)
    names, again = signatures(), searched.starts() - before
    assert not [label for label in LASTING if again[names[label]]]
    assert again[names["base"]] == 3


@needs_compiler
def test_a_card_that_stays_held_ends_the_search_with_advice(tmp_path: Path) -> None:
    """Where nothing can be measured, the search says who holds the card and what to do, and remembers nothing."""
    searched = Searched(tmp_path)
    searched.cards.write_text(HELD, "ascii")
    code, shown = searched.search("--card-limit", "0")
    assert code == 1
    assert shown[1].startswith("the search ended: nothing can be measured now: Card 0")
    assert shown[2].startswith("  - Unload or stop the model")
    assert not searched.history.exists()
