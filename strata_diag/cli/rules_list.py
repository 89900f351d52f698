"""`strata-diag rules list`: which rules there are."""

from __future__ import annotations

import argparse
import json
import sys

from strata_diag.cli.options import add_colour_option, add_rule_options, rules_from
from strata_diag.model import Role

EXAMPLES = """examples:
  strata-diag rules list
  strata-diag rules list --pack 'vram*' --role failure
  strata-diag rules list --rules my-rules/ --plugin=--rules --format json
"""
FILTERS = {
    "pack": "of these packs",
    "cause": "with these causes",
    "role": f"in these roles ({', '.join(Role)})",
    "engine": "about these engines",
    "plugin": "brought by these plugins (those of a folder: --plugin=--rules)",
}


def set_up(parser: argparse.ArgumentParser) -> None:
    """Give the part's parser its arguments."""
    parser.epilog = EXAMPLES
    group = parser.add_argument_group("which rules", "each may be repeated, and takes wildcards")
    for name, words in FILTERS.items():
        group.add_argument(f"--{name}", action="append", default=[], metavar="NAME", help=f"only rules {words}")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to answer (default: text)")
    add_rule_options(parser)
    add_colour_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """List the rules that the filters let through; none is an answer too. Raises WorkshopError for a name that there isn't."""
    from strata_diag.render.terminal import print_lines  # noqa: PLC0415 - the other parts need none of it
    from strata_diag.workshop.listing import (  # noqa: PLC0415
        LISTING_SCHEMA,
        RuleFilter,
        check_filter,
        packs_by_name,
        select,
        summary,
    )
    from strata_diag.workshop.ruletext import list_lines  # noqa: PLC0415

    rules = rules_from(options)
    wanted = RuleFilter(
        *(tuple(names) for names in (options.pack, options.cause, options.role, options.engine, options.plugin))
    )
    check_filter(rules, wanted)
    found = select(rules, wanted)
    if options.format == "json":
        packs = packs_by_name(rules)
        content = {"schema": LISTING_SCHEMA, "rules": [summary(rule, packs[rule.pack]) for rule in found]}
        sys.stdout.write(json.dumps(content, indent=2) + "\n")
    else:
        print_lines(list_lines(found, rules), sys.stdout, colour=False if options.no_color else None)
    return 0
