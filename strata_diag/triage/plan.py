"""What is to be read, in which order, and what is read together.

Comes in: paths as a person names them. Goes out: units, each a few files of one folder whose logs may tell of the same failure,
or a single file; and batches of units, which a process reads at one go.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from strata_diag.intake import files_in

STANDARD_INPUT = "-"
MOST_FILES = 100_000  # files of one triage
MOST_JOINED = 16  # logs of one place that are compared with each other; the work grows with the square
BATCH_FILES = 100
BATCH_BYTES = 16 * 1024 * 1024
FIRST_FILES = 8  # of the batch that is read while processes start, so that the first answer is there at once
FIRST_BYTES = 1024 * 1024


class Unit(NamedTuple):
    """Files that are read together. size_bytes: their sum; error: why the only file can't be read, empty where it can."""

    paths: tuple[str, ...]
    size_bytes: int = 0
    error: str = ""


class Plan(NamedTuple):
    """All that is to be read.

    crowded: folders with more files than are compared with each other; full: MOST_FILES was crossed.
    """

    units: tuple[Unit, ...]
    crowded: tuple[str, ...] = ()
    full: bool = False

    @property
    def files(self) -> int:
        """How many files there are."""
        return sum(len(unit.paths) for unit in self.units)

    @property
    def size_bytes(self) -> int:
        """How large they are together, as they lie there."""
        return sum(unit.size_bytes for unit in self.units)


class _File(NamedTuple):
    path: str
    size_bytes: int
    error: str


def plan_of(paths: Iterable[str | os.PathLike[str]], *, joined: bool = True) -> Plan:
    """The units behind paths, in the order given; standard input (`-`) comes first. joined: files of one folder go together."""
    names = [os.fspath(path) for path in paths]
    files = list(_files([name for name in names if name != STANDARD_INPUT]))
    units = [Unit((STANDARD_INPUT,))] if STANDARD_INPUT in names else []
    crowded: list[str] = []
    for folder, members in groupby(files[:MOST_FILES], _folder_of):
        together = list(members)
        if joined and 1 < sum(not one.error for one in together) <= MOST_JOINED:
            readable = [one for one in together if not one.error]
            units.append(Unit(tuple(one.path for one in readable), sum(one.size_bytes for one in readable)))
            units += [_alone(one) for one in together if one.error]
            continue
        if joined and len(together) > MOST_JOINED:
            crowded.append(folder or os.curdir)
        units += [_alone(one) for one in together]
    return Plan(tuple(units), tuple(crowded), len(files) > MOST_FILES)


def _files(paths: list[str]) -> Iterator[_File]:
    for number, found in enumerate(files_in(paths)):
        if number > MOST_FILES:
            return
        path = os.fspath(found.path)
        yield _File(path, _size(path), "" if found.error is None else f"{found.error.reason}; {found.error.advice}")


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116 - for each of many files
    except (OSError, ValueError):
        return 0


def _folder_of(file: _File) -> str:
    return os.path.dirname(file.path)  # noqa: PTH120 - for each of many files


def _alone(file: _File) -> Unit:
    return Unit((file.path,), file.size_bytes, file.error)


def batches_of(units: Iterable[Unit]) -> Iterator[tuple[Unit, ...]]:
    """The units in batches of about BATCH_FILES files or BATCH_BYTES; the first is small."""
    batch: list[Unit] = []
    files = size = 0
    most_files, most_bytes = FIRST_FILES, FIRST_BYTES
    for unit in units:
        batch.append(unit)
        files += len(unit.paths)
        size += unit.size_bytes
        if files >= most_files or size >= most_bytes:
            yield tuple(batch)
            batch, files, size = [], 0, 0
            most_files, most_bytes = BATCH_FILES, BATCH_BYTES
    if batch:
        yield tuple(batch)
