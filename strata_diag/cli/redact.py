"""`strata-diag redact FILE`: the same log without names, addresses and secrets, ready to be sent."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from strata_diag import linetext, source
from strata_diag.cli.complaints import EXIT_TROUBLE, complain
from strata_diag.cli.options import add_language_option, add_rule_options, rules_from, wording_from
from strata_diag.errors import SourceError, StrataDiagError
from strata_diag.redact import PROMISE, Redactor, learn, places, redact_chunks, words_of
from strata_diag.render.escape import encodable, visible
from strata_diag.render.layout import Translate

EXIT_DONE, EXIT_FOUND = 0, 1
EXAMPLES = f"""examples:
  strata-diag redact strata-iq3_s.log > to-send.log
  strata-diag redact strata-iq3_s.log -o to-send.log
  strata-diag redact logs -o logs-to-send
  strata-diag redact --check tests/logs
  docker logs strata 2>&1 | strata-diag redact -

user-1, host-1, 192.0.2.1, token-1: the same stands for the same wherever it stood. Line numbers, sizes and messages stay, so
the log gets the same verdict. The output has the encoding of the input. A file is read twice, so that a name is replaced
also before the line that shows it to be one; standard input is read once.

{PROMISE}

exit codes: 0 done, 1 --check found something, 2 the command could not do its work
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Give the verb's parser its arguments."""
    parser.epilog = EXAMPLES
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a log, a folder of logs, or - for standard input")
    parser.add_argument("-o", "--output", type=Path, metavar="OUT", help="where to write (default: standard output)")
    parser.add_argument("--force", action="store_true", help="write over what exists (never over the log itself)")
    parser.add_argument(
        "--check", action="store_true", help="only list what would be replaced, as file:line: kind; takes several paths"
    )
    add_rule_options(parser)
    add_language_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Redact one log or one folder, or check any number of them."""
    rules = rules_from(options)
    translate = wording_from(options, rules).text
    redactor = Redactor(words_of(rules))
    if options.check:
        return _check(options.paths, redactor, translate)
    problem = _problem(options.paths, options.output, force=options.force)
    if problem:
        complain(translate(problem))
        return EXIT_TROUBLE
    name = options.paths[0]
    try:
        if os.path.isdir(name):
            code = _redact_folder(Path(name), options.output, redactor, translate, force=options.force)
        else:
            code = _redact_one(name, options.output, redactor)
    except OSError as error:
        what = f"{error.filename or options.output}: {error.strerror or error}"
        complain(translate(f"{what}; check the path, the rights and the space"))
        return EXIT_TROUBLE
    _tell_summary(redactor, translate)
    return code


def _problem(names: list[str], output: Path | None, *, force: bool) -> str:
    """Why nothing can be written as asked; empty where it can."""
    if len(names) > 1:
        return "name one log or one folder; only --check takes several"
    path, folder = Path(names[0]), os.path.isdir(names[0])
    if folder and output is None:
        return f"{path} is a folder: name the folder to write to with -o"
    if output is None or not output.exists():
        return ""
    if path.exists() and path.samefile(output):
        return f"{output} is what is to be redacted, which is never written over; name something else with -o"
    if output.is_dir() is not folder:
        return f"{output} is {'no folder' if folder else 'a folder'}, and {path} is {'one' if folder else 'none'}"
    return "" if force or folder else f"{output} exists; name another file with -o, or write over it with --force"


def _redact_one(name: str, output: Path | None, redactor: Redactor) -> int:
    if name != "-":
        learn(_chunks(name), redactor)
    redacted = redact_chunks(_chunks(name), redactor)
    if output is not None:
        _write(output, redacted)
        return EXIT_DONE
    for chunk in redacted:
        sys.stdout.buffer.write(chunk)
    return EXIT_DONE


def _redact_folder(folder: Path, output: Path, redactor: Redactor, translate: Translate, *, force: bool) -> int:
    """Every log of a folder, to a file of the same, redacted name; what is no log is left out."""
    code, logs = EXIT_DONE, []
    for path in _files(folder):
        try:
            learn(_chunks(str(path)), redactor)
        except SourceError as error:
            complain(translate(f"left out: {error}"))
            code = EXIT_TROUBLE
        else:
            logs.append(path)
    for path in logs:
        target = output / redactor.line(path.relative_to(folder).as_posix())
        if target.exists() and (not force or target.samefile(path)):
            complain(translate(f"{target} exists; name another folder with -o, or write over it with --force"))
            return EXIT_TROUBLE
        target.parent.mkdir(parents=True, exist_ok=True)
        _write(target, redact_chunks(_chunks(str(path)), redactor))
    return code


def _files(path: Path) -> list[Path]:
    """The files of a folder in order of names, without links."""
    found = [Path(place, name) for place, _, names in os.walk(path) for name in names]
    return sorted(one for one in found if one.is_file() and not one.is_symlink())


def _chunks(name: str) -> Iterator[bytes]:
    """The bytes of a log. Raises SourceError for what is no text: names inside could not be seen."""
    chunks = source.open_source(sys.stdin.buffer if name == "-" else Path(name)).chunks
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= linetext.HEAD_BYTES:
            break
    start = head[: linetext.HEAD_BYTES]
    wide = linetext.detect_encoding(start)[0].startswith(("utf-16", "utf-32"))
    kind = source.container_kind(start) or ("binary file" if not wide and linetext.looks_binary(start) else "")
    if kind:
        raise SourceError(name, f"is a {kind}", "what is inside can't be redacted; unpack it and name the log itself")
    yield head
    yield from chunks


def _write(output: Path, chunks: Iterable[bytes]) -> None:
    """Write a file whole or not at all."""
    made = output.with_name(f".{output.name}.{os.getpid()}.part")
    try:
        with made.open("xb") as stream:
            for chunk in chunks:
                stream.write(chunk)
        made.replace(output)
    finally:
        made.unlink(missing_ok=True)


def _check(names: list[str], redactor: Redactor, translate: Translate) -> int:
    """List the places of everything that would be replaced: the kind, never the thing."""
    found = trouble = False
    logs = [str(one) for name in names for one in (_files(Path(name)) if os.path.isdir(name) else [name])]
    for name in logs:
        try:
            if name != "-":
                learn(_chunks(name), redactor)
            for place in places(_chunks(name), redactor):
                found = True
                shown = visible(redactor.line(name))
                sys.stdout.write(encodable(f"{shown}:{place.line}: {place.kind}", sys.stdout.encoding) + "\n")
        except StrataDiagError as error:
            complain(translate(str(error)))
            trouble = True
    if trouble:
        return EXIT_TROUBLE
    return EXIT_FOUND if found else EXIT_DONE


def _tell_summary(redactor: Redactor, translate: Translate) -> None:
    """What was replaced, on standard error: a line a kind, then what could not be promised."""
    names: Counter[str] = Counter()
    times: Counter[str] = Counter()
    for one in redactor.summary():
        names[one.kind] += 1
        times[one.kind] += one.times
    lines = [f"{kind:<8} {names[kind]:>5} different, {times[kind]:>6} places" for kind in names]
    lines += [notice.text for notice in redactor.notices]
    for line in [*(lines or ["nothing was replaced"]), PROMISE]:
        sys.stderr.write(encodable(translate(line), sys.stderr.encoding) + "\n")
