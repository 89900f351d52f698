"""`strata-diag watch FILE`: the verdict of a log while it is being written."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from strata_diag.cli.classify import exit_code, system_of
from strata_diag.cli.options import (
    add_colour_option,
    add_language_option,
    add_redact_option,
    add_rule_options,
    redactor_from,
    rules_from,
    wording_from,
)
from strata_diag.render.layout import Line, diagnosis_lines
from strata_diag.render.live import news_lines, notice_line
from strata_diag.render.pagelinks import site
from strata_diag.render.terminal import print_lines

if TYPE_CHECKING:
    from strata_diag.live.follow import Piece
    from strata_diag.live.redacting import LineRedactor
    from strata_diag.model import Diagnosis
    from strata_diag.ruleset import RuleSet

EXIT_INTERRUPTED = 130
SETTLED_SECONDS = 5.0  # of silence after which a failure is final for --until-ready
EXAMPLES = """examples:
  strata-diag watch strata-iq3_s.log
  strata-diag watch --until-ready --timeout 300 strata-iq3_s.log
  strata --serve 2>&1 | strata-diag watch -
  strata-diag watch --format jsonl strata-iq3_s.log

A verdict is printed as soon as it is certain, and again when later lines change it or the engine starts anew; in the end the
whole diagnosis. A file that is not there yet is waited for; one that is rotated or cut short is read anew, which is said. It
is looked at whenever it changes where the package watchfiles is installed (pip install strata-diag[watch]), else twice a
second. Ctrl+C ends the watch with the diagnosis so far.

exit codes: those of classify for the last verdict, 130 for Ctrl+C
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Give the verb's parser its arguments."""
    parser.epilog = EXAMPLES
    parser.add_argument("log", metavar="FILE", help="a log that is being written; - is standard input")
    parser.add_argument(
        "--timeout", type=_seconds, metavar="SECONDS", help="end after so long (default: with the pipe, or with Ctrl+C)"
    )
    parser.add_argument(
        "--until-ready",
        action="store_true",
        help="end when the engine is ready, or has failed and then wrote nothing for "
        f"{SETTLED_SECONDS:.0f} seconds; at the time-out rules know that whoever started it gave up",
    )
    parser.add_argument("--format", choices=("text", "jsonl"), default="text", help="how to answer (default: text)")
    add_rule_options(parser)
    add_redact_option(parser)
    add_language_option(parser)
    add_colour_option(parser)
    parser.set_defaults(run=run)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return value


def run(options: argparse.Namespace) -> int:
    """Watch one log to its end. Raises SourceError for one that can't be read."""
    from strata_diag.live.follow import follow, follow_pipe  # noqa: PLC0415 - `classify` must not pay for it

    watch = _Watch(options, rules_from(options))
    pieces = follow_pipe(sys.stdin.buffer) if options.log == "-" else follow(options.log)
    try:
        watch.take(pieces)
    except KeyboardInterrupt:
        watch.end()
        return EXIT_INTERRUPTED
    return exit_code([watch.end()], [])


class _Watch:
    """One log that is being watched."""

    def __init__(self, options: argparse.Namespace, rules: RuleSet) -> None:
        self._options = options
        _, self._rules, self._translate, self._worded = wording_from(options, rules)
        self._redactor = redactor_from(options, rules)
        self._begun = self._last_piece = time.monotonic()
        self._corrects = self._timed_out = False
        self._lines: LineRedactor | None = None
        self._begin()

    def _begin(self) -> None:
        from strata_diag.live import LiveDiagnosis  # noqa: PLC0415 - as above

        name = "standard input" if self._options.log == "-" else self._options.log
        self._lines = None
        if self._redactor is not None:
            from strata_diag.live.redacting import LineRedactor  # noqa: PLC0415 - only with --redact

            name, self._lines = self._redactor.line(name), LineRedactor(self._redactor)
        self._live = LiveDiagnosis(self._rules, name=name)
        self._corrects = False

    def take(self, pieces: Iterator[Piece | None]) -> None:
        """Read until the log ends, or as long as was asked for."""
        for piece in pieces:
            if piece is not None:
                self._add(piece)
            if self._is_over():
                return

    def end(self) -> Diagnosis:
        """Print and give the diagnosis of all that was written."""
        given_up = True if self._timed_out and self._options.until_ready else None
        if self._lines is not None:
            self._live.feed(self._lines.rest())
        found = self._live.finish(timed_out=given_up)
        if self._redactor is not None:
            found = found._replace(notices=(*found.notices, *self._redactor.notices))
        found = self._in_language(found)
        if self._options.format == "jsonl":
            self._write("final", found)
        else:
            self._print([Line(()), *diagnosis_lines(found, system_of(found), site(), self._translate)])
        return found

    def _in_language(self, found: Diagnosis) -> Diagnosis:
        return self._worded(found)

    def _add(self, piece: Piece) -> None:
        self._last_piece = time.monotonic()
        if piece.anew:
            self._notice(piece.anew)
            self._begin()
        found = self._live.feed(self._lines.add(piece.data) if self._lines else piece.data)
        if found is None:
            return
        found = self._in_language(found)
        if self._options.format == "jsonl":
            self._write("verdict", found)
        else:
            self._print(news_lines(found, _time_of_day(), self._translate, corrects=self._corrects))
        self._corrects = True

    def _is_over(self) -> bool:
        now = time.monotonic()
        if self._options.timeout is not None and now - self._begun >= self._options.timeout:
            self._timed_out = True
            return True
        if not self._options.until_ready:
            return False
        return self._live.is_ready or (self._live.is_certain and now - self._last_piece >= SETTLED_SECONDS)

    def _notice(self, english: str) -> None:
        text = self._translate(english)
        if self._options.format == "jsonl":
            sys.stdout.write(json.dumps({"schema": 1, "event": "notice", "text": text}) + "\n")
            sys.stdout.flush()
        else:
            self._print([notice_line(text, _time_of_day())])

    def _write(self, event: str, found: Diagnosis) -> None:
        sys.stdout.write(json.dumps({"event": event, **found.to_dict()}) + "\n")
        sys.stdout.flush()

    def _print(self, lines: Iterator[Line] | list[Line]) -> None:
        print_lines(lines, sys.stdout, colour=False if self._options.no_color else None)
        sys.stdout.flush()


def _time_of_day() -> str:
    return time.strftime("%H:%M:%S")
