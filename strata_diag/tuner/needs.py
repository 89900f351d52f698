"""How much VRAM and RAM a command line takes at least, from what an earlier log of the same model says.

Comes in: the command line about to be measured and a log. Goes out: a `Need`, a lower bound: only what the engine itself
printed is added up, so a start may need more, and a `Need` that doesn't fit can't be a mistake. What a log of several cards
says is not added up, since it does not say on which card each part lies.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from strata_diag import linetext, source, text
from strata_diag.model import NO_CAPTURES

MIB_PER_GIB = 1024
BYTES_PER_MIB = 1024 * 1024

# Bits that a key and a value of the session take together, by --kv: what a change of it does to the session's size
KV_BITS: Mapping[str, int] = {"fp16": 32, "int8": 16, "k8v4": 12, "q4_0": 9}

# The share of a session that surely grows with the context ("mostly its KV cache", the engine says)
GROWING_SHARE = 0.8

# As the engine prints them (program/generate.cpp); the newest line of each kind counts
_LINES: Mapping[str, re.Pattern[bytes]] = {
    "command": re.compile(rb"\[strata\] [\d-]+ [\d:]+ engine started: (?P<command>[^\r\n]+)"),
    "weights": re.compile(rb"strata generate: (?P<weights_mib>\d+) MiB of weights loaded from (?P<pack>[^\r\n(]+)"),
    "projections": re.compile(rb"native projection matrices, (?P<projections_mib>[\d.]+) MiB of weights"),
    "draft layer": re.compile(rb"strata mtp: draft layer loaded, (?P<draft_layer_mib>\d+) MiB of VRAM"),
    "head": re.compile(rb"strata generate: \S+ native \S+ head, (?P<head_bytes>\d+) bytes"),
    "cache sizing": re.compile(
        rb"expert cache auto: [\d.]+ GiB free, (?P<reserve_mib>\d+) MiB reserved"
        rb"(?: \(\+(?P<draft_mib>\d+) MiB for the draft head\))?"
    ),
    "cache": re.compile(rb"expert cache (?P<slots>\d+) slots, (?P<cache_gib>[\d.]+) GiB of VRAM"),
    "smallest cache": re.compile(rb"it needs at least \d+ slots \((?P<smallest_cache_mib>\d+) MiB\)"),
    "session": re.compile(rb"takes (?P<session_mib>\d+) MiB at (?P<context_tokens>\d+) tokens"),
    "embedding": re.compile(rb"token embedding \S+ in mapped host memory \((?P<embedding_mib>\d+) MiB\)"),
    "arena": re.compile(rb"(?:strata generate: loaded|expert arena needs) (?P<arena_gib>[\d.]+) GiB (?:at|of RAM)"),
    "session in RAM": re.compile(rb"the K/V in (?P<kv_ram_gib>[\d.]+) GiB of pinned RAM"),
    "split": re.compile(rb"(?P<split>layer split, CUDA\d|layer split: CUDA\d)"),
}


class Need(NamedTuple):
    """What a command line takes at least. vram_mib, ram_gib: None where nothing is known.

    vram_parts, ram_parts: (what, MiB) that were added up; values: numbers of the log for the wordings of remedies;
    origin: where the numbers come from; remark: why a log said less than it might, or empty.
    """

    vram_mib: int | None = None
    ram_gib: float | None = None
    vram_parts: tuple[tuple[str, int], ...] = ()
    ram_parts: tuple[tuple[str, int], ...] = ()
    values: Mapping[str, str] = NO_CAPTURES
    origin: str = ""
    remark: str = ""


def command_words(command: Sequence[str] | str | None) -> list[str]:
    """A command line as words. In a text a backslash is that of a Windows path, never an escape."""
    if command is None:
        return []
    if not isinstance(command, str):
        return [str(word) for word in command]
    try:
        return [word.strip("\"'") for word in shlex.split(command, posix=False)]
    except ValueError:  # a quote that is not closed
        return command.split()


def option(words: Sequence[str], name: str) -> str | None:
    """The value of `--name value` or `--name=value`, the last one given; None where the option isn't there."""
    found = None
    for place, word in enumerate(words):
        if word == name and place + 1 < len(words):
            found = words[place + 1]
        elif word.startswith(name + "="):
            found = word[len(name) + 1 :]
    return found


def read_needs(log: source.Target, words: Sequence[str]) -> Need:
    """What `words` takes at least, by the numbers of an earlier log of the same model. Raises SourceError."""
    opened = source.open_source(log)
    said = _said(opened)
    earlier = command_words(said.get("command"))
    if words and _other_model(words, earlier):
        return Need(origin=opened.name, remark="it is a log of another model, so its numbers are left out")
    values = {name: value for name, value in said.items() if name not in ("command", "pack", "split")}
    context, reserve = option(words, "--max-context"), option(words, "--vram-reserve-mib")
    ram = _ram_parts(said, words)
    if "split" in said or option(words, "--layer-split") not in (None, "0"):
        vram: tuple[tuple[str, int], ...] = ()
        remark = "it is of several cards, and does not say how much each of them takes"
    else:
        vram, remark = _vram_parts(said, words, earlier), ""
        values.update({"context_tokens": context} if context and "session_mib" not in said else {})
        values.update({"reserve_mib": reserve} if reserve else {})
    if not (vram or ram or remark):
        remark = "it holds none of the numbers that an engine prints while it loads"
    return Need(
        sum(mib for _, mib in vram) if vram else None,
        round(sum(mib for _, mib in ram) / MIB_PER_GIB, 2) if ram else None,
        vram,
        ram,
        values,
        opened.name,
        remark,
    )


def _said(log: source.Source) -> dict[str, str]:
    """The newest value of each kind in a log, by the names of the groups."""
    found: dict[str, str] = {}
    for window in text.Reader(log.chunks):
        for pattern in _LINES.values():
            for hit in pattern.finditer(window.block.clean):
                found |= {
                    name: linetext.decode_line(value) for name, value in hit.groupdict().items() if value is not None
                }
    return found


def _other_model(words: Sequence[str], earlier: Sequence[str]) -> bool:
    """Whether both command lines name a pack or a model file, and not the same one."""
    for name in ("--pack", "--native"):
        ours, theirs = option(words, name), option(earlier, name)
        if ours and theirs:
            return _file_name(ours) != _file_name(theirs)
    return False


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1].lower()


def _vram_parts(said: Mapping[str, str], words: Sequence[str], earlier: Sequence[str]) -> tuple[tuple[str, int], ...]:
    fixed = {
        "weights": _number(said, "weights_mib"),
        "projections": _number(said, "projections_mib"),
        "draft layer": _number(said, "draft_layer_mib"),
        "head": _number(said, "head_bytes") / BYTES_PER_MIB,
    }
    if not any(fixed.values()):
        return ()
    reserve = option(words, "--vram-reserve-mib") or said.get("reserve_mib", "0")
    drafts = not words or option(words, "--spec") or option(words, "--mtp")
    parts = {
        **fixed,
        "draft layer": fixed["draft layer"] if drafts else 0,
        "session": _session_mib(said, words, earlier),
        "draft head": _number(said, "draft_mib") if drafts else 0,
        "expert cache": _cache_mib(said, words),
        "reserve": _as_number(reserve),
    }
    return tuple((what, round(mib)) for what, mib in parts.items() if round(mib))


def _session_mib(said: Mapping[str, str], words: Sequence[str], earlier: Sequence[str]) -> float:
    """The session for the context and the KV type of `words`; 0 where no line says what it takes, or where it is streamed."""
    taken, tokens = _number(said, "session_mib"), _number(said, "context_tokens")
    if not (taken and tokens) or option(words, "--kv-resident"):
        return 0
    wanted = _as_number(option(words, "--max-context") or "") or tokens
    before, after = KV_BITS.get(option(earlier, "--kv") or ""), KV_BITS.get(option(words, "--kv") or "")
    growth = wanted / tokens * (after / before if before and after else 1)
    return taken * (growth if growth < 1 else 1 + GROWING_SHARE * (growth - 1))


def _cache_mib(said: Mapping[str, str], words: Sequence[str]) -> float:
    """The slots that `words` asks for by number, else the smallest cache that the engine said it can start with."""
    slots, gib = _number(said, "slots"), _number(said, "cache_gib")
    wanted = _as_number(option(words, "--expert-cache") or "")
    if wanted and slots and gib:
        return wanted * gib * MIB_PER_GIB / slots
    return _number(said, "smallest_cache_mib")


def _ram_parts(said: Mapping[str, str], words: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """The experts in RAM, or the budget that is set for them, and what is pinned beside them."""
    budget = option(words, "--resident-budget-gib")
    from_files = budget is not None or "--mmap-experts" in words
    arena = _as_number(budget or "") if from_files else _number(said, "arena_gib")
    parts = {
        "experts": arena * MIB_PER_GIB,
        "token embedding": _number(said, "embedding_mib"),
        "session in RAM": _number(said, "kv_ram_gib") * MIB_PER_GIB
        if option(words, "--kv-resident") or not words
        else 0,
    }
    return tuple((what, round(mib)) for what, mib in parts.items() if round(mib)) if arena else ()


def _number(said: Mapping[str, str], name: str) -> float:
    return _as_number(said.get(name, ""))


def _as_number(word: str) -> float:
    """A number in a log or an option; 0 for a word such as `auto`, and for more digits than any size has."""
    try:
        value = float(word)
    except ValueError:
        return 0
    return value if 0 <= value < 1e9 else 0  # noqa: PLR2004 - 1e9 MiB is a petabyte; NaN compares false
