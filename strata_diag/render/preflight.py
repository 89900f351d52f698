"""What preflight found, as styled lines for a person."""

from __future__ import annotations

from collections.abc import Iterator

from strata_diag.render.cells import padded
from strata_diag.render.escape import visible
from strata_diag.render.layout import RETRY_WORDS, Line, Span, Translate, remedy_lines, unchanged
from strata_diag.tuner.checks import Check, State
from strata_diag.tuner.nvml import Card
from strata_diag.tuner.preflight import Preflight

STATES = {
    State.CLEAR: ("clear", "green"),
    State.CAUTION: ("look", "yellow"),
    State.BLOCKED: ("BLOCKED", "bold red"),
    State.UNKNOWN: ("unknown", "dim"),
}
NAME_COLUMNS, STATE_COLUMNS = 9, 8


def in_language(found: Preflight, translate: Translate) -> Preflight:
    """What was found with its sentences in another language; titles and steps have that of the rule set."""
    checks = tuple(check._replace(text=translate(check.text)) for check in found.checks)
    notices = tuple(notice._replace(text=translate(notice.text)) for notice in found.notices)
    return found._replace(checks=checks, notices=notices)


def preflight_lines(found: Preflight, system: str, translate: Translate = unchanged) -> Iterator[Line]:
    """The text of `preflight`, its sentences as they are. system: linux | windows | macos, for the commands of remedies."""
    card = next((card for card in found.cards if card.number == found.device), None)
    yield _line((translate(_card(card, found)), "dim"))
    yield _headline(found, translate)
    yield from _title(translate("What was looked at"))
    for check in found.checks:
        yield _check(check, translate)
    yield from remedy_lines(found.remedies, system, translate)
    if not found.clear:
        again = translate(RETRY_WORDS.get(found.retry, found.retry))
        yield _line(("", ""))
        yield _line((f"{translate('Look again?')} ", "bold"), (again, ""), indent=2)
    if found.notices:
        yield from _title(translate("Notices"))
        for notice in found.notices:
            yield _line((f"  {visible(notice.text)}", "yellow"), indent=2)


def _card(card: Card | None, found: Preflight) -> str:
    name = visible(card.name) if card and card.name else "not known"
    return f"card {found.device}: {name}" + (f", driver {visible(found.driver)}" if found.driver else "")


def _headline(found: Preflight, translate: Translate) -> Line:
    if found.deciding is not None:
        return _line((f"{found.status} / {found.cause}", "bold red"), (f"  {visible(found.reason)}", "bold"), indent=2)
    if not found.checked:
        return _line(("UNKNOWN", "bold yellow"), (f"  {translate(found.reason)}", "bold"), indent=2)
    missing = ", ".join(translate(check.name) for check in found.unchecked)
    remark = " " + translate(f"Not looked at: {visible(missing)}.") if missing else ""
    return _line(("CLEAR", "bold green"), (f"  {translate(found.reason)}{remark}", "bold"), indent=2)


def _check(check: Check, translate: Translate) -> Line:
    word, style = STATES[check.state]
    name = padded(visible(translate(check.name)), NAME_COLUMNS)
    state = padded(translate(word), STATE_COLUMNS)
    text = visible(check.text)
    return _line((f"  {name} ", ""), (state, style), (f" {text}", ""), indent=NAME_COLUMNS + STATE_COLUMNS + 4)


def _title(text: str) -> list[Line]:
    return [_line(("", "")), _line((text, "bold"))]


def _line(*spans: tuple[str, str], indent: int = 0) -> Line:
    return Line(tuple(Span(text, style) for text, style in spans), indent)
