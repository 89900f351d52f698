"""The name of a file as the programs of a CI want it: seen from the working directory, and as an address."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import quote

from strata_diag.render.escape import encodable

_SAFE_LINK = re.compile(r"https://[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?:/[A-Za-z0-9._~%/#?=-]*)?")


def relative(file: str) -> str:
    """A path as seen from the working directory, where it lies below it: what GitHub wants, and shorter to read."""
    path = Path(file)
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix() if path.is_absolute() else path.as_posix()
    except (ValueError, OSError):
        return file


def uri(file: str) -> str:
    """A path below the working directory as a relative address, any other as an absolute one; percent-encoded."""
    shown = relative(file)
    try:
        os.fsencode(shown)
    except UnicodeEncodeError:  # the name of a member of an archive may hold what no file system takes
        shown = encodable(shown, "utf-8")
    path = Path(shown)
    return path.as_uri() if path.is_absolute() else quote(os.fsencode(path.as_posix()))


def is_safe_link(address: str) -> bool:
    """Whether the link of a rule may be followed: plain https, nothing in it that could hide where it leads."""
    return _SAFE_LINK.fullmatch(address) is not None
