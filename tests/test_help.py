"""Help that can be copied: every command has an example of itself, and every example is a command line that is understood."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import pytest

from strata_diag.cli import make_parser
from strata_diag.cli.complaints import PROGRAM
from strata_diag.cli.tree import Command, command_tree

SEPARATORS = {"|", "&&", "||", ";", ">", ">>", "<", "2>"}


def commands(command: Command) -> Iterator[Command]:
    """A command and all its parts."""
    yield command
    for part in command.parts:
        yield from commands(part)


def examples(command: Command) -> list[list[str]]:
    """The arguments of every call of ours in the examples of a command, as a shell would split them."""
    found = []
    for line in command.examples.splitlines():
        if not line.startswith(("  ", "example: ")):
            continue  # a sentence, which may name a command in passing
        words = shlex.shlex(line.removeprefix("example:"), posix=True, punctuation_chars="|&;<>")
        words.whitespace_split = True
        call: list[str] | None = None
        for word in [*words, ";"]:
            if word in SEPARATORS:
                found += [call] if call is not None else []
                call = None
            elif word == PROGRAM and call is None:
                call = []
            elif call is not None:
                call.append(word)
    return found


ALL = list(commands(command_tree()))


@pytest.mark.parametrize("command", ALL, ids=lambda command: " ".join(command.path) or PROGRAM)
def test_every_example_is_understood(command: Command) -> None:
    """A person can copy each line of the examples: no option is misspelt, none is missing."""
    calls = examples(command)
    assert calls
    for call in calls:
        options = make_parser(call).parse_args(call)
        assert callable(options.run)


@pytest.mark.parametrize("command", ALL, ids=lambda command: " ".join(command.path) or PROGRAM)
def test_a_command_has_an_example_of_itself(command: Command) -> None:
    """The examples of `history repair` hold a call of `history repair`, not only of its neighbours."""
    path = list(command.path)
    assert any(call[: len(path)] == path for call in examples(command))
