"""`strata-diag corpus add LOG`: a labelled case made of a log."""

from __future__ import annotations

import argparse
import random
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from strata_diag.cli.complaints import EXIT_TROUBLE, complain
from strata_diag.cli.options import add_rule_options, rules_from
from strata_diag.model import Status

if TYPE_CHECKING:
    from strata_diag.cli.questions import Given
    from strata_diag.ruleset import RuleSet
    from strata_diag.workshop.newcase import NewCase, Opinion
    from strata_diag.workshop.window import Window

EXIT_AGREES, EXIT_DIFFERS = 0, 1
EXAMPLES = """examples:
  strata-diag corpus add engine.log --into my-corpus/
  strata-diag corpus add bundle.zip!engine.log --name no-room --into my-corpus/
  strata-diag corpus add engine.log --cause vram-exhausted --line 41 --symptoms 42,43 --why 'The card is full.'
  strata-diag corpus add engine.log --status PASS --why 'The engine got ready.' --harmless 7

On a terminal it asks for whatever is not given. The log is cut to the lines that keep the answer, names and secrets are
taken out, values become others; its own lines are counted as they are, before the cut. Read the case before you publish it.
exit codes: 0 written, 1 the program answers something else than the label, 2 the command could not do its work
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Give the part's parser its arguments."""
    parser.epilog = EXAMPLES
    parser.add_argument("log", metavar="LOG", help="the log; for one of several in an archive bundle.zip!engine.log")
    parser.add_argument("--name", metavar="CASE", type=_case_name, help="the case's name (default: made of the log's)")
    parser.add_argument(
        "--into", metavar="DIR", type=Path, default=Path("corpus"), help="the folder of the case (default: corpus)"
    )
    label = parser.add_argument_group("the label", "what a person says is right; never what the program answers")
    label.add_argument("--status", choices=[str(one) for one in Status], help="the status (default: that of the cause)")
    label.add_argument("--cause", metavar="ID", help="one of the causes that the packs know")
    label.add_argument("--line", metavar="N", type=_line, help="the line that decides")
    label.add_argument("--why", metavar="TEXT", help="one sentence: why this is right")
    label.add_argument("--symptoms", metavar="N,N", type=_lines, help="lines that only follow from it")
    label.add_argument("--harmless", metavar="N,N", type=_lines, help="lines that look like a failure and are none")
    label.add_argument(
        "--disagree", action="store_true", help="write the case though the program answers something else"
    )
    manner = parser.add_argument_group("how the case is made")
    manner.add_argument(
        "--lines", metavar="FIRST-LAST", type=_window, help="keep these lines (default: as few as keep the answer)"
    )
    manner.add_argument(
        "--keep-values", action="store_true", help="leave sizes, addresses, folders and dates as they are"
    )
    add_rule_options(parser)
    parser.set_defaults(run=run)


def _case_name(text: str) -> str:
    if not re.fullmatch(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no name in lower case with hyphens, such as no-room")
    return text


def _line(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not the number of a line, counted from 1")
    return int(text)


def _lines(text: str) -> tuple[int, ...]:
    return tuple(_line(part.strip()) for part in text.split(","))


def _window(text: str) -> Window:
    from strata_diag.workshop.window import Window  # noqa: PLC0415 - only with --lines

    first, dash, last = text.partition("-")
    window = Window(_line(first), _line(last)) if dash else None
    if window is None or window.size < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not FIRST-LAST, such as 30-60")
    return window


def run(options: argparse.Namespace) -> int:
    """Make the case and write it. Raises WorkshopError where that can't be done."""
    from strata_diag.cli.questions import Given, agree, is_asked  # noqa: PLC0415 - the other parts need none of it
    from strata_diag.workshop.logs import log_bytes  # noqa: PLC0415
    from strata_diag.workshop.newcase import Manner, free_paths, make_case, write_case  # noqa: PLC0415

    name = options.name or _name_of(options.log)
    free_paths(options.into, name)
    rules = rules_from(options)
    data = log_bytes(options.log, rules)
    given = Given(
        options.status, options.cause, options.line, options.why, options.symptoms, options.harmless
    ).completed(rules)
    opinion = _opinion(given, data, rules)
    if opinion is None:
        lacking = ", ".join(f"--{part}" for part in given.lacking)
        complain(f"nobody is there to be asked: give {lacking}")
        return EXIT_TROUBLE
    case = make_case(data, opinion, rules, Manner(options.lines, options.keep_values), random.SystemRandom())
    if case.differences and not options.disagree:
        _tell_differences(case)
        if not is_asked() or not agree("Write the case all the same, for a rule that is still to be written?"):
            complain("nothing was written; mend the label, or write it with --disagree and then the rule")
            return EXIT_DIFFERS
    paths = write_case(case, options.into, name)
    _tell(case, paths)
    packs = [word for path in options.rules for word in ("--rules", path)]
    _write(f"\nThen run: {shlex.join(['strata-diag', 'corpus', 'check', str(options.into), *packs])}")
    return EXIT_DIFFERS if case.differences else EXIT_AGREES


def _name_of(log: str) -> str:
    """The name of a case, made of the name of its log."""
    stem = Path(log.rpartition("!")[2].replace("\\", "/")).name.partition(".")[0]
    return "-".join(re.findall(r"[a-z0-9]+", stem.lower())) or "case"


def _opinion(given: Given, data: bytes, rules: RuleSet) -> Opinion | None:
    """What was given, with the rest asked for; None where it isn't all and nobody can be asked."""
    from strata_diag.cli.questions import ask, is_asked  # noqa: PLC0415

    if not given.lacking:
        return given.opinion()
    return ask(given, data, rules) if is_asked() else None


def _tell_differences(case: NewCase) -> None:
    _write(f"the program answers {_answer(case)}, and the label says {_label(case)}")
    for difference in case.differences:
        _write(f"  {difference}")


def _tell(case: NewCase, paths: tuple[Path, Path]) -> None:
    from strata_diag.redact import PROMISE  # noqa: PLC0415 - only here

    log, label = paths
    window = case.window
    _write(f"{log}: {window.size} of {case.line_count} lines ({window.first} to {window.last})")
    redacted = sum(one.times for one in case.redacted)
    changed = ", ".join(f"{number} of the kind {kind}" for kind, number in case.changed.items())
    _write(f"  taken out: {redacted} names, addresses and secrets; other values: {changed or 'none'}")
    if case.kept:
        _write(f"  left as they are, since the answer depends on them: {', '.join(case.kept)}")
    said = "the program says so too" if not case.differences else f"the program still answers {_answer(case)}"
    _write(f"{label}: {_label(case)}; {said}")
    _write(f"\n{PROMISE}")


def _answer(case: NewCase) -> str:
    verdict = case.answer.verdict
    return f"{verdict.status} / {verdict.cause}" + (f" at line {verdict.line}" if verdict.line else "")


def _label(case: NewCase) -> str:
    opinion = case.opinion
    return f"{opinion.status} / {opinion.cause}" + (f" at line {opinion.line}" if opinion.line else "")


def _write(text: str) -> None:
    from strata_diag.render.escape import encodable, visible  # noqa: PLC0415

    for line in text.split("\n"):
        sys.stdout.write(encodable(visible(line), sys.stdout.encoding) + "\n")
