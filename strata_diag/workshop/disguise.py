"""Values of a log that are nobody's business, changed so that the log still says the same.

Redaction takes out names and secrets. What is left can still tell machines apart: sizes to the byte, process ids, addresses in
memory, folders, the day. Here each of these becomes another value of the same shape, the same one everywhere, as long as the
log keeps its verdict; a value on which the verdict depends stays.

    sizes and numbers   all by one factor, so that sums and comparisons still hold; small and round ones stay
    addresses, hashes   other digits
    dates               all by the same number of days
    folders, files      folder-1, model-1.gguf; words that rules know, and folders of the system, stay
"""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from strata_diag.redact.standins import holds_stand_in
from strata_diag.workshop.captures import SOURCE_LINE
from strata_diag.workshop.generalise import KEPT_CODES, MODEL_KINDS, VARIABLE

SMALLEST = 100  # smaller numbers count devices, layers and the like, and say nothing about a machine
SIGNIFICANT = 2  # digits that a round number has at most
SHORTEST_ADDRESS = 9  # hexadecimal digits; shorter ones are codes of errors and offsets in a program
FACTORS = (0.83, 0.96), (1.04, 1.19)  # by which numbers may grow or shrink
DAYS = (30, 400)  # by which dates may move into the past
_SYSTEM_FOLDERS = """
    app applications apps bin boot cache conda content cuda data dev disk dist docker engine engines envs etc false
    files ggml home host include kernel lib lib32 lib64 libexec llama.cpp llm local log logs main media mnt modules
    null nvidia opt pack packages packs proc program programdata python release rocm root run sbin server share shm
    site snap snapshots source src srv storage sys system system32 target temp test tests third_party tmp true user
    users usr var venv venvs volume volumes windows work workspace x64 x86
"""
SYSTEM_FOLDERS = frozenset(_SYSTEM_FOLDERS.split())
_SEPARATORS = re.compile(r"([\\/]+)")
_DATE = re.compile(r"(\d{4})([-/])(\d\d)[-/](\d\d)")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_WORD = re.compile(r"[A-Za-z]{3,}")
# what lies below these is the same on every machine
_SAME_EVERYWHERE = re.compile(r"/(?:proc|sys|dev|etc|usr/(?:lib|bin|share|include))/|[\\/](?:site|dist)-packages[\\/]")
_YEARS = range(1970, 2100)
_FILE = re.compile(r"(?P<stem>.+?)(?P<part>-\d{5}-of-\d{5})?\.(?P<kind>[A-Za-z0-9]{1,12})")
_MODELS = frozenset(MODEL_KINDS.split("|"))
_VERSION_BEFORE = re.compile(
    r"(?:version|driver|cuda|rocm|capability|release|build|python|torch|api|line)[ =:v]*\Z", re.IGNORECASE
)


class Value(NamedTuple):
    """A value of a log. kind: what `generalise` takes it for."""

    kind: str
    text: str


class Disguised(NamedTuple):
    """The changed lines. changed: how many values of each kind became others; kept: those on which the verdict depends."""

    lines: tuple[str, ...]
    changed: Mapping[str, int]
    kept: tuple[str, ...]


def disguise(
    lines: Iterable[str], words: Collection[str], same: Callable[[tuple[str, ...]], bool], chance: random.Random
) -> Disguised:
    """The lines with other values. words: those that rules look for, in lower case; same: whether lines get the same answer."""
    written = tuple(lines)
    values = dict.fromkeys(value for line in written for value, _, _ in _values(line))
    maker = _StandIns(words, chance)
    wanted = {value: made for value in values if (made := maker.stand_in(value)) != value.text}
    accepted: dict[Value, str] = {}
    for kind in dict.fromkeys(value.kind for value in wanted):
        group = {value: made for value, made in wanted.items() if value.kind == kind}
        accepted |= _acceptable(group, accepted.copy(), lambda changes: same(_replaced(written, changes)))
    kinds: dict[str, int] = {}
    for value in accepted:
        kinds[value.kind] = kinds.get(value.kind, 0) + 1
    kept = tuple(value.text for value in wanted if value not in accepted)
    return Disguised(_replaced(written, accepted), kinds, kept)


def _acceptable(
    group: Mapping[Value, str], before: Mapping[Value, str], holds: Callable[[Mapping[Value, str]], bool]
) -> dict[Value, str]:
    """As many of these changes as can be made together with those before; where all of them can't, halves are tried."""
    if not group or holds({**before, **group}):
        return dict(group)
    if len(group) == 1:
        return {}
    changes = list(group.items())
    first = _acceptable(dict(changes[: len(changes) // 2]), before, holds)
    return first | _acceptable(dict(changes[len(changes) // 2 :]), {**before, **first}, holds)


def _values(line: str) -> Iterator[tuple[Value, int, int]]:
    """Each value of a line with its place; what stands in quotes is read like the rest."""
    for hit in VARIABLE.finditer(line):
        kind = str(hit.lastgroup)
        if kind == "quoted":
            for value, start, end in _values(hit.group()[1:-1]):
                yield value, hit.start() + 1 + start, hit.start() + 1 + end
        elif kind in _MAKERS and not _is_code(kind, line[: hit.start()]):
            yield Value(kind, hit.group()), hit.start(), hit.end()


def _is_code(kind: str, before: str) -> bool:
    """Whether a number says what went wrong, which version it was, or which line of the program's own source."""
    if kind == "number" and (_VERSION_BEFORE.search(before) or SOURCE_LINE.search(before)):
        return True
    return kind in ("number", "hex", "hash") and KEPT_CODES.search(before) is not None


def _replaced(lines: tuple[str, ...], changes: Mapping[Value, str]) -> tuple[str, ...]:
    made = []
    for line in lines:
        parts, position = [], 0
        for value, start, end in _values(line):
            parts += [line[position:start], changes.get(value, value.text)]
            position = end
        made.append("".join([*parts, line[position:]]))
    return tuple(made)


class _StandIns:
    """Makes other values; the same for the same one."""

    def __init__(self, words: Collection[str], chance: random.Random) -> None:
        self._words = words
        self._chance = chance
        self._factor = chance.uniform(*chance.choice(FACTORS))
        self._days = dt.timedelta(days=chance.randint(*DAYS))
        self._names: dict[tuple[str, str], str] = {}

    def stand_in(self, value: Value) -> str:
        """Another value, or the same where it says nothing about anybody."""
        return _MAKERS[value.kind](self, value.text)

    def scaled(self, text: str) -> str:
        """A size or number by the factor that all have, with as many decimals."""
        return _NUMBER.sub(lambda hit: self._scaled_number(hit.group()), text, count=1)

    def _scaled_number(self, text: str) -> str:
        plain = text.replace(",", "")
        digits = plain.replace(".", "").strip("0")
        decimals = len(plain.partition(".")[2])
        number = float(plain)
        if (
            number in _YEARS
            or (number < SMALLEST and not decimals)
            or len(digits) <= SIGNIFICANT
            or _is_power_of_two(number)
        ):
            return text
        made = f"{number * self._factor:.{decimals}f}"
        return f"{float(made):,.{decimals}f}" if "," in text else made

    def other_digits(self, text: str) -> str:
        """An address or a hash: other digits in place of digits, other letters in place of letters."""
        prefix = "0x" if text.lower().startswith("0x") else ""
        body = text[len(prefix) :]
        if prefix and len(body) < SHORTEST_ADDRESS:
            return text
        return text[: len(prefix)] + "".join(self._other_digit(sign) for sign in body)

    def _other_digit(self, sign: str) -> str:
        if sign == "0":
            return sign  # the zeros in front and inside give an address its shape
        if sign.isdigit():
            return self._chance.choice("123456789")
        return self._chance.choice("ABCDEF" if sign.isupper() else "abcdef")

    def moved(self, text: str) -> str:
        """A date by as many days as all others; a time of the day alone stays."""
        return _DATE.sub(self._moved_date, text, count=1)

    def _moved_date(self, hit: re.Match[str]) -> str:
        year, sign, month, day = hit.groups()
        try:
            moved = dt.date(int(year), int(month), int(day)) - self._days
        except (ValueError, OverflowError):
            return hit.group()
        return moved.strftime(f"%Y{sign}%m{sign}%d")

    def other_path(self, text: str) -> str:
        """A path with other names for whatever no rule and no system knows."""
        same = _SAME_EVERYWHERE.search(text)
        parts = _SEPARATORS.split(text[: same.start()] if same else text)
        last = -1 if same else len(parts) - 1
        made = [
            part if number % 2 or not part else self._other_name(part, folder=number != last)
            for number, part in enumerate(parts)
        ]
        return "".join(made) + (text[same.start() :] if same else "")

    def other_folders(self, text: str) -> str:
        """The path of a file of the program's own source: where it lay varied with who built it, its name is known."""
        if text[:1] not in "/\\" and text[1:2] != ":":
            return text
        cut = max(text.rfind("/"), text.rfind("\\")) + 1
        return self.other_path(text[:cut]) + text[cut:]

    def _other_name(self, name: str, *, folder: bool) -> str:
        found = None if folder else _FILE.fullmatch(name)
        stem = found["stem"] if found else name
        if self._says_nothing(stem):
            return name
        what = "folder" if found is None else "model" if found["kind"].lower() in _MODELS else "file"
        made = self._numbered(what, stem)
        return f"{made}{found['part'] or ''}.{found['kind']}" if found else made

    def other_model(self, text: str) -> str:
        """The name of a model on a hub: its owner's and its own."""
        owner, _, name = text.partition("/")
        return f"{self._numbered('owner', owner)}/{self._numbered('model', name)}"

    def _says_nothing(self, name: str) -> bool:
        """Whether every word of a name is one of the rules, of the system, or a stand-in."""
        words = [word.lower() for word in _WORD.findall(name)]
        return (
            holds_stand_in(name)
            or name.lower() in SYSTEM_FOLDERS
            or all(word in self._words or word in SYSTEM_FOLDERS for word in words)
        )

    def _numbered(self, what: str, name: str) -> str:
        key = (what, name.casefold())
        if key not in self._names:
            self._names[key] = f"{what}-{1 + sum(kind == what for kind, _ in self._names)}"
        return self._names[key]


def _is_power_of_two(number: float) -> bool:
    whole = int(number)
    return whole == number and whole & (whole - 1) == 0


_MAKERS: Mapping[str, Callable[[_StandIns, str], str]] = {
    "size": _StandIns.scaled,
    "number": _StandIns.scaled,
    "hex": _StandIns.other_digits,
    "hash": _StandIns.other_digits,
    "time": _StandIns.moved,
    "source": _StandIns.other_folders,
    "path": _StandIns.other_path,
    "windows": _StandIns.other_path,
    "file": _StandIns.other_path,
    "model": _StandIns.other_model,
}
