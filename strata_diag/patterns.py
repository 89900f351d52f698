"""Regular expressions of the `regex` package: compiled as every stage must, and kept in compiled form between starts.

Importing `regex` costs twice what starting Python does, nearly all of it for its compiler, which a kept pattern does not
need. What a pattern pickles (`_pickled_data`, all that its C part was made from) is kept in the cache of rules; a start that
finds the same version of `regex` gives it to the C part alone. This is no public way of the package: the version is part of
what is kept, anything unexpected leads back to compiling, and a test holds both ways to the same matches.
"""

from __future__ import annotations

import functools
import os
import sys

from strata_diag.record import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    import regex

MOST_KEPT = 8192  # patterns, and what is found out about them; `regex` itself keeps 500, fewer than one rule set has


@functools.lru_cache(maxsize=MOST_KEPT)
def compile_pattern(source: str) -> regex.Pattern[str]:
    """Compile a pattern as every stage and test must: ASCII classes, searched, not anchored. Raises regex.error.

    Classes and case folding stay ASCII, so that a literal on bytes can never miss a match.
    """
    import regex  # noqa: PLC0415 - 40 ms that a start with kept patterns must not pay

    return regex.compile(source, flags=regex.ASCII | regex.VERSION0)


def pack(source: str) -> tuple[Any, ...]:
    """What can be kept of a compiled pattern; empty where this version of `regex` doesn't say."""
    data = getattr(compile_pattern(source), "_pickled_data", None)
    return data if isinstance(data, tuple) and not data[5] else ()  # named lists are sets of strings: not kept


def unpack(packed: tuple[Any, ...]) -> regex.Pattern[str] | None:
    """The pattern that was packed; None where it must be compiled."""
    compiler = _compiler() if packed else None
    if compiler is None:
        return None
    try:
        made: regex.Pattern[str] = compiler.compile(*packed)
    except (TypeError, ValueError, RuntimeError):
        return None
    return made


def engine_stamp() -> str:
    """What packed patterns depend on: the file of the C part, its size and time; empty where there is none."""
    path = _extension()
    if not path:
        return ""
    found = os.stat(path)
    return f"{path} {found.st_size} {found.st_mtime_ns}"


def _compiler() -> ModuleType | None:
    """The C part of `regex`, loaded by itself where the package is not in use yet."""
    loaded = sys.modules.get("regex._regex")
    if loaded is not None or "regex" in sys.modules:
        return loaded
    path = _extension()
    if not path:
        return None
    from importlib.machinery import ExtensionFileLoader, ModuleSpec  # noqa: PLC0415 - with the pattern that needs it

    loader = ExtensionFileLoader("regex._regex", path)
    spec = ModuleSpec("regex._regex", loader, origin=path)
    try:
        module = loader.create_module(spec)
        loader.exec_module(module)
    except ImportError:
        return None
    sys.modules["regex._regex"] = module
    return module


def _extension() -> str:
    """The file of the C part, found without importing the package."""
    from importlib.machinery import EXTENSION_SUFFIXES  # noqa: PLC0415 - with the pattern that needs it

    for folder in sys.path:
        for suffix in EXTENSION_SUFFIXES:
            path = os.path.join(folder, "regex", f"_regex{suffix}")
            if os.path.isfile(path):
                return path
    return ""
