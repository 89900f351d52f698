"""A tuner's `history.jsonl`: every row that it holds, whatever else it holds; and new rows, added safely."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from strata_diag.ruleset import RuleSet
from strata_diag.tuner import files, jsonlines
from strata_diag.tuner.records import HistoryError, Row
from strata_diag.tuner.reread import RowReader

TOO_LONG = f"the line is longer than {jsonlines.LONGEST_ROW // 1024} KiB"


class History:
    """The rows of a `history.jsonl`, read again by the classifier each time that it is iterated, in bounded memory.

    path: the file; one that does not exist yet is an empty history. rules: the built-in ones and those of installed
    plugins, if None. lock_seconds: how long `append` waits for another writer.

    Iterating yields a `Row` for every row, and for every line that holds none (cut while it was written, corrupt) one
    whose status is None. Duplicates stay, blank lines are passed over. Raises HistoryError for a file that can't be read,
    RuleSetError for broken rules.
    """

    def __init__(
        self, path: os.PathLike[str] | str, *, rules: RuleSet | None = None, lock_seconds: float = files.LOCK_SECONDS
    ) -> None:
        self.path = os.fspath(path)
        self.lock_seconds = lock_seconds
        self._reader = RowReader(rules)

    def __iter__(self) -> Iterator[Row]:
        with files.explained(self.path, "read it"):
            try:
                file = open(self.path, "rb")  # noqa: SIM115 - closed by `with` below
            except FileNotFoundError:
                return
            with file:
                for line in jsonlines.lines(file):
                    if not line.part:
                        yield from rows_of(line, self._reader)

    def append(self, row: Row | Mapping[str, Any]) -> None:
        """Add a row: one of `make_row`, or plain fields. Safe beside another writer and after a cut last line.

        Raises HistoryError if the row is none, or can't be stored; what the file held is untouched then.
        """
        fields = row.raw if isinstance(row, Row) else row
        if not fields.get("status"):
            raise HistoryError("a row without a status can't be stored; make it with make_row")
        text = dumped(fields)
        folder = os.path.dirname(self.path)
        with files.explained(self.path, "add a row"):
            if folder:
                os.makedirs(folder, exist_ok=True)
            with files.locked(self.path, self.lock_seconds):
                refuse_utf16(self.path)
                files.append(self.path, text)

    def __repr__(self) -> str:
        return f"<History: {self.path}>"


def rows_of(line: jsonlines.Line, reader: RowReader) -> Iterator[Row]:
    """The rows in a line, after one without a status if something in it is none."""
    if not line.whole:
        yield Row(line.number, None, jsonlines.CORRUPT, problem=TOO_LONG)
        return
    found = jsonlines.content(line.data)
    if found.problem:
        yield Row(line.number, None, found.cause, problem=found.problem)
    for piece in found.pieces:
        yield reader.read(piece.fields, line.number)


def dumped(
    fields: Mapping[str, Any],
    *,
    ascii_only: bool = False,
    separators: tuple[str, str] | None = None,
    strict: bool = True,
) -> bytes:
    """The fields of a row as one line of UTF-8 without its end.

    strict: refuse NaN and Infinity, which are no JSON though other programs write them. Raises HistoryError for what can't
    be written.
    """
    try:
        text = json.dumps(dict(fields), ensure_ascii=ascii_only, separators=separators, allow_nan=not strict)
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can write
        return json.dumps(dict(fields), ensure_ascii=True, separators=separators).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise HistoryError(f"this row can't be stored as JSON ({error}); give it plain values") from None


def refuse_utf16(path: str) -> None:
    """Raise HistoryError for a file that may be read but not written, since every other program expects UTF-8."""
    try:
        with open(path, "rb") as file:
            head = file.read(2)
    except FileNotFoundError:
        return
    if jsonlines.is_utf16(head):
        raise HistoryError(f"{path}: is UTF-16; save it as UTF-8 first, as the tuner writes it")
