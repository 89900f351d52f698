"""A triage as styled lines: groups with one line a log, unknown logs with the line to look at, and the rules to write next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from strata_diag.model import Notice, Status
from strata_diag.render.escape import visible
from strata_diag.render.layout import FAILURE_STYLE, STYLES, Line, Span, Translate, unchanged
from strata_diag.triage import Group, Result, Shape, Triage, Unreadable

LONGEST_REASON = 160  # characters of a log's line
LEAST_REASON = 30  # that are worth their place behind the name
LONGEST_SHAPE = 200
MOST_SHAPES = 20
MOST_NOTICES = 10
MOST_SKIPPED = 20


def triage_lines(found: Triage, columns: int = 0, translate: Translate = unchanged) -> Iterator[Line]:
    """The text of a triage. columns: of the terminal, in which each log gets one line where that is possible; 0 for a pipe.

    Every sentence goes through `translate` as it stands in English.
    """
    if found.interrupted:
        yield _line((translate("Interrupted: this is what was finished until then."), "bold yellow"))
    yield _line((_count(found, translate), "bold"), indent=2)
    number = max((len(str(len(group.results))) for group in found.groups), default=1)
    for group in sorted(found.groups, key=lambda one: one.status == Status.PASS):
        yield from _head(group, number)
        show = _unknown if group.status == Status.UNKNOWN else _known
        for place in group.results:
            yield show(found.results[place], number + 2, columns, translate)
    yield from _shapes(found.shapes, translate)
    yield from _left_out(translate("Could not be read"), found.unreadable, "bold red", translate, len(found.unreadable))
    yield from _left_out(translate("Holds no log"), found.skipped, "bold", translate, MOST_SKIPPED)
    yield from _notices(found, translate)


def _line(*spans: tuple[str, str], indent: int = 0) -> Line:
    return Line(tuple(Span(text, style) for text, style in spans), indent)


def _style(status: str) -> str:
    return STYLES.get(Status(status), FAILURE_STYLE)


def _count(found: Triage, translate: Translate) -> str:
    """All of it in one line."""
    if not (found.results or found.unreadable or found.skipped):
        return translate("There is no file there.")
    counts = {"failed": 0, "unknown": 0, "passed": 0}
    for group in found.groups:
        word = {Status.UNKNOWN: "unknown", Status.PASS: "passed"}.get(Status(group.status), "failed")
        counts[word] += len(group.results)
    words = [translate(f"{number} {word}") for word, number in counts.items() if number]
    words += [translate(f"{len(found.unreadable)} not read")] if found.unreadable else []
    words += [translate(f"{len(found.skipped)} without a log")] if found.skipped else []
    return f"{_logs(len(found.results), translate)}: {', '.join(words)}"


def _logs(count: int, translate: Translate) -> str:
    return translate(f"{count} log" if count == 1 else f"{count} logs")


def _head(group: Group, number: int) -> Iterator[Line]:
    """The line over a group. number: digits of the largest count."""
    word = group.status if Status(group.status) in STYLES else f"{group.status} / {group.cause}"
    yield _line(("", ""))
    yield _line(
        (f"{len(group.results):>{number}}  ", "bold"),
        (word, _style(group.status)),
        (f"  {visible(group.title)}", "bold"),
        indent=number + 2,
    )


def _known(result: Result, margin: int, columns: int, translate: Translate) -> Line:
    verdict = result.diagnosis.verdict
    line = verdict.line if not verdict.file else None
    remarks = [
        translate(word) for word, holds in (("contested", verdict.contested), ("carries on", verdict.degraded)) if holds
    ]
    if verdict.file:
        remarks.append(translate(f"line {verdict.line} of {visible(verdict.file)}"))
    elif result.beside:
        remarks.append(translate(f"read with {', '.join(map(visible, result.beside))}"))
    remark = f"  ({'; '.join(remarks)})" if remarks else ""
    reason = "" if verdict.status is Status.PASS else verdict.reason
    return _log_line(result.name, line, (reason, "dim"), remark, margin, columns)


def _unknown(result: Result, margin: int, columns: int, _translate: Translate) -> Line:
    verdict = result.diagnosis.verdict
    if not verdict.suspects:
        return _log_line(result.name, None, (verdict.reason, "dim"), "", margin, columns)
    suspect = verdict.suspects[0]
    return _log_line(result.name, suspect.line, (suspect.text, "yellow"), "", margin, columns)


def _log_line(name: str, line: int | None, reason: tuple[str, str], remark: str, margin: int, columns: int) -> Line:
    """One log. The reason is cut to what is left of the terminal's line or, where that is little, to the next one."""
    place = visible(name) + (f":{line}" if line else "")
    text, style = reason
    longest = LONGEST_REASON
    if columns:
        room = (
            columns - margin - 2 - len(remark)
        )  # a line that is wrapped has as much room everywhere as its continuation
        left = room - margin - len(place) - 2
        longest = min(longest, left if left >= LEAST_REASON else max(room, LEAST_REASON))
    return _line(
        (" " * margin, ""),
        (place, ""),
        (f"  {_short(text, longest)}" if text else "", style),
        (remark, "yellow"),
        indent=margin + 2,
    )


def _shapes(shapes: Sequence[Shape], translate: Translate) -> Iterator[Line]:
    if not shapes:
        return
    yield from _title(translate("Rules to write next: lines of unknown logs, by their shape"))
    for shape in shapes[:MOST_SHAPES]:
        yield _line(
            (f"  {_logs(shape.logs, translate)}  ", "bold"),
            (_short(shape.template, LONGEST_SHAPE), "yellow"),
            indent=4,
        )
        yield _line(("    $ ", "dim"), (visible(shape.command), "cyan"), indent=6)
    yield from _more(len(shapes) - MOST_SHAPES, translate)


def _left_out(title: str, many: Sequence[Unreadable], style: str, translate: Translate, most: int) -> Iterator[Line]:
    if not many:
        return
    yield from _title(f"{title} ({len(many)})", style)
    for one in many[:most]:
        yield _line(
            (f"  {visible(one.name)}: ", ""), (_short(translate(one.error), LONGEST_REASON * 2), "dim"), indent=4
        )
    yield from _more(len(many) - most, translate)


def _notices(found: Triage, translate: Translate) -> Iterator[Line]:
    """What was told of the reading, each text once with the first log of which it was told."""
    first: dict[str, str] = {notice.text: "" for notice in found.notices}
    times: dict[str, int] = {}
    for result in found.results:
        for notice in _own(result):
            first.setdefault(notice.text, result.name)
            times[notice.text] = times.get(notice.text, 0) + 1
    if not first:
        return
    yield from _title(translate("Notices") + f" ({len(first)})")
    for text in list(first)[:MOST_NOTICES]:
        where = f"{visible(first[text])}: " if first[text] else ""
        more = f" ({translate(f'and {times[text] - 1} more')})" if times.get(text, 0) > 1 else ""
        yield _line((f"  {where}", ""), (_short(translate(text), LONGEST_REASON * 2) + more, "yellow"), indent=4)
    yield from _more(len(first) - MOST_NOTICES, translate)


def _own(result: Result) -> Iterable[Notice]:
    """The notices of one log, but for those on its relation to others, which `classify` tells."""
    told = dict.fromkeys((*result.notices, *result.diagnosis.notices))
    return [notice for notice in told if notice.kind != "stream"]


def _more(count: int, translate: Translate) -> Iterator[Line]:
    if count > 0:
        yield _line((f"  {translate(f'and {count} more (--format json lists all)')}", "dim"), indent=2)


def _title(text: str, style: str = "bold") -> Iterator[Line]:
    yield _line(("", ""))
    yield _line((text, style), indent=2)


def _short(text: str, longest: int) -> str:
    shown = visible(text)
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"
