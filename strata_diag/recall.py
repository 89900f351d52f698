"""A start that remembers the last one: the rules that `load_rules()` gave, as long as nothing they rest on has changed.

Finding the installed plugins and reading a hundred pack files to see that nothing has changed costs ten times what starting
Python does. What was found is kept with the sizes and times of all that it rests on: the folders on `sys.path` (where a
package is installed or removed), the plugins' own entries, the pack files, and our code. One call of `stat` each proves that it
still holds. A file that changed less than `SETTLED_SECONDS` before it was looked at proves nothing, as in git's index, and
is not relied on.
"""

from __future__ import annotations

import os
import sys
import time

from strata_diag.model import Notice
from strata_diag.record import TYPE_CHECKING, NamedTuple
from strata_diag.rulepack import cache
from strata_diag.rulepack.front import compile_anew
from strata_diag.ruleset import PluginInfo, RuleSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Protocol

    from strata_diag.model import Remedy, Run, Sighting, Verdict
    from strata_diag.rulepack import PackSource
    from strata_diag.ruleset import Extensions

    Stamp = tuple[str, int, int]

    class Plugins(Extensions, Protocol):
        """What `plugins.Plugins` is to this module. files: where the plugins are declared."""

        files: list[str]

        def pack_sources(self) -> list[PackSource]: ...


SETTLED_SECONDS = 2.0  # a coarse file system's clock may give two changes one time
BLOCK_VARIABLE = "STRATA_DIAG_NO_PLUGIN"  # names, separated by commas; `*` blocks all but `builtin`
_LAYOUT = 1  # raise it when `_Kept` changes


class _Kept(NamedTuple):
    """What is kept of a start. hooks: those that its active plugins implement."""

    key: str
    stamps: tuple[Stamp, ...]
    hooks: frozenset[str]
    notices: tuple[tuple[Any, ...], ...]
    plugins: tuple[tuple[Any, ...], ...]


def recall(load_plugins: Callable[[], Plugins]) -> RuleSet | None:
    """The rules of the last start with the same surroundings, or None where something has changed or nothing was kept.

    load_plugins: loads the plugins themselves, when a hook is needed that one of them implements.
    """
    found = cache.read_kept(_name(), "start")
    if found is None:
        return None
    try:
        kept = _Kept(*found)
        if any(cache.file_stamp(stamp[0]) != tuple(stamp) for stamp in kept.stamps):
            return None
        rules = cache.load(kept.key, lambda: compile_anew(load_plugins().pack_sources()))
    except (OSError, TypeError, ValueError):
        return None
    if rules is None:
        return None
    rules.key = kept.key
    rules.notices = tuple(Notice(*fields) for fields in kept.notices)
    rules.plugins = tuple(PluginInfo(*fields) for fields in kept.plugins)
    rules.extensions = LaterPlugins(kept.hooks, load_plugins)
    return rules


def remember(rules: RuleSet, plugins: Plugins, folders: Iterable[str]) -> None:
    """Keep a start for the next one. folders: those and the files with packs that the rules were read from."""
    if not rules.key:
        return
    paths = [path for path in sys.path if path and os.path.exists(path)]
    paths += [*cache.code_files(), *plugins.files]
    for folder in folders:
        paths += [folder, *cache.pack_files(folder)]
    try:
        stamps = tuple(cache.file_stamp(path) for path in dict.fromkeys(paths))
    except OSError:
        return
    if max(stamp[2] for stamp in stamps) > (time.time() - SETTLED_SECONDS) * 1e9:
        return
    active = [one for one in rules.plugins if one.state == "active"]
    hooks = frozenset(hook for one in active for hook in one.hooks)
    kept = _Kept(rules.key, stamps, hooks, tuple(map(tuple, rules.notices)), tuple(map(tuple, rules.plugins)))
    cache.write_kept(_name(), "start", tuple(kept))


def _name() -> str:
    """The file for these surroundings: the interpreter, where it looks for packages, and what the environment blocks."""
    parts = (str(_LAYOUT), sys.version, __file__, os.environ.get(BLOCK_VARIABLE, ""), *sys.path)
    return f"start-{cache.short_name(parts)}.kept"


class LaterPlugins:
    """The plugins of a remembered start: loaded only when one of their hooks is needed."""

    def __init__(self, hooks: frozenset[str], load: Callable[[], Plugins]) -> None:
        self._hooks = hooks
        self._load = load
        self._loaded: Plugins | None = None

    def _plugins(self, hook: str) -> Plugins | None:
        if hook not in self._hooks:
            return None
        if self._loaded is None:
            self._loaded = self._load()
        return self._loaded

    def findings(self, run: Run, rules: RuleSet) -> tuple[list[Sighting], list[Notice]]:
        """Findings that a pattern can't see."""
        plugins = self._plugins("strata_diag_findings")
        return plugins.findings(run, rules) if plugins else ([], [])

    def remedies(self, verdict: Verdict) -> tuple[list[Remedy], list[Notice]]:
        """Further steps for a verdict, put after those of the packs."""
        plugins = self._plugins("strata_diag_remedies")
        return plugins.remedies(verdict) if plugins else ([], [])

    def probes(self) -> tuple[list[tuple[str, Any]], list[Notice]]:
        """Probes of the live machine for `preflight`, each with its plugin's name."""
        plugins = self._plugins("strata_diag_probes")
        return plugins.probes() if plugins else ([], [])

    def sources(self, path: str) -> tuple[Any, list[Notice]]:
        """A binary stream with the log inside a container that a plugin can read, or None."""
        plugins = self._plugins("strata_diag_sources")
        return plugins.sources(path) if plugins else (None, [])

    def readers(self) -> tuple[list[tuple[str, Any]], list[Notice]]:
        """Readers of attachments, each with its plugin's name."""
        plugins = self._plugins("strata_diag_readers")
        return plugins.readers() if plugins else ([], [])

    def catalogues(self) -> tuple[list[tuple[str, Any]], list[Notice]]:
        """Catalogues of translated texts, each with its plugin's name."""
        plugins = self._plugins("strata_diag_catalogues")
        return plugins.catalogues() if plugins else ([], [])
