"""Pages as styled lines: the text of `rules show`. Every word of a pack is harmless for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from strata_diag.render.escape import visible
from strata_diag.render.layout import Line, Span
from strata_diag.workshop.listing import Step
from strata_diag.workshop.pages import SAMPLE, Item, Page, Place, Reference, References, Section, Steps, Verbatim, Words

MOST_NAMED = 12  # pages that a list names; --format json has all


def page_lines(page: Page) -> Iterator[Line]:
    """Everything that a page says."""
    yield Line((Span(visible(page.name), "bold"), Span(f"  {visible(page.kind)}", "dim")))
    yield Line((Span(visible(page.title), "bold"),))
    yield from _items(page.lead)
    for section in page.sections:
        yield from _section(section)


def _section(section: Section) -> Iterator[Line]:
    yield Line(())
    yield Line((Span(section.title, "bold"),))
    yield from _items(section.items)


def _items(items: tuple[Item, ...]) -> Iterator[Line]:
    for item in items:
        yield from _item(item)


def _item(item: Item) -> Iterator[Line]:
    match item:
        case Words(text, warning):
            yield _text(text, "bold yellow" if warning else "")
        case References(pages):
            yield from _references(pages)
        case Steps(steps):
            for number, step in enumerate(steps, 1):
                yield from _step(number, step)
        case Place(file, line):
            yield _text(f"{file}:{line}")
        case Verbatim(lines, kind):
            yield from _verbatim(lines, kind)


def _references(pages: tuple[Reference, ...]) -> Iterator[Line]:
    for one in pages[:MOST_NAMED]:
        yield Line((Span(f"  {visible(one.name)}"), Span(f"  {visible(one.remark)}", "dim")), 4)
    if len(pages) > MOST_NAMED:
        yield _text(f"and {len(pages) - MOST_NAMED} more (--format json lists all)")


def _text(text: str, style: str = "", indent: int = 2) -> Line:
    return Line((Span(" " * indent + visible(text), style),), indent)


def _verbatim(lines: tuple[str, ...], kind: str) -> Iterator[Line]:
    """A sample keeps its lines together behind a bar, a pattern stands alone."""
    for number, line in enumerate(lines):
        if kind == SAMPLE:
            yield _text(f"{' ' if number else '|'} {line}", "green")
        else:
            yield _text(line, "cyan", indent=4)


def _step(number: int, step: Step) -> Iterator[Line]:
    yield Line((Span(f"  {number}. ", "bold"), Span(visible(step.text))), 5)
    for system, command in step.commands.items():
        where = "" if system == "any" else f"  ({visible(system)})"
        yield Line((Span("     $ ", "dim"), Span(visible(command), "cyan"), Span(where, "dim")), 7)
    if step.risk:
        yield _text(f"Costs: {step.risk}", "dim", indent=5)
    if step.link:
        yield _text(f"See: {step.link}", "dim", indent=5)
