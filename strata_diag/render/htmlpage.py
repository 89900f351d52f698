"""A triage as one page that needs nothing but itself: a table by cause, a filter, and a section for each log.

Everything can be read without a script; with one, the logs can be filtered by words as well as by status.
"""

from __future__ import annotations

from collections.abc import Iterator

from strata_diag.model import Status
from strata_diag.render import htmllog
from strata_diag.render.htmlframe import frame
from strata_diag.render.htmltext import items, status_class, text, tone, verdict_word
from strata_diag.render.layout import Translate, unchanged
from strata_diag.render.pagelinks import site as site_of_pages
from strata_diag.triage.records import Group, Result, Triage

MOST_SECTIONS = 200  # logs that are shown in full; the table names the others too
TITLE = "What failed in {count} logs"


def page(found: Triage, translate: Translate = unchanged, language: str = "en") -> str:
    """The whole page. Its size is bounded by MOST_SECTIONS; that some logs are left out is said on it."""
    title = translate(TITLE).replace("{count}", str(len(found.results)))
    body = "".join(
        (
            f'<a class="skip" href="#logs">{text(translate("To the logs"))}</a>',
            f"<header><h1>{text(title)}</h1></header><main>",
            *_filter(found, translate),
            *_table(found, translate),
            *_left_over(found, translate),
            *_sections(found, translate),
            "</main>",
        )
    )
    return frame(title, body, language)


def _filter(found: Triage, translate: Translate) -> Iterator[str]:
    """Boxes for each status, which work without a script, and a field for words, which needs one."""
    statuses = dict.fromkeys(group.status for group in found.groups)
    yield f'<form class="filter" id="filter"><fieldset><legend>{text(translate("Show"))}</legend>'
    for status in statuses:
        name = status_class(Status(status))
        yield f'<label><input type="checkbox" id="show-{name}" checked> {text(status)}</label>'
    yield (
        '</fieldset><p id="filter-by-words" hidden>'
        f'<label for="filter-words">{text(translate("Only logs with these words"))}</label>'
        '<input type="search" id="filter-words"> '
        f'<span id="filter-count" role="status" data-text="{text(translate("{shown} of {count} logs"))}"></span></p></form>'
    )


def _table(found: Triage, translate: Translate) -> Iterator[str]:
    """The logs grouped by cause, the worst first."""
    yield f'<h2 id="causes">{text(translate("By cause"))}</h2><table class="logs"><thead><tr>'
    yield "".join(f'<th scope="col">{text(translate(word))}</th>' for word in ("Log", "Line", "Reason"))
    yield "</tr></thead>"
    for group in found.groups:
        yield from _group(group, found, translate)
    yield "</table>"


def _group(group: Group, found: Triage, translate: Translate) -> Iterator[str]:
    status = Status(group.status)
    word = f"{len(group.results)} × {group.status} / {group.cause}"
    yield f'<tbody class="{status_class(status)}"><tr><th scope="rowgroup" colspan="3" class="{tone(status)}">'
    yield f"{text(word)} — {text(translate(group.title))}</th></tr>"
    for number in group.results:
        result = found.results[number]
        verdict = result.diagnosis.verdict
        shown = f'<a href="#log-{number}">{text(result.name)}</a>' if number < MOST_SECTIONS else text(result.name)
        yield f'<tr data-log="{number}"><td>{shown}</td><td class="number">{verdict.line or ""}</td>'
        yield f"<td>{text(verdict.reason)}</td></tr>"
    yield "</tbody>"


def _left_over(found: Triage, translate: Translate) -> Iterator[str]:
    """What could not be read, what holds no log, and the shapes of what nobody knows."""
    for title, entries in (("Could not be read", found.unreadable), ("Holds no log", found.skipped)):
        if entries:
            yield f"<h2>{text(translate(title))}</h2>"
            yield items(f"{text(one.name)}: {text(one.error)}" for one in entries[:MOST_SECTIONS])
    if found.shapes:
        yield f"<h2>{text(translate('Lines that no rule knows, the most frequent first'))}</h2>"
        yield items(
            f"{shape.logs} × <code>{text(shape.template)}</code><br><code>{text(shape.command)}</code>"
            for shape in found.shapes
        )
    if found.interrupted:
        yield f'<p class="remark">{text(translate("The triage was interrupted; this is what was finished until then."))}</p>'


def _sections(found: Triage, translate: Translate) -> Iterator[str]:
    yield f'<h2 id="logs">{text(translate("Log by log"))}</h2>'
    for number, result in enumerate(found.results[:MOST_SECTIONS]):
        yield from _section(number, result, translate)
    left_out = len(found.results) - MOST_SECTIONS
    if left_out > 0:
        said = translate("{count} more logs stand in the table only").replace("{count}", str(left_out))
        yield f'<p class="remark">{text(said)}</p>'


def _section(number: int, result: Result, translate: Translate) -> Iterator[str]:
    verdict = result.diagnosis.verdict
    yield f'<article class="log {status_class(verdict.status)}" id="log-{number}" data-log="{number}" '
    yield f'aria-labelledby="log-{number}-name"><h3 id="log-{number}-name">{text(result.name)} '
    yield f'<span class="{tone(verdict.status)}">{text(verdict_word(verdict))}</span></h3>'
    yield htmllog.section(result.diagnosis, f"log-{number}", site_of_pages(), translate)
    yield from htmllog.notices((notice.text for notice in result.notices), translate)
    yield "</article>"
