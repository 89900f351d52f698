"""Reading pack files: which file holds what, and the order in which the parts come together."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path

from strata_diag.errors import NoRulesError, Problem, ProblemCode, RulePackError
from strata_diag.model import Status
from strata_diag.rulepack import keys
from strata_diag.rulepack.build import Draft, Entry, expand_rule
from strata_diag.rulepack.link import link_rules
from strata_diag.rulepack.overrides import Override, apply_overrides, read_overrides, silences
from strata_diag.rulepack.remedies import read_remedy
from strata_diag.rulepack.sources import PackSource
from strata_diag.ruleset import Cause, PackInfo, RemedyTemplate, RuleSet
from strata_diag.settings import read_settings
from strata_diag.yamlfile import Items, Table, parse_yaml, read_yaml

FLAGS = "flags"  # the options of programs, by which `rules lint` checks the texts of packs; nothing else asks for them
CATALOGUES = ("causes.yaml", "remedies.yaml", "vocabularies.yaml")  # shared by all packs; read before them


class _Gathered:
    """What has been read so far, from every file."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.causes: dict[str, Cause] = {}
        self.cause_places: dict[str, tuple[str, int]] = {}
        self.remedies: dict[str, RemedyTemplate] = {}
        self.vocabularies: dict[str, tuple[Entry, ...]] = {}
        self.tracks: dict[str, tuple[str, ...]] = {}
        self.packs: list[tuple[PackSource, str, Table]] = []
        self.overrides: list[Override] = []
        self.searched: list[str] = []


def compile_packs(sources: Iterable[PackSource]) -> RuleSet:
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
                tuple(content.get("engines", ())) if not keys.texts(content.get("engines", [])) else (),
            )
        )
    _check_pack_names(gathered)
    _check_causes(gathered)
    names = (gathered.causes, gathered.remedies)
    drafts = apply_overrides(drafts, gathered.overrides, *names, gathered.problems)
    rules, patterns = link_rules(drafts, *names, gathered.tracks, gathered.problems)
    if rules and not gathered.problems:
        _check_needed_causes(gathered)
    if gathered.problems:
        raise RulePackError(gathered.problems)
    if not rules:
        raise NoRulesError(gathered.searched)
    return RuleSet(rules, patterns, gathered.causes, gathered.remedies, gathered.tracks, tuple(infos))


def _files(source: PackSource, gathered: _Gathered) -> list[tuple[str, Table]]:
    """The tables of a source with the names shown in messages; catalogues first, then by name."""
    if not isinstance(source.content, Path):
        shown = f"a mapping of the plugin {source.origin}"
        gathered.searched.append(shown)
        written = _as_yaml(source.content, shown, gathered.problems)
        content = parse_yaml(written, shown, gathered.problems) if written else None
        return [(shown, content)] if content is not None else []
    if source.content.suffix == ".toml":  # a settings file, whose packs are sources of their own
        settings = read_settings(source.content)
        gathered.overrides += silences(str(source.content), settings.silence if settings else ())
        return []
    gathered.searched.append(str(source.content))
    if source.content.is_dir():
        paths = sorted(source.content.glob("*.yaml"), key=lambda path: (path.name not in CATALOGUES, path.name))
        misnamed = sorted(source.content.glob("*.yml"))
        gathered.problems += [
            Problem(
                str(path), 0, "ends in .yml and would be left out", "rename it to .yaml", code=ProblemCode.FILE_NAME
            )
            for path in misnamed
        ]
    else:
        paths = [source.content]
    read = [(str(path), read_yaml(path, str(path), gathered.problems)) for path in paths]
    return [(shown, content) for shown, content in read if content is not None]


def _as_yaml(content: object, shown: str, problems: list[Problem]) -> str:
    """What a plugin handed over as the text of a pack file, so that it is checked like one; empty where it can't be."""
    import yaml  # noqa: PLC0415 - only a plugin that hands over mappings needs the writer

    if not isinstance(content, Mapping):
        advice = "hand over a Path, or a mapping shaped like a pack file"
        problems.append(Problem(shown, 0, f"is a {type(content).__name__} and no mapping", advice))
        return ""
    try:
        return yaml.safe_dump(_plain(content), sort_keys=False)
    except (yaml.YAMLError, RecursionError) as error:
        what = f"holds something that no pack file can hold ({error!s:.100})"
        problems.append(Problem(shown, 0, what, "use texts, numbers, truth values, lists and mappings"))
        return ""


def _plain(value: object) -> object:
    """A copy in the types that YAML knows: no read-only mapping, tuple or enumeration, and no part that is shared."""
    if isinstance(value, Mapping):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, str) else value


def _sort_in(source: PackSource, shown: str, content: Table, gathered: _Gathered) -> None:
    """Put one file where it belongs: a catalogue's entries into the catalogues, a pack aside until all are known."""
    file = shown
    if "pack" in content:
        gathered.packs.append((source, shown, content))
        return
    kinds = {"causes": _read_causes, "remedies": _read_remedies, "vocabularies": _read_vocabularies}
    advice = (
        "a file holds a pack (`pack: name`) or the catalogues `causes:`, `remedies:`, `vocabularies:`, or `overrides:`"
    )
    if not content:
        gathered.problems.append(Problem(file, content.line, "holds nothing", advice, code=ProblemCode.UNREADABLE))
    for key, value in content.items():
        if key == "overrides":
            gathered.overrides += read_overrides(file, content.lines[key], value, gathered.problems)
        elif key == FLAGS:
            gathered.problems += _flag_problems(file, content)
        elif key not in kinds:
            near = difflib.get_close_matches(key, ("pack", "overrides", FLAGS, *kinds), 2)
            known = f"did you mean `{near[0]}`?" if near else advice
            instead = near[0] if len(near) == 1 and near[0] not in content else ""
            what = f"unknown key `{key}` at the top"
            gathered.problems.append(content.problem(file, key, what, known, ProblemCode.UNKNOWN_KEY, instead))
        elif not isinstance(value, Table):
            what = f"`{key}` at the top is no mapping"
            advice = "write `name: ...` lines under it, indented"
            gathered.problems.append(content.problem(file, key, what, advice, ProblemCode.UNUSABLE_VALUE))
        else:
            kinds[key](file, value, gathered)


def _flag_problems(file: str, content: Table) -> list[Problem]:
    """What is wrong with a list of the options that programs have."""
    programs = content[FLAGS]
    good = isinstance(programs, Table) and not any(keys.texts(names) for names in programs.values())
    advice = "write `program: [--option, ...]` lines under it"
    what = f"`{FLAGS}` is no mapping of lists"
    return [] if good else [content.problem(file, FLAGS, what, advice, ProblemCode.UNUSABLE_VALUE)]


def _read_causes(file: str, table: Table, gathered: _Gathered) -> None:
    for identity, found in table.items():
        if not isinstance(found, Table):
            gathered.problems.append(
                table.problem(
                    file,
                    identity,
                    f"the cause `{identity}` is no mapping",
                    "give it status, title, lasting, retry, attribution",
                    ProblemCode.UNUSABLE_VALUE,
                )
            )
            continue
        if not keys.check_table(found, keys.CAUSE, f"the cause `{identity}`", file, gathered.problems):
            continue
        if identity in gathered.causes:
            gathered.problems.append(
                table.problem(
                    file,
                    identity,
                    f"the cause `{identity}` exists already",
                    "a pack may add causes, not change them",
                    ProblemCode.DUPLICATE_ID,
                )
            )
            continue
        gathered.cause_places[identity] = (file, table.lines[identity])
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
                table.problem(
                    file,
                    action,
                    f"the remedy `{action}` exists already",
                    "choose another id",
                    ProblemCode.DUPLICATE_ID,
                )
            )
            continue
        gathered.remedies[action] = remedy


def _read_vocabularies(file: str, table: Table, gathered: _Gathered) -> None:
    for vocabulary, entries in table.items():
        label = f"an entry of the vocabulary `{vocabulary}`"
        before = len(gathered.problems)
        made = []
        for found, place in zip(entries, entries.lines, strict=True) if isinstance(entries, Items) else ():
            if not isinstance(found, Table):
                what, advice = f"{label} is no mapping ({found!r:.60})", "give it id, text, sample, cause, title"
                gathered.problems.append(Problem(file, place, what, advice, code=ProblemCode.UNUSABLE_VALUE))
            elif keys.check_table(found, keys.ENTRY, label, file, gathered.problems):
                made.append(Entry(found["id"], found["text"], found["sample"], found["cause"], found["title"]))
        if not made and len(gathered.problems) == before:
            what = f"the vocabulary `{vocabulary}` has no usable entry"
            advice = "give it a list of entries"
            gathered.problems.append(table.problem(file, vocabulary, what, advice, ProblemCode.UNUSABLE_VALUE))
        if vocabulary in gathered.vocabularies:
            what = f"the vocabulary `{vocabulary}` exists already"
            advice = "choose another name"
            gathered.problems.append(table.problem(file, vocabulary, what, advice, ProblemCode.DUPLICATE_ID))
        gathered.vocabularies.setdefault(vocabulary, tuple(made))


def _read_pack(file: str, content: Table, gathered: _Gathered) -> list[Draft]:
    keys.check_table(content, keys.PACK, "the pack", file, gathered.problems)
    if isinstance(content.get("remedies"), Table):
        _read_remedies(file, content["remedies"], gathered)
    if "overrides" in content:
        found = content["overrides"]
        gathered.overrides += read_overrides(file, content.lines["overrides"], found, gathered.problems)
    phases = content["phases"] if isinstance(content.get("phases"), Table) else Table(0)
    for track, names in phases.items():
        if keys.texts(names):
            gathered.problems.append(
                phases.problem(
                    file,
                    track,
                    f"the phases of the track `{track}` are no list of names",
                    "write them in the order in which a start goes through them",
                    ProblemCode.UNUSABLE_VALUE,
                )
            )
        elif track in gathered.tracks:
            gathered.problems.append(
                phases.problem(
                    file,
                    track,
                    f"the track `{track}` exists already",
                    "choose another name",
                    ProblemCode.DUPLICATE_ID,
                )
            )
        else:
            gathered.tracks[track] = tuple(names)
    drafts: list[Draft] = []
    rules = content.get("rules")
    for table in rules if isinstance(rules, list) else []:
        if isinstance(table, Table):
            drafts += expand_rule(file, content, table, gathered.vocabularies, gathered.problems)
    return drafts


def _check_causes(gathered: _Gathered) -> None:
    for identity, cause in gathered.causes.items():
        file, line = gathered.cause_places[identity]
        gathered.problems += [
            Problem(
                file,
                line,
                f"the cause `{identity}` names the unknown remedy `{action}`",
                "declare it in remedies.yaml",
                code=ProblemCode.UNKNOWN_REMEDY,
            )
            for action in cause.remedies
            if action not in gathered.remedies
        ]


def _check_needed_causes(gathered: _Gathered) -> None:
    """Every log has a verdict, so the causes of PASS and UNKNOWN must be there."""
    gathered.problems += [
        Problem(
            ", ".join(gathered.searched),
            0,
            f"the cause `{needed}` is missing",
            "add a causes.yaml that has it",
            code=ProblemCode.UNKNOWN_CAUSE,
        )
        for needed in ("none", "unknown")
        if needed not in gathered.causes
    ]


def _check_pack_names(gathered: _Gathered) -> None:
    first: dict[str, str] = {}
    for source, file, content in gathered.packs:
        name = str(content.get("pack"))
        if name in first:
            gathered.problems.append(
                content.problem(
                    file,
                    "pack",
                    f"the pack `{name}` exists already ({first[name]})",
                    "choose another name",
                    ProblemCode.DUPLICATE_ID,
                )
            )
        first[name] = file
        if isinstance(source.content, Path) and Path(file).stem != name:
            gathered.problems.append(
                content.problem(
                    file,
                    "pack",
                    f"the pack calls itself `{name}`",
                    f"name the file {name}.yaml: a rule's id must lead to its file",
                    ProblemCode.FILE_NAME,
                )
            )
