"""`strata-diag classify FILE...`: one diagnosis a log, and a summary where there are several."""

from __future__ import annotations

import os
import sys

from strata_diag import api
from strata_diag.cli.complaints import EXIT_TROUBLE, complain
from strata_diag.cli.options import (
    add_colour_option,
    add_language_option,
    add_redact_option,
    add_rule_options,
    redactor_from,
    rules_from,
    wording_from,
)
from strata_diag.errors import SourceError
from strata_diag.model import Diagnosis, Notice, Status
from strata_diag.record import TYPE_CHECKING
from strata_diag.render import jsontext
from strata_diag.render.layout import diagnosis_lines, summary_lines
from strata_diag.render.pagelinks import site
from strata_diag.render.terminal import print_lines, system_name
from strata_diag.ruleset import RuleSet
from strata_diag.source import NamedPath

if TYPE_CHECKING:
    import argparse
    from typing import Any

    from strata_diag.redact import Redactor
    from strata_diag.render.layout import Translate
    from strata_diag.streams import Stream

EXIT_CLEAN, EXIT_FAILURE, EXIT_UNKNOWN = 0, 1, 3
FORMATS = ("text", "json", "jsonl", "markdown")
EXAMPLES = """examples:
  strata-diag classify strata-iq3_s.log
  strata-diag classify --exit-code 6 --format json strata-iq3_s.log
  strata-diag classify strata-iq3_s.log --with dmesg.txt --with compose.log
  strata-diag classify --redact --format markdown strata-iq3_s.log
  docker logs strata 2>&1 | strata-diag classify -
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Give the verb's parser its arguments."""
    parser.epilog = EXAMPLES
    parser.add_argument("files", nargs="+", metavar="FILE", help="a log; - is standard input")
    parser.add_argument("--format", choices=FORMATS, default="text", help="how to answer (default: text)")
    parser.add_argument(
        "--with",
        dest="beside",
        action="append",
        default=[],
        metavar="FILE",
        help="a file beside the log, such as the kernel's messages, a container's log or the journal; what it tells of the "
        "same run takes part in the verdict (may be repeated)",
    )
    add_facts(parser)
    add_rule_options(parser)
    add_redact_option(parser)
    add_language_option(parser)
    add_colour_option(parser)
    parser.set_defaults(run=run)


def add_facts(parser: argparse.ArgumentParser) -> None:
    """What is known beside the log: --exit-code, --timed-out, --fact."""
    facts = parser.add_argument_group("what else is known", "sharpens the verdict of the last start in each log")
    facts.add_argument(
        "--exit-code",
        type=lambda text: int(text, 0),
        metavar="CODE",
        help="exit code of the process (0xC0000135 and -9 are understood)",
    )
    facts.add_argument("--timed-out", action="store_true", help="whoever started it gave up waiting")
    facts.add_argument(
        "--fact",
        action="append",
        default=[],
        type=_fact,
        metavar="NAME=VALUE",
        help="anything else that rules may ask for, such as waited_s=300 or passed_before=true (may be repeated)",
    )


def facts_from(options: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `diagnose` that say what is known beside the log."""
    return {"exit_code": options.exit_code, "timed_out": options.timed_out or None, "facts": dict(options.fact)}


def run(options: argparse.Namespace) -> int:
    """Classify every file; a file that can't be read is reported and the rest goes on."""
    plain_rules = rules_from(options)
    redactor = redactor_from(options, plain_rules)
    _, rules, translate, worded = wording_from(options, plain_rules)
    many = len(options.files) > 1
    found: list[Diagnosis] = []
    beside, lost = _read_beside(options, rules, redactor, translate)
    unreadable: list[str] = []
    for name in options.files:
        try:
            one = _diagnose(name, rules, options, redactor, beside)
        except SourceError as error:
            _complain(error, redactor, translate)
            unreadable.append(redactor.line(name) if redactor else name)
            continue
        one = worded(one)
        found.append(one)
        _print_one(one, options, translate, first=len(found) == 1)
    _print_end(found, unreadable, options, translate, many=many)
    return exit_code(found, [*unreadable, *lost])


def _complain(error: SourceError, redactor: Redactor | None, translate: Translate) -> None:
    text = translate(str(error))
    complain(redactor.line(text) if redactor else text)


def _read_beside(
    options: argparse.Namespace, rules: RuleSet, redactor: Redactor | None, translate: Translate
) -> tuple[list[Stream], list[str]]:
    """The files of --with, and the names of those that can't be read, which are complained about."""
    if not options.beside:
        return [], []
    from strata_diag.streams import read_companion  # noqa: PLC0415 - only with --with

    found: list[Stream] = []
    lost: list[str] = []
    for name in options.beside:
        shown = redactor.line(name) if redactor else name
        target: Any = sys.stdin.buffer if name == "-" else NamedPath(name)
        try:
            if redactor is not None:
                target, _ = redacted(target, rules, redactor)
            found.append(read_companion(target, name="standard input" if name == "-" else shown, rules=rules))
        except SourceError as error:
            _complain(error, redactor, translate)
            lost.append(shown)
    return found, lost


def _fact(text: str) -> tuple[str, Any]:
    """`name=value` with the value as a number or a truth value where it is one."""
    from strata_diag import expression  # noqa: PLC0415 - only where a fact is given

    name, equals, value = text.partition("=")
    if not (equals and name.isidentifier()):
        import argparse  # noqa: PLC0415 - whoever parses this has it already

        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, {"true": True, "false": False}.get(value.lower(), expression.number(value))


def _diagnose(
    name: str, rules: RuleSet, options: argparse.Namespace, redactor: Redactor | None, beside: list[Stream]
) -> Diagnosis:
    target: Any = sys.stdin.buffer if name == "-" else NamedPath(name)
    notices: list[Notice] = []
    if redactor is not None:
        target, notices = redacted(target, rules, redactor)
    if beside:
        from strata_diag import streams  # noqa: PLC0415 - only with --with

        found = streams.join(streams.read_log(target, rules=rules, **facts_from(options)), beside, rules=rules)
    else:
        found = api.diagnose(target, rules=rules, **facts_from(options))
    if redactor is not None:
        notices = [*found.notices, *notices, *redactor.notices]
        found = found._replace(notices=tuple(notice._replace(text=redactor.line(notice.text)) for notice in notices))
    return found._replace(name="standard input") if name == "-" else found


def redacted(target: Any, rules: RuleSet, redactor: Redactor) -> tuple[Any, list[Notice]]:
    """The same log without what is private, and what plugins had to say about opening it."""
    from strata_diag.redact import redact_path, redact_stream  # noqa: PLC0415 - only with --redact

    if not isinstance(target, NamedPath):
        return redact_stream(target, redactor), []
    inside, notices = rules.extensions.sources(os.fspath(target))
    return redact_path(target, redactor) if inside is None else redact_stream(inside, redactor), notices


def _print_one(found: Diagnosis, options: argparse.Namespace, translate: Translate, *, first: bool) -> None:
    if options.format == "text":
        if not first:
            print_lines(diagnosis_separator(), sys.stdout, colour=_colour(options))
        lines = diagnosis_lines(found, system_of(found), site(), translate)
        print_lines(lines, sys.stdout, colour=_colour(options))
    elif options.format == "jsonl":
        sys.stdout.write(jsontext.line(found) + "\n")


def _print_end(
    found: list[Diagnosis], unreadable: list[str], options: argparse.Namespace, translate: Translate, *, many: bool
) -> None:
    if options.format == "json" and (found or many):
        sys.stdout.write(jsontext.document(found, many=many) + "\n")
    elif options.format == "markdown":
        sys.stdout.write(_markdown(found, unreadable, translate, many=many))
    elif options.format == "text" and many:
        print_lines(summary_lines(found, unreadable, translate), sys.stdout, colour=_colour(options))


def _markdown(found: list[Diagnosis], unreadable: list[str], translate: Translate, *, many: bool) -> str:
    """The reply to an issue, as far as standard output can write it."""
    from strata_diag.render import markdown  # noqa: PLC0415 - only for a reply
    from strata_diag.render.escape import encodable  # noqa: PLC0415

    if not many:
        return "".join(
            encodable(markdown.reply(one, system_of(one), translate, site()), sys.stdout.encoding) for one in found
        )
    return encodable(markdown.replies(found, unreadable, system_of, translate, site()), sys.stdout.encoding)


def diagnosis_separator() -> list[Any]:
    """What stands between two diagnoses."""
    from strata_diag.render.layout import Line, Span  # noqa: PLC0415 - only with several files

    return [Line(()), Line((Span("-" * 72, "dim"),)), Line(())]


def system_of(found: Diagnosis) -> str:
    """The system on which the log was written, as far as its command lines show it; else this machine's."""
    for run in reversed(found.runs):
        command = run.details.get("command", "")
        if command:
            return "windows" if ".exe" in command or ":\\" in command else "linux"
    return system_name()


def _colour(options: argparse.Namespace) -> bool | None:
    return False if options.no_color else None


def exit_code(found: list[Diagnosis], unreadable: list[str]) -> int:
    """The exit code for these answers and the names of logs that could not be read."""
    statuses = {one.verdict.status for one in found}
    if unreadable:
        return EXIT_TROUBLE
    if statuses - {Status.PASS, Status.UNKNOWN}:
        return EXIT_FAILURE
    return EXIT_UNKNOWN if Status.UNKNOWN in statuses else EXIT_CLEAN
