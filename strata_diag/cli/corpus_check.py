"""`strata-diag corpus check [FOLDER...]`: labelled logs against what the program answers."""

from __future__ import annotations

import argparse
from pathlib import Path

from strata_diag.cli.complaints import EXIT_TROUBLE
from strata_diag.cli.options import add_colour_option, add_rule_options, rules_from
from strata_diag.cli.rules_test import EXIT_FAILED, EXIT_PASSED, FORMATS, answer, answer_problems
from strata_diag.errors import RulePackError

DEFAULT = Path("corpus")
EXAMPLES = """examples:
  strata-diag corpus check
  strata-diag corpus check my-corpus/ --rules my-rules/
  strata-diag corpus check my-corpus/ --format github

`strata-diag rules test my-rules/ --corpus my-corpus/` tests the samples of the packs as well.
exit codes: 0 every log gets the answer of its label, 1 some don't, 2 the command could not do its work
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Give the part's parser its arguments."""
    parser.epilog = EXAMPLES
    parser.add_argument(
        "folders",
        nargs="*",
        metavar="FOLDER",
        type=Path,
        default=[DEFAULT],
        help=f"folders with <case>.log and <case>.yaml (default: {DEFAULT})",
    )
    parser.add_argument("--format", choices=FORMATS, default="text", help="how to answer (default: text)")
    add_rule_options(parser)
    add_colour_option(parser)
    parser.set_defaults(run=run, coverage=False)


def run(options: argparse.Namespace) -> int:
    """Check the logs. 0: each is as labelled; 1: some are not; 2: a folder or the rules can't be read."""
    from strata_diag.workshop.checking import check  # noqa: PLC0415 - the other parts need none of it
    from strata_diag.workshop.labels import read_cases  # noqa: PLC0415

    try:
        rules = rules_from(options)
    except RulePackError as error:
        if options.format == "text":
            raise
        answer_problems(error.problems, options)
        return EXIT_TROUBLE
    report = check(rules, (), read_cases(options.folders, rules))
    answer(report, options)
    return EXIT_FAILED if report.failed else EXIT_PASSED
