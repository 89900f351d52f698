"""Mending pack files where only one change is possible: a key with one near neighbour, a plain value that needs quotes.

A change replaces a few characters where they stand, so comments, order and line ends stay as they are. A file is written to a
temporary one beside it and moved into place.
"""

from __future__ import annotations

import codecs
import difflib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from strata_diag.workshop.errors import WorkshopError
from strata_diag.workshop.lint.violations import Violation


class Mended(NamedTuple):
    """A file before and after; texts without a byte order mark, with their own line ends."""

    path: Path
    before: str
    after: str
    changes: int

    def difference(self) -> str:
        """The change as a unified diff."""
        before, after = (text.replace("\r\n", "\n").splitlines(keepends=True) for text in (self.before, self.after))
        return "".join(difflib.unified_diff(before, after, str(self.path), str(self.path)))


def mend(violations: Iterable[Violation]) -> list[Mended]:
    """The files as they would be with every change that is safe; nothing is written. Raises WorkshopError."""
    by_file: dict[str, list[Violation]] = {}
    for violation in violations:
        if violation.fix is not None:
            by_file.setdefault(violation.file, []).append(violation)
    return [_mended(Path(file), found) for file, found in by_file.items()]


def _mended(path: Path, found: list[Violation]) -> Mended:
    before = _read(path)[1]
    after = before
    end = len(before)
    changes = 0
    fixes = sorted({violation.fix for violation in found if violation.fix is not None}, reverse=True)
    for fix in fixes:
        if fix.end <= end:  # of two changes of the same place the later one stands
            after = after[: fix.start] + fix.text + after[fix.end :]
            end = fix.start
            changes += 1
    return Mended(path, before, after, changes)


def _read(path: Path) -> tuple[bytes, str]:
    """(byte order mark, text) of a file."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise WorkshopError(f"{path}: can't be read ({error.strerror or error}); check its rights") from None
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    return mark, data[len(mark) :].decode("utf-8")


def write(mended: Iterable[Mended]) -> None:
    """Write the files, each whole or not at all. Raises WorkshopError where one has changed meanwhile or can't be written."""
    for one in mended:
        mark, now = _read(one.path)
        if now != one.before:
            raise WorkshopError(f"{one.path}: has changed meanwhile; lint it again")
        try:
            _replace(one.path, mark + one.after.encode("utf-8"))
        except OSError as error:
            advice = "check the rights and the space on the drive"
            raise WorkshopError(f"{one.path}: can't be written ({error.strerror or error}); {advice}") from None


def _replace(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        temporary.chmod(path.stat().st_mode & 0o777)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
