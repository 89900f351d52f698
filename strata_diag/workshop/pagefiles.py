"""A folder of pages: one a rule, cause and remedy, and the overviews that lead to them.

Comes in: a rule set, and which of its rules are wanted. Goes out: files by their path, the same for the same rules wherever they
are made. Only files that were made here are ever replaced or removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from strata_diag.model import cause_page, remedy_page, rule_page
from strata_diag.render.markdown import code
from strata_diag.ruleset import PackInfo, Rule, RuleSet
from strata_diag.workshop.errors import WorkshopError
from strata_diag.workshop.listing import packs_by_name, relations, steps
from strata_diag.workshop.pagemarkdown import MADE_BY, ORPHAN, OVERVIEW, pack_page, page_markdown, prose, relative
from strata_diag.workshop.pages import page_of_cause, page_of_remedy, page_of_rule

SUFFIX = ".md"
INDEX = "index.md"  # a folder's own one, where it has one, is left as it is
FOLDERS = (
    "rules",
    "packs",
    "causes",
    "remedies",
)  # what lies in them and was made here is removed when it has no subject


class Subjects(NamedTuple):
    """What there are pages about: rules with their packs, and what these rules name."""

    rules: tuple[Rule, ...]
    packs: tuple[PackInfo, ...]
    causes: tuple[str, ...]
    remedies: tuple[str, ...]

    @property
    def pages(self) -> frozenset[str]:
        """The ids of all pages, overviews aside."""
        named = [rule_page(rule.id) for rule in self.rules]
        named += [pack_page(pack.name) for pack in self.packs]
        named += [cause_page(cause) for cause in self.causes]
        return frozenset([*named, *(remedy_page(action) for action in self.remedies)])


class Written(NamedTuple):
    """What became of a folder: files in all, how many of them changed, and how many others were removed."""

    files: int
    changed: int
    removed: int


def subjects(rules: RuleSet, chosen: Sequence[Rule] | None = None) -> Subjects:
    """What a folder of pages is about. chosen: some of the rules; None for all rules, causes and remedies of the set."""
    packs = packs_by_name(rules)
    if chosen is None:
        return Subjects(tuple(rules.rules), tuple(packs.values()), tuple(rules.causes), tuple(rules.remedies))
    named = dict.fromkeys(rule.pack for rule in chosen)
    causes = dict.fromkeys(rule.cause for rule in chosen if rule.cause)
    of_causes = (action for cause in causes for action in rules.causes[cause].remedies)
    remedies = dict.fromkeys([*(action for rule in chosen for action in rule.remedies), *of_causes])
    return Subjects(tuple(chosen), tuple(packs[name] for name in named), tuple(causes), tuple(remedies))


def files_of(rules: RuleSet, wanted: Subjects) -> dict[str, str]:
    """Every file by its path inside the folder, with `/`."""
    known, related = wanted.pages, relations(rules)
    pages = [
        *(page_of_rule(rule, rules, related) for rule in wanted.rules),
        *(page_of_cause(rules.causes[cause], rules) for cause in wanted.causes),
        *(page_of_remedy(action, rules) for action in wanted.remedies),
    ]
    return {
        INDEX: _index(wanted),
        "rules.md": _overview("Rules", _packs(wanted.packs)),
        "causes.md": _overview("Causes", _causes(wanted.causes, rules)),
        "remedies.md": _overview("Remedies", _remedies(wanted.remedies, rules)),
        **{f"{pack_page(pack.name)}{SUFFIX}": _pack(pack, wanted.rules) for pack in wanted.packs},
        **{f"{page.id}{SUFFIX}": page_markdown(page, known) for page in pages},
    }


def _index(wanted: Subjects) -> str:
    counts = (("rules", len(wanted.rules)), ("causes", len(wanted.causes)), ("remedies", len(wanted.remedies)))
    lines = [OVERVIEW, "# What is known", ""]
    lines += [f"- [{name.capitalize()}]({name}{SUFFIX}): {count}" for name, count in counts]
    lines += ["", "```{toctree}", ":hidden:", "", *(name for name, _ in counts), "```", ""]
    return "\n".join(lines)


def _overview(title: str, body: Iterable[str]) -> str:
    return "\n".join([OVERVIEW, f"# {title}", "", *body, ""])


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _link(name: str, page: str, here: str) -> str:
    return f"[{code(name)}]({relative(page, here)})"


def _packs(packs: Sequence[PackInfo]) -> Iterator[str]:
    """The packs, by the plugin that brings them."""
    yield "Each rule knows one message. Search finds it by the words of a line of your log.\n"
    for plugin in dict.fromkeys(pack.plugin for pack in packs):
        yield from (f"## {prose(plugin)}", "")
        rows = (
            (
                _link(one.name, pack_page(one.name), "rules"),
                prose(one.about),
                prose(", ".join(one.engines)),
                str(one.rules),
            )
            for one in packs
            if one.plugin == plugin
        )
        yield from (*_table(("pack", "about", "printed by", "rules"), rows), "")


def _causes(causes: Sequence[str], rules: RuleSet) -> Iterator[str]:
    found = [rules.causes[cause] for cause in causes]
    rows = ((_link(one.id, cause_page(one.id), "causes"), code(str(one.status)), prose(one.title)) for one in found)
    yield from _table(("cause", "status", "meaning"), rows)


def _remedies(actions: Sequence[str], rules: RuleSet) -> Iterator[str]:
    rows = ((_link(one.action, one.page, "remedies"), prose(one.text)) for one in steps(sorted(actions), rules))
    yield from _table(("remedy", "what to do"), rows)


def _pack(pack: PackInfo, rules: Iterable[Rule]) -> str:
    """The page of a pack: what it is about, and its rules."""
    here = pack_page(pack.name)
    printed = f", printed by: {prose(', '.join(pack.engines))}" if pack.engines else ""
    lines = [ORPHAN, f"# {prose(pack.name)}", ""]
    lines += [f"[Rules]({relative('rules', here)}) › version {pack.version} of {prose(pack.plugin)}{printed}", ""]
    lines += [prose(pack.about), ""]
    rows = (
        (
            _link(rule.id.partition("/")[2], rule_page(rule.id), here),
            str(rule.role),
            prose(rule.cause),
            prose(rule.title),
        )
        for rule in rules
        if rule.pack == pack.name
    )
    return "\n".join([*lines, *_table(("rule", "role", "cause", "title"), rows), ""])


def write(files: Mapping[str, str], folder: Path) -> Written:
    """Write the files that differ, and remove pages of former calls. Raises WorkshopError where one is somebody else's."""
    found = {path: _content(folder / path) for path in files}
    foreign = [path for path, old in found.items() if old is not None and not old.startswith(MADE_BY)]
    if INDEX in foreign:
        foreign.remove(INDEX)
        found[INDEX] = files[INDEX]
    if foreign:
        what = f"{folder / foreign[0]}: was not made by `rules docs`"
        raise WorkshopError(f"{what}; name another folder, or move the file away")
    changed = [path for path, old in found.items() if old != files[path]]
    stale = [file for file in _made_before(folder) if file.relative_to(folder).as_posix() not in files]
    try:
        for path in changed:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(files[path], "utf-8", newline="\n")
        for file in stale:
            file.unlink()
    except OSError as error:
        raise WorkshopError(f"{folder}: can't be written ({error.strerror or error}); name another folder") from None
    return Written(len(files), len(changed), len(stale))


def _content(file: Path) -> str | None:
    """What a file holds; None where there is none. Raises WorkshopError where it can't be read."""
    try:
        return file.read_text("utf-8", errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise WorkshopError(f"{file}: can't be read ({error.strerror or error}); name another folder") from None


def _made_before(folder: Path) -> Iterator[Path]:
    for name in FOLDERS:
        for file in sorted((folder / name).rglob(f"*{SUFFIX}")):
            if (_content(file) or "").startswith(MADE_BY):
                yield file
