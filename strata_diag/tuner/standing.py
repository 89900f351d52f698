"""What the rows of one signature say together: whether it ever passed, and the newest word about it.

Rows are added one by one and forgotten, so that a history of any length fits. The order in which rows of the same time are
added makes no difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from strata_diag.model import Status
from strata_diag.tuner.records import Row
from strata_diag.tuner.reread import RowReader

Rows = Iterable[Row | Mapping[str, Any]]
MOST_SHOWN = 8  # rows of the same time that are kept to be shown
MILLISECONDS = 1e11  # a number of seconds as large as this is one of milliseconds


def as_rows(rows: Rows, reader: RowReader) -> Iterator[Row]:
    """Rows as the classifier reads them; plain mappings, as `json.loads` makes them, are read here. Unreadable ones stay out."""
    for number, row in enumerate(rows, 1):
        read = row if isinstance(row, Row) else reader.read(row, number)
        if read.readable:
            yield read


def moment(row: Row) -> float | None:
    """When a row was written, in seconds; None where it doesn't say. Times without a zone are compared as they stand."""
    written = row.raw.get("time", row.time)
    try:
        if isinstance(written, int | float) and not isinstance(written, bool):
            seconds = written / 1000 if written >= MILLISECONDS else float(written)
            return seconds if math.isfinite(seconds) else None
        when = datetime.fromisoformat(row.time.strip())
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


class Standing:
    """What is known of one signature on one hw, model and engine."""

    def __init__(self) -> None:
        self.passes = 0
        self.last_pass = 0  # line
        self.newest: list[Row] = []  # one row, or the first few of the same time
        self._lasting = False
        self._time: float | None = None
        self._after = False  # the newest row says no time, so it stands after those before it in the file

    def add(self, row: Row) -> None:
        """Add a row, in the order of the file. Rows of the same time may come in any order."""
        if row.status is Status.PASS:
            self.passes += 1
            self.last_pass = row.line
        when = moment(row)
        if when is None:
            self._after = True
            self._begin(row)
        elif self._time is None or when > self._time or (when == self._time and self._after):
            self._time, self._after = when, False
            self._begin(row)
        elif when == self._time:
            self._lasting = self._lasting and row.lasting
            self.newest = [*self.newest, row][:MOST_SHOWN]

    def _begin(self, row: Row) -> None:
        self.newest, self._lasting = [row], row.lasting

    @property
    def bad(self) -> bool:
        """Whether the signature may be left out: all of its newest rows are lasting failures, and it never passed."""
        return not self.passes and self._lasting
