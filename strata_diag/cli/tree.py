"""The whole of the command line as plain records: what the manual page and the scripts for shells are made from.

The command itself sets up only the verb that it was asked for; here all of them are set up.
"""

from __future__ import annotations

import argparse
import re
from importlib import import_module
from typing import NamedTuple

from strata_diag.cli import make_parser

# ruff: noqa: SLF001 - argparse has no public way to walk its own tree

_FILE_WORDS = re.compile(r"\b(?:FILE|PATH|DIR|FOLDER|LOG)S?\b")  # in a metavar: the value is a path


class Argument(NamedTuple):
    """One option or argument. flags: empty for an argument by position; value: what stands for its value, if it takes one."""

    flags: tuple[str, ...]
    value: str
    help: str


class Command(NamedTuple):
    """A verb or a part of one. path: the words that lead to it, empty for the program itself; parts: its own verbs.

    needs_part: whether it does nothing without naming a part.
    """

    path: tuple[str, ...]
    summary: str
    examples: str
    arguments: tuple[Argument, ...]
    parts: tuple[Command, ...]
    needs_part: bool = True


def whole_parser() -> argparse.ArgumentParser:
    """The parser with every verb set up."""
    parser = make_parser([])
    for verb, its_parser in _parts(parser).items():
        import_module(f"strata_diag.cli.{verb}").set_up(its_parser)
    return parser


def all_parsers(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """A parser and those of all its verbs and their parts."""
    return [parser, *(one for part in _parts(parser).values() for one in all_parsers(part))]


def command_tree() -> Command:
    """The program with all its verbs."""
    return _command(whole_parser(), (), "")


def takes_path(action: argparse.Action) -> bool:
    """Whether the value of an option or argument is a path."""
    return bool(_FILE_WORDS.search(_value(action))) and not action.choices


def _command(parser: argparse.ArgumentParser, path: tuple[str, ...], summary: str) -> Command:
    summaries = {action.dest: action.help or "" for part in _part_actions(parser) for action in part._choices_actions}
    parts = tuple(_command(one, (*path, name), summaries.get(name, "")) for name, one in _parts(parser).items())
    arguments = tuple(
        _argument(action, parser)
        for action in parser._actions
        if not isinstance(action, argparse._SubParsersAction) and action.help != argparse.SUPPRESS
    )
    needs_part = all(action.required for action in _part_actions(parser))
    return Command(path, summary or parser.description or "", parser.epilog or "", arguments, parts, needs_part)


def _argument(action: argparse.Action, parser: argparse.ArgumentParser) -> Argument:
    told = parser._get_formatter()._expand_help(action) if action.help else ""
    return Argument(tuple(action.option_strings), _value(action), told)


def _value(action: argparse.Action) -> str:
    """What stands for a value in a usage line: `FILE ...`, `{text,json}`; empty for a flag."""
    if action.nargs == 0:
        return ""
    words = action.metavar or (
        "{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper()
    )
    word = " ".join(words) if isinstance(words, tuple) else words
    many = {"*": f"[{word} ...]", "+": f"{word} ...", "?": f"[{word}]"}
    return many.get(str(action.nargs), word)


def _parts(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    return {name: one for action in _part_actions(parser) for name, one in action.choices.items()}


def _part_actions(parser: argparse.ArgumentParser) -> list[argparse._SubParsersAction[argparse.ArgumentParser]]:
    return [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
