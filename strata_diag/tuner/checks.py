"""The record of one thing that preflight looked at, and how it gets its words from the rule set.

A check names a cause of `rules/causes.yaml`; status, retry and remedies follow from it, with the numbers of this machine
filled in, so that a person reads before a run what the verdict would have said after it. Probes of plugins answer with the
same record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from strata_diag import remedy
from strata_diag.model import NO_CAPTURES, Remedy, Status
from strata_diag.ruleset import RuleSet
from strata_diag.tuner.needs import Need
from strata_diag.tuner.nvml import Reading
from strata_diag.tuner.processes import Program


class State(StrEnum):
    """What a check found."""

    CLEAR = "clear"
    CAUTION = "caution"  # worth a look, and no reason not to start
    BLOCKED = "blocked"  # a start would fail, or measure something else than the card alone
    UNKNOWN = "unknown"  # it could not be looked at; never a reason not to start


class Check(NamedTuple):
    """One thing that preflight looked at.

    name: driver | programs | lease | card | vram | ram, or a probe's own; text: one sentence; cause: of the rule set, `none`
    where nothing is wrong; values: numbers for the wordings of remedies (`free_mib`, `short_gib`); actions: remedies that come
    before those of the cause. status, title, retry and remedies follow from the cause; whoever makes a check leaves them out.
    """

    name: str
    state: State
    text: str
    cause: str = "none"
    values: Mapping[str, Any] = NO_CAPTURES
    actions: tuple[str, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    status: Status = Status.PASS
    title: str = ""
    retry: str = "now"

    def to_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        return {
            **self._asdict(),
            "state": str(self.state),
            "status": str(self.status),
            "values": dict(self.values),
            "actions": list(self.actions),
            "remedies": [{**step._asdict(), "commands": dict(step.commands)} for step in self.remedies],
        }


class Situation(NamedTuple):
    """What preflight knows when it asks the probes of plugins.

    device: nvidia-smi's number of the card; command: words of the command line about to be measured, empty where it isn't known;
    programs: None where the process list could not be read.
    """

    device: int
    command: tuple[str, ...]
    need: Need
    cards: Reading
    programs: tuple[Program, ...] | None


Probe = Callable[[Situation], Check | Iterable[Check] | None]


def worded(check: Check, rules: RuleSet) -> Check:
    """The check with the words of its cause. Raises KeyError for a cause that no pack declares, ValueError for none at all."""
    unknown = check.state is State.UNKNOWN
    cause = rules.causes["unknown" if unknown else check.cause]
    if check.state is State.BLOCKED and cause.status is Status.PASS:
        raise ValueError(f"the check {check.name} stands in the way and names no cause")
    if check.state is State.CLEAR or unknown:
        return check._replace(cause=cause.id, status=cause.status, title=cause.title, retry=cause.retry)
    wanted = dict.fromkeys((*check.actions, *cause.remedies))
    made = (remedy.fill(rules.remedies[action], check.values) for action in wanted if action in rules.remedies)
    steps = (*check.remedies, *(step for step in made if step is not None))
    return check._replace(status=cause.status, title=cause.title, retry=cause.retry, remedies=steps)


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def gib(value: float) -> str:
    """GiB with one digit behind the point, as the engine prints them."""
    return f"{value:.1f} GiB"
