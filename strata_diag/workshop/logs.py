"""A log as the lines that a person counts in an editor, for whoever works on a line and its neighbours."""

from __future__ import annotations

from pathlib import Path

from strata_diag import source
from strata_diag.ruleset import RuleSet
from strata_diag.text import Reader, redraws
from strata_diag.workshop.errors import WorkshopError

LARGEST_LOG = 64 * 1024 * 1024  # bytes of a log that an author works on: it is held whole


def log_bytes(path: Path, rules: RuleSet) -> bytes:
    """The whole of a log, out of a container that a plugin can read too.

    Raises SourceError for one that can't be read, WorkshopError for one over LARGEST_LOG.
    """
    stream, _ = rules.extensions.sources(str(path))
    opened = source.open_source(path if stream is None else stream)
    parts: list[bytes] = []
    size = 0
    for chunk in opened.chunks:
        size += len(chunk)
        if size > LARGEST_LOG:
            raise WorkshopError(f"{path}: is larger than {LARGEST_LOG >> 20} MiB; cut out the start that matters first")
        parts.append(chunk)
    return b"".join(parts)


def refuse_container(path: Path, data: bytes) -> None:
    """Raise WorkshopError where a file that should be a log is an archive, a picture or a program."""
    kind = source.container_kind(data)
    if kind:
        raise WorkshopError(f"{path}: is a {kind}, not a log; unpack it and name the log inside")


def lines_of(data: bytes) -> list[str]:
    """The lines of a log as a person reads them, without colours; of a redrawn line the newest drawing."""
    found: list[str] = []
    for window in Reader(iter([data])):
        lines = window.block.clean.split(b"\n")
        found += [redraws(line)[0] for line in (lines[:-1] if lines[-1] == b"" else lines)]
    return found
