"""Annotations of GitHub Actions: one line of standard output each, which a workflow shows beside the file.

The escaping is the one that GitHub's own toolkit does (`packages/core/src/command.ts`): `%`, CR and LF everywhere, `:` and
`,` in properties too. Control characters are made visible first, so no log can begin a command of its own.
"""

from __future__ import annotations

from strata_diag.render.addresses import relative
from strata_diag.render.escape import visible

ERROR, WARNING, NOTICE = "error", "warning", "notice"
LONGEST_MESSAGE = 4000  # characters; GitHub cuts an annotation at 4 KB


def annotation(level: str, message: str, *, file: str, line: int = 0, column: int = 0, title: str = "") -> str:
    """One annotation. level: error | warning | notice; message may have several lines; line, column: 0 for none."""
    properties = [f"file={_property(relative(file))}"]
    properties += [f"{name}={number}" for name, number in (("line", line), ("col", column)) if number]
    properties += [f"title={_property(title)}"] if title else []
    cut = message if len(message) <= LONGEST_MESSAGE else message[: LONGEST_MESSAGE - 1] + "…"
    return f"::{level} {','.join(properties)}::" + "%0A".join(_data(part) for part in cut.split("\n"))


def _data(text: str) -> str:
    return visible(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
