"""Which packs an author means, by plugin or path: those that are loaded already are only picked out, others are added."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from strata_diag.rulepack import PackSource
from strata_diag.ruleset import Rule, RuleSet
from strata_diag.workshop.errors import WorkshopError

Target = Path | str  # a folder or file with packs, or the name of a plugin that brings some


def pack_files(path: Path) -> list[Path]:
    """The YAML files that a path stands for, resolved. Raises WorkshopError where there is none."""
    found = sorted(one for one in _files(path) if one.is_file())
    if not found:
        what = "holds no pack (*.yaml)" if path.is_dir() else "there is no such file or folder"
        raise WorkshopError(f"{path}: {what}; name a pack file, or a folder with packs")
    return found


def missing(targets: Iterable[Target], loaded: Sequence[PackSource]) -> list[Path]:
    """The paths among the targets that hold no pack of what is loaded anyway. Raises WorkshopError for one without any pack."""
    origins = {source.origin for source in loaded}
    known = {file for source in loaded if isinstance(source.content, Path) for file in _files(source.content)}
    paths = [Path(target) for target in targets if str(target) not in origins and Path(target).exists()]
    return [path for path in paths if not known & set(pack_files(path))]


def _files(path: Path) -> list[Path]:
    return [one.resolve() for one in (path.glob("*.yaml") if path.is_dir() else [path])]


def rules_of(targets: Iterable[Target], rules: RuleSet) -> list[Rule]:
    """The rules of these plugins, files and folders. Raises WorkshopError for what is neither, or holds no rule."""
    by_file: dict[Path, list[Rule]] = {}
    for rule in rules.rules:
        by_file.setdefault(Path(rule.file).resolve(), []).append(rule)
    chosen: dict[str, Rule] = {}
    for target in targets:
        names = _of_plugin(target, rules)
        if names:
            found = [rule for rule in rules.rules if rule.pack in names]
        elif Path(target).exists():
            found = [rule for file in pack_files(Path(target)) for rule in by_file.get(file, ())]
        else:
            plugins = ", ".join(dict.fromkeys(pack.plugin for pack in rules.packs))
            raise WorkshopError(
                f"{target}: is no folder, no file and no plugin with packs; there are the plugins {plugins}"
            )
        if not found:
            raise WorkshopError(f"{target}: holds no rule; a pack has them under `rules:`")
        chosen |= {rule.id: rule for rule in found}
    return list(chosen.values())


def _of_plugin(target: Target, rules: RuleSet) -> set[str]:
    """The packs that the plugin of this name brings; none where there is no such plugin."""
    return {pack.name for pack in rules.packs if pack.plugin == str(target)}
