"""What preflight found, as styled lines for a person."""

from __future__ import annotations

from collections.abc import Iterator

from strata_diag.render.escape import visible
from strata_diag.render.layout import RETRY_WORDS, Line, Span, remedy_lines
from strata_diag.tuner.checks import Check, State
from strata_diag.tuner.nvml import Card
from strata_diag.tuner.preflight import Preflight

STATES = {
    State.CLEAR: ("clear", "green"),
    State.CAUTION: ("look", "yellow"),
    State.BLOCKED: ("BLOCKED", "bold red"),
    State.UNKNOWN: ("unknown", "dim"),
}


def preflight_lines(found: Preflight, system: str) -> Iterator[Line]:
    """The text of `preflight`. system: linux | windows | macos, for the commands of remedies."""
    card = next((card for card in found.cards if card.number == found.device), None)
    yield _line((_card(card, found), "dim"))
    yield _headline(found)
    yield from _title("What was looked at")
    for check in found.checks:
        yield _check(check)
    yield from remedy_lines(found.remedies, system)
    if not found.clear:
        yield _line(("", ""))
        yield _line(("Look again? ", "bold"), (RETRY_WORDS.get(found.retry, found.retry), ""), indent=2)
    if found.notices:
        yield from _title("Notices")
        for notice in found.notices:
            yield _line((f"  {visible(notice.text)}", "yellow"), indent=2)


def _card(card: Card | None, found: Preflight) -> str:
    name = visible(card.name) if card and card.name else "not known"
    return f"card {found.device}: {name}" + (f", driver {visible(found.driver)}" if found.driver else "")


def _headline(found: Preflight) -> Line:
    if found.deciding is not None:
        return _line((f"{found.status} / {found.cause}", "bold red"), (f"  {visible(found.reason)}", "bold"), indent=2)
    if not found.checked:
        return _line(("UNKNOWN", "bold yellow"), (f"  {found.reason}", "bold"), indent=2)
    missing = ", ".join(check.name for check in found.unchecked)
    remark = f" Not looked at: {visible(missing)}." if missing else ""
    return _line(("CLEAR", "bold green"), (f"  {found.reason}{remark}", "bold"), indent=2)


def _check(check: Check) -> Line:
    word, style = STATES[check.state]
    return _line(
        (f"  {visible(check.name):<9} ", ""), (f"{word:<8}", style), (f" {visible(check.text)}", ""), indent=21
    )


def _title(text: str) -> list[Line]:
    return [_line(("", "")), _line((text, "bold"))]


def _line(*spans: tuple[str, str], indent: int = 0) -> Line:
    return Line(tuple(Span(text, style) for text, style in spans), indent)
