"""Peak memory of a diagnosis above a bare import. Run it: `.venv/bin/python benchmarks/bench_memory.py`.

Each log is a stream that is made while it is read, in a process of its own, so that nothing but the diagnosis grows: a log of
2 GB, a dense one in which every twentieth line is a failure, and a single line of 1 GB.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import material

from strata_diag import RuleSet

BARE = "import resource, strata_diag.api; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
READ = """
import io, itertools, resource
from strata_diag import diagnose, load_rules

class Made(io.RawIOBase):
    def __init__(self, pieces, size):
        self.pieces, self.left, self.rest = pieces, size, b""
    def readable(self):
        return True
    def readinto(self, view):
        if not self.rest:
            self.rest = memoryview(next(self.pieces))
        count = min(len(view), len(self.rest), self.left)
        view[:count] = self.rest[:count]
        self.rest, self.left = self.rest[count:], self.left - count
        return count

rules = load_rules()
pieces = itertools.repeat(open({piece!r}, "rb").read())
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = diagnose(Made(pieces, {size}), rules=rules)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, before, found.line_count, found.verdict.status)
"""
PIECE_BYTES = 1_000_000
CASES = {"2 GB, 1 failure in 10,000 lines": 10_000, "2 GB, 1 failure in 20 lines": 20, "1 GB in one line": 0}


def measured(code: str) -> list[str]:
    """What a piece of code prints, in a new process."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def whole_lines(rules: RuleSet, failures_in: int) -> bytes:
    """A piece of a log that ends with a line."""
    maker = material.log_lines(rules, failures_in)
    next(maker)
    made = next(maker)
    return made[: made.rindex(b"\n", 0, PIECE_BYTES) + 1]


def main() -> None:
    """Measure and print."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    bare = int(measured(BARE)[0])
    rules = material.built_in()
    for name, failures_in in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            piece = Path(folder) / "piece"
            piece.write_bytes(whole_lines(rules, failures_in) if failures_in else b"x" * PIECE_BYTES)
            size = 2 * 10**9 if failures_in else 10**9
            peak, before, lines, status = measured(READ.format(piece=str(piece), size=size))
        above, of_log = (int(peak) - bare) / 1024, (int(peak) - int(before)) / 1024
        print(
            f"{name:32} {above:5.1f} MB above a bare import, {of_log:5.1f} above the loaded rules; {int(lines):,} lines"
        )
        print(f"{'':32} {status}")


if __name__ == "__main__":
    main()
