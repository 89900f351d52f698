"""`strata-diag rules show ID...`: the page about a rule, a cause or a remedy."""

from __future__ import annotations

import argparse
import json
import sys

from strata_diag.cli.options import add_colour_option, add_rule_options, rules_from

EXAMPLES = """examples:
  strata-diag rules show cuda-malloc/device-busy
  strata-diag rules show 'vram*/*' --format json
  strata-diag rules show my-pack/no-room --rules my-rules/
  strata-diag rules show causes/device-busy remedies/unload-the-model
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Give the part's parser its arguments."""
    parser.epilog = EXAMPLES
    parser.add_argument(
        "ids",
        nargs="+",
        metavar="ID",
        help="a rule as pack/name, wildcards are understood; or causes/CAUSE, remedies/ACTION",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to answer (default: text)")
    add_rule_options(parser)
    add_colour_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Show every page asked for. Raises WorkshopError for an id that there isn't."""
    from strata_diag.render.layout import Line  # noqa: PLC0415 - the other parts need none of it
    from strata_diag.render.terminal import print_lines  # noqa: PLC0415
    from strata_diag.workshop.lookup import asked_for, pages_of, to_dict  # noqa: PLC0415
    from strata_diag.workshop.pagetext import page_lines  # noqa: PLC0415

    rules = rules_from(options)
    asked = asked_for(options.ids, rules)
    if options.format == "json":
        sys.stdout.write(json.dumps(to_dict(asked, rules), indent=2) + "\n")
        return 0
    colour = False if options.no_color else None
    for number, page in enumerate(pages_of(asked, rules)):
        if number:
            print_lines([Line(()), Line(())], sys.stdout, colour=colour)
        print_lines(page_lines(page), sys.stdout, colour=colour)
    return 0
