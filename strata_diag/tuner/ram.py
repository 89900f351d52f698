"""How much RAM a process started now may take: what the system has free, and what the process's group is allowed.

In a container the system's figure is that of the whole machine; the limit of the control group (cgroup v2 or v1) is what
ends an engine there. Cached files of the group count as free, since the kernel gives them up first.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

GIB = 1024**3
UNLIMITED = 1 << 60  # cgroup v1 writes a number of about this size where there is no limit
_MOUNT = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")
_V2 = ("memory.max", "memory.current", "inactive_file")
_V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


class Ram(NamedTuple):
    """RAM in GiB. total_gib: what could ever be available; source: whose figures these are, such as "the system"."""

    available_gib: float
    total_gib: float
    source: str


def available_ram(mount: Path = _MOUNT, own_groups: Path = _OWN_GROUPS) -> Ram:
    """What is available to this process and its children. Raises ImportError without psutil."""
    import psutil  # noqa: PLC0415 - of an extra

    system = psutil.virtual_memory()
    group = _tightest_group(mount, own_groups)
    if group is not None and group[0] < system.available:
        return Ram(group[0] / GIB, min(group[1], system.total) / GIB, "the memory limit of this container or service")
    return Ram(system.available / GIB, system.total / GIB, "the system")


def _tightest_group(mount: Path, own_groups: Path) -> tuple[int, int] | None:
    """(bytes left, limit) of this process's control group with the least left; None where there is no limit."""
    found = []
    for folder, (limit_file, current_file, cached_key) in _group_folders(mount, own_groups):
        limit, current = _number(folder / limit_file), _number(folder / current_file)
        if limit is None or current is None or limit >= UNLIMITED:
            continue
        found.append((max(limit - current + _cached(folder / "memory.stat", cached_key), 0), limit))
    return min(found, default=None)


def _group_folders(mount: Path, own_groups: Path) -> list[tuple[Path, tuple[str, str, str]]]:
    """Each group that this process is in, up to the root, with the names of its files; a parent's limit holds as well."""
    try:
        lines = own_groups.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    folders: list[tuple[Path, tuple[str, str, str]]] = []
    for line in lines:
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        names = _V2 if number == "0" and not controllers else _V1
        if names is _V1 and "memory" not in controllers.split(","):
            continue
        root = mount if names is _V2 else mount / "memory"
        inside = Path(path.lstrip("/"))
        folders += [(root / part, names) for part in (inside, *inside.parents)]
    return folders


def _number(file: Path) -> int | None:
    """The number that a file holds; None where it says `max`, is missing or may not be read."""
    try:
        return int(file.read_text("ascii"))
    except (OSError, ValueError):
        return None


def _cached(file: Path, key: str) -> int:
    """Bytes of cached files that nobody has used lately."""
    try:
        pairs = dict(line.split(" ", 1) for line in file.read_text("ascii").splitlines())
        return int(pairs.get(key, "0"))
    except (OSError, ValueError):
        return 0
