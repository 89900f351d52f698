"""Batches of units on several cores, in order.

Processes are started only where there is enough to read. The first batch is read here while they start, so that its answers are
there at once. A process that dies loses nothing: its batch is read here, and new processes read the rest.

Measured on 2 cores that others used, too, with all rules: to start a process costs about 0.5 s of a core. In a second of a core
340 small logs (0.5 KiB each) were read, or 1 MiB of logs of Strata. 204 small logs took 0.9 to 1.1 s in one process, 2.2 to 3.6 s
in two; 4,000 took 30 s and 13 s, once each. The limits below are worked out from these figures; where exactly two processes begin
to win was not measured. How fast a log is read depends on what is in it, so bytes tell little.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import pickle
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from copyreg import dispatch_table
from itertools import chain
from multiprocessing.process import BaseProcess
from types import MappingProxyType
from typing import Any

from strata_diag.model import Notice
from strata_diag.ruleset import RuleSet
from strata_diag.triage.plan import Plan, Unit, batches_of
from strata_diag.triage.reading import Reading, read_unit
from strata_diag.triage.records import Part

Load = Callable[[], RuleSet]
Batch = tuple[Unit, ...]

LEAST_FILES = 500  # from which, or from LEAST_BYTES, processes gain more than their start costs
LEAST_BYTES = 8 * 1024 * 1024
MOST_RESTARTS = 3  # of the processes of one triage; then the rest is read here


def jobs_for(plan: Plan, wanted: int | None) -> int:
    """How many processes a plan is worth: `wanted` or a core each, 1 (none beside this one) where there is little to read."""
    if wanted is not None:
        return max(wanted, 1)
    if len(plan.units) == 1 or (plan.files < LEAST_FILES and plan.size_bytes < LEAST_BYTES):
        return 1
    return min(_cores(), len(plan.units))


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux tells what this process may use
        return os.cpu_count() or 1


def read_here(units: Iterable[Unit], reading: Reading) -> Generator[Part, None, None]:
    """The units in order, read in this process."""
    for unit in units:
        yield read_unit(unit, reading)


def read_in_processes(units: Iterable[Unit], reading: Reading, load: Load, jobs: int) -> Generator[Part, None, None]:
    """The units in order. load: gives the same rules in another process, so it can be pickled."""
    batches = batches_of(units)
    first = next(batches, ())
    pool = _Pool(load, jobs, joined=reading.joined)
    try:
        waiting: deque[tuple[Batch, Future[bytes]]] = deque()
        pool.fill(waiting, batches)
        yield from read_here(first, reading)
        while waiting:
            batch, future = waiting.popleft()
            parts = pool.result(future)
            if isinstance(parts, Notice):
                yield Part(notices=(parts,))
                yield from read_here(batch, reading)
                if pool.is_broken and not pool.restart(waiting):
                    rest = chain((one for one, _ in waiting), batches)
                    yield from read_here(chain.from_iterable(rest), reading)
                    return
            else:
                yield from parts
            pool.fill(waiting, batches)
        pool.end()
    finally:
        pool.stop()


class _Pool:
    """The processes."""

    def __init__(self, load: Load, jobs: int, *, joined: bool) -> None:
        self._load = load
        self._jobs = jobs
        self._joined = joined
        self._restarts = 0
        self.is_broken = False
        self._others = set(multiprocessing.active_children())
        self._begin()

    def _begin(self) -> None:
        self.is_broken = False
        # started anew rather than forked: a fork copies locks that the thread of a progress bar may hold
        context = multiprocessing.get_context("spawn")
        self._executor = ProcessPoolExecutor(self._jobs, context, _begin_process, (self._load, self._joined))

    def fill(self, waiting: deque[tuple[Batch, Future[bytes]]], batches: Iterator[Batch]) -> None:
        """Keep every process busy, with one more batch for each at hand."""
        while len(waiting) < 2 * self._jobs and (batch := next(batches, None)) is not None:
            waiting.append((batch, self._submit(batch)))

    def _submit(self, batch: Batch) -> Future[bytes]:
        try:
            return self._executor.submit(_read_batch, batch)
        except BrokenProcessPool as error:  # it died after the last answer
            lost: Future[bytes] = Future()
            lost.set_exception(error)
            return lost

    def result(self, future: Future[bytes]) -> list[Part] | Notice:
        """What a process made of its batch, or what went wrong with it."""
        try:
            parts: list[Part] = pickle.loads(future.result())  # noqa: S301 - made by a process of ours, a moment ago
        except BrokenProcessPool:
            self.is_broken = True
            return Notice("process", "a process that was reading logs ended; its logs were read again by this one")
        except Exception as error:  # noqa: BLE001 - whatever it was, the batch can be read here
            return Notice("process", f"a process could not hand over its results ({error}); its logs were read again")
        return parts

    def restart(self, waiting: deque[tuple[Batch, Future[bytes]]]) -> bool:
        """New processes for the batches that wait; False where they died too often."""
        self.stop()
        self._restarts += 1
        if self._restarts > MOST_RESTARTS:
            return False
        self._begin()
        again = [(batch, self._submit(batch)) for batch, _ in waiting]
        waiting.clear()
        waiting.extend(again)
        return True

    def end(self) -> None:
        """Let the processes end by themselves."""
        self._executor.shutdown()

    def stop(self) -> None:
        """End the processes whatever they do."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        for process in self._own():
            process.terminate()

    def _own(self) -> set[BaseProcess]:
        return set(multiprocessing.active_children()) - self._others


_reading: list[Reading] = []  # of a process: how it reads, set when it starts


def _begin_process(load: Load, joined: bool) -> None:  # noqa: FBT001 - handed on by the executor, by place
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C goes to all of them; the first process ends the others
    _reading[:] = [Reading(load(), joined)]


def _read_batch(batch: Batch) -> bytes:
    made = io.BytesIO()
    _Pickler(made).dump(list(read_here(batch, _reading[0])))
    return made.getvalue()


def _as_dict(mapping: MappingProxyType[Any, Any]) -> tuple[type, tuple[dict[Any, Any]]]:
    return MappingProxyType, (dict(mapping),)


class _Pickler(pickle.Pickler):
    """Knows the read-only mappings of our records, which the standard one does not."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.dispatch_table = {**dispatch_table, MappingProxyType: _as_dict}


def parts_of(plan: Plan, reading: Reading, load: Load, jobs: int | None) -> Generator[Part, None, None]:
    """The parts of a plan in order. jobs: processes; None for as many as it is worth. A redactor allows for one only."""
    count = 1 if reading.redactor else jobs_for(plan, jobs)
    if count == 1:
        return read_here(plan.units, reading)
    return read_in_processes(plan.units, reading, load, count)
