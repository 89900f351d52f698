"""The command line: arguments in, text and an exit code out. One module a verb.

Exit codes: 0 no failure in the log, 1 a failure was found, 2 the command could not do its work, 3 UNKNOWN, 130 Ctrl+C. A
reader that closes the pipe early is no error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from strata_diag import __version__
from strata_diag.cli.complaints import EXIT_TROUBLE, PROGRAM, complain
from strata_diag.cli.plain import plain_options
from strata_diag.errors import StrataDiagError
from strata_diag.record import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from typing import Any

# a verb's module is imported when it is asked for: each has `set_up(parser)`
VERBS = {
    "classify": "say what failed in a log, why, and what to do",
    "explain": "show every candidate of a log, why each lost, and why a rule matched or not",
    "triage": "diagnose everything that people attach, grouped by cause",
    "watch": "say what fails while a log is being written",
    "history": "audit and repair a tuner's history.jsonl",
    "preflight": "say what stands in the way of a measurement: who holds the card, is there room",
    "plugins": "list the plugins with their versions, hooks and packs",
    "redact": "write a log without names, addresses and secrets",
    "rules": "list, show, test and write rules",
    "corpus": "check labelled logs, and add one",
    "completion": "print a script that completes commands in your shell",
}
EXIT_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (the process's own by default); the exit code. Never a traceback."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options: Any = None
    try:
        options = plain_options(given) or make_parser(given).parse_args(given)
        code: int = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        _silence_stdout()
        return 0
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except StrataDiagError as error:
        from strata_diag.cli.options import said_in_language  # noqa: PLC0415 - a verb has loaded it by then

        complain(said_in_language(options, str(error)))
        return EXIT_TROUBLE
    return code


def _silence_stdout() -> None:
    """Let Python's last flush go nowhere, since nobody reads any more."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        return  # standard output is no file: there is nothing to silence


def make_parser(given: Sequence[str]) -> argparse.ArgumentParser:
    """The parser for these arguments: the verb that they name knows its options, the others only their names."""
    import argparse  # noqa: PLC0415 - 20 ms that a plain call does without
    from importlib import import_module  # noqa: PLC0415

    formatter = _help_formatter(given)
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Reads an engine's log and says what failed, why, which line proves it, and what to do.",
        epilog=f"example: {PROGRAM} classify strata-iq3_s.log",
        formatter_class=formatter,
    )
    parser.add_argument(
        "--version", action="version", version=f"{PROGRAM} {__version__}", help="print the version and exit"
    )
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    wanted = next((argument for argument in given if not argument.startswith("-")), "")
    for verb, summary in VERBS.items():
        its_parser = verbs.add_parser(verb, help=summary, formatter_class=formatter)
        if verb == wanted:
            import_module(f"strata_diag.cli.{verb}").set_up(its_parser)
    return parser


def _help_formatter(given: Sequence[str]) -> type[argparse.HelpFormatter]:
    """Rich's help on a terminal that asked for help, else the plain one."""
    import argparse  # noqa: PLC0415 - as above

    from strata_diag.render.terminal import is_terminal  # noqa: PLC0415

    if {"-h", "--help"} & set(given) and is_terminal(sys.stdout):
        try:
            from rich_argparse import RawDescriptionRichHelpFormatter  # noqa: PLC0415 - only for --help
        except ImportError:
            return argparse.RawDescriptionHelpFormatter
        return RawDescriptionRichHelpFormatter
    return argparse.RawDescriptionHelpFormatter
