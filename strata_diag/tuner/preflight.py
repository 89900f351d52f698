"""What is looked at before a measurement: whether the card is free, whether there is room, whether the driver is new enough.

    before = preflight(earlier_log=Path("strata-iq3_s.log"), command=words)
    if not before.clear:
        print(before.reason, before.retry, before.remedies[0].text)

Comes in: what is about to be measured. Goes out: a `Preflight`, with the words and remedies that the verdict would have after a
failure. What can't be looked at (no GPU, no driver, a package that is not installed, a driver that hangs) is named and never
stands in the way. Looks only: no process is ended, no memory taken, and no file written.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from strata_diag import source
from strata_diag.api import default_rules
from strata_diag.model import Notice, Remedy, Status
from strata_diag.ruleset import RuleSet
from strata_diag.tuner import look
from strata_diag.tuner.bounded import NoAnswerError, within
from strata_diag.tuner.checks import Check, Probe, Situation, State, worded
from strata_diag.tuner.needs import Need, command_words, read_needs
from strata_diag.tuner.nvml import Card, Reading, read_cards
from strata_diag.tuner.processes import Program, default_lease, own_line, read_lease, running_programs
from strata_diag.tuner.ram import Ram, available_ram

SCHEMA_VERSION = (
    1  # of `Preflight.to_dict`; a key may be added without raising it, never removed or given another meaning
)
DRIVER_LIMIT_S = 10.0  # the first question to a driver that keeps nothing loaded takes seconds
PROBE_LIMIT_S = 5.0
HOLDERS, SHORTAGES = frozenset({"programs", "lease", "card"}), frozenset({"vram", "ram"})  # names of checks


class Preflight(NamedTuple):
    """What stands in the way of a measurement, if anything.

    checks: in the order in which they decide, those of plugins last; device: nvidia-smi's number of the card; driver: its
    version, or empty; cards: all that could be read, memory in MiB; programs: of Strata, without the caller and its ancestors;
    need: what the run takes at least, as far as that is known; notices: a probe that raised, a log that said nothing.
    """

    checks: tuple[Check, ...]
    device: int = 0
    driver: str = ""
    cards: tuple[Card, ...] = ()
    programs: tuple[Program, ...] = ()
    need: Need = Need()
    notices: tuple[Notice, ...] = ()

    @property
    def clear(self) -> bool:
        """Whether nothing that could be looked at stands in the way."""
        return self.deciding is None

    @property
    def checked(self) -> bool:
        """Whether anything of the machine could be looked at; the mark of another job alone proves nothing."""
        return any(check.state is not State.UNKNOWN for check in self.checks if check.name != "lease")

    @property
    def deciding(self) -> Check | None:
        """The first check that stands in the way; None where none does."""
        return next((check for check in self.checks if check.state is State.BLOCKED), None)

    @property
    def unchecked(self) -> tuple[Check, ...]:
        """The checks that could not be made; their texts say why."""
        return tuple(check for check in self.checks if check.state is State.UNKNOWN)

    @property
    def status(self) -> Status:
        """The word of a verdict: what a run started now would end with, PASS where nothing speaks against it."""
        if self.deciding is not None:
            return self.deciding.status
        return Status.PASS if self.checked else Status.UNKNOWN

    @property
    def cause(self) -> str:
        """The cause of that, such as `device-busy`; `none` or `unknown` where nothing stands in the way."""
        return self.deciding.cause if self.deciding else "none" if self.checked else "unknown"

    @property
    def retry(self) -> str:
        """When to look again: `now`, `never` or `after:<what must change>`, as in a verdict."""
        return self.deciding.retry if self.deciding else "now"

    @property
    def reason(self) -> str:
        """One sentence: what stands in the way, or that nothing does."""
        if self.deciding is not None:
            return self.deciding.text
        return "Nothing stands in the way." if self.checked else "Nothing could be looked at."

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """The steps of every check that stands in the way, each once, in order.

        While another program holds the card, that it and the RAM are full is its doing and gets no steps of its own.
        """
        explained = SHORTAGES if self.deciding and self.deciding.name in HOLDERS else frozenset[str]()
        blocked = (check for check in self.checks if check.state is State.BLOCKED and check.name not in explained)
        steps = (step for check in blocked for step in check.remedies)
        unique: dict[str, Remedy] = {}
        for step in steps:
            unique.setdefault(step.action, step)
        return tuple(unique.values())

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `strata-diag preflight --format json`: plain types only."""
        return {
            "schema": SCHEMA_VERSION,
            "clear": self.clear,
            "checked": self.checked,
            "status": str(self.status),
            "cause": self.cause,
            "retry": self.retry,
            "reason": self.reason,
            "device": self.device,
            "driver": self.driver,
            "checks": [check.to_dict() for check in self.checks],
            "remedies": [{**step._asdict(), "commands": dict(step.commands)} for step in self.remedies],
            "cards": [
                {**card._asdict(), "processes": card.processes and [process._asdict() for process in card.processes]}
                for card in self.cards
            ],
            "programs": [program._asdict() for program in self.programs],
            "need": {**self.need._asdict(), "values": dict(self.need.values)},
            "notices": [notice._asdict() for notice in self.notices],
        }


def preflight(
    need_mib: int | None = None,
    device: int = 0,
    *,
    command: Sequence[str] | str | None = None,
    earlier_log: source.Target | None = None,
    lease: os.PathLike[str] | str | None = None,
    holds_lease: bool = False,
    limit_s: float = DRIVER_LIMIT_S,
    rules: RuleSet | None = None,
) -> Preflight:
    """Look at the machine before a run that shall measure something.

    need_mib: VRAM that the run takes, in MiB, where it is known; device: the card, by nvidia-smi's number (a log counts only
    the cards that the engine may see); command: the command line about to be measured, as words or as one text; earlier_log: a
    log of the same model (path, bytes, text or stream), whose numbers say what `command` takes at least; lease: the app's
    `tuning.lease` (its usual place on Windows where None); holds_lease: the caller itself has taken that lease; limit_s:
    seconds that the driver may take to answer; rules: whose words and probes are used (the default ones where None).

    Raises ValueError for a negative number, SourceError for an earlier log that can't be read, RuleSetError for broken rules;
    never because of the machine.
    """
    if device < 0 or (need_mib is not None and need_mib < 0):
        raise ValueError("need_mib and device can't be negative")
    used = rules or default_rules()
    words = tuple(command_words(command))
    need, notices = _need(need_mib, earlier_log, words)
    programs, problem = _programs()
    situation = Situation(device, words, need, read_cards(limit_s), programs)
    checks = _checks(situation, problem, _lease_check(lease, holds_lease=holds_lease))
    probed, more = _probed(situation, used)
    checks = [*(worded(check, used) for check in checks), *probed]
    cards = situation.cards
    notes = (*used.notices, *notices, *more)
    return Preflight(tuple(checks), device, cards.driver, cards.cards, programs or (), need, notes)


def _checks(situation: Situation, problem: str, lease: list[Check]) -> list[Check]:
    """Our own checks, in the order in which they decide. problem: why the process list could not be read."""
    device, words, need, cards, programs = situation
    return [
        look.at_driver(cards, words, device),
        look.at_programs(programs, problem),
        *lease,
        _card_check(cards, device, words, programs or ()),
        look.at_vram(cards, device, need),
        look.at_ram(*_ram(), need),
    ]


def _need(need_mib: int | None, log: source.Target | None, words: Sequence[str]) -> tuple[Need, list[Notice]]:
    """What the run takes: the caller's number is stronger than what a log adds up to."""
    need = Need() if log is None else read_needs(log, words)
    notices = [Notice("need", f"{need.origin}: {need.remark}")] if need.remark else []
    if need_mib is not None:
        need = need._replace(vram_mib=need_mib, vram_parts=())
    return need, notices


def _programs() -> tuple[tuple[Program, ...] | None, str]:
    try:
        return tuple(running_programs()), ""
    except ImportError:
        return None, look.without_psutil()
    except OSError as error:  # a system without a process list that this user may see
        return None, f"the system refused it ({error})"


def _ram() -> tuple[Ram | None, str]:
    try:
        return available_ram(), ""
    except ImportError:
        return None, look.without_psutil()
    except OSError as error:
        return None, f"the system refused it ({error})"


def _lease_check(lease: os.PathLike[str] | str | None, *, holds_lease: bool) -> list[Check]:
    """One check, or none where the caller holds the lease or no place of a lease is known."""
    place = Path(lease) if lease is not None else default_lease()
    if holds_lease or place is None:
        return []
    try:
        return [look.at_lease(read_lease(place), str(place))]
    except OSError as error:
        return [
            Check(
                "lease", State.UNKNOWN, f"The mark of another tuning job could not be read ({place}: {error.strerror})."
            )
        ]


def _card_check(cards: Reading, device: int, words: Sequence[str], programs: Sequence[Program]) -> Check:
    try:
        mine = own_line()
    except ImportError:
        mine = {os.getpid()}
    names = {program.pid: program for program in programs if program.kind in ("engine", "encoder")}
    return look.at_card(cards, device, look.visible_cards(words, os.environ), mine, names)


def _probed(situation: Situation, rules: RuleSet) -> tuple[list[Check], list[Notice]]:
    """What the probes of plugins say; one that raises, hangs or answers with something else is a notice."""
    probes, notices = rules.extensions.probes()
    checks: list[Check] = []
    for plugin, probe in probes:
        try:
            checks += [worded(check, rules) for check in _asked(plugin, probe, situation)]
        except NoAnswerError as error:
            notices.append(Notice("plugin", str(error)))
        except Exception as error:  # noqa: BLE001 - a plugin's fault is a notice
            notices.append(Notice("plugin", f"a probe of the plugin {plugin} raised: {type(error).__name__}: {error}"))
    return checks, notices


def _asked(plugin: str, probe: Probe, situation: Situation) -> list[Check]:
    name = f"a probe of the plugin {plugin}"
    answer = within(PROBE_LIMIT_S, name, lambda: _as_list(probe(situation)))
    odd = next((check for check in answer if not isinstance(check, Check)), None)
    if odd is not None:
        raise TypeError(f"a probe answers with strata_diag.tuner.checks.Check records, not with {odd!r:.80}")
    return list(answer)


def _as_list(answer: Any) -> list[Any]:
    """A probe may answer with one check, several, or None. A check is itself a tuple."""
    if answer is None:
        return []
    return [answer] if isinstance(answer, Check) else list(answer)
