"""Finding, blocking and calling plugins, one at a time, so that one that raises takes nothing else down.

A plugin is a module or object with hooks of `hookspecs`, found by its entry point in the group `strata_diag`, or registered
here because it ships with the package. It passes through three states: active, blocked (by name), broken (its import or one
of its hooks raised; the notice names it).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint, entry_points, version
from pathlib import Path

import pluggy

from strata_diag import builtin, hookspecs
from strata_diag.model import Notice, Remedy, Run, Sighting, Verdict
from strata_diag.recall import BLOCK_VARIABLE, remember
from strata_diag.record import TYPE_CHECKING
from strata_diag.rulepack import PackSource, load_packs
from strata_diag.rulepack.announce import announcements
from strata_diag.ruleset import PluginInfo, RuleSet
from strata_diag.settings import Settings

if TYPE_CHECKING:
    from typing import Any

BUILTIN = "builtin"
DISTRIBUTION = "strata-diag"  # whose own entry points are the plugins that ship with it


class Plugins:
    """The plugins of one rule set. Make one a load; calls are safe from several threads."""

    def __init__(self, *, blocked: Iterable[str] = (), discover: bool = True, with_builtin: bool = True) -> None:
        self.notices: list[Notice] = []
        self.files: list[str] = []  # where the plugins are declared: a change there is another set of plugins
        self._states: dict[str, str] = {}
        self._versions: dict[str, str] = {}
        self._manager = pluggy.PluginManager(hookspecs.PROJECT)
        self._manager.add_hookspecs(hookspecs)
        self._blocked = {*blocked, *_blocked_by_environment()}
        if with_builtin:
            self._register(BUILTIN, lambda: builtin, version(DISTRIBUTION))
        if discover:
            for found in sorted(entry_points(group=hookspecs.PROJECT), key=lambda point: point.name):
                if not with_builtin and _is_ours(found):
                    continue  # what ships with us is ours, and its packs name those that were left out
                self._register(found.name, found.load, _version_of(found))
                self.files += _files_of(found)
        for name in self._blocked - self._states.keys() - {"*"}:
            self.notices.append(
                Notice("plugin", f"the plugin {name} should be left out, but there is none of that name")
            )

    def _register(self, name: str, load: Callable[[], Any], its_version: str) -> None:
        self._versions[name] = its_version
        if name in self._blocked or ("*" in self._blocked and name != BUILTIN):
            self._states[name] = "blocked"
            return
        try:
            self._manager.register(load(), name)
            self._manager.check_pending()
        except Exception as error:  # noqa: BLE001 - whatever a stranger's import raises
            self._manager.unregister(name=name)
            self._break(name, "could not be loaded", error)
            return
        self._states[name] = "active"

    def _break(self, name: str, what: str, error: Exception) -> Notice:
        self._states[name] = "broken"
        notice = Notice("plugin", f"the plugin {name} {what}: {type(error).__name__}: {error}")
        self.notices.append(notice)
        return notice

    def _each(self, hook: str, arguments: dict[str, Any]) -> tuple[list[tuple[str, Any]], list[Notice]]:
        """(plugin, result) of every plugin that implements a hook, and a notice for each that raised."""
        results, notices = [], []
        everyone = [plugin for _, plugin in self._manager.list_name_plugin()]
        for name, plugin in self._manager.list_name_plugin():
            if plugin is None or not hasattr(plugin, hook):
                continue
            caller = self._manager.subset_hook_caller(hook, [other for other in everyone if other is not plugin])
            try:
                results += [(name, result) for result in caller(**arguments)]
            except Exception as error:  # noqa: BLE001 - a plugin's fault is a notice
                notices.append(Notice("plugin", f"the plugin {name} raised in {hook}: {type(error).__name__}: {error}"))
        return results, notices

    def pack_sources(self) -> list[PackSource]:
        """The packs of every plugin, the built-in ones first."""
        results, notices = self._each("strata_diag_rule_packs", {})
        self.notices += notices
        found = [PackSource(name, content) for name, contents in results for content in contents]
        return sorted(found, key=lambda source: source.origin != BUILTIN)

    def infos(self, rules: RuleSet) -> tuple[PluginInfo, ...]:
        """Every plugin that was found, with its hooks and the packs that it brought to this rule set."""
        return tuple(
            PluginInfo(
                name,
                self._versions[name],
                tuple(
                    sorted(
                        hook
                        for hook in dir(hookspecs)
                        if hook.startswith("strata_diag_") and hasattr(self._manager.get_plugin(name), hook)
                    )
                ),
                tuple(pack.name for pack in rules.packs if pack.plugin == name),
                state,
            )
            for name, state in self._states.items()
        )

    def findings(self, run: Run, rules: RuleSet) -> tuple[list[Sighting], list[Notice]]:
        """What plugins see in a run; one that names no rule of a pack is left out with a notice."""
        results, notices = self._each("strata_diag_findings", {"run": run, "rules": rules})
        sightings = []
        for name, found in results:
            for sighting in found:
                rule = rules.by_id.get(sighting.rule)
                if rule is None or not rule.found_by:
                    notices.append(
                        Notice(
                            "plugin", f"the plugin {name} found {sighting.rule}, which no pack declares with `found_by`"
                        )
                    )
                else:
                    sightings.append(sighting)
        return sightings, notices

    def remedies(self, verdict: Verdict) -> tuple[list[Remedy], list[Notice]]:
        """Further steps for a verdict."""
        results, notices = self._each("strata_diag_remedies", {"verdict": verdict})
        return [remedy for _, found in results for remedy in found], notices

    def probes(self) -> tuple[list[tuple[str, Any]], list[Notice]]:
        """(plugin, probe) of every probe of the live machine, asked for at each preflight."""
        results, notices = self._each("strata_diag_probes", {})
        return [(name, probe) for name, found in results for probe in found], notices

    def sources(self, path: str) -> tuple[Any, list[Notice]]:
        """The stream of the first plugin that can read a container, or None."""
        results, notices = self._each("strata_diag_sources", {"path": path})
        return next((stream for _, stream in results if stream is not None), None), notices

    def readers(self) -> tuple[list[tuple[str, Any]], list[Notice]]:
        """(plugin, reader) of every reader of attachments."""
        results, notices = self._each("strata_diag_readers", {})
        return [(name, reader) for name, found in results for reader in found], notices

    def catalogues(self) -> tuple[list[tuple[str, Any]], list[Notice]]:
        """(plugin, catalogues by language) of every plugin that translates texts."""
        return self._each("strata_diag_catalogues", {})


def _blocked_by_environment() -> set[str]:
    return {name.strip() for name in os.environ.get(BLOCK_VARIABLE, "").split(",") if name.strip()}


def _is_ours(point: EntryPoint) -> bool:
    return point.dist is not None and point.dist.name == DISTRIBUTION


def _files_of(point: EntryPoint) -> list[str]:
    """The file that declares an entry point, and the module that it names, as far as the distribution tells."""
    if point.dist is None:
        return []
    module = point.module.replace(".", "/")
    wanted = ("entry_points.txt", "direct_url.json", f"{module}.py", f"{module}/__init__.py")
    files = [str(file.locate()) for file in point.dist.files or () if str(file).endswith(wanted)]
    return [file for file in files if Path(file).exists()]


def _version_of(point: EntryPoint) -> str:
    return point.dist.version if point.dist else ""


def load_rules_of_all(
    paths: list[str], blocked: tuple[str, ...], *, builtin: bool, discover: bool, settings: Settings | None
) -> RuleSet:
    """The rules of all plugins, of the settings and of `paths`, as `api.load_rules` describes."""
    plugins = Plugins(blocked=blocked, discover=discover, with_builtin=builtin)
    given = settings or Settings()
    sources = [*plugins.pack_sources(), *settings_sources(given)]
    sources += [pack_source(Path(path)) for path in paths]
    rules = load_packs(sources)
    rules.extensions = plugins
    rules.notices = (*plugins.notices, *given.notices, *announcements(rules))
    rules.plugins = plugins.infos(rules)
    if builtin and discover and not (paths or blocked or any(given)):
        remember(rules, plugins, [os.fspath(one.content) for one in sources if isinstance(one.content, Path)])
    return rules


def pack_source(path: Path) -> PackSource:
    """A folder or file that was named by hand."""
    return PackSource("--rules", path)


def settings_sources(settings: Settings) -> list[PackSource]:
    """The packs that settings name, and the settings file itself where it silences rules."""
    files = [settings.file] if settings.silence else []
    return [PackSource("settings", Path(path)) for path in (*settings.rules, *files)]
