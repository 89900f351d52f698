"""`strata-diag rules test [PATH...]`: packs against their samples and a labelled corpus."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from strata_diag.cli.complaints import EXIT_TROUBLE, complain
from strata_diag.cli.options import add_colour_option, add_rule_options, rules_from
from strata_diag.errors import Problem, RulePackError

if TYPE_CHECKING:
    from strata_diag.ruleset import RuleSet
    from strata_diag.workshop.checking import Report

EXIT_PASSED, EXIT_FAILED = 0, 1
FORMATS = ("text", "json", "junit", "github")
EXAMPLES = """examples:
  strata-diag rules test
  strata-diag rules test my-rules/ --corpus my-corpus/
  strata-diag rules test my-rules/ --corpus my-corpus/ --format junit > report.xml
  strata-diag rules test my-rules/ --corpus my-corpus/ --bless
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Give the part's parser its arguments."""
    parser.epilog = EXAMPLES
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        type=Path,
        help="pack files and folders to test (default: all that are loaded)",
    )
    parser.add_argument(
        "--corpus",
        action="append",
        default=[],
        metavar="DIR",
        type=Path,
        help="a folder with labelled logs, <case>.log and <case>.yaml (may be repeated)",
    )
    parser.add_argument(
        "--bless", action="store_true", help="write <case>.snapshot.json for each log that gets its label's answer"
    )
    parser.add_argument("--coverage", action="store_true", help="show every clause and what exercises it")
    parser.add_argument("--format", choices=FORMATS, default="text", help="how to answer (default: text)")
    add_rule_options(parser)
    add_colour_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Test the packs. 0: all is as written; 1: something differs; 2: the packs can't be loaded."""
    from strata_diag.workshop.checking import Report, check  # noqa: PLC0415 - the other parts need none of it
    from strata_diag.workshop.labels import read_cases  # noqa: PLC0415
    from strata_diag.workshop.selection import rules_of  # noqa: PLC0415

    if options.bless and not options.corpus:
        complain("--bless takes snapshots of a corpus: name it with --corpus")
        return EXIT_TROUBLE
    try:
        rules = rules_with(options, options.paths)
    except RulePackError as error:
        if options.format == "text":
            raise
        _answer(Report((), (), (), with_corpus=False), error.problems, options)
        return EXIT_TROUBLE
    chosen = rules_of(options.paths, rules) if options.paths else rules.rules
    report = check(rules, chosen, read_cases(options.corpus, rules), bless=options.bless)
    _answer(report, (), options)
    return EXIT_FAILED if report.failed else EXIT_PASSED


def rules_with(options: argparse.Namespace, paths: list[Path]) -> RuleSet:
    """The rules that the options ask for, with the packs of these paths added where they are not among them."""
    from strata_diag.workshop.selection import missing  # noqa: PLC0415

    if not paths:
        return rules_from(options)
    loaded = None if options.no_builtin_rules else rules_from(options)
    named = {Path(path).resolve() for path in options.rules}
    added = [str(path) for path in missing(paths, loaded) if path.resolve() not in named]
    if loaded is not None and not added:
        return loaded
    return rules_from(argparse.Namespace(**{**vars(options), "rules": [*options.rules, *added]}))


def _answer(report: Report, problems: tuple[Problem, ...], options: argparse.Namespace) -> None:
    from strata_diag.render.escape import encodable  # noqa: PLC0415
    from strata_diag.render.terminal import print_lines  # noqa: PLC0415
    from strata_diag.workshop.reports import github_text, json_text, junit_text, text_lines  # noqa: PLC0415

    if options.format == "text":
        lines = text_lines(report, all_clauses=options.coverage)
        print_lines(lines, sys.stdout, colour=False if options.no_color else None)
        return
    write = {"json": json_text, "junit": junit_text, "github": github_text}[options.format]
    sys.stdout.write(encodable(write(report, problems), sys.stdout.encoding))
