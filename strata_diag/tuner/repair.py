"""Mending a history in which wrong words were stored: what would change, the change itself, and its undoing.

A row is changed only where its evidence says something else than its status, or where its reason mixes several lines; every
other byte of the file stays. The words that stood there before are kept in the row (`status_before`, `reason_before`), the
whole file in a dated backup beside it. The new file replaces the old one in one step, so whoever ends the process at any
moment leaves the old or the new content, never a part.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from strata_diag.model import TUNER_STATUSES, Status
from strata_diag.ruleset import RuleSet
from strata_diag.tuner import files, jsonlines
from strata_diag.tuner.history import dumped, refuse_utf16
from strata_diag.tuner.records import HistoryError, Row
from strata_diag.tuner.reread import RowReader

JOINT = " | "  # between the lines that a tuner's reason joins
MARK = "repaired"  # the field that says when a row was changed
MENDED = ("status", "reason", "cause")
MOST_ROUNDS = 5  # how often a file is read again because somebody wrote to it meanwhile

_STYLES: tuple[tuple[bool, tuple[str, str] | None], ...] = (
    (False, None), (True, None), (False, (",", ":")), (True, (",", ":")),
)  # fmt: skip


Edit = Callable[[Mapping[str, Any], int], dict[str, Any] | None]


class Change(NamedTuple):
    """What changes in one row. line: 1-based; status_before, status: the tuner's words; empty `cause` when undone."""

    line: int
    label: str
    sig: str
    status_before: str
    status: str
    cause: str
    reason_before: str
    reason: str
    why: str

    @property
    def of_status(self) -> bool:
        """Whether the status changes, not only the reason."""
        return self.status != self.status_before


class Repaired(NamedTuple):
    """What was done. changes: how many rows; backup: path of the copy of the old file, empty where none was made."""

    changes: int
    backup: str


class Selection(NamedTuple):
    """Which rows are meant: those of this hw, model and engine, each None for any."""

    hw: str | None = None
    model: str | None = None
    engine: str | None = None

    def holds(self, row: Row) -> bool:
        """Whether a row is meant."""
        return all(
            wanted is None or wanted == had for wanted, had in zip(self, (row.hw, row.model, row.engine), strict=True)
        )


EVERYTHING = Selection()


class _Mender:
    """Finds what is wrong in a row, and writes it anew."""

    def __init__(self, rules: RuleSet | None, selection: Selection) -> None:
        self._reader = RowReader(rules)
        self._selection = selection

    def change(self, fields: Mapping[str, Any], line: int) -> Change | None:
        """What is wrong in this row, or None."""
        row = self._reader.read(fields, line)
        return correction(row, self._reader) if self._selection.holds(row) else None

    def mended(self, fields: Mapping[str, Any], change: Change, when: str) -> dict[str, Any]:
        """The fields with the change made, what they were before, and when; everything else as it was."""
        new = dict(fields)
        wanted = {"status": change.status, "reason": change.reason, "cause": change.cause}
        for name, value in wanted.items():
            if new.get(name) == value:
                continue
            new.setdefault(f"{name}_before", new.get(name))  # null: the field was not there
            new[name] = value
        new[MARK] = when
        return new


def correction(row: Row, reader: RowReader) -> Change | None:
    """What is stored wrongly in a row, or None; a row that can't be read, or says nothing at all, is left alone."""
    if row.status is None or (row.status is Status.UNKNOWN and not row.stored):
        return None
    stored, right = row.stored, TUNER_STATUSES[row.status]
    status = stored if stored in (right, str(row.status)) else right
    reason = _one_reason(row, reader)
    if (status, reason) == (stored, row.reason):
        return None
    if status != stored:
        why = row.problem or f"its reason says {row.status} / {row.cause}"
    else:
        why = "its reason mixes several lines; one of them decides"
    return Change(row.line, row.label, row.sig, stored, status, row.cause, row.reason, reason, why)


def _one_reason(row: Row, reader: RowReader) -> str:
    """The deciding part of a mixed reason, if it still says the same by itself; else the reason as it is."""
    if JOINT not in row.reason or not row.evidence or row.status in (Status.PASS, Status.UNKNOWN):
        return row.reason
    alone = reader.of_reason(row.evidence)
    return row.evidence if (alone.status, alone.cause) == (row.status, row.cause) else row.reason


def plan_repair(
    path: os.PathLike[str] | str, *, rules: RuleSet | None = None, selection: Selection = EVERYTHING
) -> Iterator[Change]:
    """What `repair_history` would change, row by row, without changing anything.

    Raises HistoryError for a file that can't be read, RuleSetError for broken rules.
    """
    mender = _Mender(rules, selection)
    yield from _changes(os.fspath(path), mender.change)


def plan_undo(path: os.PathLike[str] | str) -> Iterator[Change]:
    """What `undo_repair` would change. Raises HistoryError for a file that can't be read."""
    yield from _changes(os.fspath(path), _undoing)


def repair_history(
    path: os.PathLike[str] | str,
    *,
    rules: RuleSet | None = None,
    selection: Selection = EVERYTHING,
    now: datetime | None = None,
) -> Repaired:
    """Rewrite the rows that are stored wrongly. now: the time for the backup's name and the rows' mark (local, if None).

    Raises HistoryError if the file can't be read, locked or written, or if others keep writing to it; it is unchanged then.
    RuleSetError for broken rules.
    """
    when = (now or datetime.now()).replace(microsecond=0)  # noqa: DTZ005 - as the tuner writes its times
    mender = _Mender(rules, selection)

    def edit(fields: Mapping[str, Any], line: int) -> dict[str, Any] | None:
        change = mender.change(fields, line)
        return None if change is None else mender.mended(fields, change, when.isoformat())

    return _rewrite(os.fspath(path), edit, f"bak-{when:%Y%m%d-%H%M%S}")


def undo_repair(path: os.PathLike[str] | str) -> Repaired:
    """Put back the words that every repair of this file has changed; rows that were added since stay.

    Raises HistoryError as `repair_history` does.
    """

    def edit(fields: Mapping[str, Any], line: int) -> dict[str, Any] | None:
        return _restored(fields) if _undoing(fields, line) else None

    return _rewrite(os.fspath(path), edit, "")


def _undoing(fields: Mapping[str, Any], line: int) -> Change | None:
    if MARK not in fields:
        return None
    old = _restored(fields)
    words = [str(one.get(name, "")) for one in (fields, old) for name in ("status", "reason")]
    row = [str(fields.get(name, "")) for name in ("label", "sig")]
    return Change(line, row[0], row[1], words[0], words[2], "", words[1], words[3], f"repaired {fields[MARK]}")


def _restored(fields: Mapping[str, Any]) -> dict[str, Any]:
    before = {name: fields[f"{name}_before"] for name in MENDED if f"{name}_before" in fields}
    dropped = {MARK, *(f"{name}_before" for name in MENDED), *(name for name, value in before.items() if value is None)}
    return {name: before.get(name, value) for name, value in fields.items() if name not in dropped}


def _changes(path: str, change: Callable[[Mapping[str, Any], int], Change | None]) -> Iterator[Change]:
    with files.explained(path, "read it"):
        file = open(path, "rb")  # noqa: SIM115 - the next line closes it
    with file:
        for line in jsonlines.lines(file):
            if line.part or not line.whole:
                continue
            for piece in jsonlines.content(line.data).pieces:
                found = change(piece.fields, line.number)
                if found is not None:
                    yield found


def _rewrite(path: str, edit: Edit, suffix: str) -> Repaired:
    """Replace the file by one with its rows edited; with a backup, if `suffix` names one and a row changes."""
    path = os.path.realpath(path)
    with files.explained(path, "rewrite it"):
        os.stat(path)
        with files.locked(path):
            refuse_utf16(path)
            for old in files.leftovers(path):
                os.remove(old)
            for number in range(MOST_ROUNDS):
                done = _round(path, edit, suffix, number)
                if done is not None:
                    return done
    raise HistoryError(f"{path}: others keep writing to it; close the tuner and try again; nothing was changed")


def _round(path: str, edit: Edit, suffix: str, number: int) -> Repaired | None:
    """One attempt; None where somebody who does not know the lock wrote to the file meanwhile."""
    temporary = [_temporary(path, f"{kind}{number}") for kind in ("new", "backup")]
    before = os.stat(path)
    editor = _Editor(edit)
    try:
        files.write_new(temporary[0], editor.blocks(path), before.st_mode)
        if not editor.changes:
            return Repaired(0, "")
        backup = ""
        if suffix:
            files.write_new(temporary[1], files.copied(path), before.st_mode)
            backup = _free_name(f"{path}.{suffix}")
        if not _same(before, os.stat(path)):
            return None
        if backup:
            files.replace(temporary[1], backup)
        files.replace(temporary[0], path)
        return Repaired(editor.changes, backup)
    finally:
        for name in temporary:
            with contextlib.suppress(FileNotFoundError):
                os.remove(name)


class _Editor:
    """Copies a history line by line, with rows edited; counts the changes."""

    def __init__(self, edit: Edit) -> None:
        self._edit = edit
        self.changes = 0

    def blocks(self, path: str) -> Iterator[bytes]:
        with open(path, "rb") as file:
            for line in jsonlines.lines(file):
                yield line.data if line.part or not line.whole else self._edited(line)

    def _edited(self, line: jsonlines.Line) -> bytes:
        found = jsonlines.content(line.data)
        text, before = found.text, self.changes
        for piece in reversed(found.pieces):
            new = self._edit(piece.fields, line.number)
            if new is None:
                continue
            self.changes += 1
            old = text[piece.start : piece.end]
            text = text[: piece.start] + _as_written(old, piece.fields, new) + text[piece.end :]
        return text.encode("utf-8", "surrogateescape") if self.changes > before else line.data


def _as_written(old: str, fields: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """The new fields in the manner in which the old ones were written, so that an undone repair leaves no trace."""
    for ascii_only, separators in _STYLES:
        if json.dumps(fields, ensure_ascii=ascii_only, separators=separators) == old:
            break
    else:
        ascii_only, separators = _STYLES[0]
    return dumped(new, ascii_only=ascii_only, separators=separators, strict=False).decode("utf-8", "surrogateescape")


def _temporary(path: str, kind: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.{os.getpid()}-{kind}.tmp")


def _free_name(path: str) -> str:
    """A name that no file has yet: two repairs in one second keep two backups."""
    number, name = 1, path
    while os.path.exists(name):
        number += 1
        name = f"{path}-{number}"
    return name


def _same(one: os.stat_result, other: os.stat_result) -> bool:
    return (one.st_size, one.st_mtime_ns, one.st_ino) == (other.st_size, other.st_mtime_ns, other.st_ino)
