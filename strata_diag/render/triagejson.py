"""A triage as JSON: one document (`json`), or one object a line as soon as it is known (`jsonl`)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from strata_diag.triage import Part, Result, Triage, Unreadable

SCHEMA_VERSION = 1  # of the document and of each line


def document(found: Triage) -> str:
    """The whole triage. ASCII only, so that no console breaks it."""
    content = {
        "schema": SCHEMA_VERSION,
        "results": [_result(one) for one in found.results],
        "unreadable": [_unreadable(one) for one in found.unreadable],
        "skipped": [_unreadable(one) for one in found.skipped],
        **_summary(found),
    }
    return json.dumps(content, indent=2, ensure_ascii=True)


def lines(part: Part) -> Iterator[str]:
    """A line for each log, and for whatever is none, of what was read together. `event`: result | unreadable | skipped."""
    for result in part.results:
        yield _line("result", _result(result))
    for event, many in (("unreadable", part.unreadable), ("skipped", part.skipped)):
        for one in many:
            yield _line(event, _unreadable(one))


def last_line(found: Triage) -> str:
    """The line that ends them; `event`: summary. Its groups and examples count the results from 0, in their order."""
    return _line("summary", _summary(found))


def _line(event: str, content: dict[str, Any]) -> str:
    return json.dumps({"schema": SCHEMA_VERSION, "event": event, **content}, ensure_ascii=True)


def _summary(found: Triage) -> dict[str, Any]:
    return {
        "groups": [group._asdict() for group in found.groups],
        "shapes": [
            {**shape._asdict(), "examples": [example._asdict() for example in shape.examples]} for shape in found.shapes
        ],
        "notices": [notice._asdict() for notice in found.notices],
        "interrupted": found.interrupted,
    }


def _result(result: Result) -> dict[str, Any]:
    return {
        "name": result.name,
        "file": result.file,
        "first_line": result.first_line,
        "size_bytes": result.size_bytes,
        "beside": result.beside,
        "notices": [notice._asdict() for notice in result.notices],
        "excerpts": [excerpt._asdict() for excerpt in result.excerpts],
        "diagnosis": result.diagnosis.to_dict(),
    }


def _unreadable(one: Unreadable) -> dict[str, Any]:
    return {"name": one.name, "error": one.error}
