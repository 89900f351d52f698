"""Diagnoses as JSON: one document (`json`), or one line each (`jsonl`)."""

from __future__ import annotations

import json

from strata_diag.model import Diagnosis


def document(found: list[Diagnosis], *, many: bool) -> str:
    """One log's object, or a list of them where several files were asked for. ASCII only, so that no console breaks it."""
    content = [one.to_dict() for one in found]
    return json.dumps(content if many else content[0], indent=2, ensure_ascii=True)


def line(found: Diagnosis) -> str:
    """One log's object on one line."""
    return json.dumps(found.to_dict(), ensure_ascii=True)
