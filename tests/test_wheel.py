"""What is shipped: the wheel in a new environment, outside the checkout, with the example plugin beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from conftest import CORPUS, ROOT

REPORTS = {
    "tuning-reason-no-device": ("CUDA_UNAVAILABLE", "no-device"),
    "v100-busy-engine-log": ("CUDA_UNAVAILABLE", "device-busy"),
    "v100-busy-console": ("CUDA_UNAVAILABLE", "device-busy"),
    "no-vram-for-expert-cache": ("OOM", "vram-budget"),
    "cudamalloc-out-of-memory": ("OOM", "vram-exhausted"),
    "cpu-encoder-healthy": ("PASS", "none"),
}


class Installed:
    """A new environment with the wheel and the example plugin, and nothing of the checkout."""

    def __init__(self, wheel: Path, folder: Path) -> None:
        self.wheel = wheel
        self.folder = folder
        self.binaries = folder / "environment" / ("Scripts" if os.name == "nt" else "bin")

    def command(self, *arguments: object, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run `strata-diag` from an empty folder."""
        words = [str(self.binaries / "strata-diag"), *(str(argument) for argument in arguments)]
        return self.run(words, env)

    def python(self, code: str) -> str:
        """What a program prints that uses the library."""
        return self.run([str(self.binaries / "python"), "-c", code], None).stdout.strip()

    def run(self, words: list[str], env: dict[str, str] | None) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment without any variable that could lead back to the checkout."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV", "STRATA"))}
        empty = self.folder / "elsewhere"
        empty.mkdir(exist_ok=True)
        return subprocess.run(
            words, capture_output=True, text=True, check=False, cwd=empty, env={**clean, **(env or {})}
        )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel, built and installed as a user would."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    wheel = next(folder.glob("*.whl"))
    venv.create(folder / "environment", with_pip=True)
    made = Installed(wheel, folder)
    packages = [str(wheel), str(ROOT / "plugins" / "slow-storage")]
    install = [
        str(made.binaries / "python"),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        *packages,
    ]
    subprocess.run(install, check=True, capture_output=True)
    return made


def test_wheel_holds_rules_types_and_schema(installed: Installed) -> None:
    """Packs, the JSON Schema and the mark of a typed package are in the wheel; tests and corpus are not."""
    names = zipfile.ZipFile(installed.wheel).namelist()
    for wanted in ("strata_diag/_rules/causes.yaml", "strata_diag/py.typed", "strata_diag/schema/diagnosis-1.json"):
        assert wanted in names
    for wanted in ("strata_diag_llama_family/rules/", "strata_diag_python_engines/rules/", "strata_diag_system/rules/"):
        assert any(name.startswith(wanted) and name.endswith(".yaml") for name in names)
    assert not [name for name in names if name.startswith(("tests/", "corpus/", "plugins/"))]


@pytest.mark.parametrize("case", REPORTS)
def test_main_job(case: str, installed: Installed) -> None:
    """The logs of the first two reports get their verdict from the installed command."""
    done = installed.command("classify", "--format", "json", CORPUS / "strata" / f"{case}.log")
    verdict = json.loads(done.stdout)["verdict"]
    assert (verdict["status"], verdict["cause"]) == REPORTS[case]
    assert done.returncode == (0 if verdict["status"] == "PASS" else 1)
    assert done.stderr == ""


def test_plugin_beside_the_wheel_decides(installed: Installed, tmp_path: Path) -> None:
    """The example plugin's finding, pack and remedy come in by its entry point."""
    log = tmp_path / "slow.log"
    log.write_text("strata generate: loaded 40.00 GiB at 0.10 GiB/s\n", "utf-8")
    code = (
        "from pathlib import Path; from strata_diag import diagnose; "
        f"found = diagnose(Path({str(log)!r}), timed_out=True, facts={{'waited_s': 300}}); "
        "print(found.verdict.rule, found.remedies[-1].text)"
    )
    shown = installed.python(code)
    assert shown.startswith("slow-storage/too-slow Wait at least 600 s")


def test_all_of_ours_can_be_left_out(installed: Installed, tmp_path: Path) -> None:
    """With --no-builtin-rules the shipped plugins are gone too, and a folder of one's own is enough."""
    (tmp_path / "causes.yaml").write_text(
        "causes:\n"
        "  none: {status: PASS, title: x, lasting: false, retry: now, attribution: user}\n"
        "  unknown: {status: UNKNOWN, title: x, lasting: false, retry: now, attribution: user}\n",
        "utf-8",
    )
    (tmp_path / "own.yaml").write_text(
        "pack: own\nversion: 1\nabout: x\nrules:\n  - {id: one, role: info, title: One, any: [{regex: abcdef}]}\n",
        "utf-8",
    )
    shown = installed.command("plugins", "--no-builtin-rules", "--no-plugin", "slow-storage", "--rules", tmp_path)
    assert shown.returncode == 0
    assert "system" not in shown.stdout


def test_plugins_are_listed_and_can_be_blocked(installed: Installed) -> None:
    """`plugins` names the example plugin with its version, hooks and pack; an option and a variable block it."""
    shown = installed.command("plugins").stdout
    for shipped in ("builtin ", "llama-family ", "python-engines ", "system "):
        assert shipped in shown
    assert "slow-storage 0.1.0" in shown
    assert "strata_diag_findings" in shown
    assert "packs: slow-storage (2 rules)" in shown
    assert "(blocked)" in installed.command("plugins", "--no-plugin", "slow-storage").stdout
    assert "(blocked)" in installed.command("plugins", env={"STRATA_DIAG_NO_PLUGIN": "slow-storage"}).stdout
