"""Pages as Markdown that MyST and GitHub read alike: the files of `rules docs`.

No word of a pack can do anything in them. Samples, patterns and commands stand in code blocks whose fence is longer than any run
of backticks inside; every other sign that means something to Markdown, HTML or MyST is escaped. A reference is a link where
its page is among those that are written, else the name alone.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Container, Iterable, Iterator
from pathlib import Path

from strata_diag.render.addresses import is_safe_link
from strata_diag.render.escape import visible
from strata_diag.render.markdown import block, code
from strata_diag.workshop.listing import Step
from strata_diag.workshop.pages import Item, Page, Place, Reference, References, Steps, Verbatim, Words

MADE_BY = "---\nmade_by: strata-diag rules docs\n"  # how every file begins
ORPHAN = (
    f"{MADE_BY}orphan: true\n---\n"  # found by links and by search: a table of contents of all would burden each page
)
OVERVIEW = f"{MADE_BY}nosearch: true\n---\n"  # what stands there is found on the pages themselves
MOST_TITLES = 12  # pages that a list shows with their titles
SYSTEM_WORDS = {"linux": "On Linux:", "windows": "On Windows:", "macos": "On macOS:"}
OVERVIEWS = {"rules": "Rules", "causes": "Causes", "remedies": "Remedies"}

_PUNCTUATION = re.compile(r"[\\`*_{}\[\]<>|~$#!&^=]")
_LINE_START = re.compile(r"^(\d{1,9})([.)])|^([-+:%(])")


def prose(text: str) -> str:
    """Text of a pack as one line in which nothing means anything."""
    shown = visible(" ".join(text.split()))
    escaped = _PUNCTUATION.sub(lambda sign: "\\" + sign[0], shown)
    return _LINE_START.sub(lambda start: f"{start[1]}\\{start[2]}" if start[1] else f"\\{start[3]}", escaped)


def page_markdown(page: Page, known: Container[str]) -> str:
    """The file of a page. known: the ids of the pages that are written."""
    lines = [ORPHAN, f"# {prose(page.title)}", "", f"{trail(page)} › {code(page.name)}, {prose(page.kind)}", ""]
    lines += _items(page.lead, page.id, known)
    for section in page.sections:
        lines += [f"## {prose(section.title)}", "", *_items(section.items, page.id, known)]
    return "\n".join(lines)


def trail(page: Page) -> str:
    """Links to the overviews that a page belongs to."""
    kind, *names = page.id.split("/")
    links = [f"[{OVERVIEWS[kind]}]({relative(kind, page.id)})"]
    links += [f"[{prose(pack)}]({relative(pack_page(pack), page.id)})" for pack in names[:-1]]
    return " › ".join(links)


def pack_page(pack: str) -> str:
    """The id of the page that lists the rules of a pack."""
    return f"packs/{pack}"


def relative(page: str, here: str) -> str:
    """The path to a page from another one, as a link."""
    return posixpath.relpath(f"{page}.md", posixpath.dirname(here) or ".")


def linked(reference: Reference, here: str, known: Container[str]) -> str:
    """The name of a page, as a link where it is written."""
    name = code(reference.name)
    return f"[{name}]({relative(reference.page, here)})" if reference.page in known else name


def _items(items: Iterable[Item], here: str, known: Container[str]) -> Iterator[str]:
    for item in items:
        yield from (*_item(item, here, known), "")


def _item(item: Item, here: str, known: Container[str]) -> Iterator[str]:
    match item:
        case Words(text, warning):
            shown = f"<{text}>" if is_safe_link(text) else prose(text)
            yield f"**{shown}**" if warning else shown
        case References(pages):
            yield from _references(pages, here, known)
        case Steps(steps):
            for number, step in enumerate(steps, 1):
                yield from _step(number, step, here, known)
        case Place(file, line):
            yield f"{code(Path(file).name)}, line {line}"
        case Verbatim(lines, _):
            yield from block(lines)


def _references(pages: tuple[Reference, ...], here: str, known: Container[str]) -> Iterator[str]:
    """Each page with its title; of many only the names, by pack: with hundreds of titles a search would find this page too."""
    if len(pages) <= MOST_TITLES:
        for one in pages:
            yield f"- {linked(one, here, known)}{f': {prose(one.remark)}' if one.remark else ''}"
        return
    groups: dict[str, list[str]] = {}
    for one in pages:
        pack, _, name = one.name.rpartition("/")
        groups.setdefault(pack, []).append(prose(name))
    for pack, names in groups.items():
        head = linked(Reference(pack_page(pack), pack), here, known)
        yield f"- {head}: {', '.join(names)}"


def _step(number: int, step: Step, here: str, known: Container[str]) -> Iterator[str]:
    """A step with its commands by system, what it costs and where more stands."""
    head = f"{number}. "
    indent = " " * len(head)
    own = "" if step.page == here else f" ({linked(Reference(step.page, step.action), here, known)})"
    yield f"{head}{prose(step.text)}{own}"
    yield ""
    for system, command in step.commands.items():
        if system in SYSTEM_WORDS:
            yield from (f"{indent}{SYSTEM_WORDS[system]}", "")
        yield from (*block(command.splitlines(), indent=indent), "")
    if step.risk:
        yield from (f"{indent}Costs: {prose(step.risk)}", "")
    if is_safe_link(step.link):
        yield from (f"{indent}See <{step.link}>", "")
