"""`recheck.json`: what is due to be measured again, such as everything after an engine update.

A pending entry clears what was remembered: a signature is tried once too often rather than never again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from strata_diag.tuner.records import HistoryError

DONE = frozenset({"done", "finished", "closed", "cleared", "cancelled"})
DEEPEST = 20  # levels of nesting; the file is somebody else's


def read_recheck(path: os.PathLike[str] | str) -> list[Mapping[str, Any]]:
    """The pending entries of a `recheck.json`: every object in it that has a `reason` and is not marked as done.

    A file that does not exist holds none. Raises HistoryError for one that can't be read.
    """
    try:
        with open(path, encoding="utf-8-sig") as file:
            content = json.load(file)
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or "it is no JSON"
        raise HistoryError(
            f"{os.fspath(path)}: can't be read ({reason}); leave --recheck out, or mend the file"
        ) from None
    if isinstance(content, Mapping) and "pending" in content:
        content = content["pending"]
    return list(_entries(content, DEEPEST))


def _entries(content: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    if isinstance(content, Mapping):
        if isinstance(content.get("reason"), str):
            if not _is_done(content):
                yield content
            return
        content = list(content.values())
    if isinstance(content, list) and depth:
        for item in content:
            yield from _entries(item, depth - 1)


def _is_done(entry: Mapping[str, Any]) -> bool:
    return entry.get("done") is True or str(entry.get("state", entry.get("status", ""))).lower() in DONE


def cleared_by(
    entries: Iterable[Mapping[str, Any] | str], sig: str, names: Mapping[str, str], known: Mapping[str, Collection[str]]
) -> str:
    """The reason of the entry that clears a signature, or empty.

    names: the hw and model in question; known: every hw and model that the history names. An entry that names a signature
    clears that one; one that names another hw or model *of this history* clears nothing here; all others clear everything.
    """
    for entry in entries:
        if isinstance(entry, str):
            return entry
        wanted = entry.get("sig", entry.get("sigs"))
        if wanted and sig not in ([wanted] if isinstance(wanted, str) else wanted):
            continue
        if any(entry.get(key) != names[key] and entry.get(key) in known[key] for key in names):
            continue
        return str(entry.get("reason") or "re-check")
    return ""
