"""Whether another file holds the same lines as a run: a copy of its log that a collector wrote, with what came after.

Comes in: a run as other files may know it, another file. Goes out: how far the copy goes and in whose name it is written. What
the copy tells of the run itself is no news; what follows it in the same file follows the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from strata_diag.streams.identity import known_lines
from strata_diag.streams.lines import Written, written
from strata_diag.streams.records import Start, Stream

LEAST_LINES = 3  # that must be the same; where a run has fewer, all of them
SAME_SHARE = 0.8  # of a run's last lines: two runs of one engine say much the same, and differ in their numbers
TELLING_LETTERS = 12  # of a line that is worth comparing
FOLLOWING_LINES = 40  # behind the copy's last line in which the end of the program is told


class Overlap(NamedTuple):
    """A copy of a run. last: the last line of it in the other file; containers: in front of its lines there."""

    last: int
    containers: frozenset[str]

    def is_followed_by(self, line: int) -> bool:
        """Whether a line of the other file stands right behind the copy."""
        return self.last < line <= self.last + FOLLOWING_LINES


def copies_of(starts: Sequence[Start], stream: Stream) -> list[Overlap | None]:
    """For each run the copy of its last lines in another file; None where there is none."""
    lines = {number: text for trace in stream.traces for number, text in known_lines(trace, stream.head).items()}
    parts = {number: written(text) for number, text in lines.items()}
    return [_copy(start, parts) for start in starts]


def _copy(start: Start, parts: Mapping[int, Written]) -> Overlap | None:
    own = {text for text in start.lines.values() if len(text) >= TELLING_LETTERS}
    ending = {start.lines[number] for number, _ in start.trace.run.tail if len(start.lines[number]) >= TELLING_LETTERS}
    same = {number: part.container for number, part in parts.items() if part.message.strip() in own}
    if not ending or len(same) < min(LEAST_LINES, len(ending)):
        return None
    held = {parts[number].message.strip() for number in same}
    if len(ending & held) < SAME_SHARE * len(ending):
        return None
    return Overlap(max(same), frozenset(container for container in same.values() if container))
