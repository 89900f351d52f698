"""`strata-diag explain LOG`: every candidate, the winner and why each loser lost; why a rule matched or not; single lines."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from typing import Any, BinaryIO

from strata_diag import source
from strata_diag.cli.classify import add_facts, exit_code, facts_from, redacted
from strata_diag.cli.options import (
    add_colour_option,
    add_language_option,
    add_redact_option,
    add_rule_options,
    redactor_from,
    rules_from,
    wording_from,
)
from strata_diag.model import Notice
from strata_diag.ruleset import RuleSet
from strata_diag.source import NamedPath

HELD_BYTES = (
    8 * 1024 * 1024
)  # of standard input that are kept in memory to be read twice; more goes to a temporary file
EXAMPLES = """examples:
  strata-diag explain strata-iq3_s.log
  strata-diag explain strata-iq3_s.log --rule cuda-malloc/device-busy
  strata-diag explain strata-iq3_s.log --rule 'cuda-*/*' --run 2
  strata-diag explain strata-iq3_s.log --line 41 --line 57
  docker logs strata 2>&1 | strata-diag explain - --format json

Without --rule and --line every run is shown: what decides, what follows from it, why each other candidate lost, which rules
match lines and still do not hold, and for an UNKNOWN which rules come near. The verdict is that of classify.

exit codes: those of classify: 0 no failure, 1 a failure was found, 2 the command could not do its work, 3 UNKNOWN
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Give the verb's parser its arguments."""
    parser.epilog = EXAMPLES
    parser.add_argument("log", metavar="LOG", help="a log; - is standard input")
    parser.add_argument(
        "--rule",
        action="append",
        default=[],
        metavar="ID",
        help="say clause by clause why this rule matched or did not; wildcards are understood (may be repeated)",
    )
    parser.add_argument(
        "--line",
        action="append",
        default=[],
        type=_number,
        metavar="N",
        help="say what every rule makes of this line (may be repeated)",
    )
    parser.add_argument(
        "--run",
        type=_number,
        metavar="N",
        dest="start",
        help="the run in which rules are explained (default: the last)",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to answer (default: text)")
    add_facts(parser)
    add_rule_options(parser)
    add_redact_option(parser)
    add_language_option(parser)
    add_colour_option(parser)
    parser.set_defaults(run=run)


def _number(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of a line or run, which count from 1")
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Explain one log. Raises WorkshopError for a rule that there isn't, ExplainError for a line or run."""
    from strata_diag.explain import explain  # noqa: PLC0415 - `classify` must not pay for it
    from strata_diag.explain.plain import to_dict  # noqa: PLC0415
    from strata_diag.render.explain import explanation_lines  # noqa: PLC0415
    from strata_diag.render.terminal import print_lines  # noqa: PLC0415
    from strata_diag.workshop.listing import find  # noqa: PLC0415

    plain_rules = rules_from(options)
    _, rules, translate, worded = wording_from(options, plain_rules)
    wanted = find(rules, options.rule)
    with tempfile.SpooledTemporaryFile(max_size=HELD_BYTES) as held:
        target, notices = _target(options, plain_rules, held)
        found = explain(
            target, rules=rules, wanted=wanted, lines=options.line, run=options.start, **facts_from(options)
        )
    found = found._replace(diagnosis=worded(found.diagnosis), notices=tuple(dict.fromkeys([*found.notices, *notices])))
    if options.format == "json":
        sys.stdout.write(json.dumps(to_dict(found), indent=2) + "\n")
    else:
        print_lines(explanation_lines(found, translate), sys.stdout, colour=False if options.no_color else None)
    return exit_code([found.diagnosis], [])


def _target(options: argparse.Namespace, rules: RuleSet, held: Any) -> tuple[Any, list[Notice]]:
    """The log, in a form that can be read twice, and what there was to say on the way. held: an empty file for a copy."""
    redactor = redactor_from(options, rules)
    target: Any = sys.stdin.buffer if options.log == "-" else NamedPath(options.log)
    if options.log != "-" and redactor is None:
        return target, []
    notices: list[Notice] = []
    name = "standard input"
    if redactor is not None:
        target, notices = redacted(target, rules, redactor)
        name = name if options.log == "-" else redactor.line(options.log)
    for chunk in source.open_source(target).chunks:
        held.write(chunk)
    held.seek(0)
    if redactor is not None:
        notices = [one._replace(text=redactor.line(one.text)) for one in (*notices, *redactor.notices)]
    return Named(held, name), notices


class Named:
    """A file under the name that messages call it by."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.name = name
        self.read, self.seek, self.tell, self.seekable = file.read, file.seek, file.tell, file.seekable
