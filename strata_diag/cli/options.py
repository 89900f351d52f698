"""Options that several verbs share: which rules are loaded, and colours."""

from __future__ import annotations

import argparse
from pathlib import Path

from strata_diag.api import load_rules
from strata_diag.plugins import BLOCK_VARIABLE
from strata_diag.ruleset import RuleSet


def add_rule_options(parser: argparse.ArgumentParser) -> None:
    """--rules, --no-builtin-rules, --no-plugin."""
    group = parser.add_argument_group("rules")
    group.add_argument(
        "--rules",
        action="append",
        default=[],
        metavar="PATH",
        type=Path,
        help="add the packs of a folder or file (may be repeated)",
    )
    group.add_argument("--no-builtin-rules", action="store_true", help="leave the built-in packs out")
    group.add_argument(
        "--no-plugin",
        action="append",
        default=[],
        metavar="NAME",
        help=f"leave a plugin out (may be repeated; also the variable {BLOCK_VARIABLE}=NAME,...)",
    )


def rules_from(options: argparse.Namespace) -> RuleSet:
    """The rules that the options ask for. Raises RuleSetError."""
    return load_rules(options.rules, builtin=not options.no_builtin_rules, no_plugins=options.no_plugin)


def add_colour_option(parser: argparse.ArgumentParser) -> None:
    """--no-color; NO_COLOR in the environment does the same."""
    parser.add_argument("--no-color", action="store_true", help="no colours and no wrapping, as into a pipe")
