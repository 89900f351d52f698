"""A small tuner: it tries settings of an engine one after the other and keeps the fastest.

    python tuner.py --history history.jsonl -- python fake_engine.py

It shows the whole loop of a tuner that uses `strata_diag.tuner`:

    bad_signatures   which settings need not be tried again
    preflight        before every start: is the card free, is there room
    classify_run     what became of the run
    next_step        what to do about it: go on, leave it out, wait and try again, or end the search
    make_row         what is remembered of it
    History          where it is remembered, safely beside another writer

Exit codes: 0 the search came to its end, 1 it could not, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple, TypedDict

from strata_diag import Diagnosis, Status
from strata_diag.tuner import (
    History,
    Preflight,
    Step,
    bad_signatures,
    classify_run,
    make_row,
    next_step,
    preflight,
    read_recheck,
)

BASE = ("--max-context", "131072", "--kv", "k8v4", "--spec", "4", "--vram-reserve-mib", "700")
CANDIDATES: dict[str, tuple[str, ...]] = {  # label: options that come after those of the baseline, or in their place
    "base": (),
    "pcie 0.2": ("--pcie-frac", "0.2"),
    "pcie 0.75": ("--pcie-frac", "0.75"),
    "floor 0.3": ("--spec-min-p", "0.3"),
    "floor 0.7": ("--spec-min-p", "0.7"),
    "reserve 300": ("--vram-reserve-mib", "300"),
    "context 262144": ("--max-context", "262144"),
    "kv fp16": ("--kv", "fp16"),
    "workers 12": ("--workers", "12"),
    "workers 16": ("--workers", "16"),
    "base r2": (),  # the baseline again: did the machine change meanwhile?
    "base end": (),
}
SPEEDS = re.compile(r"read in \d+ ms \(([\d.]+) tok/s\).*generated in \d+ ms \(([\d.]+) tok/s\)")


class Settings(NamedTuple):
    """What the search is given. Times in seconds; tries: how often a candidate is tried again after a passing failure."""

    engine: list[str]
    history: Path
    logs: Path
    recheck: Path | None
    start_limit: float
    card_limit: float
    pause: float
    tries: int


class Place(TypedDict):
    """What a measurement holds for: digests of the machine, the model and the engine."""

    hw: str
    model: str
    engine: str


class Run(NamedTuple):
    """One start of the engine. exit_code: None where we ended it ourselves, since it then says nothing about the engine."""

    log: Path
    exit_code: int | None
    timed_out: bool


class SearchEndedError(Exception):
    """The search can't go on; the text says why and what to do about it."""


class Search:
    """One search over all candidates on this machine, with this model and this engine."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.history = History(settings.history)
        self.place = Place(hw=hardware(), model="tiny", engine=digest(settings.engine))
        self.speeds: dict[str, float] = {}  # by label
        self.healthy_log: Path | None = None  # says how much a start takes, so that preflight can add it up

    def run(self) -> None:
        """Measure every candidate. Raises SearchEndedError."""
        recheck = read_recheck(self.settings.recheck) if self.settings.recheck else []
        bad = bad_signatures(self.history, **self.place, recheck=recheck)
        for label, changes in CANDIDATES.items():
            options = merged(BASE, changes)
            if " ".join(options) in bad:
                say(label, "left out: it failed before, and would fail again as things stand")
                continue
            step = self.measure(label, options)
            if step.action == "stop":
                raise SearchEndedError(with_advice(step.why, step))
        if not self.speeds:
            raise SearchEndedError("no candidate could be measured; see the reasons above")
        best = max(self.speeds, key=self.speeds.__getitem__)
        say("best", f"{best}: {self.speeds[best]:.1f} tok/s, {' '.join(merged(BASE, CANDIDATES[best]))}")

    def measure(self, label: str, options: tuple[str, ...]) -> Step:
        """Start the engine with these options, as often as it makes sense; what to do next. Raises SearchEndedError."""
        sig = " ".join(options)
        for tries in count():
            before = self.wait_until_clear(label, options)
            if not before.clear:  # it asks for more than this machine has, whoever leaves the card
                say(label, with_advice(f"left out: {before.reason}", before))
                return Step("skip", before.reason)
            run = self.start(label, options)
            found = classify_run(run.log, exit_code=run.exit_code, timed_out=run.timed_out)
            step = next_step(
                found, self.history, sig=sig, label=label, tries=tries, most_tries=self.settings.tries, **self.place
            )
            self.remember(found, run, label, sig)
            say(label, f"{found.verdict.status} / {found.verdict.cause}: {step.action}, {step.why}")
            if step.action != "wait-and-retry":
                return step
            if step.needs_person:  # a missing library, a full disk: it would be the same with every candidate
                raise SearchEndedError(with_advice(f"somebody must act first ({step.wait_for}): {step.why}", step))
            time.sleep(self.settings.pause)
        raise AssertionError("next_step ends the loop")

    def remember(self, found: Diagnosis, run: Run, label: str, sig: str) -> None:
        """Store the run, with its speeds if it passed."""
        passed = found.verdict.status is Status.PASS
        prompt, decode = speeds(run.log) if passed else (None, None)
        if passed:
            self.healthy_log = run.log
            self.speeds[label] = decode or 0.0
        error = "startup_wait_expired" if run.timed_out else None
        row = make_row(
            found, sig=sig, label=label, decode_tok_s=decode, pp_tok_s=prompt,
            exit_code=run.exit_code, error=error, **self.place,
        )  # fmt: skip
        self.history.append(row)

    def wait_until_clear(self, label: str, options: Sequence[str]) -> Preflight:
        """Wait until nothing stands in the way that can pass. Nothing is stored of a run that never starts."""
        end = time.monotonic() + self.settings.card_limit
        said = ""
        while True:
            before = preflight(command=[*self.settings.engine, *options], earlier_log=self.healthy_log)
            if before.clear or before.retry == "after:config-change":
                return before
            if before.reason != said:
                said = before.reason
                say(label, f"waits: {said}")
            if time.monotonic() > end:
                raise SearchEndedError(with_advice(f"nothing can be measured now: {said}", before))
            time.sleep(self.settings.pause)

    def start(self, label: str, options: Sequence[str]) -> Run:
        """Start the engine once, with a log of its own, and end it when it takes too long."""
        log = self.settings.logs / f"{len(os.listdir(self.settings.logs)) + 1:03}-{label.replace(' ', '-')}.log"
        with (
            log.open("wb") as file,
            subprocess.Popen(  # noqa: S603 - the engine that the caller named
                [*self.settings.engine, *options], stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT
            ) as engine,
        ):
            try:
                return Run(log, engine.wait(self.settings.start_limit), timed_out=False)
            except subprocess.TimeoutExpired:
                engine.kill()
                return Run(log, None, timed_out=True)


def merged(base: Sequence[str], changes: Sequence[str]) -> tuple[str, ...]:
    """The options of the baseline with some changed or added, in a fixed order: this text is the signature."""
    options = dict(zip(base[::2], base[1::2], strict=True)) | dict(zip(changes[::2], changes[1::2], strict=True))
    return tuple(word for pair in options.items() for word in pair)


def speeds(log: Path) -> tuple[float | None, float | None]:
    """(prompt, decode) in tokens a second, as the engine printed them last; None where it did not."""
    found = SPEEDS.findall(log.read_text("utf-8", "replace"))
    return (float(found[-1][0]), float(found[-1][1])) if found else (None, None)


def hardware() -> str:
    """A digest of this machine. A real tuner adds the card, its memory and the driver."""
    return hashlib.sha256(f"{platform.machine()} {os.cpu_count()}".encode()).hexdigest()[:12]


def digest(engine: Sequence[str]) -> str:
    """The digest of the engine's file, so that an update starts with a clean memory."""
    return hashlib.sha256(Path(engine[-1]).read_bytes()).hexdigest()


def with_advice(why: str, advised: Step | Preflight) -> str:
    """Why, and the steps that help, cheapest first."""
    return "\n  ".join([why, *(f"- {remedy.text}" for remedy in advised.remedies)])


def say(label: str, text: str) -> None:
    """One line of what the search does."""
    sys.stdout.write(f"{label}: {text}\n")
    sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and search."""
    parser = argparse.ArgumentParser(description="A small tuner, as an example of strata_diag.tuner.")
    parser.add_argument("engine", nargs="+", help="the engine's command, after --; options are added to it")
    parser.add_argument("--history", type=Path, required=True, help="history.jsonl: what was measured so far")
    parser.add_argument("--logs", type=Path, default=Path("logs"), help="folder for one log a start")
    parser.add_argument("--recheck", type=Path, help="recheck.json: what must be measured again")
    parser.add_argument("--start-limit", type=float, default=300.0, help="seconds that a run may take")
    parser.add_argument("--card-limit", type=float, default=600.0, help="seconds to wait for a free card")
    parser.add_argument("--pause", type=float, default=10.0, help="seconds between two looks or tries")
    parser.add_argument("--tries", type=int, default=2, help="how often a passing failure is tried again")
    settings = Settings(**vars(parser.parse_args(arguments)))
    settings.logs.mkdir(parents=True, exist_ok=True)
    try:
        Search(settings).run()
    except SearchEndedError as ended:
        say("the search ended", str(ended))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
