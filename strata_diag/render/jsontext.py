"""Diagnoses as JSON: one document (`json`), or one line each (`jsonl`)."""

from __future__ import annotations

from strata_diag.model import Diagnosis


def document(found: list[Diagnosis], *, many: bool) -> str:
    """One log's object, or a list of them where several files were asked for. ASCII only, so that no console breaks it."""
    import json  # noqa: PLC0415 - 15 ms that text does without

    content = [one.to_dict() for one in found]
    return json.dumps(content if many else content[0], indent=2, ensure_ascii=True)


def line(found: Diagnosis) -> str:
    """One log's object on one line."""
    import json  # noqa: PLC0415 - as above

    return json.dumps(found.to_dict(), ensure_ascii=True)
