"""`strata-diag plugins`: what is installed, what it hooks into, which packs it brings."""

from __future__ import annotations

import argparse
import json
import sys

from strata_diag.cli.options import add_colour_option, add_rule_options, rules_from
from strata_diag.render.escape import visible
from strata_diag.render.layout import Line, Span
from strata_diag.render.terminal import print_lines
from strata_diag.ruleset import RuleSet

EXAMPLES = """examples:
  strata-diag plugins
  strata-diag plugins --no-plugin slow-storage --format json
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Give the verb's parser its arguments."""
    parser.epilog = EXAMPLES
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to answer (default: text)")
    add_rule_options(parser)
    add_colour_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """List every plugin that was found, the blocked and broken ones too."""
    rules = rules_from(options)
    if options.format == "json":
        content = {
            "plugins": [plugin._asdict() for plugin in rules.plugins],
            "notices": [notice._asdict() for notice in rules.notices],
        }
        sys.stdout.write(json.dumps(content, indent=2) + "\n")
        return 0
    print_lines(_lines(rules), sys.stdout, colour=False if options.no_color else None)
    return 0


def _lines(rules: RuleSet) -> list[Line]:
    counts = {pack.name: pack.rules for pack in rules.packs}
    lines = []
    for plugin in rules.plugins:
        style = {"active": "bold", "broken": "bold red"}.get(plugin.state, "dim")
        state = "" if plugin.state == "active" else f" ({plugin.state})"
        lines.append(Line((Span(f"{visible(plugin.name)} {visible(plugin.version)}{state}", style),)))
        if plugin.hooks:
            lines.append(Line((Span(f"  hooks: {', '.join(plugin.hooks)}"),), 9))
        if plugin.packs:
            packs = ", ".join(f"{visible(name)} ({counts[name]} rules)" for name in plugin.packs)
            lines.append(Line((Span(f"  packs: {packs}"),), 9))
    return [*lines, *(Line((Span(visible(notice.text), "yellow"),), 2) for notice in rules.notices)]
