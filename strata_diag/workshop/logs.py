"""A log as the lines that a person counts in an editor, for whoever works on a line and its neighbours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from strata_diag import source
from strata_diag.linetext import redraws
from strata_diag.ruleset import RuleSet
from strata_diag.text import Reader
from strata_diag.workshop.errors import WorkshopError

LARGEST_LOG = 64 * 1024 * 1024  # bytes of a log that an author works on: it is held whole
MOST_NAMED = 8  # logs of a container that a message names

_PLACE_IN_FILE = re.compile(r"!|, (?=log |row )")  # what the readers of attachments put behind a file's name


def file_bytes(path: Path) -> bytes:
    """A file of a corpus as it stands. Raises SourceError for one that can't be read, WorkshopError over LARGEST_LOG."""
    if path.is_file() and path.stat().st_size > LARGEST_LOG:
        raise _too_large(str(path))
    return b"".join(source.open_source(path).chunks)


def log_bytes(name: str, rules: RuleSet) -> bytes:
    """The log in a file, out of whatever it is packed in. name: a path, for one of several logs its name as `triage` tells it.

    Raises SourceError for what can't be read, WorkshopError where there is none, more than one, or one over LARGEST_LOG.
    """
    from strata_diag.intake import logs_in  # noqa: PLC0415 - archives and documents, which most parts don't ask for

    path = _file_of(name)
    named: list[str] = []
    found: bytes | None = None
    for attachment in logs_in(path, rules.extensions):
        if attachment.skipped:
            continue
        named.append(attachment.name)
        if attachment.name == name or (found is None and path == name):
            found = _bounded(name, _pieces(attachment.stream))
    if found is None or (len(named) > 1 and name not in named):
        shown = ", ".join(named[:MOST_NAMED]) + (", ..." if len(named) > MOST_NAMED else "")
        advice = f"name one of {shown}" if named else "name a text file that an engine wrote"
        raise WorkshopError(f"{name}: {'several logs are' if named else 'no log is'} in it; {advice}")
    return found


def _file_of(name: str) -> str:
    """The file that holds a log: `bundle.zip` of `bundle.zip!engine.log`, `issue.md` of `issue.md, log 2 at line 41`."""
    ends = [len(name), *(place.start() for place in reversed([*_PLACE_IN_FILE.finditer(name)]))]
    return next((name[:end] for end in ends if Path(name[:end]).exists()), name)


def _pieces(stream: BinaryIO) -> Iterator[bytes]:
    while piece := stream.read(source.CHUNK_BYTES):
        yield piece


def _bounded(name: str, chunks: Iterator[bytes]) -> bytes:
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > LARGEST_LOG:
            raise _too_large(name)
        parts.append(chunk)
    return b"".join(parts)


def _too_large(name: str) -> WorkshopError:
    return WorkshopError(f"{name}: is larger than {LARGEST_LOG >> 20} MiB; cut out the start that matters first")


def lines_of(data: bytes) -> list[str]:
    """The lines of a log as a person reads them, without colours; of a redrawn line the newest drawing."""
    found: list[str] = []
    for window in Reader(iter([data])):
        lines = window.block.clean.split(b"\n")
        found += [redraws(line)[0] for line in (lines[:-1] if lines[-1] == b"" else lines)]
    return found
