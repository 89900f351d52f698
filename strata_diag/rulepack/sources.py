"""What packs are read from."""

from __future__ import annotations

from collections.abc import Mapping

from strata_diag.record import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any


class PackSource(NamedTuple):
    """A folder or a file with packs, or a mapping shaped like a pack file, and the plugin that brought it."""

    origin: str
    content: Path | Mapping[str, Any]
