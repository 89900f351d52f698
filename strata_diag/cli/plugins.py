"""`strata-diag plugins`: what is installed, what it hooks into, which packs it brings; `plugins new` begins another."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from strata_diag.cli.options import add_colour_option, add_rule_options, rules_from
from strata_diag.render.escape import encodable, visible
from strata_diag.render.layout import Line, Span
from strata_diag.render.terminal import print_lines
from strata_diag.ruleset import RuleSet

EXAMPLES = """examples:
  strata-diag plugins
  strata-diag plugins --no-plugin slow-storage --format json
  strata-diag plugins new my-engine
"""
EXAMPLES_OF_NEW = """example:
  strata-diag plugins new my-engine --into ~/work
"""
ORIGINS = {"settings": "named by the settings of this project", "--rules": "named with --rules"}  # of packs
NEW_HELP = "write the package of a new plugin: a pack, a corpus, tests, CI"


def set_up(parser: argparse.ArgumentParser) -> None:
    """Give the verb's parser its arguments."""
    parser.epilog = EXAMPLES
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to answer (default: text)")
    add_rule_options(parser)
    add_colour_option(parser)
    parser.set_defaults(run=run)
    parts = parser.add_subparsers(title="what else to do", metavar="new")
    new = parts.add_parser("new", help=NEW_HELP, epilog=EXAMPLES_OF_NEW, formatter_class=parser.formatter_class)
    new.add_argument("name", metavar="NAME", help="of the plugin and its pack, such as my-engine")
    new.add_argument(
        "--into",
        metavar="DIR",
        type=Path,
        default=Path(),
        help="the folder to write it into (default: the current one)",
    )
    new.set_defaults(run=run_new)


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


def run_new(options: argparse.Namespace) -> int:
    """Write the package, and say what to do with it."""
    from strata_diag.workshop.scaffold import new_plugin  # noqa: PLC0415 - listing needs no workshop

    written = new_plugin(options.name, options.into)
    folder = written[0].parent
    steps = [f"Written: {visible(str(folder))}", *(f"  {path.relative_to(folder).as_posix()}" for path in written)]
    steps += ["", "Next:", f"  cd {visible(str(folder))}", "  pip install --editable . --group dev", "  pytest"]
    sys.stdout.write(encodable("\n".join(steps), sys.stdout.encoding) + "\n")
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
    names = {plugin.name for plugin in rules.plugins}
    for origin in dict.fromkeys(pack.plugin for pack in rules.packs if pack.plugin not in names):
        lines.append(Line((Span(ORIGINS.get(origin, visible(origin)), "bold"),)))
        packs = ", ".join(f"{visible(pack.name)} ({pack.rules} rules)" for pack in rules.packs if pack.plugin == origin)
        lines.append(Line((Span(f"  packs: {packs}"),), 9))
    return [*lines, *(Line((Span(visible(notice.text), "yellow"),), 2) for notice in rules.notices)]
