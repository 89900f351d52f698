"""Which packs an author means: paths that are loaded already are only picked out, others are added."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from strata_diag.ruleset import Rule, RuleSet
from strata_diag.workshop.errors import WorkshopError


def pack_files(path: Path) -> list[Path]:
    """The YAML files that a path stands for, resolved. Raises WorkshopError where there is none."""
    named = sorted(path.glob("*.yaml")) if path.is_dir() else [path]
    found = [one.resolve() for one in named if one.is_file()]
    if not found:
        what = "holds no pack (*.yaml)" if path.is_dir() else "there is no such file or folder"
        raise WorkshopError(f"{path}: {what}; name a pack file, or a folder with packs")
    return found


def missing(paths: Iterable[Path], loaded: RuleSet | None) -> list[Path]:
    """The paths that hold no pack which is loaded already."""
    known = {Path(pack.file).resolve() for pack in loaded.packs} if loaded else set()
    return [path for path in paths if not known & set(pack_files(path))]


def rules_of(paths: Iterable[Path], rules: RuleSet) -> list[Rule]:
    """The rules that stand in these files and folders. Raises WorkshopError where a path holds none."""
    by_file: dict[Path, list[Rule]] = {}
    for rule in rules.rules:
        by_file.setdefault(Path(rule.file).resolve(), []).append(rule)
    chosen: dict[str, Rule] = {}
    for path in paths:
        found = [rule for file in pack_files(path) for rule in by_file.get(file, ())]
        if not found:
            raise WorkshopError(f"{path}: holds no rule; a pack has them under `rules:`")
        chosen |= {rule.id: rule for rule in found}
    return list(chosen.values())
