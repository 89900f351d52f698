"""Preflight without a driver: programs, the lease, RAM, what a run takes, probes of plugins, and missing packages."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest
from conftest import CORPUS
from machines import running

from strata_diag import RuleSet, SourceError, Status, hookimpl
from strata_diag.plugins import Plugins
from strata_diag.tuner import look
from strata_diag.tuner.bounded import NoAnswerError, within
from strata_diag.tuner.checks import Check, Situation, State
from strata_diag.tuner.needs import Need
from strata_diag.tuner.preflight import Preflight, preflight
from strata_diag.tuner.processes import Program, default_lease, kind_of, read_lease, running_programs
from strata_diag.tuner.ram import Ram, available_ram

GIB = 1024**3


def the(found: Preflight, name: str) -> Check:
    """The check of this name."""
    return next(check for check in found.checks if check.name == name)


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        ("engine", "strata", ["/opt/strata/engine/strata", "--serve"]),
        ("engine", "strata.exe", ["C:\\Program Files\\Strata\\engine\\strata.exe", "--serve"]),
        ("engine", "strata", []),
        ("encoder", "strata-vision", ["/opt/strata/engine-cuda12/strata-vision", "--mmproj", "x"]),
        ("server", "python3", ["python3", "serve/server.py", "--engine", "strata", "--config", "x.json"]),
        ("server", "python3", ["python3", "-u", "server.py", "--engine", "strata"]),
        ("server", "python.exe", ["C:\\Python\\python.exe", "D:\\Strata\\serve\\server.py"]),
        ("server", "python3", ["python3", "/app/sycl/serve/server_intel.py"]),
        ("tuner", "python3", ["python3", "setup.py", "--calibrate"]),
        ("tuner", "bash", ["/bin/bash", "./setup.sh", "--calibrate"]),
        ("tuner", "cmd.exe", ["cmd", "/c", "START-HERE.bat", "--calibrate"]),
        ("tuner", "python3", ["python3", "tools/calibrate.py"]),
        ("tuner", "pythonw.exe", ["pythonw.exe", "-m", "strata_control.autotune"]),
        ("", "python3", ["python3", "server.py"]),
        ("", "python3", ["python3", "setup.py", "install"]),
        ("", "vim", ["vim", "serve/server.py", "tools/calibrate.py"]),
        ("", "tail", ["tail", "-f", "strata"]),
        ("", "strata-diag", ["python3", "/venv/bin/strata-diag", "preflight"]),
        ("", "grep", ["grep", "-r", "strata-vision"]),
        ("", "", []),
    ],
)
def test_programs_are_known_by_their_names(kind: str, name: str, words: Sequence[str]) -> None:
    """Names of programs and scripts decide, never words in the arguments of something else."""
    assert kind_of(name, words) == kind


def program(pid: int) -> Program:
    """The running program with this process id."""
    return next(one for one in running_programs() if one.pid == pid)


@pytest.mark.parametrize(
    ("kind", "name", "arguments", "through"),
    [
        ("engine", "strata", ["--serve"], ""),
        ("encoder", "strata-vision", [], ""),
        ("server", "serve/server.py", ["--engine", "strata"], sys.executable),
        ("tuner", "setup.py", ["--calibrate"], sys.executable),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="a script can't be a program of its own there")
def test_a_running_program_stands_in_the_way(
    kind: str, name: str, arguments: list[str], through: str, tmp_path: Path, rules: RuleSet
) -> None:
    """A real process of Strata blocks with its process id and the advice to unload, and no longer once it has ended."""
    with running(tmp_path, name, *arguments, through=through) as process:
        assert program(process.pid).kind == kind
        found = preflight(rules=rules)
        assert not found.clear
        assert the(found, "programs").state is State.BLOCKED
        assert process.pid in the(found, "programs").values["pids"]
        assert (found.status, found.cause, found.retry) == (Status.CUDA_UNAVAILABLE, "device-busy", "after:card-free")
        assert found.remedies[0].action == "unload-the-model"
    assert process.pid not in [one.pid for one in running_programs()]


def test_the_caller_and_its_ancestors_are_no_other_tuner(tmp_path: Path) -> None:
    """A tuner that asks does not find itself, nor the program that started it; a second one finds both."""
    script = tmp_path / "calibrate.py"
    asked = "from strata_diag.tuner.processes import running_programs; print([one.pid for one in running_programs()])"
    script.write_text(
        f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {asked!r}], check=True)\n", "utf-8"
    )
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE) as process:
        shown = process.communicate(timeout=60)[0]
    assert process.pid not in json.loads(shown)


def test_a_server_without_an_engine_is_worth_a_look() -> None:
    """An unloaded model blocks nothing, a server that is just starting does, and one beside its engine is not counted."""
    server = Program(11, "server", "python3", "", 3600)
    engine = Program(12, "engine", "strata", "", 3600)
    assert look.at_programs([server], "").state is State.CAUTION
    assert look.at_programs([server._replace(age_s=5)], "").state is State.BLOCKED
    both = look.at_programs([server, engine], "")
    assert (both.state, both.values["pids"]) == (State.BLOCKED, [12])
    assert look.at_programs([], "").state is State.CLEAR
    assert look.at_programs(None, "no list").state is State.UNKNOWN


# The lease ---------------------------------------------------------------------------------------------------------------


def test_a_lease_whose_owner_runs_blocks(tmp_path: Path, rules: RuleSet) -> None:
    """Another tuning job is named by its mark, unless the caller says that the mark is its own."""
    lease = tmp_path / "tuning.lease"
    lease.write_text(json.dumps({"pid": os.getpid(), "job": "x"}), "utf-8")
    found = the(preflight(lease=lease, rules=rules), "lease")
    assert (found.state, found.cause) == (State.BLOCKED, "device-busy")
    assert f"process {os.getpid()}, runs" in found.text
    assert "lease" not in [check.name for check in preflight(lease=lease, holds_lease=True, rules=rules).checks]
    assert the(preflight(lease=tmp_path / "none", rules=rules), "lease").state is State.CLEAR


def ended_process() -> int:
    """The process id of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


@pytest.mark.parametrize(
    ("content", "age_s", "stale"),
    [
        (lambda: json.dumps({"pid": ended_process()}), 0, True),
        (lambda: str(ended_process()), 0, True),
        (lambda: str(os.getpid()), 0, False),
        (lambda: str(os.getpid()), 3 * 86400, True),
        (lambda: "held", 0, False),
        (lambda: "", 0, False),
        (lambda: '{"pid": "x"}', 0, False),
        (lambda: "[" * 100_000, 0, False),
        (lambda: "9" * 3000, 0, False),
        (lambda: "held", 400 * 86400, True),
    ],
    ids=[
        "gone",
        "gone-bare",
        "alive",
        "reused",
        "words",
        "empty",
        "no-number",
        "hostile",
        "huge",
        "before-the-last-start",
    ],
)
def test_a_lease_that_was_left_behind(content: Callable[[], str], age_s: float, stale: bool, tmp_path: Path) -> None:
    """A lease is stale once its owner is gone, its number belongs to a younger process, or the PC was started since."""
    lease = tmp_path / "tuning.lease"
    lease.write_text(content(), "utf-8")
    then = time.time() - age_s
    os.utime(lease, (then, then))
    found = read_lease(lease)
    assert found is not None
    assert found.stale is stale, found.why


def test_a_lease_that_can_not_be_read_never_blocks(tmp_path: Path, rules: RuleSet) -> None:
    """A folder in place of the lease is a check that could not be made."""
    assert the(preflight(lease=tmp_path, rules=rules), "lease").state is State.UNKNOWN


def test_the_lease_of_the_windows_app_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the app's folder is known, its lease is looked at without being named."""
    monkeypatch.setenv("LOCALAPPDATA", "somewhere")
    assert default_lease() == Path("somewhere", "Strata", "tuning", "tuning.lease")
    monkeypatch.delenv("LOCALAPPDATA")
    assert default_lease() is None


# RAM ---------------------------------------------------------------------------------------------------------------------


def group(folder: Path, **files: object) -> None:
    """The files of a control group, their names with `__` for a point."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(f"{content}\n", "ascii")


def test_a_containers_limit_counts(tmp_path: Path) -> None:
    """The tightest group decides, its cached files count as free, and `max` is no limit."""
    own, mount = tmp_path / "own", tmp_path / "mount"
    own.write_text("1:name=systemd:/x\n0::/pod/one\n", "ascii")
    assert available_ram(mount, own).source == "the system"
    group(mount / "pod" / "one", memory__max="max", memory__current=5, memory__stat="inactive_file 1")
    group(
        mount / "pod", memory__max=GIB // 2, memory__current=GIB // 4, memory__stat=f"anon 7\ninactive_file {GIB // 8}"
    )
    found = available_ram(mount, own)
    assert (found.available_gib, found.total_gib) == (0.375, 0.5)
    assert "container" in found.source
    own.write_text("4:cpu,memory:/\n", "ascii")
    group(mount / "memory", memory__limit_in_bytes=GIB, memory__usage_in_bytes=2 * GIB, memory__stat="cache x")
    assert available_ram(mount, own).available_gib == 0
    group(mount / "memory", memory__limit_in_bytes=9223372036854771712, memory__usage_in_bytes=1)
    assert available_ram(mount, own).source == "the system"
    assert available_ram(mount, tmp_path / "missing").total_gib == psutil.virtual_memory().total / GIB


def test_ram_against_the_need() -> None:
    """Too little RAM blocks with what is missing; where the PC never has enough, the advice begins with a budget."""
    ram = Ram(20, 64, "the system")
    short = look.at_ram(ram, "", Need(ram_gib=40.5, ram_parts=(("experts", 41472),)))
    assert (short.state, short.cause, short.values["short_gib"]) == (State.BLOCKED, "host-memory", 20.5)
    assert short.actions == ()
    assert look.at_ram(ram, "", Need(ram_gib=80.0)).actions == ("ram-budget",)
    assert look.at_ram(ram, "", Need(ram_gib=20.0)).state is State.CLEAR
    assert look.at_ram(ram, "", Need()).state is State.CLEAR
    assert look.at_ram(None, "no package", Need()).text == "Free RAM could not be read: no package."


# Limits, probes, missing packages ----------------------------------------------------------------------------------------


def test_a_question_that_hangs_is_asked_once() -> None:
    """While a question hangs it is not asked again; once it has ended it may be."""
    release = threading.Event()
    with pytest.raises(NoAnswerError, match=r"the disk did not answer within 0\.05 s"):
        within(0.05, "the disk", release.wait)
    with pytest.raises(NoAnswerError, match="has not answered an earlier question yet"):
        within(5, "the disk", lambda: 1)
    assert within(5, "something else", lambda: 1) == 1
    release.set()
    time.sleep(0.05)
    assert within(5, "the disk", lambda: 2) == 2


def test_what_a_question_raises_is_raised() -> None:
    """An error of the task is the caller's."""
    with pytest.raises(ZeroDivisionError):
        within(5, "a sum", lambda: 1 / 0)


class Probing:
    """A plugin with probes of every kind."""

    def __init__(self, *probes: Any) -> None:
        self.probes = probes

    @hookimpl
    def strata_diag_probes(self) -> Sequence[Any]:
        return self.probes


def fan(situation: Situation) -> Check:
    """A probe that finds a card too hot."""
    return Check("fan", State.BLOCKED, f"The fan of card {situation.device} stands still.", "gpu-fault")


def with_probes(rules: RuleSet, *probes: Any) -> RuleSet:
    """The rules with a plugin that has these probes."""
    plugins = Plugins(discover=False, with_builtin=False)
    plugins._manager.register(Probing(*probes), "probing")
    changed = copy.copy(rules)
    changed.extensions = plugins
    return changed


def test_probes_of_plugins_are_asked(rules: RuleSet) -> None:
    """A probe's check gets the words of its cause and stands in the way like any other."""
    quiet = [lambda _: None, lambda _: [Check("disk", State.CLEAR, "The disk has room.")]]
    found = preflight(rules=with_probes(rules, fan, *quiet))
    probed = the(found, "fan")
    assert (probed.status, probed.retry) == (Status.CRASH, "now")
    assert probed.remedies
    assert the(found, "disk").state is State.CLEAR
    assert not found.notices


def test_a_probe_that_fails_is_a_notice(rules: RuleSet) -> None:
    """A probe that raises, or answers with nonsense or no known cause, is a notice with its plugin's name; the rest goes on."""
    odd = Check("odd", State.BLOCKED, "x", "no-such-cause")
    mute = Check("mute", State.BLOCKED, "x")
    found = preflight(rules=with_probes(rules, lambda _: 1 / 0, lambda _: ["text"], lambda _: odd, lambda _: mute, fan))
    assert the(found, "fan").state is State.BLOCKED
    shown = [notice.text for notice in found.notices]
    assert len(shown) == 4
    assert all("a probe of the plugin probing" in text for text in shown)
    assert "ZeroDivisionError" in shown[0]


def test_without_the_optional_packages_nothing_blocks(tmp_path: Path) -> None:
    """Without psutil and nvidia-ml-py every check says what to install, and the JSON is complete."""
    for name in ("psutil", "pynvml"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('not installed')\n", "ascii")
    words = [sys.executable, "-m", "strata_diag", "preflight", "--no-plugin", "*", "--format", "json"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    answer = json.loads(done.stdout)
    assert done.returncode == 3
    assert (answer["clear"], answer["checked"], answer["status"]) == (True, False, "UNKNOWN")
    assert {check["state"] for check in answer["checks"]} == {"unknown"}
    texts = {check["name"]: check["text"] for check in answer["checks"]}
    for name in ("driver", "programs", "ram"):
        assert "pip install 'strata-diag[gpu]'" in texts[name]


def test_wrong_arguments_are_errors(tmp_path: Path, rules: RuleSet) -> None:
    """Negative numbers and an earlier log that is not there are the caller's mistakes."""
    for need, device in ((-1, 0), (None, -1)):
        with pytest.raises(ValueError, match="can't be negative"):
            preflight(need, device, rules=rules)
    with pytest.raises(SourceError):
        preflight(earlier_log=tmp_path / "missing.log", rules=rules)


def test_a_log_that_says_nothing_is_a_notice(rules: RuleSet) -> None:
    """A log without the engine's numbers leaves the need unknown and says so; the caller's number is stronger than a log's."""
    found = preflight(earlier_log="nothing of use\n", rules=rules)
    assert found.need.vram_mib is None
    assert "none of the numbers" in found.notices[-1].text
    log = CORPUS / "strata" / "busy-then-healthy.log"
    assert preflight(5000, earlier_log=log, rules=rules).need.vram_mib == 5000
