"""`strata-diag rules new PACK/NAME --from LOG:LINE`: a rule for a line of a log."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from strata_diag.cli.options import add_rule_options, rules_from
from strata_diag.model import Role
from strata_diag.record import TYPE_CHECKING
from strata_diag.rulepack.keys import name as wrong_name

if TYPE_CHECKING:
    from strata_diag.ruleset import RuleSet
    from strata_diag.workshop.newrule import NewRule

EXAMPLES = """examples:
  strata-diag rules new my-pack/no-room --from engine.log:41 > my-pack.yaml
  strata-diag rules new my-pack/no-room --from engine.log:41 --into my-rules/
  strata-diag rules new my-pack/no-room --from bundle.zip!engine.log:41 --cause vram-exhausted --role failure

Then decide what is marked TODO, and run `strata-diag rules lint` and `rules test`.
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Give the part's parser its arguments."""
    parser.epilog = EXAMPLES
    parser.add_argument("rule", metavar="PACK/NAME", type=_identity, help="the id of the new rule")
    parser.add_argument(
        "--from",
        dest="place",
        required=True,
        metavar="LOG:LINE",
        type=_place,
        help="the log and the number of its line",
    )
    parser.add_argument(
        "--into",
        metavar="PATH",
        type=Path,
        help="add it to PACK.yaml in this folder, or to this file; made where there is none (default: print it)",
    )
    parser.add_argument(
        "--role", choices=[str(role) for role in Role], default="", help="what the rule does (default: guessed)"
    )
    parser.add_argument("--cause", default="", metavar="ID", help="one of causes.yaml (default: left open)")
    parser.add_argument(
        "--title", default="", metavar="TEXT", help="what happened, in one sentence (default: left open)"
    )
    parser.add_argument(
        "--schema",
        default="pack.schema.json",
        metavar="PATH",
        help="where a new pack finds its schema (see `rules schema`)",
    )
    add_rule_options(parser)
    parser.set_defaults(run=run)


def _identity(text: str) -> tuple[str, str]:
    pack, slash, name = text.partition("/")
    for part in (pack, name):
        if not slash or wrong_name(part) or "<<" in part:
            raise argparse.ArgumentTypeError(f"{text!r} is not PACK/NAME, both in lower case with hyphens")
    return pack, name


def _place(text: str) -> tuple[str, int]:
    log, _, line = text.rpartition(":")
    if not log or not line.isdecimal() or not int(line):
        raise argparse.ArgumentTypeError(f"{text!r} is not LOG:LINE, such as engine.log:41")
    return log, int(line)


def run(options: argparse.Namespace) -> int:
    """Print the rule, or add it to a file. Raises WorkshopError where that can't be done."""
    from strata_diag.workshop.errors import WorkshopError  # noqa: PLC0415 - the other parts need none of it
    from strata_diag.workshop.logs import lines_of, log_bytes  # noqa: PLC0415
    from strata_diag.workshop.newrule import Wishes, write_rule  # noqa: PLC0415

    pack, name = options.rule
    into = _pack_file(options.into, pack) if options.into else None
    rules = _rules(options, into)
    if options.cause and options.cause not in rules.causes:
        raise WorkshopError(f"there is no cause `{options.cause}`; the causes are: {', '.join(rules.causes)}")
    log, line = options.place
    wishes = Wishes(pack, name, options.role, options.cause, options.title, options.schema)
    made = write_rule(lines_of(log_bytes(log, rules)), line, rules, wishes)
    if into:
        _add(made, into, options.schema)
        return 0
    known = next((one for one in rules.packs if one.name == pack), None)
    _write(f"# for {known.file}; --into puts it there\n{made.rule}" if known else made.pack)
    return 0


def _pack_file(into: Path, pack: str) -> Path:
    """The file of the pack: in a folder, or the file itself. Raises WorkshopError for one of another name."""
    from strata_diag.workshop.errors import WorkshopError  # noqa: PLC0415 - as above

    if into.is_dir() or into.suffix != ".yaml":
        return into / f"{pack}.yaml"
    if into.stem != pack:
        raise WorkshopError(f"{into}: a pack's file has its name; write --into {into.parent / pack}.yaml")
    return into


def _rules(options: argparse.Namespace, into: Path | None) -> RuleSet:
    """The rules asked for, and those of the file that is added to, or of its folder where that was named."""
    from strata_diag.cli.rules_test import rules_with  # noqa: PLC0415

    if into is None:
        return rules_from(options)
    beside = options.into if options.into.is_dir() and any(options.into.glob("*.yaml")) else into
    return rules_with(options, [beside] if beside.exists() else [])


def _add(made: NewRule, path: Path, schema: str) -> None:
    """Add the rule to its file, and say what comes next. Raises WorkshopError for what the system refuses."""
    from strata_diag.workshop.errors import WorkshopError  # noqa: PLC0415 - as above
    from strata_diag.workshop.insertion import with_rule, write_whole  # noqa: PLC0415

    kept = path.read_bytes().decode("utf-8-sig") if path.is_file() else None  # loaded before, so it is UTF-8
    text = made.pack if kept is None else with_rule(kept, made.rule, str(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorkshopError(f"{path.parent}: can't be made ({error.strerror or error}); name another folder") from None
    write_whole(path, text.encode("utf-8"))
    _write(f"{path}: added\nNext:\n  decide what is marked TODO\n")
    if kept is None and not (path.parent / schema).exists():
        _write(f"  strata-diag rules schema > {path.parent / schema}    # so that your editor completes and checks\n")
    _write(f"  strata-diag rules lint {path}\n  strata-diag rules test {path}\n")


def _write(text: str) -> None:
    from strata_diag.render.escape import encodable  # noqa: PLC0415

    sys.stdout.write(encodable(text, sys.stdout.encoding))
