"""What `corpus add` asks a person on a terminal. The program's own answer is not shown before they have said theirs."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable
from typing import NamedTuple

from strata_diag.model import Status
from strata_diag.render.escape import encodable, visible
from strata_diag.render.terminal import is_terminal
from strata_diag.ruleset import RuleSet
from strata_diag.workshop.errors import WorkshopError
from strata_diag.workshop.newcase import Opinion, find_window

MOST_SHOWN = 60  # lines of the log that are shown before the questions; of more the middle is left out
LONGEST_SHOWN = 200  # characters of one of them
CAUSES_OF = {Status.PASS: "none", Status.UNKNOWN: "unknown"}  # the only cause of these statuses
NOTHING = ("", "-")


class Given(NamedTuple):
    """What a person has said already; None where they have said nothing."""

    status: str | None = None
    cause: str | None = None
    line: int | None = None
    why: str | None = None
    symptoms: tuple[int, ...] | None = None
    harmless: tuple[int, ...] | None = None

    def completed(self, rules: RuleSet) -> Given:
        """With the status that a cause belongs to, or the only cause of a status. Raises WorkshopError for an unknown cause."""
        if self.cause is not None and self.cause not in rules.causes:
            raise WorkshopError(_unknown_cause(self.cause, rules))
        status = self.status or (str(rules.causes[self.cause].status) if self.cause else None)
        cause = self.cause or (CAUSES_OF.get(Status(status)) if status else None)
        return self._replace(status=status, cause=cause)

    @property
    def lacking(self) -> list[str]:
        """The parts that a label needs and that were not given."""
        needs_line = self.status not in (Status.PASS, Status.UNKNOWN)
        parts = {"cause": self.cause, "line": self.line if needs_line else 0, "why": self.why}
        return [name for name, value in parts.items() if value is None]

    def opinion(self) -> Opinion:
        """All of it, where nothing is lacking."""
        return Opinion(
            self.status or "", self.cause or "", self.line, self.why or "", self.symptoms or (), self.harmless or ()
        )


def is_asked() -> bool:
    """Whether somebody sits at a terminal."""
    return is_terminal(sys.stdin) and is_terminal(sys.stdout)


def ask(given: Given, data: bytes, rules: RuleSet) -> Opinion:
    """Show the log where it tells most, and ask for what was not given. Raises WorkshopError where the answers end."""
    from strata_diag.api import diagnose  # noqa: PLC0415 - only where somebody is asked
    from strata_diag.workshop.logs import lines_of  # noqa: PLC0415
    from strata_diag.workshop.logtext import log_text  # noqa: PLC0415

    lines = lines_of(data)
    window = find_window(log_text(data), diagnose(data, rules=rules), rules)
    _show(lines, window.first, window.last)

    def number(text: str) -> str | None:
        if text in NOTHING or (text.isdecimal() and 1 <= int(text) <= len(lines)):
            return None
        return f"the log has {len(lines)} lines; write one's number, or - for none"

    def numbers(text: str) -> str | None:
        return next((wrong for part in text.split(",") if (wrong := number(part.strip()))), None)

    if given.line is None and given.status not in CAUSES_OF:
        line = _answer("Line that shows what failed (- if none does):", number)
        given = given._replace(line=None if line in NOTHING else int(line))
    if given.cause is None:
        given = given._replace(cause=_ask_cause(rules, given)).completed(rules)
    if given.why is None:
        given = given._replace(why=_answer("Why is that right, in one sentence?", _sentence))
    if given.symptoms is None and given.line is not None:
        given = given._replace(symptoms=_numbers(_answer("Lines that only follow from it (7,8; - for none):", numbers)))
    if given.harmless is None:
        text = _answer("Lines that look like a failure and are none (- for none):", numbers)
        given = given._replace(harmless=_numbers(text))
    return given.opinion()


def agree(question: str) -> bool:
    """Whether a person says yes."""
    return _answer(f"{question} [y/N]", lambda _: None).lower() in ("y", "yes")


def _show(lines: list[str], first: int, last: int) -> None:
    numbers = list(range(first, last + 1))
    half = MOST_SHOWN // 2
    parts = [numbers] if len(numbers) <= MOST_SHOWN else [numbers[:half], numbers[-half:]]
    for count, part in enumerate(parts):
        if count:
            _write(f"        ... {len(numbers) - 2 * half} lines ...")
        for number in part:
            _write(f"{number:>7} | {visible(lines[number - 1][:LONGEST_SHOWN])}")
    _write("")


def _ask_cause(rules: RuleSet, given: Given) -> str:
    for status in Status:
        ids = [cause for cause, one in rules.causes.items() if one.status is status]
        fits = given.line is None or status is not Status.PASS
        if ids and fits and given.status in (None, str(status)):
            _write(f"  {status}: {', '.join(ids)}")
    return _answer("Cause:", lambda text: None if text in rules.causes else _unknown_cause(text, rules))


def _unknown_cause(name: str, rules: RuleSet) -> str:
    near = difflib.get_close_matches(name, rules.causes, 1)
    return f"no pack knows the cause `{name}`; " + (f"did you mean `{near[0]}`?" if near else "take one of the list")


def _sentence(text: str) -> str | None:
    return None if text else "a label without a reason helps nobody"


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(",") if part.strip() not in NOTHING)


def _answer(question: str, wrong: Callable[[str], str | None]) -> str:
    """The answer to a question, asked until there is nothing wrong with it."""
    while True:
        try:
            text = input(encodable(f"{question} ", sys.stdout.encoding)).strip()
        except EOFError:
            raise WorkshopError("the answers ended; nothing was written") from None
        complaint = wrong(text)
        if complaint is None:
            return text
        _write(f"  {complaint}")


def _write(text: str) -> None:
    sys.stdout.write(encodable(visible(text), sys.stdout.encoding) + "\n")
