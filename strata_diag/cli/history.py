"""`strata-diag history audit|repair FILE`: what a tuner's history blocks, whether it should, and mending it."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from strata_diag.cli.options import (
    add_colour_option,
    add_language_option,
    add_rule_options,
    rules_from,
    wording_from,
)
from strata_diag.render.terminal import print_lines

if TYPE_CHECKING:
    from strata_diag.render.layout import Line, Translate
    from strata_diag.tuner.repair import Change, Repaired, Selection

EXIT_CLEAN, EXIT_FOUND = 0, 1
EXAMPLES = """examples:
  strata-diag history audit history.jsonl
  strata-diag history audit history.jsonl --recheck recheck.json --format json
  strata-diag history repair history.jsonl           # shows what would change
  strata-diag history repair history.jsonl --yes     # changes it, with a backup beside it
  strata-diag history repair history.jsonl --undo --yes
"""
AUDIT_HELP = "show what is blocked, by which rows, and whether it should be (exit code 1: something is wrong)"
REPAIR_HELP = "mend wrong statuses and reasons (exit code 1: changes are due and were not made)"


def set_up(parser: argparse.ArgumentParser) -> None:
    """Give the verb's parser its arguments."""
    parser.epilog = EXAMPLES
    parts = parser.add_subparsers(title="what to do", metavar="audit|repair", required=True)
    audit = parts.add_parser("audit", help=AUDIT_HELP, epilog=EXAMPLES, formatter_class=parser.formatter_class)
    audit.add_argument("--recheck", metavar="FILE", help="recheck.json: what is due to be measured again")
    _add_common(audit)
    audit.set_defaults(run=run_audit)
    repair = parts.add_parser("repair", help=REPAIR_HELP, epilog=EXAMPLES, formatter_class=parser.formatter_class)
    repair.add_argument("--yes", action="store_true", help="write; without it nothing is changed")
    repair.add_argument("--undo", action="store_true", help="put back what repairs have changed; newer rows stay")
    _add_common(repair)
    repair.set_defaults(run=run_repair)


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a history.jsonl")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to answer (default: text)")
    only = parser.add_argument_group("which rows", "only those of exactly this machine, model and engine")
    for name in ("hw", "model", "engine"):
        only.add_argument(f"--{name}", metavar="DIGEST", help=f"the row's `{name}`")
    add_rule_options(parser)
    add_language_option(parser)
    add_colour_option(parser)


def run_audit(options: argparse.Namespace) -> int:
    """Show what the history blocks. 0: nothing is wrong; 1: something is blocked or stored wrongly."""
    from strata_diag.render.history import audit_lines  # noqa: PLC0415 - other verbs need no tuner
    from strata_diag.tuner import History, audit_history, read_recheck  # noqa: PLC0415

    rules = rules_from(options)
    translate = wording_from(options, rules).text
    _must_exist(options.file)
    due: list[Mapping[str, Any]] = []
    if options.recheck:
        _must_exist(options.recheck)
        due = read_recheck(options.recheck)
    found = audit_history(History(options.file, rules=rules), selection=_selection(options), recheck=due, rules=rules)
    if options.format == "json":
        sys.stdout.write(json.dumps({"file": options.file, **found.to_dict()}, indent=2) + "\n")
    else:
        _show(audit_lines(found, options.file, translate), options)
    return EXIT_CLEAN if found.clean else EXIT_FOUND


def run_repair(options: argparse.Namespace) -> int:
    """Show or make the changes. 0: nothing is due or all is done; 1: changes are due and were not made."""
    from strata_diag.tuner.repair import plan_repair, plan_undo, repair_history, undo_repair  # noqa: PLC0415

    rules = rules_from(options)
    # what is shown, never what is written into a history
    translate = wording_from(options, rules).text
    _must_exist(options.file)
    selection = _selection(options)
    if options.yes:
        if options.undo:
            return _report(undo_repair(options.file), options, translate)
        return _report(repair_history(options.file, rules=rules, selection=selection), options, translate)
    changes = plan_undo(options.file) if options.undo else plan_repair(options.file, rules=rules, selection=selection)
    return EXIT_FOUND if _show_plan(changes, options, translate) else EXIT_CLEAN


def _show_plan(changes: Iterator[Change], options: argparse.Namespace, translate: Translate) -> int:
    """Show what would change, as it is found; how many rows."""
    from strata_diag.render.history import change_lines, plan_end  # noqa: PLC0415
    from strata_diag.tuner import CONTRACT  # noqa: PLC0415

    if options.format == "json":
        rows = [change._asdict() for change in changes]
        content = {"contract": CONTRACT, "file": options.file, "written": False, "changes": rows}
        sys.stdout.write(json.dumps(content, indent=2) + "\n")
        return len(rows)
    count = 0
    for change in changes:
        count += 1
        _show(change_lines(change, translate), options)
    _show(plan_end(count, undo=options.undo, translate=translate), options)
    return count


def _report(done: Repaired, options: argparse.Namespace, translate: Translate) -> int:
    """Say what was written."""
    from strata_diag.render.layout import Line, Span  # noqa: PLC0415
    from strata_diag.tuner import CONTRACT  # noqa: PLC0415

    if options.format == "json":
        written = {"written": bool(done.changes), "count": done.changes, "backup": done.backup}
        content = {"contract": CONTRACT, "file": options.file, **written}
        sys.stdout.write(json.dumps(content, indent=2) + "\n")
        return EXIT_CLEAN
    what = "put back" if options.undo else "mended"
    text = f"{done.changes} row{'' if done.changes == 1 else 's'} {what}." if done.changes else "Nothing to do."
    lines = [Line((Span(translate(text), "bold"),))]
    if done.backup:
        lines.append(Line((Span(translate(f"The file as it was: {done.backup}")),)))
    _show(lines, options)
    return EXIT_CLEAN


def _selection(options: argparse.Namespace) -> Selection:
    from strata_diag.tuner.repair import Selection  # noqa: PLC0415

    return Selection(options.hw, options.model, options.engine)


def _must_exist(path: str) -> None:
    """A tuner's history may not exist yet; whoever names one at a terminal has mistyped it then."""
    from strata_diag.tuner import HistoryError  # noqa: PLC0415

    if not os.path.isfile(path):  # noqa: PTH113
        what = "is a folder" if os.path.isdir(path) else "there is no such file"
        raise HistoryError(
            f"{path}: {what}; name the tuner's history.jsonl (in the presets folder) or its recheck.json"
        )


def _show(lines: Iterable[Line], options: argparse.Namespace) -> None:
    print_lines(lines, sys.stdout, colour=False if options.no_color else None)
