r"""From one line of a log to a pattern: the literal words kept, what varies captured under a name.

`allocating 858.10 MiB on device 0: failed` becomes `allocating (?P<mib>[\d.]+) MiB on device (?P<device>\d+): failed`. Comes
in: a line without its prefix (time, host, container). Goes out: a pattern that matches it, and the captured values. Codes that
say what went wrong (`error 1455`, `HTTP 403`) are words, not values, and stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from strata_diag.workshop.captures import Names, Surroundings, device_word, noun_before, size_name, value_name

LONGEST_LINE = 400  # characters of a line that become a pattern; what follows seldom tells lines apart
QUOTED_SENTENCE = 3  # words from which a quotation is a message and no name
SPECIAL = frozenset("\\.^$*+?{}[]|()")

_UNITS = "KiB|MiB|GiB|TiB|KB|MB|GB|TB|kB|bytes|B|ms|us|µs|ns|s|sec|seconds|min|minutes|hours|h|MHz|GHz|W|C|°C"
_SOURCE_KINDS = "cpp|cc|cu|cuh|c|h|hpp|hip|py|rs|go|mm|cs|ts|js|java"
MODEL_KINDS = "gguf|safetensors|bin|pt|pth|onnx|ckpt|engine|plan|mmproj"
_DATE, _CLOCK = r"\d{4}[-/]\d\d[-/]\d\d", r"\d{1,2}:\d\d:\d\d(?:[.,]\d+)?"
_MAKER, _FAMILIES = r"(?:(?:NVIDIA|AMD|Intel(?:\(R\))?) )", "GeForce|Tesla|Quadro|RTX|GTX|Radeon|Instinct|Arc"
_MODEL_WORDS = r"(?: (?:[A-Z][\w-]*|\d[\w-]*))"
KEPT_CODES = re.compile(
    r"(?:\b(?:error|errno|winerror|xid|http|hresult|status|exception|signal|exit(?:ed)?(?: with)?|return(?:ed)?|rc|code)"
    r"(?: code| status)?|Error)[ :=(#]*\Z",
    re.IGNORECASE,
)

VARIABLE = re.compile(
    "|".join(
        (
            r"(?P<url>https?://[^\s'\"<>)\]]+)",
            r"(?P<uuid>\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b)",
            rf"(?P<time>\b{_DATE}(?:[T ]{_CLOCK}(?:Z|[+-]\d\d:?\d\d)?)?\b|\b{_CLOCK}\b)",
            r"(?P<quoted>(?<!\w)'[^'\n]{1,200}'(?!\w)|\"[^\"\n]{1,200}\"|`[^`\n]{1,200}`)",
            rf"(?P<source>(?:[A-Za-z]:)?[\w./\\+-]*[\w+-]\.(?:{_SOURCE_KINDS})(?=[:(]\d|\W|\Z))",
            r"(?P<windows>\b[A-Za-z]:\\(?:[^\\:*?\"<>|'\n]+\\)*[^\\\s:*?\"<>|',;)]*|\\\\[\w.-]+\\[^\s:*?\"<>|',;)]+)",
            r"(?P<path>(?<![\w.<])~?(?:/[\w.+@%~=,-]*[\w+@%~=-])+/?|(?<![\w/])\.{1,2}(?:/[\w.+@%~=-]+)+)",
            rf"(?P<file>(?<![\w/])(?:[\w.+-]+/)*[\w.+-]+\.(?:{MODEL_KINDS})\b)",
            r"(?P<model>(?<![\w/.])[A-Za-z][\w.-]+/[A-Za-z][\w.-]*\d[\w.-]*)",
            r"(?P<address>\b\d{1,3}(?:\.\d{1,3}){3}\b)",
            rf"(?P<card>\b{_MAKER}?(?:{_FAMILIES})(?:\(TM\))?{_MODEL_WORDS}+|\bNVIDIA [A-Z]+\d+\w*(?:[ -][A-Z0-9]\w*)*)",
            r"(?P<hex>\b0x[0-9a-fA-F]+\b)",
            r"(?P<hash>\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b)",
            r"(?P<version>\bv?\d+\.\d+\.\d+[\w.+-]*\b)",
            r"(?P<device>\b(?:CUDA|ROCm|HIP|Vulkan|SYCL|GPU|Metal|cuda|gpu|rank|worker|slot|layers?|blk|block)[:._#-]?\d+\b)",
            rf"(?P<size>(?<![\w.])[-+]?\d[\d.,]*(?<![.,]) ?(?:{_UNITS})(?![\w]))",
            r"(?P<percent>(?<![\w.])\d+(?:\.\d+)? ?%)",
            r"(?P<number>(?<![\w.])(?<![A-Za-z]-)[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w]|\.\w))",
            r"(?P<blanks>[ \t]{2,}|\t)",
        )
    ),
    re.ASCII,  # as the patterns of rules are read
)


class Pattern(NamedTuple):
    """A pattern made from a line. captures: (name, the line's own value), in order; cut: whether the line was too long."""

    source: str
    captures: tuple[tuple[str, str], ...]
    cut: bool = False


class _Part(NamedTuple):
    """One varying part: its pattern with `{}` where the group goes, the group's own pattern, name and value."""

    frame: str
    group: str
    name: str
    value: str


def generalise(line: str) -> Pattern:
    """The pattern of a line (without its prefix, see `prefixes`)."""
    text = line.strip()
    cut = len(text) > LONGEST_LINE
    if cut:
        text = text[: text.rfind(" ", 0, LONGEST_LINE) if " " in text[:LONGEST_LINE] else LONGEST_LINE]
    names = Names()
    source = "".join(_pieces(text, names))
    return Pattern(source.strip(), names.taken(), cut)


def escaped(text: str) -> str:
    """A text as a pattern that matches it, with no more backslashes than it takes."""
    return "".join("\\" + sign if sign in SPECIAL else sign for sign in text)


def _pieces(text: str, names: Names) -> Iterator[str]:
    position = 0
    for hit in VARIABLE.finditer(text):
        if hit.start() < position:
            continue
        yield escaped(text[position : hit.start()])
        yield from _variable(hit, text, names)
        position = hit.end()
    yield escaped(text[position:])


def _variable(hit: re.Match[str], text: str, names: Names) -> Iterator[str]:
    kind, value = str(hit.lastgroup), hit.group()
    before, after = text[: hit.start()], text[hit.end() :]
    if kind == "blanks":
        yield r"\s+"
    elif kind == "quoted":
        yield from _quotation(value, before, names)
    elif kind == "source":
        yield from _source_file(value, before)
    elif kind in ("number", "hex", "hash") and KEPT_CODES.search(before):
        yield escaped(value)
    else:
        part = _PARTS[kind](Surroundings(value, before, after, names.last()))
        name = names.take(part.name, part.value)
        yield part.frame.replace("{}", f"(?P<{name}>{part.group})")


def _quotation(value: str, before: str, names: Names) -> Iterator[str]:
    """A quoted name is captured, a quoted sentence is read like the rest of the line."""
    mark, inside = value[0], value[1:-1]
    if len(re.findall(r"[A-Za-z]{2,}", inside)) >= QUOTED_SENTENCE and not re.search(r"[/\\]", inside):
        yield mark
        yield from _pieces(inside, names)
        yield mark
        return
    wanted = "path" if re.search(r"[/\\]", inside) else noun_before(before) or "name"
    name = names.take(wanted, inside)
    yield f"{mark}(?P<{name}>[^{mark}]+){mark}"


def _source_file(value: str, before: str) -> Iterator[str]:
    """The file of the program's own source: its folder varies with the build, its name tells the line from others."""
    name = re.split(r"[/\\]", value)[-1]
    if name != value and before:
        yield r"\S*"
    yield escaped(name)


def _fixed(group: str, name: str) -> Callable[[Surroundings], _Part]:
    return lambda place: _Part("{}", group, name, place.value)


def _path(place: Surroundings) -> _Part:
    group = r"[^:*?\"<>|]+" if " " in place.value else r"\S+"
    if re.match(r"[A-Za-z]:\\.", place.value):
        return _Part(r"[A-Za-z]:\\{}", group, "path", place.value[3:])
    return _Part("{}", group, "path", place.value)


def _time(place: Surroundings) -> _Part:
    group = r"\d[\d:.,/TZ +-]*\d\w?" if " " in place.value else r"\d[\d:.,/TZ+-]+"
    return _Part("{}", group, "time", place.value)


def _size(place: Surroundings) -> _Part:
    found = re.match(r"([-+]?)([\d.,]+)( ?)(.+)", place.value)
    sign, number, blank, unit = found.groups() if found else ("", place.value, "", "")
    group = r"[\d.]+" if "." in number else r"[\d,]+" if "," in number else r"\d+"
    return _Part(escaped(sign) + "{}" + blank + escaped(unit), group, size_name(unit, place), number)


def _percent(place: Surroundings) -> _Part:
    number = place.value.rstrip(" %")
    return _Part("{}" + place.value[len(number) :], r"[\d.]+", "percent", number)


def _device(place: Surroundings) -> _Part:
    word = place.value.rstrip("0123456789")
    return _Part(escaped(word) + "{}", r"\d+", device_word(word), place.value[len(word) :])


def _number(place: Surroundings) -> _Part:
    sign = {"-": "-?", "+": r"\+?"}.get(place.value[0], "")
    bare = place.value.lstrip("+-")
    group = r"\d+" if bare.isdigit() else r"[\d.]+" if "e" not in bare else r"[\d.e+-]+"
    return _Part("{}", sign + group, value_name(place), place.value)


_PARTS: dict[str, Callable[[Surroundings], _Part]] = {
    "url": _fixed(r"https?://\S+", "url"),
    "uuid": _fixed(r"[0-9a-fA-F-]{36}", "uuid"),
    "time": _time,
    "windows": _path,
    "path": _path,
    "file": _fixed(r"\S+", "file"),
    "model": _fixed(r"\S+", "model"),
    "address": _fixed(r"[\d.]+", "host"),
    "card": _fixed(r"[\w() -]{3,60}", "card"),
    "hex": _fixed("0x[0-9a-fA-F]+", "address"),
    "hash": _fixed("[0-9a-f]+", "hash"),
    "version": _fixed(r"v?\d+(?:\.\d+)+[\w.+-]*", "version"),
    "device": _device,
    "size": _size,
    "percent": _percent,
    "number": _number,
}
