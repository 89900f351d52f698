"""`strata-diag rules schema`: the JSON Schema of a pack, for an editor."""

from __future__ import annotations

import argparse
import json
import sys

from strata_diag.cli.options import add_rule_options, rules_from

EXAMPLES = """examples:
  strata-diag rules schema > my-rules/pack.schema.json
  strata-diag rules schema --catalogue > my-rules/catalogue.schema.json

The first line of a pack then has to be
  # yaml-language-server: $schema=pack.schema.json
so that an editor with the YAML language server completes keys and names, and underlines what is wrong.
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Give the part's parser its arguments."""
    parser.epilog = EXAMPLES
    parser.add_argument(
        "--catalogue", action="store_true", help="that of causes.yaml, remedies.yaml and vocabularies.yaml"
    )
    add_rule_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the schema, with the causes, remedies and phases that the loaded packs know."""
    from strata_diag.workshop.schema import catalogue_schema, pack_schema  # noqa: PLC0415 - the other parts need none

    rules = rules_from(options)
    schema = catalogue_schema(rules) if options.catalogue else pack_schema(rules)
    sys.stdout.write(json.dumps(schema, indent=2) + "\n")
    return 0
