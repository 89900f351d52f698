"""What a line says before its message begins: which program or container wrote it, and of whom it speaks.

Comes in: the text of a line. Goes out: its parts. Compose puts the container in front, syslog and the journal the program and
its pid, `docker logs -t` the time; service managers begin with the unit or the container whose end they tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from strata_diag.lazy import later_regex
from strata_diag.streams.records import Subject

_COMPOSE = later_regex(r"^(?P<container>[\w.-]{1,100}) +\| ?(?P<message>.*)", ignore_case=True)
_TIME = r"(?P<dated>[A-Z][a-z]{2} {1,2}\d{1,2} [\d:.]{8,15}|\d{4}-\d\d-\d\dT[\d:.,]{8,18}(?:Z|[+-]\d\d:?\d\d))|\[ *\d+\.\d+\]"
_SYSLOG = later_regex(
    rf"^(?:{_TIME}) (?P<host>[\w.-]+) (?P<program>[^\s\[\]:]{{1,64}})(?:\[(?P<pid>\d+)\])?: ?(?P<message>.*)"
)
_TIMED = later_regex(r"^\d{4}-\d\d-\d\dT[\d:.]{8,18}(?:Z|[+-]\d\d:\d\d) (?P<message>.*)")
_EXITED = later_regex(r"^(?P<container>[\w.-]{1,100}) exited with code ")
_UNIT = later_regex(r"^(?P<container>[\w@.-]{1,100})\.(?:service|scope)\b")
_DOCKER_EVENT = later_regex(r"\bcontainer (?:die|oom|kill) [\da-f]{12,64}\b(?:.*?\bname=(?P<container>[\w.-]+))?")
_LISTED = later_regex(r"\bExited \(-?\d+\) .*?(?P<container>[\w.-]+)\s*$")  # `docker ps -a`
_POD_LISTED = later_regex(r"^(?P<container>[\w.-]{1,100}) +\d+/\d+ +\w+ +\d+")  # `kubectl get pods`
_POD = later_regex(r"\b[Cc]ontainer (?P<container>[\w.-]+) (?:in pod|failed \w+ probe)")
_BOXED = later_regex(r"/docker|docker-[\da-f]{4}|kubepods|libpod|cri-|containerd|/lxc|machine\.slice")
# who reports on others in syslog and the journal; all other programs speak of themselves
_REPORTERS = (
    "kernel", "systemd", "oomd", "earlyoom", "docker", "containerd", "podman", "conmon", "crio", "kubelet", "k3s", "nvidia",
    "slurm", "srun", "audit", "abrt", "rasdaemon",
)  # fmt: skip


class Written(NamedTuple):
    """A line without what a collector of logs puts in front. program, pid: who wrote it, empty where others are reported on."""

    message: str
    container: str = ""
    program: str = ""
    pid: str = ""
    reporter: str = ""


def written(text: str) -> Written:
    """The parts of a line."""
    if (found := _COMPOSE.match(text)) is not None:
        return Written(found["message"], container=found["container"])
    if (found := _SYSLOG.match(text)) is not None:
        if found["program"].lower().startswith(_REPORTERS):
            return Written(found["message"], reporter=found["program"])
        if found["dated"] or found["pid"]:  # else a driver of the kernel begins its line with its name and a number
            return Written(found["message"], program=found["program"], pid=found["pid"] or "")
    if (found := _TIMED.match(text)) is not None:
        return Written(found["message"])
    return Written(text)


def subject_of(text: str, before: tuple[str, ...], captures: Mapping[str, str]) -> Subject:
    """Whom a line speaks of: what its rule captured, else what stands in front of the message or begins it.

    before: the lines above, which say whether the kernel speaks of a process in a container.
    """
    parts = written(text)
    container, told_end = parts.container, False
    forms = (
        _EXITED,
        _DOCKER_EVENT,
        _LISTED,
        _POD_LISTED,
        _POD,
        *((_UNIT,) if parts.reporter or parts.message == text else ()),
    )
    for form in forms:
        if (found := form.search(parts.message)) is not None:
            container, told_end = found["container"] or container, form is not _POD
            break
    return Subject(
        pid=captures.get("pid", parts.pid),
        program=captures.get("victim", parts.program),
        container=captures.get("container") or captures.get("unit") or container,
        boxed=any(_BOXED.search(line) for line in (text, *before)),
        told_end=told_end,
    )
