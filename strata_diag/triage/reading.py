"""A unit of files becomes results: every log in it diagnosed, those that belong together joined.

Whatever goes wrong with one file is told under its name and leaves the others as they are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, BinaryIO, NamedTuple

from strata_diag import api
from strata_diag.errors import SourceError
from strata_diag.intake import Attachment, logs_in, logs_in_stream
from strata_diag.intake.streams import chunks_of, read_up_to, stream_of
from strata_diag.model import Diagnosis, Notice
from strata_diag.redact import Redactor, learn, redact_chunks, redact_stream
from strata_diag.ruleset import RuleSet
from strata_diag.streams import Stream, read_companion, read_log
from strata_diag.triage.excerpts import excerpts_of, wanted_lines
from strata_diag.triage.joining import Log, together
from strata_diag.triage.plan import STANDARD_INPUT, Unit
from strata_diag.triage.records import Excerpt, Part, Result, Skipped, Unreadable

KEPT_BYTES = 8 * 1024 * 1024  # of a log that are held for its excerpts; a larger one is read a second time


class Reading(NamedTuple):
    """How units are read. joined: logs that belong together are; redactor: takes what is private out of everything."""

    rules: RuleSet
    joined: bool = True
    redactor: Redactor | None = None

    def said(self, text: str) -> str:
        """A name or a message as it may be shown."""
        return self.redactor.line(text) if self.redactor else text


class _Held:
    """A log of which the first bytes were read. data: all of it where it is small, else None; stream: from its beginning."""

    def __init__(self, stream: BinaryIO, redactor: Redactor | None) -> None:
        head = read_up_to(stream, KEPT_BYTES + 1)
        self.size_bytes = len(head)
        self.data: bytes | None = None
        if len(head) > KEPT_BYTES:
            whole = stream_of(chain([head], self._counted(chunks_of(stream))))
            self.stream = redact_stream(whole, redactor) if redactor else whole
            return
        if redactor:
            learn([head], redactor)
            head = b"".join(redact_chunks([head], redactor))
        self.data = head
        self.stream = stream_of(iter([head]))

    def _counted(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            self.size_bytes += len(chunk)
            yield chunk


def read_unit(unit: Unit, reading: Reading) -> Part:
    """Read the files of a unit. Never raises because of a file."""
    logs: list[Log] = []
    unreadable = [Unreadable(reading.said(unit.paths[0]), reading.said(unit.error))] if unit.error else []
    skipped: list[Skipped] = []
    for path in () if unit.error else unit.paths:
        try:
            for number, attachment in enumerate(_attachments(path, reading.rules)):
                if attachment.skipped:
                    _put_aside(attachment, reading, unreadable, skipped)
                else:
                    logs.append(_read(path, number, attachment, reading, may_join=len(unit.paths) > 1))
        except SourceError as error:
            unreadable.append(Unreadable(reading.said(error.name), reading.said(f"{error.reason}; {error.advice}")))
        except Exception as error:  # noqa: BLE001 - the other files must be read, whatever this one did
            unreadable.append(Unreadable(reading.said(path), reading.said(_fault(error))))
    results, notices = together(logs, reading.rules)
    return Part(len(unit.paths), unit.size_bytes, results, tuple(unreadable), tuple(skipped), notices)


def _fault(error: Exception) -> str:
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    if isinstance(error, OSError):
        return f"{reason}; check the path and the drive"
    return f"{type(error).__name__}: {reason}; this is a fault of strata-diag, please report it"


def _attachments(path: str, rules: RuleSet) -> Iterator[Attachment]:
    if path == STANDARD_INPUT:
        return logs_in_stream("standard input", sys.stdin.buffer, rules.extensions)
    return logs_in(path, rules.extensions)


def _put_aside(attachment: Attachment, reading: Reading, unreadable: list[Unreadable], skipped: list[Skipped]) -> None:
    """What holds no log: something damaged could not be read, anything else is left out."""
    why = "; ".join(notice.text for notice in attachment.notices) or "there is no log in it"
    damaged = any(notice.kind == "damaged" for notice in attachment.notices)
    name, why = reading.said(attachment.name), reading.said(why)
    if damaged:
        unreadable.append(Unreadable(name, why))
    else:
        skipped.append(Skipped(name, why))


def _read(path: str, number: int, attachment: Attachment, reading: Reading, *, may_join: bool) -> Log:
    """Diagnose one log. number: its place among all that the file holds."""
    held = _Held(attachment.stream, reading.redactor)
    name, facts = reading.said(attachment.name), _facts(attachment.facts, reading)
    stream = None
    if reading.joined and (may_join or attachment.name != path):
        stream = _as_stream(held, name, facts, reading.rules)
        found = stream.diagnosis
    else:
        found = api.diagnose(held.stream, rules=reading.rules, facts=facts)
    excerpts, told = _excerpts(path, number, held, found, reading)
    found = _shown(found, name, reading)
    notices = [notice._replace(text=reading.said(notice.text)) for notice in (*attachment.notices, *told)]
    result = Result(name, found, attachment.first_line, held.size_bytes, excerpts, tuple(notices))
    result = result._replace(file=reading.said(path))
    return Log(result, stream._replace(name=name, diagnosis=found) if stream else None)


def _as_stream(held: _Held, name: str, facts: Mapping[str, Any], rules: RuleSet) -> Stream:
    if held.data is not None and not facts:
        return read_companion(held.stream, name=name, rules=rules)
    return read_log(held.stream, rules=rules, facts=facts)


def _facts(facts: Mapping[str, Any], reading: Reading) -> dict[str, Any]:
    """What the container says beside the log, without what is private."""
    return {name: _clean(value, reading) for name, value in facts.items()}


def _clean(value: Any, reading: Reading) -> Any:
    if isinstance(value, str):
        return reading.said(value)
    if isinstance(value, Mapping):
        return _facts(value, reading)
    return [_clean(one, reading) for one in value] if isinstance(value, list) else value


def _shown(found: Diagnosis, name: str, reading: Reading) -> Diagnosis:
    notices = tuple(notice._replace(text=reading.said(notice.text)) for notice in found.notices)
    return found._replace(name=name, notices=notices)


def _excerpts(
    path: str, number: int, held: _Held, found: Diagnosis, reading: Reading
) -> tuple[tuple[Excerpt, ...], list[Notice]]:
    """The lines around the evidence, and why there are none."""
    if held.data is not None:
        return excerpts_of(found, [held.data]), []
    if not wanted_lines(found):
        return (), []
    if path == STANDARD_INPUT:
        return (), [Notice("limit", f"larger than {KEPT_BYTES >> 20} MiB and not kept: no lines around the evidence")]
    for place, attachment in enumerate(logs_in(path, reading.rules.extensions)):
        if place == number:
            again = redact_stream(attachment.stream, reading.redactor) if reading.redactor else attachment.stream
            return excerpts_of(found, chunks_of(again)), []
    return (), [Notice("source", "it changed while it was read: no lines around the evidence")]
