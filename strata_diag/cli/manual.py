"""The manual page `strata-diag(1)`, made from the same parsers as `--help`.

    python -m strata_diag.cli.manual > docs/man/strata-diag.1

Nothing in it depends on the day, the machine or the Python that made it, so that a test can say whether it is up to date.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from strata_diag import __version__
from strata_diag.cli.complaints import PROGRAM
from strata_diag.cli.tree import Argument, Command, command_tree

HELP = "--help"  # which every verb has
EXIT_CODES = (
    ("0", "no failure was found"),
    ("1", "a failure was found"),
    ("2", "the command could not do its work: usage, an unreadable file, broken rules or settings"),
    ("3", "UNKNOWN: nothing in the log says how the run ended"),
    ("130", "interrupted by Ctrl+C"),
)
VARIABLES = (
    ("STRATA_DIAG_RULES", "folders and files with rule packs, separated as in PATH"),
    (
        "STRATA_DIAG_NO_PLUGIN",
        "names of plugins to leave out, separated by commas; * leaves out all but the built-in one",
    ),
    ("STRATA_DIAG_CACHE", "the folder for compiled rules, or off"),
    (
        "STRATA_DIAG_DOCS",
        "the address of a site with the pages of rules, causes and remedies; outputs then link to it instead of naming a command",
    ),
    (
        "STRATA_DIAG_LANGUAGE",
        "the language of texts for people, as --language takes it: en, zh, or one that a plugin brings",
    ),
    ("NO_COLOR", "when set, no colours"),
)
FILES = (
    (
        "strata-diag.toml",
        "rules = [...] names packs of a project, [silence] rules that are to be silent, with the reason",
    ),
    ("pyproject.toml", "the same under [tool.strata-diag]; the nearest of both is taken, up to the repository's root"),
)


def man_page(tree: Command) -> str:
    """The page in roff, for `man` and mandoc."""
    title = (
        f"{_quoted(PROGRAM.upper())} 1 {_quoted('')} {_quoted(f'{PROGRAM} {__version__}')} {_quoted('User Commands')}"
    )
    lines = [
        r".\" Made by python -m strata_diag.cli.manual from the command's own help; changes belong there",
        f".TH {title}",
        ".SH NAME",
        rf"{_text(PROGRAM)} \- {_text(_decapitalised(tree.summary))}",
        ".SH SYNOPSIS",
        *_synopsis(tree, "COMMAND ..."),
        ".SH DESCRIPTION",
        _text(tree.summary),
        "A project's settings can name further packs of rules; see FILES.",
        *_arguments(tree.arguments),
        ".SH COMMANDS",
        *(line for part in tree.parts for line in _section(part)),
        ".SH EXIT STATUS",
        *_definitions(EXIT_CODES),
        ".SH ENVIRONMENT",
        *_definitions(VARIABLES),
        ".SH FILES",
        *_definitions(FILES),
    ]
    return "\n".join(lines) + "\n"


def _section(command: Command, told: str = "") -> Iterator[str]:
    """A verb, then its parts: usage, what it is for, arguments, and examples unless they are those `told` already."""
    yield f".SS {_quoted(' '.join(command.path))}"
    yield _sentence(command.summary)
    yield ".PP"
    more = "|".join(part.path[-1] for part in command.parts)
    yield from _synopsis(command, more if command.needs_part else f"[{more}]")
    yield from _arguments(tuple(one for one in command.arguments if HELP not in one.flags))
    if command.examples and command.examples != told:
        yield from _examples(command.examples)
    for part in command.parts:
        yield from _section(part, command.examples)


def _synopsis(command: Command, more: str) -> Iterator[str]:
    words = [PROGRAM, *command.path]
    options = "[OPTION ...]" if any(one.flags and HELP not in one.flags for one in command.arguments) else ""
    places = [argument.value for argument in command.arguments if not argument.flags]
    rest = " ".join(word for word in (options, *places, more) if word)
    yield rf"\fB{_text(' '.join(words))}\fR {_text(rest)}"


def _arguments(arguments: tuple[Argument, ...]) -> Iterator[str]:
    for argument in arguments:
        yield ".TP"
        flags = ", ".join(rf"\fB{_text(flag)}\fR" for flag in argument.flags)
        value = rf"\fI{_text(argument.value)}\fR" if argument.value else ""
        yield " ".join(part for part in (flags, value) if part)
        yield _text(argument.help) or r"\&"


def _examples(examples: str) -> Iterator[str]:
    head, _, body = examples.strip("\n").partition("\n")
    yield ".PP"
    yield _text(head.capitalize())
    yield ".PP"
    yield ".nf"
    yield from (_text(line) for line in body.split("\n"))
    yield ".fi"


def _definitions(pairs: tuple[tuple[str, str], ...]) -> Iterator[str]:
    for word, meaning in pairs:
        yield from (".TP", rf"\fB{_text(word)}\fR", _text(meaning))


def _sentence(text: str) -> str:
    return _text(text[:1].upper() + text[1:] + "." * (not text.endswith(".")))


def _decapitalised(text: str) -> str:
    return (text[:1].lower() + text[1:]).rstrip(".")


def _text(text: str) -> str:
    """A line of text in which nothing means anything to roff."""
    plain = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq").replace("`", r"\(ga")
    return rf"\&{plain}" if plain.startswith((".", r"\(aq")) else plain


def _quoted(text: str) -> str:
    """A text as one argument of a macro."""
    return f'"{_text(text)}"'


if __name__ == "__main__":
    sys.stdout.write(man_page(command_tree()))
