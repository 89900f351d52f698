"""What a long history and the first use of the tuner's backend cost. Run it: `.venv/bin/python benchmarks/bench_history.py`.

Three measurements, as ratios where a machine's speed would only confuse:

- 1,000,000 generated rows through `History`: the peak of resident memory above a bare `import strata_diag.tuner`, and the time
  against `wc -l` on the same file (and against `json.loads` of every line, which is the least that any reader must do);
- `import strata_diag.tuner` above a bare interpreter, in CPU time;
- `failure_kind` of a 20 KB log: the first call of a process, which loads the rules, and later ones.

Each runs in a process of its own, several times, interleaved; the best time of each counts.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
NO_ROOM = (
    "strata generate: expert cache auto: 0.{a} GiB free, {b} MiB reserved -> 0 slots | strata generate: no VRAM is left for "
    "the expert cache: it needs at least {a} slots ({b} MiB), about {c} MiB more than this card has free. To make room: a…"
)
NO_DEVICE = (
    "ggml_cuda_init: failed to initialize CUDA: no CUDA-capable device is detected | strata generate: memory guard: limit "
    "{a}.8 GiB (source: meminfo), current {b} GiB, reclaimable cache credited 0.0 GiB; available {c} GiB, floor 2560 MiB…"
)
REASONS = (NO_ROOM, NO_DEVICE, "startup_wait_expired")
DISTINCT = 500  # reasons that differ; the classifier sees each once

READ = """
import resource, sys, time
from strata_diag.tuner import History
before = resource.getrusage(resource.RUSAGE_SELF)
start = time.perf_counter()
count = sum(1 for row in History({path!r}) if row.readable) if {read!r} else 0
took = time.perf_counter() - start
print(count, took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
LOADS = """
import json, sys, time
start = time.perf_counter()
with open({path!r}, encoding="utf-8") as file:
    count = sum(1 for line in file if json.loads(line))
print(count, time.perf_counter() - start, 0)
"""
IMPORT = "import time, sys; import {module}; print(0, time.process_time(), 0)"
KIND = """
import time
from pathlib import Path
from strata_diag.tuner import failure_kind
log = Path({path!r}).read_bytes()
times = []
for _ in range(20):
    start = time.perf_counter()
    failure_kind(log)
    times.append(time.perf_counter() - start)
print(times[0], min(times[1:]), 0)
"""


def rows(count: int, seed: int = 3502) -> Iterator[str]:
    """The lines of a history: three rows of four pass, the others fail for `DISTINCT` different reasons."""
    chance = random.Random(seed)
    reasons = [
        chance.choice(REASONS).format(a=chance.randint(10, 99), b=chance.randint(100, 999), c=chance.randint(100, 999))
        for _ in range(DISTINCT)
    ]
    for number in range(count):
        passed = chance.random() < 0.75
        fields = {
            "status": "PASS" if passed else "OOM",
            "label": f"candidate {number % 40}",
            "decode_tok_s": round(chance.uniform(20, 90), 1) if passed else None,
            "pp_tok_s": round(chance.uniform(900, 2500), 1) if passed else None,
            "reason": "" if passed else chance.choice(reasons),
            "sig": f"--max-context {4096 * (number % 40 + 1)} --kv k8v4 --spec 4 --expert-cache auto --vram-reserve-mib 700",
            "hw": f"{number % 3:012x}",
            "model": f"{number % 5:016x}",
            "engine": f"{number % 2:064x}",
            "time": f"2026-10-{number % 28 + 1:02}T{number % 24:02}:{number % 60:02}:{number % 59:02}",
        }
        yield json.dumps(fields, ensure_ascii=False) + "\n"


def measured(code: str, times: int = 3) -> list[float]:
    """The best of each number that a piece of code prints, in new processes."""
    shown = []
    for _ in range(times):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
        shown.append([float(word) for word in done.stdout.split()])
    return [min(column) for column in zip(*shown, strict=True)]


def wc_seconds(path: str, times: int = 5) -> float:
    """How long `wc -l` takes, at best."""
    code = (
        "import subprocess, time; start = time.perf_counter(); "
        f"subprocess.run(['wc', '-l', {path!r}], check=True, capture_output=True); print(time.perf_counter() - start)"
    )
    return measured(code, times)[0]


def history(count: int) -> None:
    """Stream a generated history and print what it cost."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "history.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(rows(count))
        size = os.path.getsize(path) / 1e6
        wc, loads = wc_seconds(path), measured(LOADS.format(path=path), 1)
        idle = measured(READ.format(path=path, read=False), 1)
        read = measured(READ.format(path=path, read=True), 1)
    print(f"history of {count:,} rows ({size:.0f} MB), {DISTINCT} distinct reasons")
    print(f"  rows read              {int(read[0]):,}")
    print(
        f"  time                   {read[1] / wc:.0f} times `wc -l`, {read[1] / loads[1]:.1f} times json.loads of every line"
    )
    print(f"  peak memory            {(read[2] - idle[2]) / 1024:.1f} MB above a bare import")


def costs() -> None:
    """Print what the import and one log cost."""
    bare = measured(IMPORT.format(module="sys"), 7)[1]
    tuner = measured(IMPORT.format(module="strata_diag.tuner"), 7)[1]
    library = measured(IMPORT.format(module="strata_diag"), 7)[1]
    print(
        f"import strata_diag.tuner  {tuner / bare:.1f} times a bare interpreter (import strata_diag: {library / bare:.1f})"
    )
    lines = (ROOT / "corpus" / "strata" / "no-vram-for-expert-cache.log").read_bytes().splitlines(keepends=True)
    filler = b"strata dbg: layer 17: 384 of 512 experts resident, 41 uploads queued\n"
    missing = (20_000 - sum(map(len, lines))) // len(filler)
    log = b"".join([*lines[:-2], filler * missing, *lines[-2:]])  # one start, with a long middle
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "engine.log")
        Path(path).write_bytes(log)
        first, later, _ = measured(KIND.format(path=path), 3)
    print(
        f"failure_kind of 20 KB     first call {first / bare:.1f} times a bare interpreter, later calls {later / bare:.2f} times"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    costs()
    history(parser.parse_args().rows)
