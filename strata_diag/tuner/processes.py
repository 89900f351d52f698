"""Which programs of Strata run on this machine, and whether another tuning job has left its mark.

Comes in: the process list (through `psutil`) and the path of the app's `tuning.lease`. Goes out: `Program` records without the
caller and those that started it. The caller's own children are listed: a served engine is one of them in the desktop app, and
so is an engine of the run before that is still exiting.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

LONGEST_COMMAND = 300  # characters of a command line that are kept
LARGEST_LEASE = 4096  # bytes of a lease that are read
LARGEST_PID = 2**31 - 1
_ENGINES, _ENCODERS = {"strata"}, {"strata-vision"}
_SERVERS = {"server.py", "server_intel.py"}
_SETUPS = {"setup.py", "setup.sh", "start-here.bat"}
_TUNERS = {"calibrate.py", "autotune.py"}
_PID_KEYS = ("pid", "owner_pid", "process_id")


class Program(NamedTuple):
    """A running program of Strata. kind: engine | encoder | server | tuner; age_s: seconds since it started."""

    pid: int
    kind: str
    name: str
    command: str
    age_s: float


class Lease(NamedTuple):
    """A `tuning.lease` that is there. pid: of its owner, None where the file doesn't say; age_s: since it was last written.

    stale: nobody can hold it any more; why: the clause that says so, or why it counts.
    """

    path: str
    pid: int | None
    age_s: float
    stale: bool
    why: str


def _base(word: str) -> str:
    """The last part of a path of either system, in lower case and without `.exe`."""
    return word.strip("\"'").replace("\\", "/").rsplit("/", 1)[-1].lower().removesuffix(".exe")


def kind_of(name: str, words: Sequence[str]) -> str:
    """What a process is, by its name and its command line: engine | encoder | server | tuner, or empty for anything else.

    Names decide, never words inside arguments: an editor that shows `server.py` and a `tail` of an engine's log are neither.
    """
    program = _base(words[0]) if words else ""
    own = {_base(name), program}
    if own & _ENGINES:
        return "engine"
    if own & _ENCODERS:
        return "encoder"
    interpreted = program.startswith(("python", "pypy")) or program in ("py", "bash", "sh", "cmd", "dash", "zsh")
    scripts = [word for word in (words[1:4] if interpreted else words[:1]) if not word.startswith("-")]
    names = {_base(script) for script in scripts}
    if "--calibrate" in words and names & _SETUPS:
        return "tuner"
    if names & _TUNERS or "strata_control.autotune" in words[1:4]:
        return "tuner"
    return "server" if _is_server(scripts, words) else ""


def _is_server(scripts: Sequence[str], words: Sequence[str]) -> bool:
    """Many projects have a server.py; Strata's lies in a folder `serve`, or is told to use this engine."""
    for script in scripts:
        if _base(script) not in _SERVERS:
            continue
        folder = script.replace("\\", "/").split("/")[-2:-1]
        return folder == ["serve"] or "--engine=strata" in words or "--engine strata" in " ".join(words)
    return False


def own_line() -> set[int]:
    """The process ids of this process and of those that started it, one another."""
    import psutil  # noqa: PLC0415 - of an extra

    try:
        return {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    except psutil.Error:
        return {os.getpid()}


def running_programs() -> list[Program]:
    """Strata's running programs, oldest first, without this process and its ancestors. Raises ImportError without psutil."""
    import psutil  # noqa: PLC0415 - of an extra, and 20 ms

    mine = own_line()
    now = time.time()
    found = []
    for process in psutil.process_iter(["name", "cmdline", "create_time", "status"]):
        about: dict[str, Any] = process.info  # a value is None where this user may not see it
        if process.pid in mine or about["status"] == psutil.STATUS_ZOMBIE:
            continue
        words = about["cmdline"] or []
        kind = kind_of(about["name"] or "", words)
        if kind:
            command = " ".join(words)[:LONGEST_COMMAND]
            age = max(now - (about["create_time"] or now), 0.0)
            found.append(Program(process.pid, kind, about["name"] or "", command, round(age, 1)))
    return sorted(found, key=lambda program: -program.age_s)


def default_lease() -> Path | None:
    """Where the Windows app keeps its lease; None elsewhere, where no such place is known."""
    folder = os.environ.get("LOCALAPPDATA")
    return Path(folder, "Strata", "tuning", "tuning.lease") if folder else None


def read_lease(path: Path) -> Lease | None:
    """The lease at this path, None where there is none. It is stale once its owner, or the PC's start it was made in, is gone.

    Raises OSError where the file is there and can't be looked at.
    """
    try:
        written = path.stat().st_mtime
        with path.open("rb") as file:
            content = file.read(LARGEST_LEASE)
    except FileNotFoundError:
        return None
    pid = _owner(content)
    stale, why = _staleness(pid, written)
    return Lease(str(path), pid, round(max(time.time() - written, 0.0), 1), stale, why)


def _owner(content: bytes) -> int | None:
    """The process id in a lease: its whole text, or a field of a JSON object."""
    try:
        found: Any = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if isinstance(found, dict):
        found = next((found[key] for key in _PID_KEYS if key in found), None)
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 < found <= LARGEST_PID else None


def _staleness(pid: int | None, written: float) -> tuple[bool, str]:
    """Whether nobody can hold a lease any more, and why."""
    try:
        import psutil  # noqa: PLC0415 - of an extra
    except ImportError:
        return False, "whether its owner still runs can't be asked without psutil"
    if written < psutil.boot_time():
        return True, "it is older than the last start of this PC"
    if pid is None:
        return False, "it does not say who holds it"
    try:
        another = psutil.Process(pid).create_time() > written + 1  # file times may be a second coarse
    except psutil.NoSuchProcess:
        return True, f"its owner, process {pid}, is gone"
    except psutil.AccessDenied:
        another = False
    reused = f"its owner is gone, and process {pid} is another one since"
    return another, reused if another else f"its owner, process {pid}, runs"
