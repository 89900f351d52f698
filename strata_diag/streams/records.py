"""The records of this package: a file as it was read, whom its lines speak of, and what ties them to a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from strata_diag.api import Trace
from strata_diag.model import Diagnosis, Finding
from strata_diag.streams.clock import Stamp

SYSTEMS = frozenset({
    "linux", "macos", "windows", "wsl", "nvidia", "amd", "rocm", "systemd", "slurm", "docker", "podman", "containerd",
    "kubernetes",
})  # fmt: skip
"""The names in a pack's `engines` that stand for the machine, and for what runs programs on it, rather than for a program."""


class Stream(NamedTuple):
    """A file that was read: its diagnosis by itself, and what is needed to tell whether it belongs to another.

    name: as messages name it; head: its first lines; containers: names of the containers, pods or units that it speaks of;
    images: of these containers.
    """

    name: str
    diagnosis: Diagnosis
    traces: tuple[Trace, ...]
    head: tuple[str, ...] = ()
    containers: frozenset[str] = frozenset()
    images: frozenset[str] = frozenset()


class Subject(NamedTuple):
    """Whom a line speaks of, as far as it says so.

    pid, program: of a process, the latter as the kernel writes it (15 letters); container: the name of a container, pod or
    unit; boxed: the process lives in a container, where pids are counted anew; told_end: whoever runs the program tells of
    its end.
    """

    pid: str = ""
    program: str = ""
    container: str = ""
    boxed: bool = False
    told_end: bool = False

    @property
    def named(self) -> bool:
        """Whether it says anything about whom it means."""
        return bool(self.pid or self.program or self.container)


class Event(NamedTuple):
    """A finding of another file, which may be about a run. claims: the information on its line."""

    finding: Finding
    subject: Subject
    stamp: Stamp | None
    claims: tuple[Finding, ...] = ()


class Start(NamedTuple):
    """A run of the engine's log, as other files may know it.

    pids, programs, containers: its own, as far as its lines tell them; stamps: the lines that tell a time, in order; end: the
    last of these times; fresh: whether it is that of the run's last lines; lines: known texts without what a collector of logs
    puts in front, by line; last: whether it is the log's last run.
    """

    trace: Trace
    engine: str
    pids: frozenset[str]
    programs: frozenset[str]
    containers: frozenset[str]
    stamps: tuple[tuple[int, Stamp], ...]
    end: Stamp | None
    fresh: bool
    lines: Mapping[int, str]
    last: bool


class Bond(NamedTuple):
    """What ties an event to a run. place: the line of the log that it comes after; strength: the more, the surer."""

    how: str
    place: int
    sure: bool
    strength: int
    distance: float = 0.0


class Joined(NamedTuple):
    """What an event becomes in a run: its finding, the information on its line, and the bond."""

    finding: Finding
    claims: tuple[Finding, ...]
    bond: Bond
