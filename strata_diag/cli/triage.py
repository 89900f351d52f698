"""`strata-diag triage PATH...`: everything that people attach, diagnosed and grouped by cause."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from strata_diag.cli.classify import exit_code
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
from strata_diag.render.escape import encodable

if TYPE_CHECKING:
    from strata_diag.render.layout import Translate
    from strata_diag.ruleset import RuleSet
    from strata_diag.triage import Part, Triage

EXIT_INTERRUPTED = 130
FORMATS = ("text", "json", "jsonl", "csv")
EXAMPLES = """examples:
  strata-diag triage reports/
  strata-diag triage issue.md bundle.zip 'logs/*.log' --html triage.html
  strata-diag triage --format csv reports/ > triage.csv
  strata-diag triage --junit report.xml --github logs/
  gh issue view 17 --json title,body,comments | strata-diag triage -

Folders, patterns, archives, issues, journals and histories are opened, whatever their names; each log in them gets a diagnosis.
Logs of one folder, or of one archive, that tell of the same failure take part in each other's diagnosis.

The groups come in this order: CRASH, OOM, FAIL_BOOT, CUDA_UNAVAILABLE, UNSUPPORTED, TIMEOUT, KILLED, then UNKNOWN, then PASS;
inside one status the cause that most logs have comes first. Unknown logs show the line to look at, and for each shape of such
lines the command that starts a rule.

columns of --format csv: name, status (NOT_READ for what could not be read, SKIPPED for what holds no log), cause, title, rule,
line, line_file, reason, retry, lasting, attribution, contested, degraded, engine, starts, lines, size_bytes, first_line,
beside, notices. Text that a spreadsheet would take for a formula has an apostrophe in front.

exit codes: 0 no log shows a failure, 1 one does, 2 something could not be read (the rest was), 3 unknown ones only, 130 Ctrl+C
(what was done until then is shown)
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Give the verb's parser its arguments."""
    parser.epilog = EXAMPLES
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help="a log, folder, pattern, archive or issue; - is standard input"
    )
    parser.add_argument("--format", choices=FORMATS, default="text", help="how to answer (default: text)")
    reports = parser.add_argument_group("reports", "written beside the answer, each whole or not at all")
    reports.add_argument(
        "--html", metavar="FILE", type=Path, help="one page that needs nothing else, to send or publish"
    )
    reports.add_argument("--junit", metavar="FILE", type=Path, help="JUnit's XML, for Jenkins and GitLab")
    reports.add_argument("--sarif", metavar="FILE", type=Path, help="SARIF, for code scanning")
    reports.add_argument(
        "--github", action="store_true", help="print annotations for GitHub Actions in place of the answer as text"
    )
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=_jobs,
        help="processes that read; 1 for none beside this one (default: a core each, where there is enough to read)",
    )
    parser.add_argument("--no-join", action="store_true", help="diagnose each log by itself, whatever lies beside it")
    add_rule_options(parser)
    add_redact_option(parser)
    add_language_option(parser)
    add_colour_option(parser)
    parser.set_defaults(run=run)


def _jobs(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of processes, 1 or more")
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Read everything; what can't be read is said, and the rest goes on."""
    from strata_diag.render.progress import TriageProgress  # noqa: PLC0415 - `classify` must not pay for it
    from strata_diag.triage import triage  # noqa: PLC0415

    plain_rules = rules_from(options)
    language, rules, translate, worded = wording_from(options, plain_rules)
    tell = _told_at_once(options)
    with TriageProgress() as progress:

        def told(part: Part) -> None:
            progress.add(part)
            tell(part)

        found = triage(
            options.paths,
            load=partial(_load, _rule_options(options)),
            rules=rules,
            jobs=options.jobs,
            joined=not options.no_join,
            redactor=redactor_from(options, plain_rules),
            worded=worded,
            planned=lambda plan: progress.begin(plan.files),
            told=told,
        )
    _print_end(found, options, translate)
    written = _write_reports(found, options, translate, language)
    if found.interrupted:
        return EXIT_INTERRUPTED
    code = exit_code([result.diagnosis for result in found.results], [one.name for one in found.unreadable])
    return code if written else EXIT_TROUBLE


def _rule_options(options: argparse.Namespace) -> argparse.Namespace:
    """The options that `rules_from` reads, for another process."""
    names = ("rules", "no_builtin_rules", "no_plugin", "no_settings", "language")
    return argparse.Namespace(**{name: getattr(options, name) for name in names})


def _load(options: argparse.Namespace) -> RuleSet:
    """The rules in the language asked for, as another process loads them."""
    return wording_from(options, rules_from(options)).rules


def _told_at_once(options: argparse.Namespace) -> Callable[[Part], None]:
    """What prints a part as soon as it is known, for the formats that can."""
    if options.format == "jsonl":
        from strata_diag.render import triagejson  # noqa: PLC0415 - as above

        return lambda part: _write("".join(f"{line}\n" for line in triagejson.lines(part)))
    if options.format == "csv":
        from strata_diag.render import csvtext  # noqa: PLC0415

        _write(csvtext.header())
        return lambda part: _write(csvtext.rows(part))
    return lambda _part: None


def _write(text: str) -> None:
    sys.stdout.write(encodable(text, sys.stdout.encoding))
    sys.stdout.flush()


def _print_end(found: Triage, options: argparse.Namespace, translate: Translate) -> None:
    if options.format in ("json", "jsonl"):
        from strata_diag.render import triagejson  # noqa: PLC0415 - as above

        _write((triagejson.document(found) if options.format == "json" else triagejson.last_line(found)) + "\n")
    elif options.format == "text" and not options.github:
        from strata_diag.render.terminal import is_terminal, print_lines  # noqa: PLC0415
        from strata_diag.render.triage import triage_lines  # noqa: PLC0415

        wrapped = is_terminal(sys.stdout) and not options.no_color
        columns = shutil.get_terminal_size().columns if wrapped else 0
        print_lines(triage_lines(found, columns, translate), sys.stdout, colour=False if options.no_color else None)
    if options.github:
        from strata_diag.render.triagereports import github_text  # noqa: PLC0415

        _write(github_text(found))
    if found.interrupted and options.format != "text":
        complain(translate("interrupted; what was finished until then was written"))


def _write_reports(found: Triage, options: argparse.Namespace, translate: Translate, language: str) -> bool:
    """Write the files that were asked for; False where one could not be written, which is complained about."""
    if not (options.html or options.junit or options.sarif):
        return True
    from strata_diag.render import htmlpage, triagereports  # noqa: PLC0415 - as above

    good = True
    reports: tuple[tuple[Path | None, Callable[[], str]], ...] = (
        (options.html, lambda: htmlpage.page(found, translate, language)),
        (options.junit, lambda: triagereports.junit_text(found)),
        (options.sarif, lambda: triagereports.sarif_text(found)),
    )
    for path, made in reports:
        try:
            if path is not None:
                _write_whole(path, made().encode("utf-8", "backslashreplace"))
        except OSError as error:
            why = error.strerror or error
            complain(translate(f"{path}: could not be written ({why}); check the folder, the rights and the space"))
            good = False
    return good


def _write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    made = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with made.open("xb") as stream:
            stream.write(data)
        made.replace(path)
    finally:
        made.unlink(missing_ok=True)
