"""A diagnosis as a reply to an issue on GitHub: what failed, the proof, what to do, what to attach next.

Comes in: a diagnosis, the reporter's system, a translator. Goes out: Markdown in which no word of a log can do anything:

- Log lines and commands stand in code blocks and spans, whose fence is longer than any run of backticks inside. GitHub looks
  for nothing in code.
- Everything else is escaped by `prose`. Backslashes stop Markdown and entities stop HTML, but neither stops GitHub's own
  links: it looks for @names, #numbers, commits and addresses in the finished page, where a backslash has long gone
  (github/markup issue 1168). Only a character between does: a zero-width space, as Dependabot and Renovate put it.
  `GH-1` and `www.` go the same way; ids of other trackers (`ABC-1`), which a repository may have links for, do not.

Texts that people read are constants here; each goes through `translate` before it is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from strata_diag import __version__
from strata_diag.model import Diagnosis, Evidence, Finding, Remedy, Status, Verdict
from strata_diag.render import pagelinks
from strata_diag.render.addresses import is_safe_link
from strata_diag.render.escape import visible
from strata_diag.render.layout import RETRY_WORDS, Translate, unchanged

MOST_ITEMS = 4  # of each list; the rest is counted
MOST_STEPS = 5
MOST_LINES = 100  # of the reply to one log: what is least needed is left out of a longer one, and it says so
LONGEST_LINE = 600  # characters of the deciding line, and of a command
LONGEST_NEIGHBOUR = 200  # of a line around it
LONGEST_PROSE = 400  # of a title or a sentence
LONGEST_REPLY = 60_000  # characters in all: GitHub takes 65,536; logs beyond it stand only in the table
LEFT_OUT_FIRST = ("notices", "harmless", "explains")
ATTACH_STEP = "attach-engine-log"  # the general step, which the list of what to attach makes concrete

TEXTS = {
    "contested": "Another cause stands in the same run; this one is the better supported.",
    "degraded": "The program carries on without it.",
    "proof": "The line that decides it",
    "suspects": "Lines that look most like an error, though no rule knows them",
    "explains": "What it explains",
    "harmless": "Looks bad, but is harmless",
    "steps": "What to do",
    "costs": "Costs:",
    "retry": "Try again?",
    "lasting": "The same command line would fail again as things stand.",
    "runs": "{count} starts in this log; the verdict is that of the last.",
    "notices": "About the reading of this log",
    "attach": "What to attach next",
    "attach_redacted": "Take names and secrets out of each file first:",
    "more": "and {count} more",
    "line": "line",
    "lines": "lines",
    "times": "{count} times",
    "rule": "rule",
    "page": "More about it:",
    "version": "version {number} of its pack",
    "log": "Log",
    "result": "Result",
    "not_read": "could not be read",
    "cut": "{count} more logs are only in the table: the reply would be too long.",
    "logs": "{count} logs",
    "left_out": "More was found than a reply should hold; strata-diag classify shows all of it.",
}
# what tells most about a failure that nothing explains, by system; the engine's own log comes first
ATTACH_SYSTEM = {
    "linux": (
        ("the last messages of the kernel", "journalctl -k -b --no-pager | tail -n 200 > kernel.txt"),
        ("the state of the card", "nvidia-smi -q > card.txt"),
        ("the exit code, right after the engine ended", "echo $?"),
    ),
    "windows": (
        (
            "the last warnings of the system",
            "Get-WinEvent -FilterHashtable @{LogName='System'; Level=1,2,3} -MaxEvents 100 | Format-List > system.txt",
        ),
        ("the state of the card", "nvidia-smi -q > card.txt"),
        ("the exit code, right after the engine ended", "echo $LASTEXITCODE"),
    ),
    "macos": (
        ("the last messages of the kernel", "log show --last 30m --predicate 'process == \"kernel\"' > kernel.txt"),
        ("the state of the card", "system_profiler SPDisplaysDataType > card.txt"),
        ("the exit code, right after the engine ended", "echo $?"),
    ),
}
ATTACH_ENGINE = {
    ("Ollama", "linux"): ("the whole log of the service", "journalctl -u ollama --no-pager > ollama.txt"),
    ("Ollama", "windows"): ("the whole log of the server", 'copy "$env:LOCALAPPDATA\\Ollama\\server.log" ollama.txt'),
    ("Ollama", "macos"): ("the whole log of the server", "cp ~/.ollama/logs/server.log ollama.txt"),
}
ATTACH_STRATA = "the whole engine log: strata-<model>.log, beside strata-<model>.json"
ATTACH_OTHER = "everything that the engine printed, from its start to its end"
REDACT_COMMAND = "strata-diag redact engine.log -o to-send.log"
SHELLS = {"windows": "powershell"}

_BREAK, _BREAK_WRITTEN = "\u200b", "&#8203;"  # written as an entity, which every console can print and a person can see
_PUNCTUATION = re.compile(r"[\\`*_{}\[\]<>|~$!#&^=]")
_LINE_START = re.compile(r"^(\d{1,9})([.)])|^([-+:])")
_REFERENCE = re.compile(
    r"(?<=@)(?=[\w\[])"  # @name, owner/repository@commit, mail
    r"|(?<=[#!])(?=\d)|(?<=gh-)(?=\d)"  # #1, owner/repository#1, GH-1
    r"|(?<=:)(?=//)|(?<=www)(?=\.)|(?<=mailto:)|(?<=xmpp:)",
    re.IGNORECASE,
)
_COMMIT = re.compile(r"\b(?=[0-9]*[a-f])[0-9a-f]{7,40}\b")
_COMMIT_PIECE = 6  # characters; a commit is linked from seven on


def reply(found: Diagnosis, system: str, translate: Translate = unchanged, site: str = "") -> str:
    """The reply to one log. system: linux | windows | macos, the reporter's; site: of `pagelinks`."""
    return "\n".join([_what_it_is_about(found), "", *_section(found, system, translate, site), *_foot()])


def replies(
    found: Sequence[Diagnosis],
    unreadable: Sequence[str],
    system_of: Callable[[Diagnosis], str],
    translate: Translate = unchanged,
    site: str = "",
) -> str:
    """The reply to several logs: a table, then a section for each, as far as they find room."""
    count = translate(TEXTS["logs"].format(count=len(found) + len(unreadable)))
    lines = [f"### {prose(count)}", "", *_table(found, unreadable, translate)]
    length = sum(map(len, lines))
    for number, one in enumerate(found):
        section = ["", f"### {_name(one.name)}", "", *_section(one, system_of(one), translate, site)]
        length += sum(len(line) + 1 for line in section)
        if length > LONGEST_REPLY:
            lines += ["", prose(translate(TEXTS["cut"].format(count=len(found) - number)))]
            break
        lines += section
    return "\n".join([*lines, *_foot()])


def prose(text: str) -> str:
    """Text of a log or a rule as one line that Markdown, HTML and GitHub's own links leave as it is."""
    shown = _short(visible(text), LONGEST_PROSE).strip()
    broken = _COMMIT.sub(_in_pieces, _REFERENCE.sub(_BREAK, shown))
    escaped = _PUNCTUATION.sub(lambda sign: "&amp;" if sign[0] == "&" else "\\" + sign[0], broken)
    started = _LINE_START.sub(lambda start: f"{start[1]}\\{start[2]}" if start[1] else f"\\{start[3]}", escaped)
    return started.replace(_BREAK, _BREAK_WRITTEN)


def _in_pieces(commit: re.Match[str]) -> str:
    return _BREAK.join(commit[0][start : start + _COMMIT_PIECE] for start in range(0, len(commit[0]), _COMMIT_PIECE))


def code(text: str) -> str:
    """Text as a code span, also inside a table; empty for none."""
    shown = visible(text).strip()
    if not shown:
        return ""
    fence = "`" * (_longest_run(shown) + 1)
    pad = " " if "`" in (shown[0], shown[-1]) else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def block(lines: Iterable[str], kind: str = "text", indent: str = "") -> list[str]:
    """Lines as a code block with a fence that none of them can close. kind: the language, one of ours."""
    shown = [visible(line) for line in lines]
    fence = "`" * max(3, 1 + max(map(_longest_run, shown), default=0))
    return [f"{indent}{fence}{kind}", *(f"{indent}{line}" for line in shown), f"{indent}{fence}"]


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _name(path: str) -> str:
    """The last part of a path: where a log lies on our machine is no one's business."""
    return code(_short(re.split(r"[\\/]", path.rstrip("\\/"))[-1], LONGEST_NEIGHBOUR))


def _what_it_is_about(found: Diagnosis) -> str:
    engine = found.runs[-1].engine if found.runs else ""
    return _name(found.name) + (f" ({prose(engine)})" if engine else "")


def _result(verdict: Verdict) -> str:
    same = verdict.status in (Status.PASS, Status.UNKNOWN)
    return code(str(verdict.status) if same else f"{verdict.status} / {verdict.cause}")


def _table(found: Sequence[Diagnosis], unreadable: Sequence[str], translate: Translate) -> Iterator[str]:
    head = [prose(translate(TEXTS[one])) for one in ("log", "result", "line")]
    yield f"| {' | '.join(head)} |"
    yield "|---|---|---|"
    for one in found:
        name = _name(one.name).replace("|", "\\|")
        yield f"| {name} | {_result(one.verdict)} {prose(one.verdict.title)} | {one.verdict.line or ''} |"
    for path in unreadable:
        name = _name(path).replace("|", "\\|")
        yield f"| {name} | {prose(translate(TEXTS['not_read']))} | |"


def _section(found: Diagnosis, system: str, translate: Translate, site: str) -> list[str]:
    """The parts of a reply; those that are least needed are left out of one that would be too long."""
    verdict = found.verdict
    failed = verdict.status is not Status.PASS
    unexplained = verdict.status is Status.UNKNOWN or verdict.cause.endswith("unknown")
    steps = [step for step in found.remedies if not (unexplained and step.action == ATTACH_STEP)]
    parts = {
        "headline": _headline(found, translate),
        "proof": _proof(verdict, translate),
        "explains": _list(TEXTS["explains"], verdict.chain[1:], translate),
        "harmless": _list(TEXTS["harmless"], verdict.harmless if failed else (), translate),
        "steps": _steps(steps, system, translate),
        "attach": _attach(found, system, translate) if unexplained else (),
        "retry": _retry(verdict, translate) if failed else (),
        "notices": _notices(found, translate),
        "left_out": (),
        "rule": _rule(verdict, translate, site),
    }
    lines = {name: list(part) for name, part in parts.items()}
    for name in LEFT_OUT_FIRST:
        if sum(map(len, lines.values())) > MOST_LINES and lines[name]:
            lines[name] = []
            lines["left_out"] = ["", prose(translate(TEXTS["left_out"]))]
    return [line for part in lines.values() for line in part]


def _retry(verdict: Verdict, translate: Translate) -> Iterator[str]:
    again = translate(f"{RETRY_WORDS.get(verdict.retry, verdict.retry)}.")
    lasting = " " + prose(translate(TEXTS["lasting"])) if verdict.lasting else ""
    yield from ("", f"**{prose(translate(TEXTS['retry']))}** {prose(again)}{lasting}")


def _rule(verdict: Verdict, translate: Translate, site: str) -> Iterator[str]:
    """The rule, and where more about it stands: a link, or the command that shows it where no site may be linked."""
    if verdict.rule:
        version = translate(TEXTS["version"].format(number=verdict.pack_version))
        address = pagelinks.address(verdict.page, site)
        page = f"<{address}>" if is_safe_link(address) else code(pagelinks.command(verdict.page))
        yield from ("", f"*{prose(translate(TEXTS['rule']))} {code(verdict.rule)}, {prose(version)}*")
        yield f"*{prose(translate(TEXTS['page']))}* {page}"


def _headline(found: Diagnosis, translate: Translate) -> Iterator[str]:
    verdict = found.verdict
    yield f"**{_result(verdict)}** {prose(verdict.title)}"
    why = verdict.deciding.why if verdict.deciding else "" if verdict.suspects else verdict.reason
    remarks = [why] if why else []
    remarks += [translate(TEXTS[one]) for one in ("contested", "degraded") if getattr(verdict, one)]
    if len(found.runs) > 1:
        remarks.append(translate(TEXTS["runs"].format(count=len(found.runs))))
    for remark in remarks:
        yield from ("", prose(remark))


def _proof(verdict: Verdict, translate: Translate) -> Iterator[str]:
    if verdict.deciding:
        yield from ("", f"**{prose(translate(TEXTS['proof']))}**", "")
        yield from block(_numbered(verdict.deciding.evidence))
    if verdict.suspects:
        yield from ("", f"**{prose(translate(TEXTS['suspects']))}**", "")
        yield from block(_row(one.line, one.text, LONGEST_LINE) for one in verdict.suspects[:MOST_ITEMS])


def _numbered(evidence: Evidence) -> Iterator[str]:
    if evidence.file:
        yield f"# {_short(evidence.file, LONGEST_NEIGHBOUR)}"
    first = evidence.line - len(evidence.before)
    for number, text in enumerate(evidence.before, first):
        yield _row(number, text, LONGEST_NEIGHBOUR)
    yield _row(evidence.line, evidence.text, LONGEST_LINE, ">")
    for number, text in enumerate(evidence.after, evidence.line + 1):
        yield _row(number, text, LONGEST_NEIGHBOUR)


def _row(number: int, text: str, longest: int, marker: str = " ") -> str:
    return f"{marker} {number:>6} | {_short(text, longest)}".rstrip()


def _list(title: str, findings: Sequence[Finding], translate: Translate) -> Iterator[str]:
    if not findings:
        return
    yield from ("", f"**{prose(translate(title))}**", "")
    for finding in findings[:MOST_ITEMS]:
        several = 1 < len(finding.lines) <= MOST_ITEMS and finding.times <= MOST_ITEMS
        where = ", ".join(map(str, finding.lines)) if several else str(finding.line)
        where += f" ({prose(finding.evidence.file)})" if finding.evidence.file else ""
        word = translate(TEXTS["lines" if several else "line"])
        times = translate(TEXTS["times"].format(count=finding.times)) if finding.times > 1 and not several else ""
        yield f"- {prose(word)} {where}{f' ({prose(times)})' if times else ''}: {prose(finding.title)}"
    yield from _more(len(findings) - MOST_ITEMS, translate)


def _more(count: int, translate: Translate) -> Iterator[str]:
    if count > 0:
        yield f"- {prose(translate(TEXTS['more'].format(count=count)))}"


def _steps(remedies: Sequence[Remedy], system: str, translate: Translate) -> Iterator[str]:
    if not remedies:
        return
    yield from ("", f"**{prose(translate(TEXTS['steps']))}**", "")
    told: set[str] = set()
    for number, remedy in enumerate(remedies[:MOST_STEPS], 1):
        link = "" if remedy.link in told else _link(remedy.link)
        told.add(remedy.link)
        costs = f" *{prose(translate(TEXTS['costs']))} {prose(remedy.risk)}*" if remedy.risk else ""
        yield f"{number}. {prose(remedy.text)}{costs}{link}"
        command = remedy.commands.get(system) or remedy.commands.get("any")
        if command and len(command) <= LONGEST_LINE:  # half a command is worse than none
            yield from ("", *block(command.splitlines(), SHELLS.get(system, "sh"), "   "), "")
    yield from _more(len(remedies) - MOST_STEPS, translate)


def _link(address: str) -> str:
    """A link of a rule, which may be followed; one that could hide something is left out."""
    return f" <{address}>" if is_safe_link(address) else ""


def _attach(found: Diagnosis, system: str, translate: Translate) -> Iterator[str]:
    """Which files say more, with the commands that make them on the reporter's system."""
    engine = found.runs[-1].engine if found.runs else ""
    wanted = ATTACH_ENGINE.get((engine, system), (ATTACH_STRATA if engine == "strata" else ATTACH_OTHER, ""))
    shell = SHELLS.get(system, "sh")
    yield from ("", f"**{prose(translate(TEXTS['attach']))}**", "")
    for what, command in (wanted, *ATTACH_SYSTEM.get(system, ATTACH_SYSTEM["linux"])):
        yield f"- {prose(translate(what))}"
        if command:
            yield from ("", *block([command], shell, "  "), "")
    yield f"- {prose(translate(TEXTS['attach_redacted']))}"
    yield from ("", *block([REDACT_COMMAND], shell, "  "))


def _notices(found: Diagnosis, translate: Translate) -> Iterator[str]:
    if not found.notices:
        return
    yield from ("", f"**{prose(translate(TEXTS['notices']))}**", "")
    for notice in found.notices[:MOST_ITEMS]:
        yield f"- {prose(notice.text)}"
    yield from _more(len(found.notices) - MOST_ITEMS, translate)


def _foot() -> list[str]:
    return ["", f"*strata-diag {__version__}*", ""]
