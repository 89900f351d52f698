"""What is linted: the files of packs, the rule set that they are part of, and the healthy logs to hold them against.

The packs that were asked for are read together with all others that a user has, since a rule wins or loses against those;
what is wrong with the others is not said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from strata_diag.errors import NoRulesError, Problem, RulePackError
from strata_diag.plugins import Plugins, pack_source, settings_sources
from strata_diag.rulepack import PackSource, load_packs
from strata_diag.ruleset import Rule, RuleSet
from strata_diag.settings import Settings
from strata_diag.workshop.errors import WorkshopError
from strata_diag.workshop.lint.codes import CODES
from strata_diag.workshop.lint.healthy import HealthyLogs
from strata_diag.workshop.lint.violations import Fix, Violation
from strata_diag.yamlfile import Items, Spot, Table, parse_yaml

NOWHERE = Spot(0, 0, 0, 0, "")
PATTERN_GROUPS = ("any", "all", "none")


class PackFile(NamedTuple):
    """One file of packs or catalogues, read once more for the places of its parts. text: without a byte order mark."""

    shown: str
    text: str
    content: Table


class PatternPlace(NamedTuple):
    """A pattern of a rule and where it stands. path: the keys and positions that lead to it in the rule's table."""

    number: int
    kind: str
    group: str
    path: tuple[str | int, ...]


class Subject:
    """The packs under lint, and everything that checks ask about them.

    rules: all rules that were loaded; own: those of the packs under lint; files: of the packs under lint; others: the
    catalogues and packs beside them; healthy: None where no corpus is at hand; notices: what could not be looked at, and why.
    """

    def __init__(
        self, rules: RuleSet, files: Sequence[PackFile], others: Sequence[PackFile], healthy: HealthyLogs | None
    ) -> None:
        self.rules = rules
        self.files = tuple(files)
        self.others = tuple(others)
        self.healthy = healthy
        self.notices: list[str] = []
        shown = {file.shown for file in files}
        self.own = tuple(rule for rule in rules.rules if rule.file in shown)
        self._tables = {(file.shown, table.line): table for file in files for table in rule_tables(file.content)}

    def table(self, rule: Rule) -> Table:
        """The table of a rule as its author wrote it, before any vocabulary; an empty one where it is in no file."""
        return self._tables.get((rule.file, rule.line), Table(rule.line))

    def spot(self, rule: Rule, *path: str | int) -> Spot:
        """Where a part of a rule stands; where there is no such part, the nearest one around it."""
        table = self.table(rule)
        return spot_of(table, path) or Spot(rule.line, table.column, 0, 0, "")

    def violation(
        self,
        code: str,
        rule: Rule,
        path: tuple[str | int, ...],
        what: str,
        advice: str,
        fix: Fix | None = None,
    ) -> Violation:
        """A violation of a rule, at the part that `path` leads to."""
        spot = self.spot(rule, *path)
        return Violation(rule.file, spot.line, spot.column, code, f"the rule `{rule.id}` {what}", advice, rule.id, fix)

    def patterns(self, rule: Rule) -> Iterator[PatternPlace]:
        """The patterns of a rule with their places, in the order any, all, none."""
        for group, clauses in zip(PATTERN_GROUPS, (rule.any, rule.all, rule.none), strict=True):
            for index, clause in enumerate(clauses):
                several = clause.kind in ("sequence", "near")
                for position, number in enumerate(clause.patterns):
                    path = (group, index, clause.kind, *((position,) if several else ()))
                    yield PatternPlace(number, clause.kind, group, path)

    @cached_property
    def own_patterns(self) -> dict[str, list[tuple[Rule, PatternPlace]]]:
        """Every distinct pattern of the packs under lint, with the rules that hold it."""
        found: dict[str, list[tuple[Rule, PatternPlace]]] = {}
        for rule in self.own:
            for place in self.patterns(rule):
                found.setdefault(self.rules.patterns[place.number].source, []).append((rule, place))
        return found


def rule_tables(content: Table) -> list[Table]:
    """The tables of the rules of a pack; none for a catalogue."""
    rules = content.get("rules")
    return [table for table in rules if isinstance(table, Table)] if isinstance(rules, Items) else []


def spot_of(table: Table, path: Sequence[str | int]) -> Spot | None:
    """Where the part stands to which keys and positions lead, or the last one on the way that exists; None for no step."""
    value: Any = table
    spot = None
    for step in path:
        if isinstance(value, Table) and step in value.spots:
            spot, value = value.spots[str(step)], value[str(step)]
        elif isinstance(value, Items) and isinstance(step, int) and step < len(value):
            spot, value = value.spots[step], value[step]
        else:
            break
    return spot


class Loaded(NamedTuple):
    """What came of reading: a subject where the packs could be loaded, else the problems; `files` under lint in any case."""

    subject: Subject | None
    problems: tuple[Problem, ...]
    files: tuple[PackFile, ...]


class Wishes(NamedTuple):
    """What is linted and how. targets: folders, files, names of plugins; none for all packs that a user has.

    codes: what is looked for; corpus: a folder with labelled logs, None for our own where this is a checkout; more: folders
    and files with packs that are loaded and not linted; settings: what a project says about its rules.
    """

    targets: tuple[str, ...] = ()
    codes: frozenset[str] = frozenset(CODES)
    corpus: Path | None = None
    builtin: bool = True
    no_plugins: tuple[str, ...] = ()
    more: tuple[Path, ...] = ()
    settings: Settings = Settings()


def load_subject(wishes: Wishes, healthy: HealthyLogs | None = None) -> Loaded:
    """Read the packs of the targets and all others with them.

    Raises WorkshopError for a target that is no path and no plugin.
    """
    plugins = Plugins(blocked=wishes.no_plugins, with_builtin=wishes.builtin)
    targets = wishes.targets
    sources = [*plugins.pack_sources(), *settings_sources(wishes.settings), *map(pack_source, wishes.more)]
    wanted: list[Path] = []
    for target in targets:
        named = [source for source in sources if source.origin == target]
        if named:
            wanted += [source.content for source in named if isinstance(source.content, Path)]
            continue
        wanted.append(_existing(target, sources))
        if not any(_within(wanted[-1], source.content) for source in sources):
            sources.append(pack_source(Path(target)))
    rules, problems = _rules(sources)
    shown = [path for source in sources for path in _paths(source)]
    linted = [path for path in shown if not targets or any(_within(path, one) for one in wanted)]
    files = tuple(file for path in linted if (file := _read(path)) is not None)
    if rules is None:
        return Loaded(None, problems, files)
    rules.extensions = plugins
    rest = [file for path in shown if path not in linted and (file := _read(path)) is not None]
    return Loaded(Subject(rules, files, rest, healthy), (), files)


def _existing(target: str, sources: Sequence[PackSource]) -> Path:
    path = Path(target)
    if path.is_file() or (path.is_dir() and any(path.glob("*.y*ml"))):
        return path
    if path.is_dir():
        raise WorkshopError(f"{target}: holds no pack (*.yaml); name the folder in which the packs stand")
    names = ", ".join(dict.fromkeys(source.origin for source in sources))
    raise WorkshopError(f"{target}: is no folder, no file and no plugin with packs; there are the plugins {names}")


def _within(path: Path, folder: Path | Mapping[str, Any]) -> bool:
    return isinstance(folder, Path) and path.resolve().is_relative_to(folder.resolve())


def _rules(sources: list[PackSource]) -> tuple[RuleSet | None, tuple[Problem, ...]]:
    try:
        return load_packs(sources), ()
    except RulePackError as error:
        return None, error.problems
    except NoRulesError as error:
        raise WorkshopError(str(error)) from None


def _paths(source: PackSource) -> list[Path]:
    if not isinstance(source.content, Path):
        return []
    if source.content.is_dir():
        return sorted(source.content.glob("*.yaml"))
    return [source.content] if source.content.suffix == ".yaml" else []


def _read(path: Path) -> PackFile | None:
    """A file for its places; None where it can't be read, which loading has said already."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    content = parse_yaml(text, str(path), [])
    return PackFile(str(path), text, content) if content is not None else None
