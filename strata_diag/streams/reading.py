"""One file as a `Stream`: diagnosed by itself, with its first lines and the names of the containers that it speaks of.

Comes in: whatever `diagnose` takes. Goes out: a `Stream`. One pass in bounded memory, like any diagnosis; of another file than
the log only so much is read, since nobody knows what it is. Raises SourceError for a path that can't be read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from strata_diag import linetext, source
from strata_diag.api import default_rules, examine
from strata_diag.lazy import later_regex
from strata_diag.model import Diagnosis, Notice
from strata_diag.ruleset import RuleSet
from strata_diag.streams.records import Stream

if TYPE_CHECKING:
    import re

HEAD_BYTES = 64 * 1024  # of a file's beginning, in which an engine tells its pid
LARGEST_COMPANION = 1024**3  # bytes of a file beside the log that are read
MOST_NAMES = 64  # containers, and images, that a file may name
ENCODING_BYTES = 4096  # by which the encoding of the head is told

_CONTAINERS = later_regex(
    rb"(?m)^([\w.-]{1,100}) +\| |^([\w.-]{1,100}) exited with code |^Name: +(\S{1,200})|\"Name\": ?\"/([\w.-]{1,100})\""
    rb"|\bcontainer (?:die|oom|kill) [\da-f]{12,64} \([^\n]{0,400}?\bname=([\w.-]{1,100})"
)
_IMAGES = later_regex(rb"(?m)^ *\"?Image\"?: +\"?(?!sha256:)([^\s\",]{1,200})|\bimage=([^\s,)]{1,200})")


def read_log(
    target: source.Target,
    *,
    rules: RuleSet | None = None,
    exit_code: int | None = None,
    timed_out: bool | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Stream:
    """An engine's log. Arguments and errors are those of `strata_diag.diagnose`."""
    used = rules or default_rules()
    watched, notices = _watched(target, used)
    found, traces = examine(
        cast("BinaryIO", watched), rules=used, exit_code=exit_code, timed_out=timed_out, facts=facts
    )
    return Stream(watched.name, _with_notices(found, notices), traces, watched.head)


def read_companion(target: source.Target, *, name: str = "", rules: RuleSet | None = None) -> Stream:
    """A file beside the log, as far as its first LARGEST_COMPANION bytes. name: for messages, its own by default.

    Raises SourceError for a path that can't be read.
    """
    used = rules or default_rules()
    watched, notices = _watched(target, used, LARGEST_COMPANION)
    watched.name = name or watched.name
    found, traces = examine(cast("BinaryIO", watched), rules=used)
    if watched.cut:
        notices.append(
            Notice("stream", f"{watched.name} is large: only its first {LARGEST_COMPANION // 1024**2} MiB were read")
        )
    return Stream(watched.name, _with_notices(found, notices), traces, watched.head, watched.containers, watched.images)


class _Watched:
    """A file that is looked over while it is read. Has what a binary stream needs to be diagnosed."""

    def __init__(self, opened: source.Source, limit: int | None) -> None:
        self.name = opened.name
        self.cut = False
        self._read = opened.read_into
        self._left = limit
        self._head = bytearray()
        self._containers: set[str] = set()
        self._images: set[str] = set()

    def readinto1(self, view: memoryview) -> int:
        """The next bytes, into a buffer; 0 at the end, and where enough was read."""
        if self._left is not None and self._left <= 0:
            self.cut = True
            return 0
        count = self._read(view)
        if self._left is not None:
            self._left -= count
        chunk = bytes(view[:count])
        self._head += chunk[: HEAD_BYTES - len(self._head)]
        _collect(_CONTAINERS, chunk, self._containers)
        _collect(_IMAGES, chunk, self._images)
        return count

    @property
    def head(self) -> tuple[str, ...]:
        """The first lines, without colours; the last of them may be cut."""
        encoding, skip = linetext.detect_encoding(bytes(self._head[:ENCODING_BYTES]))
        shown = bytes(self._head[skip:]).decode(encoding, "replace")
        return tuple(linetext.clean(shown.encode()).decode("utf-8", "replace").split("\n"))

    @property
    def containers(self) -> frozenset[str]:
        """The names of containers, pods and services that the file speaks of."""
        return frozenset(self._containers)

    @property
    def images(self) -> frozenset[str]:
        """The images of these containers."""
        return frozenset(self._images)


def _collect(pattern: re.Pattern[bytes], chunk: bytes, names: set[str]) -> None:
    for found in pattern.finditer(chunk):
        if len(names) >= MOST_NAMES:
            return
        names.add(next(group for group in found.groups() if group).decode("utf-8", "replace"))


def _watched(target: source.Target, rules: RuleSet, limit: int | None = None) -> tuple[_Watched, list[Notice]]:
    if isinstance(target, os.PathLike):
        inside, notices = rules.extensions.sources(os.fspath(target))
        if inside is not None:
            opened = source.open_source(inside)
            opened.name = os.fspath(target)
            return _Watched(opened, limit), notices
        return _Watched(source.open_source(target), limit), notices
    return _Watched(source.open_source(target), limit), []


def _with_notices(found: Diagnosis, notices: list[Notice]) -> Diagnosis:
    return found._replace(notices=(*found.notices, *notices)) if notices else found
