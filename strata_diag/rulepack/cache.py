"""The compiled rule set kept between starts, so that only the first one after a change reads YAML and checks patterns.

Keyed by content: the bytes of every pack file with its path and plugin, and the versions of Python and of this package. A
cache that can't be read, was tampered with, belongs to somebody else or can't be written is as good as none, and no error:
the packs are the truth. Written to a temporary file and moved into place, so two processes may write at once.
"""

from __future__ import annotations

import hashlib
import json
import marshal
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from strata_diag.model import Role, Status
from strata_diag.ruleset import Cause, Clause, PackInfo, Pattern, RemedyTemplate, RemedyText, Rule, RuleSet

CACHE_VARIABLE = "STRATA_DIAG_CACHE"  # another folder, or `off`
LAYOUT = 4  # raise it when a record gains or loses a field
KEPT_FILES = 8  # of different rule sets; older ones are removed when a new one is written
MAGIC = b"strata-diag rules\n"
DIGEST_BYTES = 32


def cache_folder() -> Path | None:
    """Where compiled rule sets are kept, by the platform's custom; None where the user switched it off."""
    wanted = os.environ.get(CACHE_VARIABLE, "")
    if wanted:
        return None if wanted.lower() == "off" else Path(wanted)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")  # noqa: PTH111 - Path.home() raises where there is no home
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    if not base or base.startswith("~"):
        return None
    return Path(base) / "strata-diag"


def content_key(parts: Iterable[tuple[str, Path | Mapping[str, Any]]]) -> str | None:
    """A key for what these (plugin, content) pairs hold today; None where something can't be read or written down."""
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    digest.update(f"{LAYOUT} {sys.version} {_code_stamp()}".encode())
    try:
        for origin, content in parts:
            for name, data in _contents(content):
                digest.update(f"\0{origin}\0{name}\0{len(data)}\0".encode())
                digest.update(data)
    except (OSError, TypeError, ValueError, RecursionError):
        return None
    return digest.hexdigest()


def _contents(content: Path | Mapping[str, Any]) -> Iterable[tuple[str, bytes]]:
    if not isinstance(content, Path):
        yield "mapping", json.dumps(content, sort_keys=False).encode()
        return
    paths = (
        sorted(path for path in content.iterdir() if path.suffix in (".yaml", ".yml"))
        if content.is_dir()
        else [content]
    )
    for path in paths:
        yield str(path), path.read_bytes()


def _code_stamp() -> str:
    """What changes when the code that compiles packs does: the sizes and times of its files."""
    here = Path(__file__).parent
    files = [*here.glob("*.py"), here.parent / "literals.py", here.parent / "ruleset.py", here.parent / "yamlfile.py"]
    return " ".join(
        f"{file.name}:{found.st_size}:{found.st_mtime_ns}" for file in sorted(files) for found in (file.stat(),)
    )


def load(key: str) -> RuleSet | None:
    """The rule set with this key, or None."""
    folder = cache_folder()
    if folder is None:
        return None
    path = folder / f"{key}.rules"
    try:
        found = path.stat()
        if hasattr(os, "geteuid") and (found.st_uid != os.geteuid() or found.st_mode & 0o022):
            return None  # somebody else could have written it
        data = path.read_bytes()
        body = data[len(MAGIC) + DIGEST_BYTES :]
        if not data.startswith(MAGIC) or data[len(MAGIC) : len(MAGIC) + DIGEST_BYTES] != _checksum(key, body):
            return None
        return _rule_set(marshal.loads(body))  # noqa: S302 - its checksum and its owner were checked
    except (OSError, ValueError, EOFError, TypeError, KeyError):
        return None


def store(key: str, rules: RuleSet) -> None:
    """Keep a rule set for the next start; silently not where that can't be done."""
    folder = cache_folder()
    if folder is None:
        return
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        body = marshal.dumps(
            _plain((rules.rules, rules.patterns, rules.causes, rules.remedies, rules.tracks, rules.packs))
        )
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=".part")
        with os.fdopen(handle, "wb") as file:
            file.write(MAGIC + _checksum(key, body) + body)
        Path(temporary).replace(folder / f"{key}.rules")
        _prune(folder)
    except (OSError, ValueError):
        return


def _prune(folder: Path) -> None:
    kept = sorted(folder.glob("*.rules"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in kept[KEPT_FILES:]:
        path.unlink(missing_ok=True)


def _checksum(key: str, body: bytes) -> bytes:
    return hashlib.blake2b(body, key=key.encode()[:64], digest_size=DIGEST_BYTES).digest()


def _plain(value: Any) -> Any:
    """Records as tuples and enums as their words: what marshal can write."""
    if isinstance(value, Role | Status):
        return str(value)
    if isinstance(value, tuple):
        return tuple(_plain(item) for item in value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return value


def _rule_set(content: tuple[Any, ...]) -> RuleSet:
    rules, patterns, causes, remedies, tracks, packs = content
    return RuleSet(
        tuple(_rule(fields) for fields in rules),
        tuple(Pattern(*fields) for fields in patterns),
        {name: Cause(fields[0], Status(fields[1]), *fields[2:]) for name, fields in causes.items()},
        {name: _remedy(fields) for name, fields in remedies.items()},
        tracks,
        tuple(PackInfo(*fields) for fields in packs),
    )


def _rule(fields: tuple[Any, ...]) -> Rule:
    rule = Rule(*fields)
    any_, all_, none = (tuple(Clause(*clause) for clause in group) for group in (rule.any, rule.all, rule.none))
    return rule._replace(role=Role(rule.role), any=any_, all=all_, none=none)


def _remedy(fields: tuple[Any, ...]) -> RemedyTemplate:
    remedy = RemedyTemplate(*fields)
    return remedy._replace(texts=tuple(RemedyText(text, frozenset(names)) for text, names in remedy.texts))
