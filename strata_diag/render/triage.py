"""A triage as styled lines: groups with one line a log, unknown logs with the line to look at, and the rules to write next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from strata_diag.model import Notice, Status
from strata_diag.render.escape import visible
from strata_diag.render.layout import FAILURE_STYLE, STYLES, Line, Span
from strata_diag.triage import Group, Result, Shape, Triage, Unreadable

LONGEST_REASON = 160  # characters of a log's line
LONGEST_SHAPE = 200
MOST_SHAPES = 20
MOST_NOTICES = 10
MOST_SKIPPED = 20


def triage_lines(found: Triage) -> Iterator[Line]:
    """The text of a triage."""
    if found.interrupted:
        yield _line(("Interrupted: this is what was finished until then.", "bold yellow"))
    yield _line((_count(found), "bold"), indent=2)
    known = [group for group in found.groups if group.status != Status.UNKNOWN]
    width = max((len(str(len(group.results))) for group in found.groups), default=1)
    for group in known:
        if group.status != Status.PASS:
            yield from _group(group, found.results, width)
    for group in found.groups:
        if group.status == Status.UNKNOWN:
            yield from _unknown(group, found.results, width)
    for group in known:
        if group.status == Status.PASS:
            yield from _group(group, found.results, width)
    yield from _shapes(found.shapes)
    yield from _left_out("Could not be read", found.unreadable, "bold red", len(found.unreadable))
    yield from _left_out("Holds no log", found.skipped, "bold", MOST_SKIPPED)
    yield from _notices(found)


def _line(*spans: tuple[str, str], indent: int = 0) -> Line:
    return Line(tuple(Span(text, style) for text, style in spans), indent)


def _style(status: str) -> str:
    return STYLES.get(Status(status), FAILURE_STYLE)


def _count(found: Triage) -> str:
    """All of it in one line."""
    if not (found.results or found.unreadable or found.skipped):
        return "There is no file there."
    counts = {"failed": 0, "unknown": 0, "passed": 0}
    for group in found.groups:
        word = {Status.UNKNOWN: "unknown", Status.PASS: "passed"}.get(Status(group.status), "failed")
        counts[word] += len(group.results)
    words = [f"{number} {word}" for word, number in counts.items() if number]
    words += [f"{len(found.unreadable)} not read"] if found.unreadable else []
    words += [f"{len(found.skipped)} without a log"] if found.skipped else []
    return f"{_number(len(found.results), 'log')}: {', '.join(words)}"


def _number(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _head(group: Group, width: int) -> Iterator[Line]:
    word = group.status if Status(group.status) in STYLES else f"{group.status} / {group.cause}"
    yield _line(("", ""))
    yield _line(
        (f"{len(group.results):>{width}}  ", "bold"),
        (word, _style(group.status)),
        (f"  {visible(group.title)}", "bold"),
        indent=width + 2,
    )


def _group(group: Group, results: Sequence[Result], width: int) -> Iterator[Line]:
    yield from _head(group, width)
    for place in group.results:
        yield _result(results[place], width)


def _result(result: Result, width: int) -> Line:
    verdict = result.diagnosis.verdict
    where = f":{verdict.line}" if verdict.line and not verdict.file else ""
    reason = "" if verdict.status is Status.PASS else f"  {_short(verdict.reason, LONGEST_REASON)}"
    told = f"  (line {verdict.line} of {visible(verdict.file)})" if verdict.file else ""
    remarks = [word for word, holds in (("contested", verdict.contested), ("carries on", verdict.degraded)) if holds]
    if result.beside and not verdict.file:
        remarks.append(f"read with {', '.join(map(visible, result.beside))}")
    return _line(
        (" " * (width + 2), ""),
        (visible(result.name) + where, ""),
        (reason, "dim"),
        (told, ""),
        (f"  ({'; '.join(remarks)})" if remarks else "", "yellow"),
        indent=width + 4,
    )


def _unknown(group: Group, results: Sequence[Result], width: int) -> Iterator[Line]:
    yield from _head(group, width)
    for place in group.results:
        result = results[place]
        verdict = result.diagnosis.verdict
        suspect = verdict.suspects[0] if verdict.suspects else None
        where = f":{suspect.line}" if suspect else ""
        text = suspect.text if suspect else verdict.reason
        yield _line(
            (" " * (width + 2), ""),
            (visible(result.name) + where, ""),
            (f"  {_short(text, LONGEST_REASON)}", "yellow" if suspect else "dim"),
            indent=width + 4,
        )


def _shapes(shapes: Sequence[Shape]) -> Iterator[Line]:
    if not shapes:
        return
    yield from _title("Rules to write next: lines of unknown logs, by their shape")
    for shape in shapes[:MOST_SHAPES]:
        yield _line(
            (f"  {_number(shape.logs, 'log')}  ", "bold"),
            (_short(shape.template, LONGEST_SHAPE), "yellow"),
            indent=4,
        )
        yield _line(("    $ ", "dim"), (visible(shape.command), "cyan"), indent=6)
    yield from _more(len(shapes) - MOST_SHAPES)


def _left_out(title: str, many: Sequence[Unreadable], style: str, most: int) -> Iterator[Line]:
    if not many:
        return
    yield from _title(f"{title} ({len(many)})", style)
    for one in many[:most]:
        yield _line((f"  {visible(one.name)}: ", ""), (_short(one.error, LONGEST_REASON * 2), "dim"), indent=4)
    yield from _more(len(many) - most)


def _notices(found: Triage) -> Iterator[Line]:
    """What was told of the reading, each text once with the first log of which it was told."""
    first: dict[str, str] = {notice.text: "" for notice in found.notices}
    times: dict[str, int] = {}
    for result in found.results:
        for notice in _own(result):
            first.setdefault(notice.text, result.name)
            times[notice.text] = times.get(notice.text, 0) + 1
    if not first:
        return
    yield from _title(f"Notices ({len(first)})")
    for text in list(first)[:MOST_NOTICES]:
        where = f"{visible(first[text])}: " if first[text] else ""
        more = f" (and {times[text] - 1} more)" if times.get(text, 0) > 1 else ""
        yield _line((f"  {where}", ""), (_short(text, LONGEST_REASON * 2) + more, "yellow"), indent=4)
    yield from _more(len(first) - MOST_NOTICES)


def _own(result: Result) -> Iterable[Notice]:
    """The notices of one log, but for those on its relation to others, which `classify` tells."""
    told = dict.fromkeys((*result.notices, *result.diagnosis.notices))
    return [notice for notice in told if notice.kind != "stream"]


def _more(count: int) -> Iterator[Line]:
    if count > 0:
        yield _line((f"  and {count} more (--format json lists all)", "dim"), indent=2)


def _title(text: str, style: str = "bold") -> Iterator[Line]:
    yield _line(("", ""))
    yield _line((text, style), indent=2)


def _short(text: str, longest: int) -> str:
    shown = visible(text)
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"
