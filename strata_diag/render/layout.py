"""The text of a diagnosis as styled lines, before it is known where they go.

Comes in: a diagnosis, a translator. Goes out: lines, each a list of (text, style) spans, with every word of the log already
harmless. The terminal colours and wraps them, a pipe gets the bare text. Every sentence goes through `translate` as it stands
in English, with its values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from strata_diag.model import Diagnosis, Finding, Remedy, RunDiagnosis, Status, Verdict
from strata_diag.record import NamedTuple
from strata_diag.render import pagelinks
from strata_diag.render.cells import padded
from strata_diag.render.escape import visible

Translate = Callable[[str], str]

STYLES = {Status.PASS: "bold green", Status.UNKNOWN: "bold yellow"}
FAILURE_STYLE = "bold red"
RETRY_WORDS = {
    "now": "yes, at once",
    "never": "no",
    "after:card-free": "yes, once the card is free",
    "after:memory-free": "yes, once memory is free",
    "after:config-change": "only with other settings",
    "after:engine-change": "only with another build of the engine",
    "after:driver-change": "only with another driver",
    "after:model-change": "only once the model's files are right",
    "after:hardware-change": "only with other hardware",
}
MOST_BEATEN = 8
MOST_HARMLESS = 6
MOST_LINES = 4  # of one finding that are named; of more the first stands for all
LONGEST_SHOWN = 240  # characters of a line beside the deciding one


class Span(NamedTuple):
    """A piece of text in one style (`rich`'s words; empty for plain)."""

    text: str
    style: str = ""


class Line(NamedTuple):
    """One line of output. indent: columns by which its continuation is indented when it is wrapped."""

    spans: tuple[Span, ...]
    indent: int = 0


def plain(line: Line) -> str:
    """A line without its styles."""
    return "".join(span.text for span in line.spans).rstrip()


def unchanged(english: str) -> str:
    """The translator of English."""
    return english


def diagnosis_lines(found: Diagnosis, system: str, site: str = "", translate: Translate = unchanged) -> list[Line]:
    """The text of one diagnosis. system: linux | windows | macos, for the commands of remedies; site: of `pagelinks`."""
    verdict = found.verdict
    return [
        *_headline(found, verdict, translate),
        *_evidence(verdict, translate),
        *_chain(verdict, translate),
        *_suspects(verdict, translate),
        *_harmless(verdict, translate),
        *_beaten(verdict, translate),
        *_runs(found.runs, translate),
        *remedy_lines(found.remedies, system, translate),
        *_retry(verdict, translate),
        *_page(verdict, site, translate),
        *_notices(found, translate),
    ]


def summary_lines(found: list[Diagnosis], unreadable: list[str], translate: Translate = unchanged) -> list[Line]:
    """One line a log, then the count: the end of a call with several files."""
    width = max((len(str(one.verdict.status)) + len(one.verdict.cause) + 3 for one in found), default=0)
    lines = [_line(("", ""))]
    lines.append(_line((translate(f"{len(found)} logs:"), "bold")))
    for one in found:
        word = f"{one.verdict.status} / {one.verdict.cause}"
        where = f":{one.verdict.line}" if one.verdict.line else ""
        if one.verdict.file:
            where = translate(f", by line {one.verdict.line} of {visible(one.verdict.file)}")
        lines.append(
            _line(("  ", ""), (word.ljust(width), _style(one.verdict.status)), (f"  {visible(one.name)}{where}", ""))
        )
    lines += [
        _line(("  ", ""), (padded(translate("not read"), width), "bold red"), (f"  {visible(name)}", ""))
        for name in unreadable
    ]
    return lines


def _line(*spans: tuple[str, str], indent: int = 0) -> Line:
    return Line(tuple(Span(text, style) for text, style in spans), indent)


def _title(text: str) -> list[Line]:
    return [_line(("", "")), _line((text, "bold"))]


def _style(status: Status) -> str:
    return STYLES.get(status, FAILURE_STYLE)


def _headline(found: Diagnosis, verdict: Verdict, translate: Translate) -> Iterator[Line]:
    word = str(verdict.status) if verdict.status in STYLES else f"{verdict.status} / {verdict.cause}"
    engine = found.runs[-1].engine if found.runs else ""
    yield _line((visible(found.name) + (f"  ({visible(engine)})" if engine else ""), "dim"))
    yield _line((word, _style(verdict.status)), (f"  {visible(verdict.title)}", "bold"), indent=2)
    if verdict.deciding and verdict.deciding.why:
        yield _line((f"  {visible(verdict.deciding.why)}", ""), indent=2)
    elif verdict.status is Status.PASS or (verdict.status is Status.UNKNOWN and not verdict.suspects):
        yield _line((f"  {visible(verdict.reason)}", ""), indent=2)
    if verdict.contested:
        another = "Another cause stands in the same run; both are shown, and this one is the better supported."
        elsewhere = "The deciding line is another file's, and may be about something else (see the notices)."
        yield _line((f"  {translate(elsewhere if verdict.file else another)}", "yellow"), indent=2)
    if verdict.degraded:
        yield _line((f"  {translate('The program carries on without it.')}", "yellow"), indent=2)


def _evidence(verdict: Verdict, translate: Translate) -> Iterator[Line]:
    if verdict.deciding is None:
        return
    evidence = verdict.deciding.evidence
    yield from _title(translate(f"Deciding line, in {visible(evidence.file)}" if evidence.file else "Deciding line"))
    first = evidence.line - len(evidence.before)
    for number, text in enumerate(evidence.before, first):
        yield _numbered(number, text, "dim", short=True)
    yield _numbered(evidence.line, evidence.text, _style(verdict.status), marker=">")
    for number, text in enumerate(evidence.after, evidence.line + 1):
        yield _numbered(number, text, "dim", short=True)
    rule = translate(f"rule {verdict.rule}, version {verdict.pack_version} of its pack")
    yield _line((f"  {rule}", "dim"), indent=2)


def _numbered(number: int, text: str, style: str, *, marker: str = " ", short: bool = False) -> Line:
    shown = visible(text)
    if short and len(shown) > LONGEST_SHOWN:
        shown = shown[: LONGEST_SHOWN - 1] + "…"
    return _line((f"{marker} {number:>6} | ", style), (shown, style), indent=11)


def _chain(verdict: Verdict, translate: Translate) -> Iterator[Line]:
    symptoms = verdict.chain[1:]
    if not symptoms:
        return
    yield from _title(translate("What it explains"))
    for finding in symptoms:
        yield from _finding(finding, finding.why, translate)


def _finding(finding: Finding, remark: str, translate: Translate) -> Iterator[Line]:
    times = ""
    if 1 < len(finding.lines) <= MOST_LINES and finding.times <= MOST_LINES:
        where = f"lines {', '.join(map(str, finding.lines))}"
    else:
        where = f"line {finding.line}"
        times = f" ({translate(f'{finding.times} times')})" if finding.times > 1 else ""
    if finding.evidence.file:
        where += f" of {visible(finding.evidence.file)}"
    yield _line((f"  {translate(where)}: ", ""), (visible(finding.title) + times, ""), indent=4)
    if remark:
        yield _line((f"    {visible(remark)}", "dim"), indent=4)


def _suspects(verdict: Verdict, translate: Translate) -> Iterator[Line]:
    if not verdict.suspects:
        return
    yield from _title(translate("Lines that look most like an error, though no rule knows them"))
    for suspect in verdict.suspects:
        yield _numbered(suspect.line, suspect.text, "yellow")
        if suspect.nearest:
            yield _line((f"           {translate('nearest rule:')} {suspect.nearest}", "dim"), indent=11)


def _harmless(verdict: Verdict, translate: Translate) -> Iterator[Line]:
    if not verdict.harmless or verdict.status is Status.PASS:
        return
    yield from _title(translate("Looks bad, but is harmless"))
    for finding in verdict.harmless[:MOST_HARMLESS]:
        yield from _finding(finding, finding.why, translate)
    yield from _more(len(verdict.harmless) - MOST_HARMLESS, translate)


def _beaten(verdict: Verdict, translate: Translate) -> Iterator[Line]:
    shown = [loser for loser in verdict.beaten if not _says_the_same(loser.finding, verdict)]
    if not shown:
        return
    yield from _title(translate("What else was there, and why it does not decide"))
    for loser in shown[:MOST_BEATEN]:
        yield from _finding(loser.finding, loser.why, translate)
    yield from _more(len(shown) - MOST_BEATEN, translate)


def _says_the_same(finding: Finding, verdict: Verdict) -> bool:
    """Whether a loser is another reading of a line that is shown already, with the same cause: only a program needs it."""
    told = {(one.evidence.file, one.line, one.cause) for one in verdict.chain}
    return (finding.evidence.file, finding.line, finding.cause) in told


def _more(count: int, translate: Translate) -> Iterator[Line]:
    if count > 0:
        yield _line((f"  {translate(f'and {count} more (--format json lists all)')}", "dim"), indent=2)


def _runs(runs: tuple[RunDiagnosis, ...], translate: Translate) -> Iterator[Line]:
    if len(runs) < 2:  # noqa: PLR2004 - one run needs no overview
        return
    earlier = [run for run in runs[:-1] if run.verdict.status not in (Status.PASS, Status.UNKNOWN)]
    yield from _title(translate(f"{len(runs)} starts in this log; the verdict is that of the last"))
    if not earlier:
        return
    causes: dict[str, int] = {}
    for run in earlier:
        word = f"{run.verdict.status} / {run.verdict.cause}"
        causes[word] = causes.get(word, 0) + 1
    words = ", ".join(f"{word} ({count})" if count > 1 else word for word, count in causes.items())
    count = translate(f"{len(earlier)} of {len(runs)} starts failed before it:")
    yield _line((f"  {count} {words}", ""), indent=2)
    for run in earlier[-3:]:
        when = f" at {visible(run.details['started'])}" if "started" in run.details else ""
        where = f"line {run.verdict.line}" + (f" of {visible(run.verdict.file)}" if run.verdict.file else "")
        span = translate(f"lines {run.first_line}-{run.last_line}{when}")
        text = f"  {span}: {run.verdict.status} / {run.verdict.cause}, {translate(where)}"
        yield _line((text, "dim"), indent=4)


def remedy_lines(remedies: tuple[Remedy, ...], system: str, translate: Translate = unchanged) -> Iterator[Line]:
    """The steps under a title, with the commands of this system; nothing where there are none."""
    if not remedies:
        return
    told: set[str] = set()
    yield from _title(translate("What to do"))
    for number, remedy in enumerate(remedies, 1):
        yield _line((f"  {number}. ", "bold"), (visible(remedy.text), ""), indent=5)
        command = remedy.commands.get(system) or remedy.commands.get("any")
        if command:
            yield _line(("     $ ", "dim"), (visible(command), "cyan"), indent=7)
        if remedy.risk:
            yield _line((f"     {translate('Costs:')} {visible(remedy.risk)}", "dim"), indent=5)
        if remedy.link and remedy.link not in told:
            told.add(remedy.link)
            yield _line((f"     {translate('See:')} {visible(remedy.link)}", "dim"), indent=5)


def _retry(verdict: Verdict, translate: Translate) -> Iterator[Line]:
    if verdict.status is Status.PASS:
        return
    again = translate(RETRY_WORDS.get(verdict.retry, verdict.retry))
    yield _line(("", ""))
    yield _line((f"{translate('Try again?')} ", "bold"), (again, ""), indent=2)
    if not verdict.lasting:
        return
    lasting = translate("The same command line would fail again as things stand.")
    yield _line((f"  {lasting}", "dim"), indent=2)


def _page(verdict: Verdict, site: str, translate: Translate) -> Iterator[Line]:
    """Where more stands about what decided; of a healthy log there is no more to say."""
    if verdict.status is not Status.PASS:
        about = translate("More about it:")
        yield _line((f"{about} ", "bold"), (visible(pagelinks.link(verdict.page, site)), ""), indent=2)


def _notices(found: Diagnosis, translate: Translate) -> Iterable[Line]:
    if not found.notices:
        return
    yield from _title(translate("Notices"))
    for notice in found.notices:
        yield _line((f"  {visible(notice.text)}", "yellow"), indent=2)
