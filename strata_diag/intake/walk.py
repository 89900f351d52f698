"""From one file to every log in it: what a file is decides its content, never its name.

Readers are asked in turn whether a file that starts like this is theirs: those of plugins first, then ours. What a reader
finds inside is looked at in the same way, down to a bounded depth. What no reader claims is a log and is handed on as it
is, untouched.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO

from strata_diag.errors import SourceError
from strata_diag.intake import limits
from strata_diag.intake.archives import read_tar, read_zip
from strata_diag.intake.documents import read_document
from strata_diag.intake.encodings import evenly_wide
from strata_diag.intake.jsonfiles import read_json
from strata_diag.intake.packed import read_packed
from strata_diag.intake.records import Attachment, Notes, Reader, skipped
from strata_diag.intake.streams import mib, peek, stream_of
from strata_diag.ruleset import NoExtensions
from strata_diag.source import container_kind

if TYPE_CHECKING:
    from strata_diag.ruleset import Extensions

READERS: tuple[Reader, ...] = (read_packed, read_zip, read_tar, read_document, read_json)


def logs_in(path: str | os.PathLike[str], extensions: Extensions | None = None) -> Iterator[Attachment]:
    """Every log inside one file. Read each before you ask for the next.

    extensions: the readers of plugins (`RuleSet.extensions`). A file without any log is one attachment that is `skipped`,
    or its raw bytes. Raises SourceError, when the first log is asked for, if the path can't be read.
    """
    name = os.fspath(path)
    stream, notices = (extensions or NoExtensions()).sources(name)
    with _opened(name) if stream is None else stream as file:
        yield from _logs_of(Attachment(name, file, notices), extensions)


def logs_in_stream(name: str, stream: BinaryIO, extensions: Extensions | None = None) -> Iterator[Attachment]:
    """Every log inside a stream, such as standard input; `name` is its name in messages. Otherwise as `logs_in`."""
    return _logs_of(Attachment(name, stream), extensions)


def _opened(name: str) -> BinaryIO:
    try:
        return open(name, "rb", buffering=0)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise SourceError(name, reason, "check the path, and whether you may read it") from None


def _logs_of(file: Attachment, extensions: Extensions | None) -> Iterator[Attachment]:
    walk = _Walk(extensions or NoExtensions())
    file = file._replace(notices=(*file.notices, *walk.notices))
    try:
        head, stream = peek(file.stream)
    except (OSError, ValueError) as error:
        raise SourceError(
            file.name, str(getattr(error, "strerror", None) or error), "check the drive or the pipe"
        ) from None
    for count, found in enumerate(walk.logs(file._replace(stream=stream), head, 1)):
        if count == limits.MOST_LOGS:
            notes = Notes()
            notes.add("limit", f"more than {count} logs are in this file; the rest was not read")
            yield skipped(file.name, notes)
            return
        yield found


class _Walk:
    """The way through one file and everything in it."""

    def __init__(self, extensions: Extensions) -> None:
        readers, self.notices = extensions.readers()
        self._readers: list[tuple[str, Reader]] = [*readers, *(("", reader) for reader in READERS)]
        self._bytes_left = limits.MOST_BYTES

    def logs(self, file: Attachment, head: bytes, depth: int) -> Iterator[Attachment]:
        """The logs in a file that begins with `head`; depth: how many containers are open with this one."""
        notes = Notes(file.notices)
        file = file._replace(notices=notes)
        plugin, inside = self._claimed(file, head, notes)
        if inside is None:
            yield _as_it_is(file, head, notes)
        elif depth > limits.DEEPEST:
            notes.add("limit", f"it lies in {limits.DEEPEST} containers inside each other; deeper ones are not opened")
            yield skipped(file.name, notes, head)
        else:
            yield from self._inside(file, plugin, inside, notes, depth)

    def _claimed(self, file: Attachment, head: bytes, notes: Notes) -> tuple[str, Iterable[Attachment] | None]:
        """(plugin, what its reader finds) of the first reader that knows this file; the plugin is empty for ours."""
        for plugin, reader in () if file.plain else self._readers:
            try:
                inside = reader(file.name, head, file.stream)
            except Exception as error:  # noqa: BLE001 - a reader's fault is a notice
                notes.add(*_fault(plugin, error))
                continue
            if inside is not None:
                return plugin, inside
        return "", None

    def _inside(
        self, file: Attachment, plugin: str, inside: Iterable[Attachment], notes: Notes, depth: int
    ) -> Iterator[Attachment]:
        empty = True
        try:
            for part in inside:
                empty = False
                yield from self._part(file, part, depth)
        except Exception as error:  # noqa: BLE001 - a reader's fault is a notice
            notes.add(*_fault(plugin, error))
            yield skipped(file.name, notes)
            return
        if empty:
            notes.add("left-out", "there is no file in it")
            yield skipped(file.name, notes)

    def _part(self, file: Attachment, part: Attachment, depth: int) -> Iterator[Attachment]:
        notes = Notes(file.notices, part.notices)
        part = part._replace(
            notices=notes,
            first_line=file.first_line + part.first_line - 1,
            facts={**file.facts, **part.facts},
        )
        if part.skipped:
            yield part
            return
        head, stream = peek(stream_of(self._guarded(part.stream, notes)))
        yield from self.logs(part._replace(stream=stream), head, depth + 1)

    def _guarded(self, stream: BinaryIO, notes: Notes) -> Iterator[bytes]:
        """The bytes of a part: what breaks while it is read, and what is too much, ends it with a notice."""
        while True:
            try:
                chunk = stream.read(limits.CHUNK_BYTES)
            except Exception as error:  # noqa: BLE001 - hostile archives raise nearly anything
                notes.add("damaged", f"it could not be read to its end ({_said(error)}); what came before was used")
                return
            if not chunk:
                return
            self._bytes_left -= len(chunk)
            if self._bytes_left < 0:
                notes.add("limit", f"more than {mib(limits.MOST_BYTES)} came out of this file; the rest was not read")
                return
            yield chunk


def _as_it_is(file: Attachment, head: bytes, notes: Notes) -> Attachment:
    """A file that no reader claims: a log, or something that is known not to be one."""
    kind = container_kind(head)
    if kind:
        notes.add(
            "compressed" if "archive" in kind else "binary", f"this is a {kind}, not a log; only its head was looked at"
        )
        return skipped(file.name, notes, head)
    return file._replace(stream=evenly_wide(head, file.stream, notes))


def _fault(plugin: str, error: Exception) -> tuple[str, str]:
    if plugin:
        return "plugin", f"the plugin {plugin} raised in its reader: {_said(error)}"
    return "damaged", f"it could not be read: {_said(error)}"


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__
