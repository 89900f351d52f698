"""One log on the page: what failed, the line that decides it among its neighbours, what to do, how its starts went.

Everything can be read without a script; what is least needed stands in `<details>`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from strata_diag.model import Diagnosis, Finding, Remedy, Status, Verdict
from strata_diag.render import pagelinks, timeline
from strata_diag.render.excerpt import ExcerptLine, Part, excerpt
from strata_diag.render.htmltext import anchor, commands, items, link, log_line, text, tone, verdict_word
from strata_diag.render.layout import RETRY_WORDS, Translate
from strata_diag.render.markdown import TEXTS as REPLY_TEXTS

MOST_ITEMS = 30  # of each list; the rest is counted

TEXTS = {
    "excerpt": "The log around its evidence",
    "excerpt_more": "lines {first} to {last} of {count}",
    "missing": "{count} lines left out",
    "outside": "No line of the log decides, but what is known beside it: an exit code, a time-out.",
    "beaten": "What else was there, and why it does not decide",
    "starts": "The starts in this log",
    "starts_words": "The same in words",
    "nearest": "nearest rule:",
    "line": "line {number}",
    "about": "{lines} lines, {encoding}",
    "about_it": "More about it:",
    "see": "See:",
    "any_system": "any system",
}
PARTS = {
    Part.DECIDING: "decides",
    Part.SYMPTOM: "a symptom of it",
    Part.SUSPECT: "looks like an error, and no rule knows it",
    Part.BEATEN: "does not decide",
}
SYSTEMS = {"linux": "Linux", "windows": "Windows", "macos": "macOS"}


def section(found: Diagnosis, name: str, site: str, translate: Translate) -> str:
    """The inside of one log's article, after its heading. name: a prefix of ids, unique on the page; site: of `pagelinks`."""
    parts = (
        _headline(found, translate),
        _page(found.verdict, site, translate),
        _excerpt(found, translate),
        _findings(REPLY_TEXTS["explains"], found.verdict.chain[1:], translate),
        _suspects(found.verdict, translate),
        _steps(found.remedies, translate),
        _retry(found.verdict, translate),
        _starts(found, name, translate),
        _beaten(found.verdict, translate),
        _harmless(found.verdict, translate),
        notices((notice.text for notice in found.notices), translate),
    )
    return "".join(piece for part in parts for piece in part)


def notices(texts: Iterable[str], translate: Translate) -> Iterator[str]:
    """What went wrong while something was read."""
    said = [text(one) for one in texts]
    if said:
        yield _heading(REPLY_TEXTS["notices"], translate)
        yield items(_bounded(said, translate))


def _heading(english: str, translate: Translate) -> str:
    return f"<h4>{text(translate(english))}</h4>"


def _headline(found: Diagnosis, translate: Translate) -> Iterator[str]:
    verdict = found.verdict
    word = f'<strong class="{tone(verdict.status)}">{text(verdict_word(verdict))}</strong>'
    yield f'<p class="verdict">{word} {text(verdict.title)}</p>'
    if verdict.reason != verdict.title:
        yield f'<p class="reason">{text(verdict.reason)}</p>'
    if verdict.deciding and verdict.deciding.why:
        yield f"<p>{text(verdict.deciding.why)}</p>"
    for remark in ("contested", "degraded"):
        if getattr(verdict, remark):
            yield f'<p class="remark">{text(translate(REPLY_TEXTS[remark]))}</p>'
    engine = found.runs[-1].engine if found.runs else ""
    about = translate(TEXTS["about"].format(lines=found.line_count, encoding=found.encoding))
    yield f'<p class="meta">{f"{text(engine)}, " if engine else ""}{text(about)}{_rule(verdict, translate)}</p>'


def _page(verdict: Verdict, site: str, translate: Translate) -> Iterator[str]:
    """Where more about the rule, or the cause, is read."""
    address = pagelinks.address(verdict.page, site)
    shown = anchor(address) if address else f"<code>{text(pagelinks.command(verdict.page))}</code>"
    yield f'<p class="meta">{text(translate(TEXTS["about_it"]))} {shown}</p>'


def _rule(verdict: Verdict, translate: Translate) -> str:
    if not verdict.rule:
        return ""
    version = translate(REPLY_TEXTS["version"].format(number=verdict.pack_version))
    return f", {text(translate(REPLY_TEXTS['rule']))} <code>{text(verdict.rule)}</code>, {text(version)}"


def _excerpt(found: Diagnosis, translate: Translate) -> Iterator[str]:
    lines = excerpt(found.verdict)
    if found.verdict.deciding is not None and not found.verdict.deciding.lines:
        yield f'<p class="remark">{text(translate(TEXTS["outside"]))}</p>'
    if not lines:
        return
    yield _heading(TEXTS["excerpt"], translate)
    where = TEXTS["excerpt_more"].format(first=lines[0].number, last=lines[-1].number, count=found.line_count)
    yield f'<table class="excerpt"><caption>{text(translate(where))}</caption><tbody>'
    for line in lines:
        yield from _excerpt_row(line, translate)
    yield "</tbody></table>"


def _excerpt_row(line: ExcerptLine, translate: Translate) -> Iterator[str]:
    if line.missing:
        left_out = text(translate(TEXTS["missing"].format(count=line.missing)))
        yield f'<tr class="gap"><th aria-hidden="true">…</th><td>{left_out}</td></tr>'
    shown = f'<th scope="row">{line.number}</th><td><code>{log_line(line)}</code>'
    said = PARTS.get(line.part)
    if said is None:
        yield f"<tr>{shown}</td></tr>"
    else:
        yield f'<tr class="{line.part}">{shown}<span class="what">{text(translate(said))}</span></td></tr>'


def _findings(title: str, findings: Sequence[Finding], translate: Translate) -> Iterator[str]:
    if findings:
        yield _heading(title, translate)
        yield items(_bounded([_finding(one, one.why, translate) for one in findings], translate))


def _finding(finding: Finding, remark: str, translate: Translate) -> str:
    where = text(translate(TEXTS["line"].format(number=finding.line)))
    times = f" ({text(translate(REPLY_TEXTS['times'].format(count=finding.times)))})" if finding.times > 1 else ""
    said = f'<br><span class="what">{text(remark)}</span>' if remark else ""
    return f"{where}: {text(finding.title)}{times}{said}"


def _bounded(entries: Sequence[str], translate: Translate) -> list[str]:
    shown = list(entries[:MOST_ITEMS])
    if len(entries) > MOST_ITEMS:
        shown.append(text(translate(REPLY_TEXTS["more"].format(count=len(entries) - MOST_ITEMS))))
    return shown


def _suspects(verdict: Verdict, translate: Translate) -> Iterator[str]:
    nearest = [one for one in verdict.suspects if one.nearest]
    if not nearest:
        return
    yield _heading(REPLY_TEXTS["suspects"], translate)
    word = text(translate(TEXTS["nearest"]))
    rows = [
        f"{text(translate(TEXTS['line'].format(number=one.line)))}: {word} <code>{text(one.nearest)}</code>"
        for one in nearest
    ]
    yield items(_bounded(rows, translate))


def _steps(remedies: Sequence[Remedy], translate: Translate) -> Iterator[str]:
    if remedies:
        yield _heading(REPLY_TEXTS["steps"], translate)
        told: set[str] = set()
        yield items([_step(one, told, translate) for one in remedies], "ol")


def _step(remedy: Remedy, told: set[str], translate: Translate) -> str:
    """One step as HTML. told: the links that stand at a step before, and aren't repeated."""
    said = [text(remedy.text)]
    for system, command in remedy.commands.items():
        shown = commands(command)
        if shown:
            name = SYSTEMS.get(system) or (translate(TEXTS["any_system"]) if system == "any" else system)
            said.append(f'<div class="system">{text(name)}</div><pre><code>{shown}</code></pre>')
    if remedy.risk:
        said.append(f'<div class="what">{text(translate(REPLY_TEXTS["costs"]))} {text(remedy.risk)}</div>')
    if remedy.link and remedy.link not in told:
        told.add(remedy.link)
        said.append(f'<div class="what">{text(translate(TEXTS["see"]))} {link(remedy.link)}</div>')
    return "".join(said)


def _retry(verdict: Verdict, translate: Translate) -> Iterator[str]:
    if verdict.status is Status.PASS:
        return
    again = text(translate(f"{RETRY_WORDS.get(verdict.retry, verdict.retry)}."))
    lasting = f" {text(translate(REPLY_TEXTS['lasting']))}" if verdict.lasting else ""
    yield f"<p><strong>{text(translate(REPLY_TEXTS['retry']))}</strong> {again}{lasting}</p>"


def _starts(found: Diagnosis, name: str, translate: Translate) -> Iterator[str]:
    drawn = timeline.picture(found, name, translate)
    if not drawn:
        return
    yield _heading(TEXTS["starts"], translate)
    yield drawn
    first = max(len(found.runs) - MOST_ITEMS, 0)
    said = [
        text(timeline.start_text(run, number, translate)) for number, run in enumerate(found.runs[first:], first + 1)
    ]
    if first:
        said.insert(0, text(translate(REPLY_TEXTS["more"].format(count=first))))
    yield f"<details><summary>{text(translate(TEXTS['starts_words']))}</summary>{items(said)}</details>"


def _beaten(verdict: Verdict, translate: Translate) -> Iterator[str]:
    rows = [_finding(one.finding, one.why, translate) for one in verdict.beaten]
    yield from _folded(TEXTS["beaten"], rows, translate)


def _harmless(verdict: Verdict, translate: Translate) -> Iterator[str]:
    if verdict.status is not Status.PASS:
        rows = [_finding(one, one.why, translate) for one in verdict.harmless]
        yield from _folded(REPLY_TEXTS["harmless"], rows, translate)


def _folded(title: str, rows: Sequence[str], translate: Translate) -> Iterator[str]:
    if rows:
        inside = items(_bounded(rows, translate))
        yield f"<details><summary>{text(translate(title))} ({len(rows)})</summary>{inside}</details>"
