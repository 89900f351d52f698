"""`strata-diag rules test [TARGET...]`: packs against their samples and a labelled corpus."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from strata_diag.cli.complaints import EXIT_TROUBLE, complain
from strata_diag.cli.options import add_colour_option, add_rule_options, rules_from
from strata_diag.errors import Problem, RulePackError

if TYPE_CHECKING:
    from strata_diag.ruleset import RuleSet
    from strata_diag.workshop.checking import Report
    from strata_diag.workshop.selection import Target

EXIT_PASSED, EXIT_FAILED = 0, 1
FORMATS = ("text", "json", "junit", "github")
EXAMPLES = """examples:
  strata-diag rules test
  strata-diag rules test my-rules/ --corpus my-corpus/
  strata-diag rules test llama-family --coverage
  strata-diag rules test my-rules/ --corpus my-corpus/ --format junit > report.xml
  strata-diag rules test my-rules/ --corpus my-corpus/ --bless

exit codes: 0 all is as written, 1 something differs, 2 the command could not do its work
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
    from strata_diag.workshop.checking import check  # noqa: PLC0415 - the other parts need none of it
    from strata_diag.workshop.labels import read_cases  # noqa: PLC0415
    from strata_diag.workshop.selection import rules_of  # noqa: PLC0415

    if options.bless and not options.corpus:
        complain("--bless takes snapshots of a corpus: name it with --corpus")
        return EXIT_TROUBLE
    try:
        rules = rules_with(options, options.targets)
    except RulePackError as error:
        if options.format == "text":
            raise
        answer_problems(error.problems, options)
        return EXIT_TROUBLE
    chosen = rules_of(options.targets, rules) if options.targets else rules.rules
    report = check(rules, chosen, read_cases(options.corpus, rules), bless=options.bless)
    answer(report, options)
    return EXIT_FAILED if report.failed else EXIT_PASSED


def rules_with(options: argparse.Namespace, targets: Sequence[Target]) -> RuleSet:
    """The rules that the options ask for, with the packs of those targets added that are paths and not among them."""
    from strata_diag.plugins import Plugins, pack_source, settings_sources  # noqa: PLC0415 - only with targets
    from strata_diag.settings import Settings, find_settings  # noqa: PLC0415
    from strata_diag.workshop.selection import missing  # noqa: PLC0415

    if not targets:
        return rules_from(options)
    plugins = Plugins(blocked=options.no_plugin, with_builtin=not options.no_builtin_rules)
    settings = Settings() if options.no_settings else find_settings()
    loaded = [*plugins.pack_sources(), *settings_sources(settings), *(pack_source(Path(one)) for one in options.rules)]
    added = [str(path) for path in missing(targets, loaded)]
    return rules_from(argparse.Namespace(**{**vars(options), "rules": [*options.rules, *added]}))


def answer(report: Report, options: argparse.Namespace) -> None:
    """Print a report in the format that was asked for."""
    from strata_diag.render.terminal import print_lines  # noqa: PLC0415
    from strata_diag.workshop.reports import text_lines  # noqa: PLC0415

    if options.format == "text":
        lines = text_lines(report, all_clauses=options.coverage)
        print_lines(lines, sys.stdout, colour=False if options.no_color else None)
    else:
        _print_report(report, (), options.format)


def answer_problems(problems: tuple[Problem, ...], options: argparse.Namespace) -> None:
    """Print why packs can't be loaded, in a format for programs."""
    from strata_diag.workshop.checking import Report  # noqa: PLC0415

    _print_report(Report((), (), (), with_corpus=False), problems, options.format)


def _print_report(report: Report, problems: tuple[Problem, ...], form: str) -> None:
    from strata_diag.render.escape import encodable  # noqa: PLC0415
    from strata_diag.workshop.reports import github_text, json_text, junit_text  # noqa: PLC0415

    write = {"json": json_text, "junit": junit_text, "github": github_text}[form]
    sys.stdout.write(encodable(write(report, problems), sys.stdout.encoding))
