"""`strata-diag rules lint [TARGET...]`: what is wrong with packs, in which line and column, and what to do."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from strata_diag.cli.complaints import EXIT_TROUBLE, complain
from strata_diag.cli.options import add_colour_option, add_rule_options

if TYPE_CHECKING:
    from strata_diag.workshop.lint.runner import Report
    from strata_diag.workshop.lint.subject import Wishes

EXIT_CLEAN, EXIT_FOUND = 0, 1
FORMATS = ("text", "github", "sarif", "json")
EXAMPLES = """examples:
  strata-diag rules lint my-rules/
  strata-diag rules lint my-rules/pack.yaml --corpus my-corpus/ --notes
  strata-diag rules lint llama-family --select SD2,backtracking
  strata-diag rules lint my-rules/ --diff
  strata-diag rules lint my-rules/ --fix
  strata-diag rules lint --format sarif > lint.sarif

A rule switches a code off by `lint: {SD205: why it is meant}`.
exit codes: 0 nothing to mend (notes don't count), 1 errors or warnings, 2 the command could not do its work
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Give the part's parser its arguments."""
    parser.epilog = EXAMPLES
    parser.add_argument(
        "targets",
        nargs="*",
        metavar="TARGET",
        help="folders, pack files and names of plugins (default: every pack that is loaded)",
    )
    parser.add_argument("--select", action="append", default=[], metavar="CODES", help="look for these alone")
    parser.add_argument("--ignore", action="append", default=[], metavar="CODES", help="leave these out")
    parser.add_argument(
        "--corpus", type=Path, metavar="DIR", help="a folder with labelled logs; the healthy ones are used"
    )
    parser.add_argument("--notes", action="store_true", help="show notes too, which only inform")
    parser.add_argument(
        "--fix", action="store_true", help="mend what can be mended only one way, and show what changed"
    )
    parser.add_argument("--diff", action="store_true", help="show what --fix would change, and change nothing")
    parser.add_argument("--list-codes", action="store_true", help="print every code with its name and severity")
    parser.add_argument("--format", choices=FORMATS, default="text", help="how to answer (default: text)")
    add_rule_options(parser)
    add_colour_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Lint the packs. 0: nothing to mend; 1: errors or warnings; 2: a target, a code or a corpus that there isn't."""
    from strata_diag.workshop.lint.runner import lint  # noqa: PLC0415 - the other parts need none of it

    if options.list_codes:
        _list_codes()
        return EXIT_CLEAN
    if (options.fix or options.diff) and not options.targets:
        complain("--fix and --diff change files: name the folders and files that may be changed")
        return EXIT_TROUBLE
    try:
        wishes = _wishes(options)
    except KeyError as error:
        complain(f"there is no code {error.args[0]}; --list-codes prints all of them")
        return EXIT_TROUBLE
    report = lint(wishes)
    if options.fix or options.diff:
        report = _mend(report, wishes, options)
    _answer(report, options)
    return EXIT_FOUND if report.failing else EXIT_CLEAN


def _wishes(options: argparse.Namespace) -> Wishes:
    from strata_diag.settings import Settings, find_settings  # noqa: PLC0415
    from strata_diag.workshop.lint.codes import CODES, chosen  # noqa: PLC0415
    from strata_diag.workshop.lint.subject import Wishes  # noqa: PLC0415

    selected = chosen(_words(options.select)) if options.select else frozenset(CODES)
    return Wishes(
        tuple(options.targets),
        selected - chosen(_words(options.ignore)),
        options.corpus,
        builtin=not options.no_builtin_rules,
        no_plugins=tuple(options.no_plugin),
        more=tuple(Path(path) for path in options.rules),
        settings=Settings() if options.no_settings else find_settings(),
    )


def _words(given: list[str]) -> list[str]:
    return [word.strip() for text in given for word in text.split(",") if word.strip()]


def _mend(report: Report, wishes: Wishes, options: argparse.Namespace) -> Report:
    """Show or make the changes, on standard error where the answer is for a program; what is left afterwards."""
    from strata_diag.render.escape import encodable, visible  # noqa: PLC0415
    from strata_diag.workshop.lint.mend import mend, write  # noqa: PLC0415
    from strata_diag.workshop.lint.runner import lint  # noqa: PLC0415

    stream = sys.stdout if options.format == "text" else sys.stderr
    mended = mend(report.violations)
    for one in mended:
        stream.writelines(encodable(visible(line) + "\n", stream.encoding) for line in one.difference().splitlines())
    if options.diff or not mended:
        return report
    write(mended)
    return lint(wishes)


def _list_codes() -> None:
    from strata_diag.workshop.lint.codes import CODES  # noqa: PLC0415

    for code in CODES.values():
        sys.stdout.write(f"{code.id}  {code.severity:<7}  {code.name}\n")


def _answer(report: Report, options: argparse.Namespace) -> None:
    from strata_diag.render.escape import encodable  # noqa: PLC0415
    from strata_diag.render.terminal import print_lines  # noqa: PLC0415
    from strata_diag.workshop.lint.report import github_text, json_text, sarif_text, text_lines  # noqa: PLC0415

    if options.format == "text":
        print_lines(text_lines(report, notes=options.notes), sys.stdout, colour=False if options.no_color else None)
        return
    write = {"github": github_text, "sarif": sarif_text, "json": json_text}[options.format]
    sys.stdout.write(encodable(write(report), sys.stdout.encoding))
