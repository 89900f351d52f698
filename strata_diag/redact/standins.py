"""What stands in the place of a secret: the same for the same one, and known again when it is met.

    user-1, host-1, token-1, key-1, serial-1     names and secrets
    192.0.2.1, 2001:db8::1                       addresses: the ranges that are reserved for documentation
    02:00:00:00:00:01, mail-1@example.com        network cards, mail
    GPU-00000001-0000-..., 00000001-0000-...     ids keep their shape

A name is the same in whatever case it is written, a host with and without its domain, a graphics card by the first eight
digits, which are all that some programs print. An address of TEST-NET and its like in the log counts as a stand-in already.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from typing import NamedTuple
from urllib.parse import unquote

MOST_STAND_INS = 50_000  # different secrets of a kind that are told apart; all further ones share one stand-in
_PLAIN = re.compile(r"(?:user|host|token|key|serial|mail)-\d+")
_INSIDE = re.compile(
    r"(?:user|host|token|key|serial|mail)-\d|192\.0\.2\.|198\.51\.100\.|203\.0\.113\.|198\.1[89]\.|2001:db8:|02[:-]00[:-]00|"
    r"(?:GPU|MIG)-\d{8}|\b\d{8}-?0000",
    re.IGNORECASE,
)
_UNICODE_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_SHORT_NAME = re.compile(r"([^~]{1,6})~\d")
_ID_PREFIX = re.compile(r"(?:(?:GPU|MIG)-)*", re.IGNORECASE)
_STAND_IN_ID = re.compile(r"(?:(?:GPU|MIG)-)*\d{8}(?:-?0000-?0000-?0000-?0{12}|0{0,8})")
_STAND_IN_NETWORKS = tuple(
    ipaddress.ip_network(text)
    for text in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "198.18.0.0/15", "2001:db8::/32")
)
_TEST_NETS = ("192.0.2.", "198.51.100.", "203.0.113.")
_TEST_NET_SIZE = 254
_BENCHMARK_NET = int(ipaddress.IPv4Address("198.18.0.0"))


class Replaced(NamedTuple):
    """One secret that was replaced: its kind, what stands for it now, and how often. Never the secret itself."""

    kind: str
    stand_in: str
    times: int


class StandIns:
    """Gives out stand-ins. Not for several threads at once."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, str], str] = {}
        self._taken: set[str] = set()
        self._numbers: Counter[str] = Counter()
        self._counts: Counter[tuple[str, str]] = Counter()
        self.full: set[str] = set()

    def replace(self, kind: str, secret: str) -> str:
        """What stands for this secret, counted as one place more."""
        name = (kind, _key(kind, secret))
        made = self._made.get(name) or self._of_short_name(*name)
        made = made or self._make(name, secret)
        self._counts[kind, made] += 1
        return _like(made, secret) if kind in ("gpu", "uuid", "mac") else made

    def is_stand_in(self, kind: str, text: str) -> bool:
        """Whether a text is a stand-in already; its number is then given to no other secret."""
        known = _is_stand_in(kind, text)
        if known and len(self._taken) < MOST_STAND_INS:
            self._taken.add(text)
        return known

    def summary(self) -> tuple[Replaced, ...]:
        """Every stand-in that was used, in the order of their first places within each kind."""
        kinds = list(dict.fromkeys(kind for kind, _ in self._counts))
        return tuple(
            Replaced(kind, stand_in, count)
            for wanted in kinds
            for (kind, stand_in), count in self._counts.items()
            if kind == wanted
        )

    def _make(self, name: tuple[str, str], secret: str) -> str:
        kind = name[0]
        while True:
            number = self._numbers[kind] + 1
            if number > MOST_STAND_INS:
                self.full.add(kind)
                return _written(kind, number, secret)
            self._numbers[kind] = number
            stand_in = _written(kind, number, secret)
            if stand_in not in self._taken:
                self._made[name] = stand_in
                return stand_in

    def _of_short_name(self, kind: str, key: str) -> str | None:
        """The stand-in of the user whose name Windows shortens to this one (`JANEDO~1`)."""
        short = _SHORT_NAME.fullmatch(key) if kind == "user" else None
        if short is None:
            return None
        return next(
            (
                made
                for (other, name), made in self._made.items()
                if other == "user" and re.sub(r"[ .]", "", name).startswith(short[1])
            ),
            None,
        )


def holds_stand_in(text: str) -> bool:
    """Whether there is a stand-in of any kind in a text."""
    return _INSIDE.search(text) is not None


def _key(kind: str, secret: str) -> str:
    """What makes two writings the same secret."""
    if kind == "user":
        return unquote(_UNICODE_ESCAPE.sub(lambda code: chr(int(code[1], 16)), secret)).casefold()
    if kind == "host":
        return secret.casefold().partition(".")[0]
    if kind == "address":
        return str(ipaddress.ip_address(secret))
    if kind == "gpu":
        return _ID_PREFIX.sub("", secret.lower(), count=1)[:8]
    if kind in ("mac", "uuid"):
        return secret.lower().replace("-", ":" if kind == "mac" else "")
    return secret.casefold() if kind == "mail" else secret


def _written(kind: str, number: int, secret: str) -> str:
    if kind == "address":
        return _address(number, six=":" in secret)
    if kind == "mail":
        return f"mail-{number}@example.com"
    if kind == "mac":
        return _like(f"020000{number:06x}", secret)
    if kind in ("gpu", "uuid"):
        return _like(f"{number:08d}", secret)
    return f"{kind}-{number}"


def _address(number: int, *, six: bool) -> str:
    if six:
        return f"2001:db8::{number:x}"
    net, host = divmod(number - 1, _TEST_NET_SIZE)
    if net < len(_TEST_NETS):
        return f"{_TEST_NETS[net]}{host + 1}"
    return str(ipaddress.IPv4Address(_BENCHMARK_NET + number))


def _like(digits: str, secret: str) -> str:
    """These hexadecimal digits in the shape of a secret: its prefix and separators, zeros behind the last digit."""
    body = _ID_PREFIX.sub("", secret, count=1)
    plain = iter(_ID_PREFIX.sub("", digits, count=1).replace(":", "").replace("-", ""))
    head = secret[: len(secret) - len(body)]
    return head + "".join(sign if sign in ":-" else next(plain, "0") for sign in body)


def _is_stand_in(kind: str, text: str) -> bool:
    if kind == "address":
        address = ipaddress.ip_address(text)
        return any(address in network for network in _STAND_IN_NETWORKS if network.version == address.version)
    if kind == "mail":
        return text.lower().endswith(("@example.com", "@example.org", "@example.net"))
    if kind == "mac":
        return text.replace("-", ":").startswith("02:00:00")
    if kind in ("gpu", "uuid"):
        return _STAND_IN_ID.fullmatch(text) is not None
    return _PLAIN.fullmatch(text) is not None
