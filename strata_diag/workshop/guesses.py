"""What a new rule may be, guessed from its line: role and priority band. Each guess says that it is one, and why."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from strata_diag.model import Role
from strata_diag.rulepack.keys import HIGHEST_PRIORITY
from strata_diag.suspects import ALARMING, alarm
from strata_diag.workshop.prefixes import Message

CALM_LEVELS = ("TRACE", "DEBUG", "INFO", "NOTICE")
STEP = 10  # between two priorities of one band
COMPONENT = (600, "the error of a component")
_SYSTEM = (
    r"no such file|permission denied|cannot open shared object|undefined symbol|winerror|\berrno\b|\bdll\b|"
    r"no space left|connection refused|address already in use|cannot allocate memory|not a valid win32"
)
_APIS = r"\b(?:cuda|hip|cublas|cudnn|nccl|rocblas|vulkan|vk_error|sycl|metal)\w*"
_TOO = r"too (?:small|large|few|many)"
_REFUSAL = (
    r"(?:needs?|requires?|requested|wants|exceeds?|at least|at most|larger than|more than|only|short of|"
    rf"{_TOO})\b[^.]*\d|\d[^.]*\b(?:is (?:larger|more|less|smaller)|exceeds|{_TOO})"
)
_WRAPPER = r"did not start|could ?n[o']t be started|exited|has stopped|failed to start|exit code|terminated"
# The bands that CONTRIBUTING.md describes, the more telling words first
_BANDS = (
    (
        400,
        "an assertion or an abort",
        r"assert|\babort|\bpanic|segmentation fault|core dumped|terminate called|traceback",
    ),
    (700, "an error text of the operating system or the loader", _SYSTEM),
    (800, "a GPU API's own error text", rf"{_APIS}\b.*(?:fail|error|invalid|lost|illegal)|(?:fail|error).*{_APIS}\b"),
    (900, "a refusal with its own numbers", _REFUSAL),
    (300, "the word of a wrapper", _WRAPPER),
    (100, "a generic error line", r"^\W*(?:fatal )?(?:error|failed|failure)\W*(?:\d+\W*)?$"),
)
BANDS = tuple((band, words, re.compile(pattern, re.IGNORECASE)) for band, words, pattern in _BANDS)


class Guess(NamedTuple):
    """A guessed value and the reason for it."""

    value: str
    why: str


def guess_role(message: Message) -> Guess:
    """The role of a rule for this line."""
    if message.level in CALM_LEVELS and alarm(message.text) < ALARMING:
        return Guess(Role.INFO, f"the line is logged as {message.level}")
    if message.level in CALM_LEVELS:
        return Guess(Role.FAILURE, f"the line is logged as {message.level}, yet reads like an error")
    return Guess(Role.FAILURE, "symptom if something else caused it, info if it is harmless")


def guess_priority(message: Message, taken: Collection[int]) -> Guess:
    """The priority of a failure or symptom: its band, moved where a rule that matches the same line has the very number."""
    band, why = next(((band, words) for band, words, pattern in BANDS if pattern.search(message.text)), COMPONENT)
    priority = band
    while priority in taken and priority + STEP <= HIGHEST_PRIORITY:
        priority += STEP
    moved = "" if priority == band else f", moved off {band}, which a rule has that matches this line too"
    return Guess(str(priority), f"reads like {why}{moved}")
