"""`strata-diag preflight`: what stands in the way of a measurement on this machine."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from strata_diag.cli.options import (
    add_colour_option,
    add_language_option,
    add_rule_options,
    rules_from,
    wording_from,
)
from strata_diag.render.terminal import print_lines, system_name

EXIT_CLEAR, EXIT_BLOCKED, EXIT_UNCHECKED = 0, 1, 3
EXAMPLES = """examples:
  strata-diag preflight --need-mib 6000
  strata-diag preflight --earlier-log strata-iq3_s.log -- strata --serve --max-context 131072 --kv k8v4
  strata-diag preflight --format json

exit codes: 0 nothing stands in the way, 1 something does, 2 the command could not do its work, 3 nothing could be looked at
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Give the verb's parser its arguments."""
    parser.epilog = EXAMPLES
    parser.add_argument("command", nargs="*", metavar="COMMAND", help="the command line about to be measured, after --")
    parser.add_argument("--need-mib", type=_natural, metavar="N", help="VRAM that the run takes, in MiB")
    parser.add_argument(
        "--device", type=_natural, default=0, metavar="N", help="the card, as nvidia-smi numbers them (default: 0)"
    )
    parser.add_argument(
        "--earlier-log", type=Path, metavar="FILE", help="a log of the same model, whose numbers say what the run takes"
    )
    parser.add_argument(
        "--lease",
        type=Path,
        metavar="FILE",
        help="the tuning.lease of the app (default: where the Windows app keeps it)",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to answer (default: text)")
    add_rule_options(parser)
    add_language_option(parser)
    add_colour_option(parser)
    parser.set_defaults(run=run)


def _natural(text: str) -> int:
    """A whole number that is not negative."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Look at the machine and say what stands in the way."""
    from strata_diag.render.preflight import in_language, preflight_lines  # noqa: PLC0415 - `classify` needs none
    from strata_diag.tuner.preflight import preflight  # noqa: PLC0415

    _, rules, translate, _ = wording_from(options, rules_from(options))
    found = preflight(
        options.need_mib,
        options.device,
        command=options.command or None,
        earlier_log=options.earlier_log,
        lease=options.lease,
        rules=rules,
    )
    found = in_language(found, translate)
    if options.format == "json":
        sys.stdout.write(json.dumps(found.to_dict(), indent=2) + "\n")
    else:
        lines = preflight_lines(found, system_name(), translate)
        print_lines(lines, sys.stdout, colour=False if options.no_color else None)
    if not found.clear:
        return EXIT_BLOCKED
    return EXIT_CLEAR if found.checked else EXIT_UNCHECKED
