"""From what a person names to files: folders, patterns and paths.

Comes in: paths as they stand on a command line. Goes out: each file once, in order; whatever can't be read comes with its
error instead of raising one, so that the rest goes on.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from strata_diag.errors import SourceError
from strata_diag.intake.records import Found

_WILDCARDS = "*?["


def files_in(paths: Iterable[str | os.PathLike[str]]) -> Iterator[Found]:
    """The files behind paths: a folder stands for all files below it, a pattern for what it fits.

    A folder's files come in the order of their names; a file that is named twice, or by a link too, comes once; a folder that
    links lead back to is entered once. Never raises: a path that leads nowhere is a `Found` with an error.
    """
    seen: set[str] = set()
    for given in paths:
        name = os.fspath(given)
        for found in _below(name):
            if found.error is None:
                place = os.path.realpath(found.path)
                if place in seen:
                    continue
                seen.add(place)
            yield found


def _below(name: str) -> Iterator[Found]:
    try:
        mode = Path(name).stat().st_mode
    except (OSError, ValueError) as error:
        matches = _matching(name)
        if not matches:
            yield Found(Path(name), _why(name, error))
        for match in matches:
            yield from _below(match)
        return
    if stat.S_ISDIR(mode):
        yield from _in_folder(name)
    else:
        yield Found(Path(name))  # a pipe that was named by hand is read as well


def _matching(name: str) -> list[str]:
    """What a pattern fits: a shell on Windows hands it on as it stands."""
    if not any(sign in name for sign in _WILDCARDS):
        return []
    import glob  # noqa: PLC0415 - rarely needed

    try:
        return sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - pathlib's can't take an absolute pattern
    except (ValueError, OSError, RecursionError):
        return []


def _in_folder(top: str) -> Iterator[Found]:
    entered: set[tuple[int, int]] = set()
    waiting = [top]
    while waiting:
        name = waiting.pop()
        try:
            known = Path(name).stat()
            entries = [] if (known.st_dev, known.st_ino) in entered else sorted(os.listdir(name))
        except OSError as error:
            yield Found(Path(name), _why(name, error))
            continue
        entered.add((known.st_dev, known.st_ino))
        folders = []
        for path in (os.path.join(name, entry) for entry in entries):
            try:
                mode = Path(path).stat().st_mode
            except OSError as error:
                yield Found(Path(path), _why(path, error))
                continue
            if stat.S_ISDIR(mode):
                folders.append(path)
            elif stat.S_ISREG(mode):
                yield Found(Path(path))
            else:
                yield Found(
                    Path(path), SourceError(path, "is no regular file", "name it by itself if it should be read")
                )
        waiting += reversed(folders)


def _why(name: str, error: OSError | ValueError) -> SourceError:
    if any(sign in name for sign in _WILDCARDS) and isinstance(error, FileNotFoundError):
        return SourceError(name, "nothing fits this pattern", "check the path and the pattern")
    reason = (getattr(error, "strerror", None) or str(error)).lower()
    return SourceError(name, reason, "check the path, and whether you may read it")
