"""How far a triage is, on a terminal's standard error, by rich; nothing anywhere else."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

from strata_diag.model import Status
from strata_diag.render.escape import encodable, visible
from strata_diag.render.terminal import is_terminal
from strata_diag.triage import Part

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

LONGEST_NAME = 40  # characters of the name of the last log


class TriageProgress:
    """A bar with counts. Use it in a `with` statement; outside a terminal every call does nothing."""

    def __init__(self) -> None:
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._failed = self._unknown = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def begin(self, files: int) -> None:
        """Show the bar for this number of files."""
        if not is_terminal(sys.stderr):
            return
        from rich.console import Console  # noqa: PLC0415 - only on a terminal
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415

        columns = BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False)
        self._bar = Progress(*columns, console=Console(file=sys.stderr), transient=True)
        self._task = self._bar.add_task("", total=files)
        self._bar.start()

    def add(self, part: Part) -> None:
        """Count what was read."""
        statuses = [result.diagnosis.verdict.status for result in part.results]
        self._unknown += statuses.count(Status.UNKNOWN)
        self._failed += sum(status not in (Status.PASS, Status.UNKNOWN) for status in statuses)
        if self._bar is None or self._task is None:
            return
        last = visible(part.results[-1].name)[-LONGEST_NAME:] if part.results else ""
        text = encodable(f"{self._failed} failed, {self._unknown} unknown  {last}", sys.stderr.encoding)
        self._bar.update(self._task, advance=part.files, description=text)
