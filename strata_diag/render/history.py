"""What an audit found and what a repair would change, as styled lines for a person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from strata_diag.render.escape import visible
from strata_diag.render.layout import Line, Span
from strata_diag.tuner.audit import Audit, SignatureAudit
from strata_diag.tuner.records import Row
from strata_diag.tuner.repair import Change

LONGEST_SHOWN = 160  # characters of a reason or a signature


def audit_lines(found: Audit, name: str) -> Iterator[Line]:
    """The text of `history audit`. name: of the file."""
    yield _line((f"{visible(name)}: {_count(found.rows, 'row')}, {_count(len(found.signatures), 'signature')}", "bold"))
    wrongly = [one for one in found.signatures if one.wrongly_blocked]
    rightly = [one for one in found.signatures if one.blocked]
    yield from _group("Blocked by the old rule, and should not be", wrongly, "bold red")
    yield from _group("Blocked, and should be", rightly, "bold")
    if not wrongly and not rightly:
        yield _line(("", ""))
        yield _line(("No signature is blocked.", ""))
    yield from _stored(found, name)
    yield from _unread(found)


def change_lines(change: Change) -> Iterator[Line]:
    """One changed row of `history repair`."""
    head = f"line {change.line}"
    if change.label:
        head += f"  {change.label}"
    yield _line((visible(head), "bold"))
    if change.of_status:
        cause = f" ({change.cause})" if change.cause else ""
        yield _line(
            (f"  status  {visible(change.status_before) or '(none)'} -> {visible(change.status)}{cause}", ""), indent=10
        )
    if change.reason != change.reason_before:
        yield _line((f"  reason  {_short(change.reason)}", ""), indent=10)
    yield _line((f"  because {visible(change.why)}", "dim"), indent=10)


def _group(title: str, signatures: list[SignatureAudit], style: str) -> Iterator[Line]:
    if not signatures:
        return
    yield _line(("", ""))
    yield _line((f"{title} ({len(signatures)})", style))
    for one in signatures:
        yield _line((f"  {visible(one.label) or '(no label)'}", "bold"), (f"  {_short(one.sig)}", ""), indent=4)
        yield _line((f"    {visible(one.why)}", ""), indent=4)
        place = ", ".join(f"{key} {visible(value[:12])}" for key, value in _places(one) if value)
        yield _line((f"    {place}", "dim"), indent=4)
        for row in one.blocked_by:
            yield from _row(row)


def _places(one: SignatureAudit) -> tuple[tuple[str, str], ...]:
    return ("hw", one.hw), ("model", one.model), ("engine", one.engine)


def _row(row: Row) -> Iterator[Line]:
    says = f"says {row.stored}"
    said = row.problem or f"is {row.status} / {row.cause}"
    yield _line((f"    line {row.line}  {visible(row.time)}  {says}, {visible(said)}", ""), indent=6)
    if row.evidence:
        yield _line((f"      {_short(row.evidence)}", "dim"), indent=6)


def _stored(found: Audit, name: str) -> Iterator[Line]:
    if not found.wrong and not found.mixed:
        return
    yield _line(("", ""))
    if found.wrong:
        yield _line((f"{_count(found.wrong, 'row')} with a wrong status", "bold red"))
    if found.mixed:
        yield _line((f"{_count(found.mixed, 'row')} with a right status and a reason that mixes several lines", ""))
    yield _line(("  shown and mended by: ", ""), (f"strata-diag history repair {visible(name)}", "cyan"), indent=4)


def _unread(found: Audit) -> Iterator[Line]:
    if not found.unread:
        return
    yield _line(("", ""))
    yield _line((f"{_count(found.unread, 'line')} without a row, left as they are", "yellow"))
    for row in found.unread_rows:
        yield _line((f"  line {row.line}: {visible(row.problem)}", "dim"), indent=4)
    if found.unread > len(found.unread_rows):
        yield _line((f"  and {found.unread - len(found.unread_rows)} more", "dim"))


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _short(text: str) -> str:
    shown = visible(text)
    return shown if len(shown) <= LONGEST_SHOWN else shown[: LONGEST_SHOWN - 1] + "…"


def _line(*spans: tuple[str, str], indent: int = 0) -> Line:
    return Line(tuple(Span(text, style) for text, style in spans), indent)


def plan_end(changes: int, *, undo: bool) -> Iterable[Line]:
    """What stands below a plan."""
    if not changes:
        return [_line(("Nothing to undo." if undo else "Nothing to repair.", "green"))]
    word = "undone" if undo else "changed"
    option = "--undo --yes" if undo else "--yes"
    return [
        _line(("", "")),
        _line((f"{_count(changes, 'row')} would be {word}; nothing was written. Do it with {option}.", "bold")),
    ]
