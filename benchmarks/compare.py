"""The whole of `diagnose` against ripgrep and `wc -l` on large logs, as ratios. Run it: `.venv/bin/python benchmarks/compare.py`.

For each pair of a log and a rule set the programs take turns, each in a process of its own, and the best CPU time (user and
system) of each counts: a ratio of two times from one run says the same on any machine. ripgrep is given the literals by which
these rules are searched for (`rg -j1 -c -F -f`); a diagnosis is timed from an opened rule set to the verdict, with its runs and
line numbers. Prints a table in Markdown; `--results FILE` appends it to a file, with date and machine.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import material

ROOT = Path(__file__).parent.parent
MIB = 1 << 20
SPARSE, DENSE = 10_000, 20  # one failure in so many lines
# one child: loads the rules and warms them up on a small log, says how long the large one took
DIAGNOSE = """
import resource, sys, time
sys.path.insert(0, {benchmarks!r})
from pathlib import Path
import material
from strata_diag import diagnose
rules = {rules}
diagnose(b"nothing\\n" * 10, rules=rules)
before = time.process_time()
found = diagnose(Path({log!r}), rules=rules)
print(time.process_time() - before, found.line_count)
"""


def rule_set(count: int) -> str:
    """Code that makes a rule set: the built-in one for 0."""
    return f"material.synthetic({count})" if count else "material.built_in()"


def diagnose_seconds(log: Path, count: int) -> float:
    """CPU time of one diagnosis."""
    code = DIAGNOSE.format(benchmarks=str(Path(__file__).parent), rules=rule_set(count), log=str(log))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return float(done.stdout.split()[0])


def command_seconds(command: list[str]) -> float:
    """CPU time of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def best_of(measures: list[Callable[[], float]], rounds: int) -> list[float]:
    """The best time of each, taken in turns."""
    times: list[list[float]] = [[] for _ in measures]
    for _ in range(rounds):
        for kept, measure in zip(times, measures, strict=True):
            kept.append(measure())
    return [min(kept) for kept in times]


def compare(folder: Path, count: int, size: int, failures_in: int, rounds: int) -> tuple[str, float]:
    """A row of the table, and the seconds of the diagnosis."""
    rules = material.synthetic(count) if count else material.built_in()
    log, literals = folder / "engine.log", folder / "literals"
    material.write_log(log, rules, size, failures_in)
    texts = sorted({text for pattern in rules.scanned_patterns for text in pattern.literals})
    literals.write_bytes(b"\n".join(texts) + b"\n")
    ours, ripgrep, wc = best_of(
        [
            lambda: diagnose_seconds(log, count),
            lambda: command_seconds(["rg", "-j1", "-c", "-F", "-f", str(literals), str(log)]),
            lambda: command_seconds(["wc", "-l", str(log)]),
        ],
        rounds,
    )
    log.unlink()
    name = f"{count:,}" if count else f"built-in ({len(rules.rules):,})"
    log_name, speed = f"{size // 10**6:,} MB, 1 in {failures_in:,}", f"{size / ours / 1e6:.0f}"
    row = f"| {log_name} | {name} | {ours / ripgrep:.2f} | {ours / wc:.1f} | {speed} |"
    return row, ours


def machine() -> str:
    """What was measured on, without its name."""
    named = (line.partition(":")[2].strip() for line in _cpu_lines() if line.startswith("model name"))
    model = next(named, platform.machine())
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}"


def _cpu_lines() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text("utf-8").splitlines() if path.exists() else []


def main() -> None:
    """Measure, print, and keep where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1000, help="MB of the sparse logs (default: 1000)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--results", type=Path)
    options = parser.parse_args()
    if not shutil.which("rg"):
        parser.error("ripgrep (rg) is not installed; on Debian and Ubuntu: apt-get install ripgrep")
    size = options.size * 10**6
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        cases = [(0, size, SPARSE), (50, size, SPARSE), (500, size, SPARSE), (5000, size, SPARSE), (500, 10**8, DENSE)]
        rows = [compare(folder, count, bytes_, every, options.rounds)[0] for count, bytes_, every in cases]
    lines = [
        f"## {dt.datetime.now(dt.UTC):%Y-%m-%d}: {machine()}",
        "",
        "| log | rules | times ripgrep | times `wc -l` | MB/s |",
        "|---|---|---|---|---|",
        *rows,
        "",
    ]
    print("\n".join(lines))
    if options.results:
        with options.results.open("a", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
