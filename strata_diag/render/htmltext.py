"""Text for a web page: every piece of a log, a rule or a name goes through `text`, and nothing else reaches the page.

`text` shows control characters and changes of direction instead of sending them, then escapes what HTML would read. Its
result is safe between tags and inside a quoted attribute; the page has no other place for what it was given.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from strata_diag.model import Status, Verdict
from strata_diag.render.addresses import is_safe_link
from strata_diag.render.escape import visible
from strata_diag.render.excerpt import ExcerptLine, Part

LONGEST_TEXT = 600  # characters of a title, a name or a sentence
LONGEST_LINE = 2000  # characters of a line of a log, and of a command
LEAD = 200  # characters of a long line that are shown before the place that matters


def text(value: str, longest: int = LONGEST_TEXT) -> str:
    """A piece of text as HTML, on one line and of bounded length."""
    cut = value if len(value) <= longest else value[: longest - 1] + "…"
    return escape(visible(cut))


def log_line(line: ExcerptLine) -> str:
    """A line of a log as HTML; of a long one the part that matters. What the deciding pattern matched is marked."""
    start = max(line.column - 1, 0)
    first = max(start - LEAD, 0) if len(line.text) > LONGEST_LINE else 0
    shown = line.text[first : first + LONGEST_LINE]
    before, after = (escape(visible(part)) for part in (shown[: start - first], shown[start - first :]))
    if line.part is Part.DECIDING and after:
        after = f"<mark>{after}</mark>"
    return f"{_omitted(first)}{before}{after}{_omitted(len(line.text) - first - len(shown))}"


def _omitted(count: int) -> str:
    return f'<span class="cut">[{count:,}…]</span>' if count else ""


def commands(value: str) -> str:
    """A command as HTML, its lines kept. Empty for one that is too long: half a command is worse than none."""
    if len(value) > LONGEST_LINE:
        return ""
    return "\n".join(escape(visible(line)) for line in value.splitlines())


def link(address: str) -> str:
    """A link of a rule as HTML; as bare text where it could hide where it leads."""
    return anchor(address) if is_safe_link(address) else text(address)


def anchor(address: str) -> str:
    """A link to an address that is known to be good."""
    return f'<a href="{text(address)}" rel="noopener noreferrer">{text(address)}</a>'


def items(entries: Iterable[str], kind: str = "ul") -> str:
    """A list of entries that are HTML already. kind: ul | ol. Empty for none."""
    inside = "".join(f"<li>{entry}</li>" for entry in entries)
    return f"<{kind}>{inside}</{kind}>" if inside else ""


def verdict_word(verdict: Verdict) -> str:
    """The status, and the cause where it says more."""
    alone = verdict.status in (Status.PASS, Status.UNKNOWN)
    return str(verdict.status) if alone else f"{verdict.status} / {verdict.cause}"


def status_class(status: Status | None) -> str:
    """The class of whatever shows a status: `status-oom`. None: the log could not be read."""
    return f"status-{'unread' if status is None else status.lower().replace('_', '-')}"


def tone(status: Status | None) -> str:
    """The class of a status's colour: pass | unknown | failure."""
    if status is None:
        return "failure"
    return {Status.PASS: "pass", Status.UNKNOWN: "unknown"}.get(status, "failure")
