"""The checks of preflight: each takes what was read from the machine and says what it means for a run. Nothing here asks.

A check that could not be made says why and never stands in the way: a tuner must run on a machine without a GPU, without a
driver, and without the optional packages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from strata_diag.tuner.checks import Check, State, gib, listed
from strata_diag.tuner.needs import MIB_PER_GIB, Need, option
from strata_diag.tuner.nvml import INSTALL, Card, CardProcess, Reading
from strata_diag.tuner.processes import Lease, Program, kind_of
from strata_diag.tuner.ram import Ram

# Drivers by their main number: https://docs.nvidia.com/deploy/cuda-compatibility - CUDA 13 needs 580, CUDA 12 needs 525
DRIVER_CUDA_13, DRIVER_CUDA_12 = 580, 525
FIRST_CUDA_13_CARD = 7.5  # compute capability; older cards run the CUDA 12 engine

# No engine of Strata starts with less: weights, projections and draft layer alone take 3.8 GiB in every known log
SMALLEST_START_MIB = 3000
STARTING_S = 60  # a server without an engine that is younger is just starting one
NAMES = {"engine": "an engine", "encoder": "an image encoder", "server": "a server", "tuner": "another tuning run"}


def at_driver(cards: Reading, words: Sequence[str], device: int) -> Check:
    """Whether the driver answers, and is new enough for the engine that will run."""
    if cards.state == "mismatch":
        return Check(
            "driver",
            State.BLOCKED,
            f"The GPU can't be used: {cards.problem}.",
            "driver-mismatch",
            actions=("restart-pc",),
        )
    if not cards.driver:
        return _unknown("driver", "The driver could not be looked at", cards.problem)
    main, needed, engine = cards.driver.split(".")[0], *_driver_for(words, cards.card(device))
    if not main.isdecimal():
        return _unknown("driver", "The driver could not be judged", f"its version is {cards.driver}")
    if int(main) < needed:
        text = f"The driver is {cards.driver}, and {engine} needs {needed} or newer."
        return Check(
            "driver", State.BLOCKED, text, "driver-mismatch", {"driver": cards.driver, "needed_driver": needed}
        )
    return Check("driver", State.CLEAR, f"The driver {cards.driver} is new enough for {engine}.")


def _driver_for(words: Sequence[str], card: Card | None) -> tuple[int, str]:
    """(main number, engine) of the driver that is needed. setup installs the CUDA 12 engine for cards that CUDA 13 left out."""
    old_card = card is not None and card.capability and float(card.capability) < FIRST_CUDA_13_CARD
    if (words and "cuda12" in words[0]) or (old_card and not (words and "cuda13" in words[0])):
        return DRIVER_CUDA_12, "the CUDA 12 engine"
    return DRIVER_CUDA_13, "the CUDA 13 engine"


def at_programs(programs: Sequence[Program] | None, problem: str) -> Check:
    """Whether a served engine, an image encoder or another tuner runs."""
    if programs is None:
        return _unknown("programs", "Which programs run could not be asked", problem)
    holding = [program for program in programs if program.kind in ("engine", "encoder")]
    servers = [program for program in programs if program.kind == "server"]
    tuning = [program for program in programs if program.kind == "tuner"]
    starting = [] if holding else [server for server in servers if server.age_s < STARTING_S]
    blocking = [*holding, *tuning, *starting]
    if blocking:
        verb = "run" if len(blocking) > 1 else "runs"
        said = listed([f"{NAMES[program.kind]} ({program.name}, process {program.pid})" for program in blocking])
        text = f"{said[0].upper()}{said[1:]} {verb}: a measurement can't share the card with it."
        return Check("programs", State.BLOCKED, text, "device-busy", {"pids": [program.pid for program in blocking]})
    if servers:
        said = listed([f"process {server.pid}" for server in servers])
        text = f"A server ({said}) runs without an engine: it loads its model again at the next request."
        return Check("programs", State.CAUTION, text, "device-busy", {"pids": [server.pid for server in servers]})
    return Check("programs", State.CLEAR, "No engine, image encoder or other tuning run is there.")


def at_lease(lease: Lease | None, place: str) -> Check:
    """Whether another tuning job says that it is at work."""
    if lease is None:
        return Check("lease", State.CLEAR, f"No other tuning job has left its mark ({place}).")
    if lease.stale:
        return Check("lease", State.CLEAR, f"A mark of a tuning job was left behind ({lease.path}): {lease.why}.")
    text = f"Another tuning job has left its mark ({lease.path}, {_age(lease.age_s)} old); {lease.why}."
    return Check("lease", State.BLOCKED, text, "device-busy", {"pids": [lease.pid] if lease.pid else []})


def _age(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"  # noqa: PLR2004


def at_card(
    cards: Reading, device: int, visible: str | None, mine: AbstractSet[int], names: Mapping[int, Program]
) -> Check:
    """Whether the card can be used, and who holds it. visible: CUDA_VISIBLE_DEVICES, None where it does not count."""
    card = cards.card(device)
    if visible is not None and visible.strip() in ("", "-1"):
        text = f"CUDA_VISIBLE_DEVICES is {visible.strip() or 'empty'}, which hides every card from the engine."
        return Check("card", State.BLOCKED, text, "no-device", actions=("check-visible-devices",))
    if card is None:
        if cards.state == "read" and cards.seen:
            text = f"There is no card {device}: the driver sees {cards.seen} (numbered from 0)."
            return Check("card", State.BLOCKED, text, "no-device", actions=("choose-gpu",))
        why = (cards.problem or "the driver sees no card") if cards.driver else "the driver can't be asked"
        return _unknown("card", f"Card {device} could not be looked at", why)
    if card.lost:
        text = f"Card {device} no longer answers the driver ({listed(card.problems)})."
        return Check("card", State.BLOCKED, text, "gpu-fault", actions=("restart-pc",))
    if card.instances == 0:
        text = f"Card {device} is in MIG mode without an instance, so no program can use it."
        return Check("card", State.BLOCKED, text, "no-device")
    return _holders(card, mine, names)


def _holders(card: Card, mine: AbstractSet[int], names: Mapping[int, Program]) -> Check:
    """What the compute mode and the processes on a card that answers mean."""
    label = f"Card {card.number} ({card.name or 'without a name'})"
    others = [process for process in card.processes or () if process.pid not in mine]
    computing = [process for process in others if process.kind == "compute"]
    values = {"pids": [process.pid for process in computing]}
    if card.compute_mode == "prohibited":
        text = f"{label} is in compute mode prohibited: no program may use it."
        return Check("card", State.BLOCKED, text, "device-busy", values, ("check-compute-mode",))
    owners = [process for process in others if process.kind != "graphics"]
    if card.compute_mode.startswith("exclusive") and owners:
        text = f"{label} is in compute mode {card.compute_mode}, and {_named(owners, names)} has it."
        return Check("card", State.BLOCKED, text, "device-busy", values, ("check-compute-mode",))
    ours = [process for process in others if _strata(process, names)]
    if ours:
        held = {"pids": [process.pid for process in ours]}
        return Check("card", State.BLOCKED, f"{label} is held by {_named(ours, names)}.", "device-busy", held)
    if card.processes is None:
        return _unknown("card", f"{label}: who holds it could not be asked", listed(card.problems))
    if computing:
        text = f"{label} is also used by {_named(computing, names)}."
        return Check("card", State.CAUTION, text, "device-busy", values, ("list-gpu-processes",))
    return Check(
        "card", State.CLEAR, f"No other program computes on card {card.number} ({card.name or 'without a name'})."
    )


def _strata(process: CardProcess, names: Mapping[int, Program]) -> bool:
    """Whether it is an engine or encoder; in a container only the driver may know its name."""
    return process.pid in names or kind_of(process.name, ()) != ""


def _named(processes: Sequence[CardProcess], names: Mapping[int, Program]) -> str:
    words = []
    for process in sorted(processes, key=lambda one: -(one.used_mib or 0)):
        name = names[process.pid].name if process.pid in names else process.name
        size = "" if process.used_mib is None else f", {process.used_mib} MiB"
        words.append(f"{name or 'a program without a name'} (process {process.pid}{size})")
    return listed(words)


def at_vram(cards: Reading, device: int, need: Need) -> Check:
    """Whether enough VRAM is free."""
    card = cards.card(device)
    if card is None or card.free_mib is None or card.total_mib is None:
        why = listed(card.problems) if card and card.problems else "the card could not be looked at"
        return _unknown("vram", "Free VRAM could not be read", why)
    free = f"{card.free_mib} MiB of {card.total_mib} MiB are free on card {device}"
    wanted = SMALLEST_START_MIB if need.vram_mib is None else need.vram_mib
    values = {**need.values, "free_mib": card.free_mib, "total_mib": card.total_mib, "needed_mib": wanted}
    if need.vram_mib is None:
        known = f"no engine starts with less than {wanted} MiB"
    else:
        parts = ", ".join(f"{what} {mib}" for what, mib in need.vram_parts)
        known = f"the run takes at least {wanted} MiB" + (f" ({parts})" if parts else "")
    if card.free_mib < wanted:
        cause = "vram-budget" if wanted > card.total_mib else "vram-exhausted"
        values["short_mib"] = wanted - card.free_mib
        return Check("vram", State.BLOCKED, f"{free}, and {known}.", cause, values)
    if need.vram_mib is not None:
        return Check("vram", State.CLEAR, f"{free}, and {known}.", values=values)
    used = card.total_mib - card.free_mib
    unlisted = used - sum(process.used_mib or 0 for process in card.processes or ())
    text = f"{free}; how much the run takes is not known."
    if card.free_mib >= used:
        return Check("vram", State.CLEAR, text, values=values)
    unsaid = " The driver does not say by whom the rest is held." if unlisted * 2 > used else ""
    return Check("vram", State.CAUTION, f"Only {text}{unsaid}", "vram-exhausted", values)


def at_ram(ram: Ram | None, problem: str, need: Need) -> Check:
    """Whether enough RAM is available."""
    if ram is None:
        return _unknown("ram", "Free RAM could not be read", problem)
    available = f"{gib(ram.available_gib)} of {gib(ram.total_gib)} of RAM are available (by {ram.source})"
    values = {"available_gib": round(ram.available_gib, 1)}
    if need.ram_gib is None:
        return Check("ram", State.CLEAR, f"{available}; how much the run takes is not known.", values=values)
    parts = ", ".join(f"{what} {mib / MIB_PER_GIB:.1f}" for what, mib in need.ram_parts)
    text = f"{available}, and the run takes at least {gib(need.ram_gib)} ({parts})."
    if ram.available_gib >= need.ram_gib:
        return Check("ram", State.CLEAR, text, values=values)
    values |= {"need_gib": round(need.ram_gib, 1), "short_gib": round(need.ram_gib - ram.available_gib, 1)}
    hopeless = need.ram_gib > ram.total_gib  # then closing other programs can't help
    return Check("ram", State.BLOCKED, text, "host-memory", values, ("ram-budget",) if hopeless else ())


def _unknown(name: str, what: str, why: str) -> Check:
    return Check(name, State.UNKNOWN, f"{what}: {why}.")


def without_psutil() -> str:
    """Why the process list or the RAM could not be read."""
    return f"the package psutil is not installed ({INSTALL})"


def visible_cards(words: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """CUDA_VISIBLE_DEVICES, where it decides: the engine's own --gpu is stronger."""
    return None if option(words, "--gpu") is not None else environment.get("CUDA_VISIBLE_DEVICES")
