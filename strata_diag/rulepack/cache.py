"""The compiled rule set kept between starts, so that only the first one after a change reads YAML and checks patterns.

Keyed by content: the bytes of every pack file with its path and plugin, and the versions of Python, of this package and of
`regex`. A cache that can't be read, was tampered with, belongs to somebody else or can't be written is as good as none, and
no error: the packs are the truth. Written to a temporary file and moved into place, so two processes may write at once.

A kept set is a head, which every diagnosis needs, and one small piece for each rule, pattern and remedy, which is read and
becomes a record when somebody asks for it. Head and pieces have checksums of their own; a piece that is damaged, or whose file
has gone, is taken from the packs.
"""

from __future__ import annotations

import marshal
import os
import sys

from strata_diag import patterns
from strata_diag.lazy import ByName, LazyList
from strata_diag.model import Role, Status
from strata_diag.record import TYPE_CHECKING
from strata_diag.ruleset import (
    Cause,
    Clause,
    PackInfo,
    Pattern,
    RemedyTemplate,
    RemedyText,
    Rule,
    RuleSet,
    ScanIndex,
    Summary,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path
    from typing import Any

CACHE_VARIABLE = "STRATA_DIAG_CACHE"  # another folder, or `off`
LAYOUT = 8  # raise it when a record gains or loses a field
KEPT_FILES = (
    16  # of different rule sets, and of searches made for them; older ones are removed when a new one is written
)
MAGIC = b"strata-diag kept\n"
DIGEST_BYTES = 32
SIZE_BYTES = 8  # of the head, written in front of it
CHECK_BYTES = 8  # of a piece's checksum
PLACE_BYTES = 4 + 4 + CHECK_BYTES


def cache_folder() -> str | None:
    """Where compiled rule sets are kept, by the platform's custom; None where the user switched it off."""
    wanted = os.environ.get(CACHE_VARIABLE, "")
    if wanted:
        return None if wanted.lower() == "off" else wanted
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if not base or base.startswith("~"):
        return None
    return os.path.join(base, "strata-diag")


def content_key(parts: Iterable[tuple[str, Path | Mapping[str, Any]]]) -> str | None:
    """A key for what these (plugin, content) pairs hold today; None where something can't be read or written down."""
    digest = _blake2b()
    digest.update(f"{LAYOUT} {sys.version} {_code_stamp()} {patterns.engine_stamp()}".encode())
    try:
        for origin, content in parts:
            for name, data in _contents(content):
                digest.update(f"\0{origin}\0{name}\0{len(data)}\0".encode())
                digest.update(data)
    except (OSError, TypeError, ValueError, RecursionError):
        return None
    return str(digest.hexdigest())


def short_name(parts: Iterable[str]) -> str:
    """A name for a file that stands for these texts."""
    digest = _blake2b()
    digest.update("\0".join(parts).encode("utf-8", "surrogateescape"))
    return str(digest.hexdigest()[:32])


def pack_files(folder: str) -> list[str]:
    """The pack files of a folder, or the one file, in the order of names."""
    if not os.path.isdir(folder):
        return [folder]
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith((".yaml", ".yml"))]


def _contents(content: Path | Mapping[str, Any]) -> Iterable[tuple[str, bytes]]:
    if not isinstance(content, os.PathLike):
        import json  # noqa: PLC0415 - only for a plugin's mapping

        yield "mapping", json.dumps(content, sort_keys=False).encode()
        return
    for path in pack_files(os.fspath(content)):
        with open(path, "rb") as file:
            yield path, file.read()


def code_files() -> list[str]:
    """The files whose code shapes a compiled rule set."""
    here = os.path.dirname(__file__)
    names = ("literals", "needles", "healthy", "backtracking", "patterns", "ruleset", "settings", "yamlfile")
    above = [os.path.join(os.path.dirname(here), f"{name}.py") for name in names]
    return [*above, *(os.path.join(here, name) for name in sorted(os.listdir(here)) if name.endswith(".py"))]


def _code_stamp() -> str:
    """What changes when the code that compiles packs does: the sizes and times of its files."""
    return " ".join(f"{os.path.basename(file)}:{size}:{time}" for file, size, time in map(file_stamp, code_files()))


def file_stamp(path: str) -> tuple[str, int, int]:
    """(path, bytes, time of the last change in ns) of a file or folder; raises OSError where there is none."""
    found = os.stat(path)
    return path, found.st_size, found.st_mtime_ns


def read_kept(name: str, key: str) -> Any:
    """What `write_kept` wrote under this name and key: plain values, or None where there is nothing that can be trusted."""
    return _read_head(name, key)[0]


def _read_head(name: str, key: str) -> tuple[Any, int]:
    """The values at the start of a kept file, and where they end: what follows are the pieces."""
    path = _path(name)
    try:
        with open(path or "", "rb", buffering=0) as file:
            found = os.fstat(file.fileno())
            if hasattr(os, "geteuid") and (found.st_uid != os.geteuid() or found.st_mode & 0o022):
                return None, 0  # somebody else could have written it
            front = file.read(len(MAGIC) + DIGEST_BYTES + SIZE_BYTES)
            size = int.from_bytes(front[-SIZE_BYTES:], "little")
            body = file.read(min(size, found.st_size))
        if not front.startswith(MAGIC) or front[len(MAGIC) : -SIZE_BYTES] != _checksum(key, body):
            return None, 0
        return marshal.loads(body), len(front) + len(body)  # noqa: S302 - its checksum and its owner were checked
    except (OSError, ValueError, EOFError, TypeError):
        return None, 0


def _path(name: str) -> str | None:
    folder = cache_folder()
    return os.path.join(folder, name) if folder else None


def write_kept(name: str, key: str, value: Any, pieces: bytes = b"") -> None:
    """Keep plain values, and pieces behind them, for the next start; silently not where that can't be done."""
    folder = cache_folder()
    if folder is None:
        return
    import tempfile  # noqa: PLC0415 - only for the first start after a change

    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        body = marshal.dumps(value)
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=".part")
        with os.fdopen(handle, "wb") as file:
            file.write(MAGIC + _checksum(key, body) + len(body).to_bytes(SIZE_BYTES, "little") + body + pieces)
        os.replace(temporary, os.path.join(folder, name))
    except (OSError, ValueError):
        return


def load(key: str, compile_anew: Callable[[], RuleSet]) -> RuleSet | None:
    """The rule set with this key, or None. compile_anew: makes it from its packs, should a piece turn out to be damaged."""
    kept, start = _read_head(f"{key}.rules", key)
    if kept is None:
        return None
    try:
        return _rule_set(kept, _Pieces(f"{key}.rules", key, start, compile_anew))
    except (ValueError, TypeError, KeyError):
        return None


def store(key: str, rules: RuleSet) -> None:
    """Keep a rule set for the next start; silently not where that can't be done."""
    patterns_kept = (one._replace(packed=patterns.pack(one.source)) for one in rules.patterns)
    pieces = bytearray()
    places = [_put(pieces, records, key) for records in (rules.rules, patterns_kept, rules.remedies.values())]
    head = (rules.summary, rules.scan_index, rules.causes, tuple(rules.remedies), rules.tracks, rules.packs, places)
    write_kept(f"{key}.rules", key, _plain(head), bytes(pieces))
    _prune()


def _put(pieces: bytearray, records: Iterable[Any], key: str) -> bytes:
    """Add records as pieces; their places as one text of PLACE_BYTES each: start, size, checksum."""
    places = bytearray()
    for record in records:
        body = marshal.dumps(_plain(record))
        places += (
            len(pieces).to_bytes(4, "little") + len(body).to_bytes(4, "little") + _checksum(key, body)[:CHECK_BYTES]
        )
        pieces += body
    return bytes(places)


class _Pieces:
    """The pieces of a kept rule set, read one at a time."""

    def __init__(self, name: str, key: str, start: int, compile_anew: Callable[[], RuleSet]) -> None:
        self._path = _path(name) or ""
        self._key = key
        self._start = start
        self._compile = compile_anew
        self._anew: RuleSet | None = None

    def read(self, place: bytes) -> tuple[Any, ...] | None:
        """The fields of the record at a place; None where the piece can't be trusted."""
        start, size = int.from_bytes(place[:4], "little"), int.from_bytes(place[4:8], "little")
        try:
            with open(self._path, "rb", buffering=0) as file:
                file.seek(self._start + start)
                body = file.read(size)
            if _checksum(self._key, body)[:CHECK_BYTES] == place[8:]:
                fields: tuple[Any, ...] = marshal.loads(body)  # noqa: S302 - its checksum was checked
                return fields
        except (OSError, ValueError, EOFError, TypeError):
            pass
        return None

    @property
    def anew(self) -> RuleSet:
        """The rule set from its packs; the damaged file is taken away."""
        if self._anew is None:
            try:
                os.unlink(self._path)
            except OSError:
                pass
            self._anew = self._compile()
        return self._anew


def _prune() -> None:
    folder = cache_folder()
    try:
        paths = [os.path.join(folder or "", name) for name in os.listdir(folder or "")]
        kept = sorted((path for path in paths if not path.endswith(".part")), key=os.path.getmtime, reverse=True)
        for path in kept[KEPT_FILES:]:
            os.unlink(path)
    except OSError:
        return  # another process was faster, or there is no folder


def _blake2b(key: str = "") -> Any:
    from _blake2 import blake2b  # noqa: PLC0415 - what `hashlib` gives, without the 5 ms of loading OpenSSL

    return blake2b(key=key.encode()[:64], digest_size=DIGEST_BYTES)


def _checksum(key: str, body: bytes | memoryview) -> bytes:
    digest = _blake2b(key)
    digest.update(body)
    return bytes(digest.digest())


def _plain(value: Any) -> Any:
    """Records as tuples and enums as their words: what marshal can write."""
    if isinstance(value, Role | Status):
        return str(value)
    if isinstance(value, tuple | list):
        return tuple(_plain(item) for item in value)
    if isinstance(value, frozenset):
        return frozenset(value)
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    return value


def _rule_set(kept: tuple[Any, ...], pieces: _Pieces) -> RuleSet:
    summary, index, causes, remedies, tracks, packs, places = kept

    def part(of: int, number: int) -> tuple[Any, ...] | None:
        return pieces.read(places[of][number * PLACE_BYTES : (number + 1) * PLACE_BYTES])

    def rule(number: int) -> Rule:
        fields = part(0, number)
        return _rule(fields) if fields else pieces.anew.rules[number]

    def pattern(number: int) -> Pattern:
        fields = part(1, number)
        return Pattern(*fields) if fields else pieces.anew.patterns[number]

    def remedy(number: int) -> RemedyTemplate:
        fields = part(2, number)
        return _remedy(fields) if fields else pieces.anew.remedies[remedies[number]]

    made = RuleSet(
        LazyList(len(places[0]) // PLACE_BYTES, rule),
        LazyList(len(places[1]) // PLACE_BYTES, pattern),
        {name: Cause(fields[0], Status(fields[1]), *fields[2:]) for name, fields in causes.items()},
        ByName({name: place for place, name in enumerate(remedies)}, LazyList(len(remedies), remedy)),
        tracks,
        tuple(PackInfo(*fields) for fields in packs),
        summary=Summary(*summary),
    )
    made.scan_index = ScanIndex(*index)
    return made


def _rule(fields: tuple[Any, ...]) -> Rule:
    rule = Rule(*fields)
    any_, all_, none = (tuple(Clause(*clause) for clause in group) for group in (rule.any, rule.all, rule.none))
    return rule._replace(role=Role(rule.role), any=any_, all=all_, none=none)


def _remedy(fields: tuple[Any, ...]) -> RemedyTemplate:
    remedy = RemedyTemplate(*fields)
    return remedy._replace(texts=tuple(RemedyText(text, frozenset(names)) for text, names in remedy.texts))
