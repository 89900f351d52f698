"""Addresses of the network, network cards, and numbers that belong to one device.

An IPv4 address looks like a version of four numbers, so what stands around it decides:

- It stays if it is none (a number above 255, a leading zero), says nothing (loopback, 0.0.0.0, link-local, multicast, net
  masks), or stands behind a word of versions (`CUDA 12.4.1.0`, `libcudnn.so.8.9.7.29`, `nvidia-cublas-cu12==12.4.5.8`).
- It is replaced if it is private (10/8, 172.16/12, 192.168/16, 100.64/10) or has a port, a network's length, a scheme or a
  word like `from` or `addr` beside it.
- Of the rest, those with three numbers below 32 in front count as versions: one public address in five hundred looks so.

An IPv6 address is replaced if it is global (2000::/3) or unique-local (fc00::/7). All others say nothing; C++ names such as
`std::` and times never begin so.
"""

from __future__ import annotations

import ipaddress
import re

from strata_diag.redact.detector import Detector

LOW_NUMBER = 32  # three numbers below it make an address without a neighbour that proves it look like a version
_LOOK_BACK, _LOOK_AHEAD = 40, 8  # characters in front of an address and behind it that say what it is

_PRIVATE = tuple(
    ipaddress.ip_network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")
)
_VERSION_BEFORE = re.compile(
    r"(?:\b(?:version|ver|v|release|rev|revision|build|driver|cuda|cudart|cudnn|cublas|cufft|nccl|tensorrt|trt|rocm|hip|toolkit|"
    r"firmware|vbios|bios|python|torch|pytorch|vulkan|opencl|sdk|runtime|api|lib|dll|package|cu\d\d)s?|[=<>~!]=|[a-z]@)"
    r"[\s:='\"(_-]{0,8}$",
    re.IGNORECASE,
)
_VERSION_AFTER = re.compile(r"[+~][\w]|-[A-Za-z]|-\d+[A-Za-z]|\.(?:el|fc|so|tar|zip|whl|dll|deb|rpm)\b")
_ADDRESS_BEFORE = re.compile(
    r"(?:[@/\[]|(?:\b(?:from|to|at|via|ip|ipv4|inet|addr|address|host|hostname|peer|client|server|remote|local|src|dst|master|"
    r"node|gateway|dns|nameserver|ping|bind|connect|connected|connecting|listening|on|by|using|endpoint)|[a-z]\d+)"
    r"[\s:=('\"]{1,4})$",
    re.IGNORECASE,
)
_ADDRESS_AFTER = re.compile(r":\d{1,5}\b|/\d{1,2}\b|<\d+>|%\w")
_NAME_BEFORE = re.compile(r"(?:user|host|token|key|serial|mail)-$")  # a stand-in with something behind it
_TIME_BEFORE = re.compile(
    r"(?:^|\n)\D{0,3}$"
)  # llama.cpp begins its lines with minutes.seconds.milliseconds.microseconds
_TIME = re.compile(r"\d{1,3}\.\d\d\.\d{3}\.\d{3}")
_MANY_GROUPS = (
    re.compile(r":[0-9a-f]{1,4}+:[0-9a-f]{1,4}+:[0-9a-f]{1,4}+:[0-9a-f]"),
    re.compile(r"::[0-9a-f]?"),
    re.compile(r"-[0-9a-f]{2}-[0-9a-f]{2}-[0-9a-f]{2}-"),
)


def number_detectors() -> tuple[Detector, ...]:
    """Ids first: some of them look like parts of others."""
    return (*_ids(), _cards(), *_addresses())


def _ids() -> tuple[Detector, ...]:
    """GPU UUIDs (also their first eight digits, which some programs print), other UUIDs by name, serial numbers."""
    uuid = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    equals = r"(?:\\{0,4}[\"'])?[ \t]{0,60}[=:][ \t]{0,60}(?:\\{0,4}[\"'])?"
    gpu = rf"(?P<gpu>(?:MIG-)?(?:GPU|MIG)-(?:{uuid}|[0-9a-f]{{16}}|[0-9a-f]{{8}}))"
    serial = r"(?:serial(?:[ _-]?(?:number|no|num))?|s/n|unique[ _-]?id)\.?"
    value = r"(?P<serial>(?=[A-Za-z-]*\d)[A-Za-z0-9][A-Za-z0-9-]{5,63}+)"
    return (
        Detector(
            re.compile(rf"(?<!\w){gpu}(?![0-9a-f-])", re.IGNORECASE),
            ("gpu-", "mig-"),
            accepts=lambda match: any(sign not in "0-" for sign in match["gpu"].upper().lstrip("GPUMI-")),
        ),
        Detector(
            re.compile(
                rf"(?:uuid|machine[_-]id|boot[_-]id){equals}(?P<uuid>{uuid}|[0-9a-f]{{32}})(?![\w-])", re.IGNORECASE
            ),
            ("uuid", "machine", "boot"),
        ),
        Detector(re.compile(rf"{serial}{equals}{value}(?![\w:.])", re.IGNORECASE), ("serial", "s/n", "unique")),
    )


def _cards() -> Detector:
    pairs = r"[0-9a-f]{2}(?:(?::[0-9a-f]{2}){5,}+|(?:-[0-9a-f]{2}){5,}+)"
    pattern = rf"(?<![\w.-])(?<!\b[0-9a-f]{{2}}:)(?P<mac>{pairs})(?![\w-]|:\w)"
    return Detector(re.compile(pattern, re.IGNORECASE), gates=_MANY_GROUPS, accepts=_is_card)


def _addresses() -> tuple[Detector, ...]:
    groups = r"(?:[23][0-9a-f]{3}|f[cd][0-9a-f]{2}):(?:[0-9a-f]{0,4}:){1,6}(?:[0-9a-f]{1,4}|(?<=::))"
    six = rf"(?<![\w:.])(?P<address>{groups})(?!\w|:[\w:])"
    four = r"(?<![\w.])(?P<address>\d{1,3}(?:\.\d{1,3}){3})(?!\w|\.\d)"
    return (
        Detector(re.compile(six, re.IGNORECASE), gates=_MANY_GROUPS, accepts=_is_address6),
        Detector(re.compile(four), gates=(re.compile(r"\.\d{1,3}+\.\d{1,3}+\.\d"),), accepts=_is_address4),
    )


def _is_card(match: re.Match[str]) -> bool:
    digits = re.sub(r"[:-]", "", match["mac"]).lower()
    if not digits.strip("0") or not digits.strip("f"):
        return False
    return ":" in match["mac"] or any(sign.isalpha() for sign in digits)  # 24-01-02-03-04-05 is a date and a time


def _is_address6(match: re.Match[str]) -> bool:
    try:
        ipaddress.IPv6Address(match["address"])
    except ValueError:
        return False
    return True


def _is_address4(match: re.Match[str]) -> bool:
    """Whether four numbers are an address that says something; the module's text has the rules."""
    try:
        address = ipaddress.IPv4Address(match["address"])
    except ValueError:
        return False
    before = match.string[max(match.start() - _LOOK_BACK, 0) : match.start()]
    after = match.string[match.end() : match.end() + _LOOK_AHEAD]
    time = _TIME.fullmatch(match["address"]) and _TIME_BEFORE.search(before)
    if _says_nothing(address) or time or _NAME_BEFORE.search(before) or _VERSION_BEFORE.search(before):
        return False
    if any(address in network for network in _PRIVATE) or _ADDRESS_AFTER.match(after):
        return True
    if _VERSION_AFTER.match(after):
        return False
    low = all(int(number) < LOW_NUMBER for number in match["address"].split(".")[:3])
    return not low or _ADDRESS_BEFORE.search(before) is not None


def _says_nothing(address: ipaddress.IPv4Address) -> bool:
    first = int(address) >> 24
    return first in (0, 255) or address.is_loopback or address.is_link_local or address.is_multicast
