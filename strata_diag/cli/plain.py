"""The everyday call, `classify [--format FORMAT] [--no-color] FILE...`, understood without `argparse`.

Importing `argparse` and building a parser costs as much as the whole answer. Whatever is not plain here is left to the
parser, with its messages; a test holds both to the same options.
"""

from __future__ import annotations

from collections.abc import Sequence

from strata_diag.record import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

PLAIN_FORMATS = ("text", "json", "jsonl")


class PlainOptions:
    """Options as `argparse` would give them: what was asked for, and the defaults of everything else."""

    def __init__(self, **values: Any) -> None:
        vars(self).update(values)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the option {name} has no default in strata_diag/cli/plain.py; add it there")


def plain_options(given: Sequence[str]) -> Any:
    """The options of a plain call of `classify`, or None for anything else."""
    if not given or given[0] != "classify":
        return None
    files: list[str] = []
    found: dict[str, Any] = {}
    rest = iter(given[1:])
    for argument in rest:
        if argument == "--format":
            found["format"] = next(rest, "")
        elif argument.startswith("--format="):
            found["format"] = argument.partition("=")[2]
        elif argument == "--no-color":
            found["no_color"] = True
        elif argument.startswith("-") and argument != "-":
            return None
        else:
            files.append(argument)
    if not files or found.get("format", "text") not in PLAIN_FORMATS:
        return None
    from strata_diag.cli.classify import run  # noqa: PLC0415 - the verb's module, like any other

    return PlainOptions(**{**_defaults(), **found, "files": files, "run": run})


def _defaults() -> dict[str, Any]:
    return {
        "beside": [],
        "exit_code": None,
        "fact": [],
        "format": "text",
        "language": None,
        "no_builtin_rules": False,
        "no_color": False,
        "no_plugin": [],
        "no_settings": False,
        "redact": False,
        "rules": [],
        "timed_out": False,
    }
