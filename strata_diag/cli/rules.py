"""`strata-diag rules ...`: what an author of rules works with. One module a part, `rules_<part>`."""

from __future__ import annotations

import argparse
from importlib import import_module

# each part's module has `set_up(parser)`, as a verb's has
PARTS = {
    "list": "list rules, filtered by pack, cause, role, engine or plugin",
    "show": "say everything about a rule: what it means, what it matches, what to do, what it yields to",
    "lint": "say what is wrong with packs, in which line and column, and what to do",
    "test": "test packs against their samples and a labelled corpus",
    "new": "write a rule for a line of a log",
    "schema": "print the JSON Schema of a pack, for an editor",
    "docs": "write a page for each rule, cause and remedy, as Markdown",
}
EXAMPLES = """examples:
  strata-diag rules list --cause device-busy
  strata-diag rules show 'cuda-malloc/*'
  strata-diag rules lint my-rules/
  strata-diag rules test my-rules/ --corpus my-corpus/
  strata-diag rules new my-pack/no-room --from engine.log:41
  strata-diag rules schema > my-rules/pack.schema.json
  strata-diag rules docs --into docs/ my-rules/
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Give the verb's parser its parts."""
    parser.epilog = EXAMPLES
    parts = parser.add_subparsers(title="what to do", metavar="|".join(PARTS), required=True)
    for part, summary in PARTS.items():
        its_parser = parts.add_parser(part, help=summary, formatter_class=parser.formatter_class)
        import_module(f"strata_diag.cli.rules_{part}").set_up(its_parser)
