"""Machines for preflight's tests: cards that a real driver library describes, and real programs with Strata's names.

The library is compiled from `nvml/fake_nvml.c` and found by the unchanged nvidia-ml-py the way it finds NVIDIA's: by the name
libnvidia-ml.so.1, through the system's loader, hence in a process of its own with LD_LIBRARY_PATH.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
COMPILER = shutil.which("gcc") or shutil.which("cc") or ""
COMPILE = [COMPILER, "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]

needs_compiler = pytest.mark.skipif(
    sys.platform != "linux" or not COMPILER, reason="the driver library of the tests is compiled, for Linux's loader"
)


def compile_library(folder: Path) -> Path:
    """Compile the driver library into this folder; the folder."""
    library = folder / "libnvidia-ml.so.1"
    soname = f"-Wl,-soname,{library.name}"
    subprocess.run([*COMPILE, soname, "-o", str(library), str(HERE / "nvml" / "fake_nvml.c")], check=True)
    return folder


class Machine:
    """A process on a machine with these cards, asked for preflight again and again. Close it, also when a call hangs.

    measured: count what it runs for the coverage of these tests, where that is counted at all.
    """

    def __init__(self, library: Path, folder: Path, *, measured: bool = False) -> None:
        counting = ["-m", "coverage", "run", "--parallel-mode"] if measured and "coverage" in sys.modules else []
        self.description = folder / "cards.txt"
        self.environment = machine_environment(library, self.description)
        self._process = subprocess.Popen(
            [sys.executable, *counting, str(HERE / "nvml" / "asked.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **self.environment},
            cwd=HERE.parent,
        )

    def preflight(self, cards: str, *, environment: dict[str, str] | None = None, **request: Any) -> dict[str, Any]:
        """The JSON of preflight with these cards."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.description.write_text(cards, "utf-8", "surrogateescape")
        self._process.stdin.write(json.dumps({**request, "environment": environment or {}}) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> int:
        """End the process; its exit code."""
        self._process.communicate(timeout=30)
        return self._process.returncode


def machine_environment(library: Path, description: Path) -> dict[str, str]:
    """The variables that make a process see the cards of a description."""
    return {"LD_LIBRARY_PATH": str(library), "FAKE_NVML": str(description)}


def check(answer: dict[str, Any], name: str) -> dict[str, Any]:
    """The check of this name in the JSON of preflight."""
    found: dict[str, Any] = next(one for one in answer["checks"] if one["name"] == name)
    return found


@contextmanager
def running(folder: Path, name: str, *arguments: str, through: str = "") -> Iterator[subprocess.Popen[bytes]]:
    """A real program of this name, relative to a folder, that does nothing until the block ends.

    through: the interpreter that gets the script as its argument; without one the script is the program itself.
    """
    script = folder / name
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(f"#!{sys.executable}\nimport time\nprint('up', flush=True)\ntime.sleep(60)\n", "utf-8")
    script.chmod(0o755)
    command = [through, str(script), *arguments] if through else [str(script), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()  # it runs its own code now, so its name and command line are in the process list
            yield process
        finally:
            process.kill()


def until(condition: Any, seconds: float = 20) -> bool:
    """Whether a condition comes true within some seconds; other tests of this machine may run programs of these names too."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.2)
    return False
