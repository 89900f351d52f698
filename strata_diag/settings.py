"""What a project says about its rules: folders with packs, and rules that it silences.

    # strata-diag.toml                      # pyproject.toml
    rules = ["packs/"]                      [tool.strata-diag]
    [silence]                               rules = ["packs/"]
    "server/port-in-use" = "why"

The first such file is taken, from the current folder upward to the repository's root (where `.git` is) or the home folder.
Paths count from the file's folder. `STRATA_DIAG_RULES` names further folders, separated as in PATH, from the current folder.

Only the command looks for settings. The library never does by itself: a program's verdicts must not depend on the folder that
it happens to run in; `load_rules(settings=find_settings())` asks for it. Packs are data and no code of theirs ever runs, yet
they can change a verdict and word its advice: a file that somebody else put into a folder that everyone can write, such as a
temporary one, is not read.
"""
# `os.path`, since this is read at every start of the command:
# ruff: noqa: PTH100, PTH110, PTH111, PTH113, PTH116, PTH119, PTH120

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from strata_diag.errors import Problem, SettingsError
from strata_diag.model import Notice
from strata_diag.record import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

SETTINGS_FILE, PROJECT_FILE = "strata-diag.toml", "pyproject.toml"
TABLE = "strata-diag"  # under `tool` of a pyproject.toml
VARIABLE = "STRATA_DIAG_RULES"
KEYS = ("rules", "silence")
LARGEST_FILE = 1_000_000  # bytes; a settings file has a few hundred
MOST_FOLDERS = 64  # that are walked upward
WRITABLE_BY_ALL = 0o002


class Silence(NamedTuple):
    """A rule that a settings file silences, why, and in which line (1-based) it says so."""

    rule: str
    reason: str
    line: int


class Settings(NamedTuple):
    """What a settings file and the variable say. file: empty where there is none; rules: paths of folders and files."""

    file: str = ""
    rules: tuple[str, ...] = ()
    silence: tuple[Silence, ...] = ()
    notices: tuple[Notice, ...] = ()


def find_settings(folder: str | os.PathLike[str] = ".", environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings that hold in a folder, those of the variable added. Raises SettingsError with all problems at once."""
    found, notices = _nearest(folder)
    named = [path for path in environment.get(VARIABLE, "").split(os.pathsep) if path]
    missing = [
        Problem(VARIABLE, 0, *_missing(path, "the current folder")) for path in named if not os.path.exists(path)
    ]
    if missing:
        raise SettingsError(missing)
    return found._replace(rules=_unique([*found.rules, *named]), notices=notices)


def _nearest(folder: str | os.PathLike[str]) -> tuple[Settings, tuple[Notice, ...]]:
    """The first settings on the way upward, and a notice for each file on it that was passed over."""
    try:
        here = os.path.abspath(folder)
    except FileNotFoundError:
        return Settings(), ()  # the current folder was removed
    home = os.path.expanduser("~")
    notices = []
    for _ in range(MOST_FOLDERS):
        for file in (os.path.join(here, SETTINGS_FILE), os.path.join(here, PROJECT_FILE)):
            if not os.path.isfile(file):
                continue
            if _is_planted(file):
                what = f"{file} belongs to somebody else, and everyone can write to its folder: it was not read"
                notices.append(Notice("settings", what))
                continue
            found = read_settings(file)
            if found is not None:
                return found, tuple(notices)
        above = os.path.dirname(here)
        if here in {home, above} or os.path.exists(os.path.join(here, ".git")):
            break
        here = above
    return Settings(), tuple(notices)


def _is_planted(file: str) -> bool:
    """Whether anybody may have put the file there: not its user, nor the system's, in a folder that all can write."""
    if not hasattr(os, "geteuid"):
        return False
    own = os.stat(file).st_uid in {os.geteuid(), 0}
    return not own and bool(os.stat(os.path.dirname(file)).st_mode & WRITABLE_BY_ALL)


def read_settings(file: str | os.PathLike[str]) -> Settings | None:
    """The settings in one file; None for a pyproject.toml that has none. Raises SettingsError with all its problems."""
    path = os.fspath(file)
    text = _text(path)
    in_project = os.path.basename(path) == PROJECT_FILE
    if in_project and not _may_have_table(text):
        return None
    table = _parsed(path, text)
    if in_project:
        tools = table.get("tool")
        if not isinstance(tools, dict) or TABLE not in tools:
            return None
        table = tools[TABLE]
    return _Checked(path, text).settings(table)


def _may_have_table(text: str) -> bool:
    """Whether a pyproject.toml is worth parsing, which costs more than looking for the words."""
    if TABLE not in text:
        return False
    import re  # noqa: PLC0415 - see above

    return re.search(rf"^\s*\[\s*tool\s*\]|tool\s*\.\s*[\"']?{TABLE}\b", text, re.MULTILINE) is not None


def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        what = f"can't be read ({error.strerror or error})"
        raise SettingsError([Problem(path, 0, what, "check its rights")]) from None
    if len(data) > LARGEST_FILE:
        raise SettingsError([Problem(path, 0, f"is more than {LARGEST_FILE} bytes long", "settings are a few lines")])
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SettingsError([Problem(path, line, "is not UTF-8", "save the file as UTF-8")]) from None


def _parsed(path: str, text: str) -> dict[str, Any]:
    import re  # noqa: PLC0415
    import tomllib  # noqa: PLC0415 - only where there is a file to read

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        place = re.search(r"at line (\d+)", str(error))
        line = int(place[1]) if place else text.rstrip().count("\n") + 1  # "at end of document"
        raise SettingsError([Problem(path, line, f"is not valid TOML: {error}", "mend that line")]) from None


class _Checked:
    """One file while its keys and values are checked."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.lines = text.split("\n")
        self.problems: list[Problem] = []

    def settings(self, table: object) -> Settings:
        if not isinstance(table, dict):
            self.complain("", f"`{TABLE}` is no table", f"write `[tool.{TABLE}]` and keys under it")
            table = {}
        for key in table:
            if key not in KEYS:
                import difflib  # noqa: PLC0415 - only for a complaint

                near = difflib.get_close_matches(key, KEYS, 1)
                advice = f"did you mean `{near[0]}`?" if near else f"the settings are: {', '.join(KEYS)}"
                self.complain(key, f"unknown key `{key}`", advice)
        rules = self.rules(table.get("rules", []))
        silence = self.silence(table.get("silence", {}))
        if self.problems:
            raise SettingsError(self.problems)
        return Settings(self.path, rules, silence)

    def rules(self, value: object) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            self.complain("rules", "`rules` is no list of paths", 'write rules = ["packs/"]')
            return ()
        folder = os.path.dirname(self.path)
        paths = {item: os.path.normpath(os.path.join(folder, os.path.expanduser(item))) for item in value}
        for item, path in paths.items():
            if not os.path.exists(path):
                self.complain(item, *_missing(item, "the folder of this file"))
        return _unique(paths.values())

    def silence(self, value: object) -> tuple[Silence, ...]:
        if not isinstance(value, dict):
            self.complain("silence", "`silence` is no table", 'write "pack/rule" = "why" lines under it')
            return ()
        for rule, reason in value.items():
            if not isinstance(reason, str) or not reason.strip():
                self.complain(rule, f"silences `{rule}` without a reason", f'write "{rule}" = "why"')
        return tuple(Silence(rule, str(reason), self.line_of(rule)) for rule, reason in value.items())

    def complain(self, word: str, what: str, advice: str) -> None:
        self.problems.append(Problem(self.path, self.line_of(word), what, advice))

    def line_of(self, word: str) -> int:
        """The line in which a key or a text stands: `tomllib` doesn't tell, so the first one that holds it as a whole."""
        import re  # noqa: PLC0415

        whole = re.compile(rf"(?<![\w/.-]){re.escape(word)}(?![\w/-])")
        first = next((number for number, line in enumerate(self.lines) if TABLE in line), 0)
        if os.path.basename(self.path) != PROJECT_FILE:
            first = 0
        found = (number for number, line in enumerate(self.lines[first:], first + 1) if whole.search(_code(line)))
        return next(found, first + 1)


def _code(line: str) -> str:
    """A line without a comment that fills it."""
    return "" if line.lstrip().startswith("#") else line


def _missing(path: str, start: str) -> tuple[str, str]:
    return (
        f"names `{path}`, and there is no such folder or file",
        f"create it or mend the path, which counts from {start}",
    )


def _unique(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple({os.path.abspath(path): path for path in reversed(list(paths))}.values())[::-1]
