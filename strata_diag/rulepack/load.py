"""Reading pack files: which file holds what, and the order in which the parts come together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from strata_diag.errors import NoRulesError, Problem, RulePackError
from strata_diag.model import Status
from strata_diag.rulepack import keys
from strata_diag.rulepack.build import Draft, Entry, expand_rule, read_remedy
from strata_diag.rulepack.link import link_rules
from strata_diag.ruleset import Cause, PackInfo, RemedyTemplate, RuleSet
from strata_diag.yamlfile import Table, parse_yaml, read_yaml

CATALOGUES = ("causes.yaml", "remedies.yaml", "vocabularies.yaml")  # shared by all packs; read before them


class PackSource(NamedTuple):
    """A folder or a file with packs, or a mapping shaped like a pack file, and the plugin that brought it."""

    origin: str
    content: Path | Mapping[str, Any]


class _Gathered:
    """What has been read so far, from every file."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.causes: dict[str, Cause] = {}
        self.remedies: dict[str, RemedyTemplate] = {}
        self.vocabularies: dict[str, tuple[Entry, ...]] = {}
        self.tracks: dict[str, tuple[str, ...]] = {}
        self.packs: list[tuple[PackSource, str, Table]] = []
        self.searched: list[str] = []


def load_packs(sources: Iterable[PackSource]) -> RuleSet:
    """Read, check and link every pack of every source.

    Raises RulePackError with all problems of all files at once, NoRulesError where not a single rule was found.
    """
    gathered = _Gathered()
    for source in sources:
        for shown, content in _files(source, gathered):
            _sort_in(source, shown, content, gathered)
    drafts: list[Draft] = []
    infos: list[PackInfo] = []
    for source, shown, content in gathered.packs:
        made = _read_pack(shown, content, gathered)
        drafts += made
        infos.append(
            PackInfo(
                content.get("pack", shown),
                content.get("version", 0),
                content.get("about", ""),
                shown,
                source.origin,
                len(made),
            )
        )
    _check_pack_names(gathered)
    rules, patterns = link_rules(drafts, gathered.causes, gathered.remedies, gathered.tracks, gathered.problems)
    if gathered.problems:
        raise RulePackError(gathered.problems)
    if not rules:
        raise NoRulesError(gathered.searched)
    return RuleSet(rules, patterns, gathered.causes, gathered.remedies, gathered.tracks, tuple(infos))


def _files(source: PackSource, gathered: _Gathered) -> list[tuple[str, Table]]:
    """The tables of a source with the names shown in messages; catalogues first, then by name."""
    if not isinstance(source.content, Path):
        import yaml  # noqa: PLC0415 - only a plugin that hands over mappings needs the writer

        shown = f"a mapping of the plugin {source.origin}"
        gathered.searched.append(shown)
        content = parse_yaml(yaml.safe_dump(dict(source.content), sort_keys=False), shown, gathered.problems)
        return [(shown, content)] if content is not None else []
    gathered.searched.append(str(source.content))
    if source.content.is_dir():
        paths = sorted(source.content.glob("*.yaml"), key=lambda path: (path.name not in CATALOGUES, path.name))
        misnamed = sorted(source.content.glob("*.yml"))
        gathered.problems += [
            Problem(str(path), 0, "ends in .yml and would be left out", "rename it to .yaml") for path in misnamed
        ]
    else:
        paths = [source.content]
    read = [(str(path), read_yaml(path, str(path), gathered.problems)) for path in paths]
    return [(shown, content) for shown, content in read if content is not None]


def _sort_in(source: PackSource, shown: str, content: Table, gathered: _Gathered) -> None:
    """Put one file where it belongs: a catalogue's entries into the catalogues, a pack aside until all are known."""
    file = shown
    if "pack" in content:
        gathered.packs.append((source, shown, content))
        return
    kinds = {"causes": _read_causes, "remedies": _read_remedies, "vocabularies": _read_vocabularies}
    for key, value in content.items():
        line = content.lines[key]
        if key not in kinds or not isinstance(value, Table):
            advice = "a file holds a pack (`pack: name`) or the catalogues `causes:`, `remedies:`, `vocabularies:`"
            gathered.problems.append(Problem(file, line, f"unknown key `{key}` at the top", advice))
            continue
        kinds[key](file, value, gathered)


def _read_causes(file: str, table: Table, gathered: _Gathered) -> None:
    for identity, found in table.items():
        if not isinstance(found, Table):
            gathered.problems.append(
                Problem(
                    file,
                    table.lines[identity],
                    f"the cause `{identity}` is no mapping",
                    "give it status, title, lasting, retry, attribution",
                )
            )
            continue
        if not keys.check_table(found, keys.CAUSE, f"the cause `{identity}`", file, gathered.problems):
            continue
        if identity in gathered.causes:
            gathered.problems.append(
                Problem(
                    file,
                    table.lines[identity],
                    f"the cause `{identity}` exists already",
                    "a pack may add causes, not change them",
                )
            )
            continue
        gathered.causes[identity] = Cause(
            identity, Status(found["status"]), found["title"], found["lasting"], found["retry"], found["attribution"],
            found.get("about", ""), tuple(found.get("remedies", ())),
        )  # fmt: skip


def _read_remedies(file: str, table: Table, gathered: _Gathered) -> None:
    for action, found in table.items():
        remedy = read_remedy(file, table.lines[action], action, found, gathered.problems)
        if remedy is None:
            continue
        if action in gathered.remedies:
            gathered.problems.append(
                Problem(file, table.lines[action], f"the remedy `{action}` exists already", "choose another id")
            )
            continue
        gathered.remedies[action] = remedy


def _read_vocabularies(file: str, table: Table, gathered: _Gathered) -> None:
    for vocabulary, entries in table.items():
        made = []
        for found in entries if isinstance(entries, list) else []:
            if isinstance(found, Table) and keys.check_table(
                found, keys.ENTRY, f"an entry of the vocabulary `{vocabulary}`", file, gathered.problems
            ):
                made.append(Entry(found["id"], found["text"], found["sample"], found["cause"], found["title"]))
        if not made:
            gathered.problems.append(
                Problem(
                    file,
                    table.lines[vocabulary],
                    f"the vocabulary `{vocabulary}` has no usable entry",
                    "give it a list of entries",
                )
            )
        gathered.vocabularies[vocabulary] = tuple(made)


def _read_pack(file: str, content: Table, gathered: _Gathered) -> list[Draft]:
    keys.check_table(content, keys.PACK, "the pack", file, gathered.problems)
    if isinstance(content.get("remedies"), Table):
        _read_remedies(file, content["remedies"], gathered)
    phases = content["phases"] if isinstance(content.get("phases"), Table) else Table(0)
    for track, names in phases.items():
        if keys.texts(names):
            gathered.problems.append(
                Problem(
                    file,
                    phases.lines[track],
                    f"the phases of the track `{track}` are no list of names",
                    "write them in the order in which a start goes through them",
                )
            )
        elif track in gathered.tracks:
            gathered.problems.append(
                Problem(file, phases.lines[track], f"the track `{track}` exists already", "choose another name")
            )
        else:
            gathered.tracks[track] = tuple(names)
    drafts: list[Draft] = []
    rules = content.get("rules")
    for table in rules if isinstance(rules, list) else []:
        if isinstance(table, Table):
            drafts += expand_rule(file, content, table, gathered.vocabularies, gathered.problems)
    return drafts


def _check_pack_names(gathered: _Gathered) -> None:
    first: dict[str, str] = {}
    for source, file, content in gathered.packs:
        name = str(content.get("pack"))
        if name in first:
            gathered.problems.append(
                Problem(
                    file,
                    content.lines["pack"],
                    f"the pack `{name}` exists already ({first[name]})",
                    "choose another name",
                )
            )
        first[name] = file
        if isinstance(source.content, Path) and Path(file).stem != name:
            gathered.problems.append(
                Problem(
                    file,
                    content.lines["pack"],
                    f"the pack calls itself `{name}`",
                    f"name the file {name}.yaml: a rule's id must lead to its file",
                )
            )
