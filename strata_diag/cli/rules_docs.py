"""`strata-diag rules docs [--into FOLDER] [PACK ...]`: one page a rule, cause and remedy, as Markdown."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from strata_diag.cli.options import add_rule_options, rules_from

if TYPE_CHECKING:
    from strata_diag.ruleset import Rule, RuleSet

FOLDER = "rule-pages"
EXAMPLES = """examples:
  strata-diag rules docs
  strata-diag rules docs --into docs/ my-rules/
  strata-diag rules docs --into docs/ cuda-malloc 'vram*'
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Give the part's parser its arguments."""
    parser.epilog = EXAMPLES
    parser.add_argument(
        "packs",
        nargs="*",
        metavar="PACK",
        help="names of packs (wildcards are understood), pack files or folders (default: all that are loaded)",
    )
    parser.add_argument(
        "--into",
        type=Path,
        default=Path(FOLDER),
        metavar="FOLDER",
        help=f"where the pages go; only files that were made so are replaced or removed there (default: {FOLDER})",
    )
    add_rule_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the pages. Raises WorkshopError for a pack that there isn't, and for a file in the way."""
    from strata_diag.workshop.pagefiles import files_of, subjects, write  # noqa: PLC0415 - only this part needs it

    rules, chosen = _chosen(options)
    written = write(files_of(rules, subjects(rules, chosen)), options.into)
    removed = f", {written.removed} of rules and the like that are gone were removed" if written.removed else ""
    sys.stdout.write(f"{options.into}: {written.files} pages, {written.changed} of them new or changed{removed}\n")
    return 0


def _chosen(options: argparse.Namespace) -> tuple[RuleSet, list[Rule] | None]:
    """The rule set with the packs of every path added, and the rules asked for; None for all."""
    from strata_diag.cli.rules_test import rules_with  # noqa: PLC0415 - as above
    from strata_diag.workshop.listing import RuleFilter, select  # noqa: PLC0415
    from strata_diag.workshop.selection import rules_of  # noqa: PLC0415

    if not options.packs:
        return rules_from(options), None
    loaded = rules_from(options) if not options.no_builtin_rules else None
    chosen: dict[str, Rule] = {}
    paths = [Path(name) for name in options.packs if loaded is None or not select(loaded, RuleFilter(packs=(name,)))]
    rules = rules_with(options, paths)
    for name in options.packs:
        found = rules_of([Path(name)], rules) if Path(name) in paths else select(rules, RuleFilter(packs=(name,)))
        chosen |= {rule.id: rule for rule in found}
    return rules, list(chosen.values())
