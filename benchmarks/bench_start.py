"""What a start of the command costs against starting Python. Run it: `.venv/bin/python benchmarks/bench_start.py`.

CPU time of whole processes, taken in turns; the median counts. `--python` names the interpreter of an environment with an
installed wheel, which is what users have: an editable install starts slower.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import material
from compare import command_seconds

ROOT = Path(__file__).parent.parent
SIZE_BYTES = 10 * 1024
WARM = """
import statistics, time
from strata_diag import diagnose, load_rules
rules = load_rules()
log = open({log!r}, "rb").read() * 2
times = []
for _ in range(60):
    start = time.process_time()
    diagnose(log, rules=rules)
    times.append(time.process_time() - start)
print(statistics.median(times[20:]) * 1000)
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        clean = Path(place) / "clean.log"
        maker = material.log_lines(material.built_in(), 10**9)
        next(maker)
        text = next(maker)
        clean.write_bytes(text[: text.rindex(b"\n", 0, SIZE_BYTES) + 1])
        command = [str(Path(options.python).with_name("strata-diag")), "classify"]
        finding = ROOT / "corpus" / "strata" / "v100-busy-engine-log.log"
        commands = {
            "python -c pass": [options.python, "-c", "pass"],
            "import strata_diag": [options.python, "-c", "import strata_diag"],
            "clean log, text": [*command, str(clean)],
            "clean log, JSON": [*command, "--format", "json", str(clean)],
            "a finding, text": [*command, str(finding)],
            "a finding, JSON": [*command, "--format", "json", str(finding)],
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for turn in range(options.rounds + 1):
            for name, words in commands.items():
                took = command_seconds(["sh", "-c", '"$@" >/dev/null || true', "sh", *words])
                if turn:  # the first fills the cache
                    times[name].append(took)
        base = statistics.median(times["python -c pass"])
        for name, kept in times.items():
            print(f"{name:20} {statistics.median(kept) / base:5.2f} times `python -c pass`")
        warm = subprocess.run(
            [options.python, "-c", WARM.format(log=str(clean))], capture_output=True, text=True, check=True
        )
        took = float(warm.stdout)
        print(f"a clean log of 20 KB in a warm process: {took:.2f} ms, {took / base / 1000:.3f} times `python -c pass`")


if __name__ == "__main__":
    main()
