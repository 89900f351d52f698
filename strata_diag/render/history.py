"""What an audit found and what a repair would change, as styled lines for a person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from strata_diag.render.cells import padded
from strata_diag.render.escape import visible
from strata_diag.render.layout import Line, Span, Translate, unchanged
from strata_diag.tuner.audit import Audit, SignatureAudit
from strata_diag.tuner.records import Row
from strata_diag.tuner.repair import Change

LONGEST_SHOWN = 160  # characters of a reason or a signature
LABEL_COLUMNS = 7  # of what stands in front of a changed value


def audit_lines(found: Audit, name: str, translate: Translate = unchanged) -> Iterator[Line]:
    """The text of `history audit`. name: of the file."""
    counts = f"{_count(found.rows, 'row')}, {_count(len(found.signatures), 'signature')}"
    yield _line((translate(f"{visible(name)}: {counts}"), "bold"))
    wrongly = [one for one in found.signatures if one.wrongly_blocked]
    rightly = [one for one in found.signatures if one.blocked]
    yield from _group("Blocked by the old rule, and should not be", wrongly, "bold red", translate)
    yield from _group("Blocked, and should be", rightly, "bold", translate)
    if not wrongly and not rightly:
        yield _line(("", ""))
        yield _line((translate("No signature is blocked."), ""))
    yield from _stored(found, name, translate)
    yield from _unread(found, translate)


def change_lines(change: Change, translate: Translate = unchanged) -> Iterator[Line]:
    """One changed row of `history repair`."""
    status, reason, because = (padded(translate(word), LABEL_COLUMNS) for word in ("status", "reason", "because"))
    head = translate(f"line {change.line}")
    yield _line((head + (f"  {visible(change.label)}" if change.label else ""), "bold"))
    if change.of_status:
        before = visible(change.status_before) or translate("(none)")
        cause = f" ({change.cause})" if change.cause else ""
        yield _line((f"  {status} {before} -> {visible(change.status)}{cause}", ""), indent=10)
    if change.reason != change.reason_before:
        yield _line((f"  {reason} {_short(change.reason)}", ""), indent=10)
    yield _line((f"  {because} {translate(visible(change.why))}", "dim"), indent=10)


def _group(title: str, signatures: list[SignatureAudit], style: str, translate: Translate) -> Iterator[Line]:
    if not signatures:
        return
    yield _line(("", ""))
    yield _line((translate(f"{title} ({len(signatures)})"), style))
    for one in signatures:
        label = visible(one.label) or translate("(no label)")
        yield _line((f"  {label}", "bold"), (f"  {_short(one.sig)}", ""), indent=4)
        yield _line((f"    {translate(visible(one.why))}", ""), indent=4)
        place = ", ".join(f"{key} {visible(value[:12])}" for key, value in _places(one) if value)
        yield _line((f"    {place}", "dim"), indent=4)
        for row in one.blocked_by:
            yield from _row(row, translate)


def _places(one: SignatureAudit) -> tuple[tuple[str, str], ...]:
    return ("hw", one.hw), ("model", one.model), ("engine", one.engine)


def _row(row: Row, translate: Translate) -> Iterator[Line]:
    said = row.problem or f"is {row.status} / {row.cause}"
    told = translate(f"line {row.line}  {visible(row.time)}  says {visible(row.stored)}, {visible(said)}")
    yield _line((f"    {told}", ""), indent=6)
    if row.evidence:
        yield _line((f"      {_short(row.evidence)}", "dim"), indent=6)


def _stored(found: Audit, name: str, translate: Translate) -> Iterator[Line]:
    if not found.wrong and not found.mixed:
        return
    yield _line(("", ""))
    if found.wrong:
        yield _line((translate(f"{_count(found.wrong, 'row')} with a wrong status"), "bold red"))
    if found.mixed:
        mixed = f"{_count(found.mixed, 'row')} with a right status and a reason that mixes several lines"
        yield _line((translate(mixed), ""))
    command = f"strata-diag history repair {visible(name)}"
    yield _line((f"  {translate('shown and mended by:')} ", ""), (command, "cyan"), indent=4)


def _unread(found: Audit, translate: Translate) -> Iterator[Line]:
    if not found.unread:
        return
    yield _line(("", ""))
    yield _line((translate(f"{_count(found.unread, 'line')} without a row, left as they are"), "yellow"))
    for row in found.unread_rows:
        yield _line((f"  {translate(f'line {row.line}: {visible(row.problem)}')}", "dim"), indent=4)
    if found.unread > len(found.unread_rows):
        yield _line((f"  {translate(f'and {found.unread - len(found.unread_rows)} more')}", "dim"))


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _short(text: str) -> str:
    shown = visible(text)
    return shown if len(shown) <= LONGEST_SHOWN else shown[: LONGEST_SHOWN - 1] + "…"


def _line(*spans: tuple[str, str], indent: int = 0) -> Line:
    return Line(tuple(Span(text, style) for text, style in spans), indent)


def plan_end(changes: int, *, undo: bool, translate: Translate = unchanged) -> Iterable[Line]:
    """What stands below a plan."""
    if not changes:
        return [_line((translate("Nothing to undo." if undo else "Nothing to repair."), "green"))]
    word = "undone" if undo else "changed"
    option = "--undo --yes" if undo else "--yes"
    told = f"{_count(changes, 'row')} would be {word}; nothing was written. Do it with {option}."
    return [_line(("", "")), _line((translate(told), "bold"))]
