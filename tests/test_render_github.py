"""Annotations of GitHub Actions: one line each, escaped as GitHub's own toolkit does, whatever a log holds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from strata_diag.render.github import LONGEST_MESSAGE, annotation


def unescaped(line: str) -> tuple[str, dict[str, str], str]:
    """What GitHub's runner reads in a line: the command, its properties, its message (Runner.Common/ActionCommand.cs)."""
    found = re.fullmatch(r"::(\w+) ([^:]*)::(.*)", line)
    assert found, line
    command, properties, message = found.groups()
    pairs = dict(part.split("=", 1) for part in properties.split(","))
    signs = {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"}
    for escaped, sign in signs.items():
        pairs = {name: value.replace(escaped, sign) for name, value in pairs.items()}
        message = message.replace(escaped, sign) if escaped in ("%0D", "%0A", "%25") else message
    return command, pairs, message


def test_place_title_and_message_are_read_back() -> None:
    """A file with a comma, a title with colons, a message with per cent signs and two lines survive the way."""
    line = annotation("error", "100 % of it\nfailed: x", file="a,b.log", line=3, column=5, title="OOM: a, b")
    assert unescaped(line) == (
        "error",
        {"file": "a,b.log", "line": "3", "col": "5", "title": "OOM: a, b"},
        "100 % of it\nfailed: x",
    )


def test_what_is_not_known_is_left_out() -> None:
    """No line, no column, no title: GitHub would take a zero for a place."""
    assert annotation("notice", "x", file="a.log") == "::notice file=a.log::x"


@pytest.mark.parametrize(
    "evil", ["\n::set-env name=PATH::x", "\r::error::x", "%0A::add-mask::x", "\u2028::error::x", "\x1b[2J\0"]
)
def test_no_text_begins_a_command_of_its_own(evil: str) -> None:
    """Whatever stands in name, title or message, one line comes out, and it is ours."""
    line = annotation("error", evil, file=f"a{evil}.log", title=evil)
    assert len(line.splitlines()) == 1
    assert line.isprintable()
    assert line.startswith("::error file=a")
    assert "%0A::add-mask" not in line


def test_a_file_is_named_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """GitHub finds a file by its path in the repository."""
    monkeypatch.chdir(tmp_path)
    assert unescaped(annotation("error", "x", file=str(tmp_path / "logs" / "a.log")))[1]["file"] == "logs/a.log"


def test_a_long_message_is_cut() -> None:
    """GitHub cuts at 4 KB; we say so with an ellipsis."""
    message = unescaped(annotation("error", "x" * (LONGEST_MESSAGE + 1), file="a.log"))[2]
    assert len(message) == LONGEST_MESSAGE
    assert message.endswith("…")
