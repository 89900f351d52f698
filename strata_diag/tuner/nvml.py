"""What NVIDIA's driver says about the cards: memory, who holds it, compute mode, MIG, driver version.

Comes in: a time limit. Goes out: a `Reading`, complete or with the reason why it is not; never an exception. Everything is
asked through the package `nvidia-ml-py` (its module is `pynvml`), call by call, so that one value which a card does not
report costs nothing else. The calls run in a thread of their own with a limit (`bounded`), since a hung driver blocks
every one of them for ever; what had been read until then is kept. Cards are numbered as nvidia-smi numbers them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from strata_diag.tuner.bounded import NoAnswerError, within

MIB = 1024 * 1024
INSTALL = "pip install 'strata-diag[gpu]'"
COMPUTE_MODES = {0: "default", 1: "exclusive-thread", 2: "prohibited", 3: "exclusive-process"}  # nvmlComputeMode_t
LIBRARY = "nvml.dll" if sys.platform == "win32" else "libnvidia-ml.so.1"

# NVML's return codes that say more than "this value is not to be had"
NO_PERMISSION, DRIVER_NOT_LOADED, LIBRARY_NOT_FOUND, GPU_IS_LOST, RESET_REQUIRED, MISMATCH = 4, 9, 12, 15, 16, 18


class CardProcess(NamedTuple):
    """A process that holds memory of a card.

    kind: compute | graphics | both, as which a Windows driver lists every program with a window; used_mib: None where the driver
    does not say (Windows).
    """

    pid: int
    name: str
    kind: str
    used_mib: int | None


class Card(NamedTuple):
    """One card. Memory in MiB, and of the MIG instance that a program would get where the card is partitioned.

    number: nvidia-smi's; compute_mode: a value of COMPUTE_MODES, or empty; capability: such as "8.9", or empty;
    instances: MIG instances, None where the card is not partitioned; processes: None where the driver does not list them;
    lost: the card no longer answers or needs a reset; problems: what could not be read, and why.
    """

    number: int
    name: str = ""
    total_mib: int | None = None
    free_mib: int | None = None
    compute_mode: str = ""
    capability: str = ""
    instances: int | None = None
    processes: tuple[CardProcess, ...] | None = None
    lost: bool = False
    problems: tuple[str, ...] = ()


class Reading(NamedTuple):
    """Everything that the driver said.

    state: read | no-package | no-library | not-loaded | mismatch | no-permission | no-answer | error. problem: a clause that
    says why, empty where all could be read. driver: its version, such as "581.15". seen: how many cards the driver sees.
    """

    state: str
    problem: str = ""
    driver: str = ""
    seen: int | None = None
    cards: tuple[Card, ...] = ()

    def card(self, number: int) -> Card | None:
        """The card with this number, as far as it could be read."""
        return next((card for card in self.cards if card.number == number), None)


def read_cards(timeout_s: float) -> Reading:
    """Ask the driver about every card, for at most `timeout_s` seconds."""
    try:
        import pynvml  # noqa: PLC0415 - of an extra, and 30 ms
    except ImportError:
        return Reading("no-package", f"the package nvidia-ml-py is not installed ({INSTALL})")
    session = _Session(pynvml)
    try:
        within(timeout_s, "the NVIDIA driver", session.run)
    except NoAnswerError as error:
        return session.reading("no-answer", f"{error}, so a card may be hung")
    except pynvml.NVMLError as error:
        return session.reading(*_why(error))
    except Exception as error:  # noqa: BLE001 - a driver library that lacks a symbol, or returns bytes that are no text
        return session.reading("error", f"asking the driver failed ({type(error).__name__}: {error})")
    return session.reading("read", "")


def _why(error: Any) -> tuple[str, str]:
    """(state, clause) of an error that ended the whole reading."""
    states = {
        LIBRARY_NOT_FOUND: (
            "no-library",
            f"NVIDIA's driver library {LIBRARY} is not there (no NVIDIA driver, or not this user's)",
        ),
        DRIVER_NOT_LOADED: ("not-loaded", "NVIDIA's driver is installed but not loaded"),
        MISMATCH: (
            "mismatch",
            "the driver in the kernel and its library are of two versions, as after an update without a restart",
        ),
        NO_PERMISSION: ("no-permission", "this user may not ask the driver"),
    }
    return states.get(error.value, ("error", f"the driver answered: {error}"))


class _Session:
    """One round of questions. Its fields grow while it runs, so that a round which gets stuck still has what it read."""

    def __init__(self, pynvml: Any) -> None:
        self._nvml = pynvml
        self._driver = ""
        self._seen: int | None = None
        self._cards: list[Card] = []

    def reading(self, state: str, problem: str) -> Reading:
        return Reading(state, problem, self._driver, self._seen, tuple(self._cards))

    def run(self) -> None:
        self._nvml.nvmlInit()
        try:
            self._driver = self._nvml.nvmlSystemGetDriverVersion()
            self._seen = self._nvml.nvmlDeviceGetCount()
            for number in range(self._seen):
                self._cards.append(_CardReader(self._nvml, number).read())
        finally:
            self._nvml.nvmlShutdown()


class _CardReader:
    """Reads one card, and keeps what could not be read as text."""

    def __init__(self, pynvml: Any, number: int) -> None:
        self._nvml = pynvml
        self._number = number
        self._problems: list[str] = []
        self._lost = False

    def read(self) -> Card:
        handle = self._ask("card", self._nvml.nvmlDeviceGetHandleByIndex, self._number)
        if handle is None:
            return Card(self._number, lost=self._lost, problems=tuple(self._problems))
        name = self._ask("name", self._nvml.nvmlDeviceGetName, handle) or ""
        mode = self._ask("compute mode", self._nvml.nvmlDeviceGetComputeMode, handle)
        capability = self._ask("compute capability", self._nvml.nvmlDeviceGetCudaComputeCapability, handle)
        instances = self._instances(handle)
        part = self._chosen(instances) if instances else handle
        memory = self._ask("memory", self._nvml.nvmlDeviceGetMemoryInfo, part) if instances != [] else None
        return Card(
            self._number,
            name,
            memory.total // MIB if memory else None,
            memory.free // MIB if memory else None,
            COMPUTE_MODES.get(mode, "") if mode is not None else "",
            ".".join(map(str, capability)) if capability else "",
            None if instances is None else len(instances),
            self._processes(part),
            self._lost,
            tuple(self._problems),
        )

    def _ask(self, what: str, call: Callable[..., Any], *arguments: Any, quiet: bool = False) -> Any:
        """What a call returns, or None. quiet: a card that does not know the question is no problem."""
        try:
            return call(*arguments)
        except self._nvml.NVMLError as error:
            self._lost = self._lost or error.value in (GPU_IS_LOST, RESET_REQUIRED)
            if not quiet:
                self._problems.append(f"{what}: {error}")
        except ValueError as error:  # a name that is no UTF-8
            self._problems.append(f"{what}: {error}")
        return None

    def _instances(self, handle: Any) -> list[Any] | None:
        """The MIG instances of a card, None where it is whole. Most cards answer that they don't know MIG."""
        modes = self._ask("MIG mode", self._nvml.nvmlDeviceGetMigMode, handle, quiet=True)
        if not modes or not modes[0]:
            return None
        most = self._ask("MIG instances", self._nvml.nvmlDeviceGetMaxMigDeviceCount, handle) or 0
        found = [
            self._ask("", self._nvml.nvmlDeviceGetMigDeviceHandleByIndex, handle, place, quiet=True)
            for place in range(most)
        ]
        return [instance for instance in found if instance is not None]

    def _chosen(self, instances: list[Any]) -> Any:
        """The instance that CUDA_VISIBLE_DEVICES names, else the first: a program sees one alone."""
        wanted = os.environ.get("CUDA_VISIBLE_DEVICES", "")
        if "MIG-" in wanted:
            for instance in instances:
                if (self._ask("MIG id", self._nvml.nvmlDeviceGetUUID, instance) or "-") in wanted:
                    return instance
        return instances[0]

    def _processes(self, handle: Any) -> tuple[CardProcess, ...] | None:
        compute = self._ask("processes", self._nvml.nvmlDeviceGetComputeRunningProcesses, handle)
        graphics = self._ask("graphics processes", self._nvml.nvmlDeviceGetGraphicsRunningProcesses, handle, quiet=True)
        if compute is None:
            return None
        drawing = {process.pid for process in graphics or ()}
        listed = {process.pid: ("graphics", process) for process in graphics or ()}
        listed |= {process.pid: ("both" if process.pid in drawing else "compute", process) for process in compute}
        return tuple(
            CardProcess(
                pid, self._name(pid), kind, None if process.usedGpuMemory is None else process.usedGpuMemory // MIB
            )
            for pid, (kind, process) in sorted(listed.items())
        )

    def _name(self, pid: int) -> str:
        path = self._ask("", self._nvml.nvmlSystemGetProcessName, pid, quiet=True) or ""
        return str(path).replace("\\", "/").rsplit("/", 1)[-1]
