"""What the intake hands over, and the shape of a reader."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, overload

from strata_diag.errors import SourceError
from strata_diag.intake.limits import NOTICES_NAMED
from strata_diag.model import NO_CAPTURES, Notice


class Found(NamedTuple):
    """A file that was named, or found in a folder. error: why it can't be read, None where it can."""

    path: Path
    error: SourceError | None = None


class Attachment(NamedTuple):
    """One log found in something that people attach.

    name: `bundle.zip!engine/strata.log`, `issue.md, log 2 at line 41`, or the path itself; it may hold any character.
    stream: its bytes, to be read once and before the next attachment is asked for.
    notices: what was cut, skipped or bounded on the way to it; complete once the stream has been read to its end.
    first_line: 1-based line of the container document at which it starts, 1 where it is no part of a document.
    facts: what the container says beside the log: `exit_code`, `error`, `timed_out`, `row` (all fields of a history row).
    skipped: there is no log here, and the notices say why; the stream holds at most the file's head.
    plain: it is a log as it stands, whatever it looks like: no reader is asked to look into it.
    """

    name: str
    stream: BinaryIO
    notices: Sequence[Notice] = ()
    first_line: int = 1
    facts: Mapping[str, Any] = NO_CAPTURES
    skipped: bool = False
    plain: bool = False


# A reader looks at the head of a file and answers None if it is none of its own, without having read from the stream.
Reader = Callable[[str, bytes, BinaryIO], Iterable[Attachment] | None]


class Notes(Sequence[Notice]):
    """Notices that are still being made, after those of the container around."""

    def __init__(self, *outer: Sequence[Notice]) -> None:
        self._outer = outer
        self._own: list[Notice] = []
        self._counts: dict[str, int] = {}

    def add(self, kind: str, text: str) -> None:
        """Add a notice."""
        self._own.append(Notice(kind, text))

    def add_one_of_many(self, kind: str, text: str, others: str) -> None:
        """Add a notice of which there may be thousands: beyond the first few they are counted. others: `files are encrypted`."""
        count = self._counts[others] = self._counts.get(others, 0) + 1
        if count <= NOTICES_NAMED:
            self.add(kind, text)
            return
        number = count - NOTICES_NAMED
        if number > 1:
            self._own = [one for one in self._own if one.text != f"{number - 1} more {others}"]
        self.add(kind, f"{number} more {others}")

    def __iter__(self) -> Iterator[Notice]:
        for outer in self._outer:
            yield from outer
        yield from self._own

    @overload
    def __getitem__(self, index: int) -> Notice: ...
    @overload
    def __getitem__(self, index: slice) -> list[Notice]: ...
    def __getitem__(self, index: int | slice) -> Notice | list[Notice]:
        return list(self)[index]

    def __len__(self) -> int:
        return sum(len(outer) for outer in self._outer) + len(self._own)


def skipped(name: str, notices: Sequence[Notice], head: bytes = b"") -> Attachment:
    """What stands for things without a log in them, so that nothing disappears in silence."""
    return Attachment(name, io.BytesIO(head), notices, skipped=True)
