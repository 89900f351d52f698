"""All checks in order: what loading finds, YAML's traps, then each family of checks on what could be loaded."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from strata_diag.errors import Problem, ProblemCode
from strata_diag.workshop.lint import (
    backtracking,
    codes,
    contest,
    flags,
    healthy_logs,
    literal_use,
    patterns,
    samples,
    unfinished,
    wording,
)
from strata_diag.workshop.lint.codes import CODES, NOTE
from strata_diag.workshop.lint.healthy import HealthyLogs, corpus_of_checkout
from strata_diag.workshop.lint.subject import Loaded, PackFile, Subject, Wishes, load_subject
from strata_diag.workshop.lint.switches import apply_switches, read_switches
from strata_diag.workshop.lint.traps import find_traps
from strata_diag.workshop.lint.violations import Fix, Violation, of_problem

Check = Callable[[Subject], Iterator[Violation]]
# each family with the codes that it may find; one of which none is wanted is not run
FAMILIES: tuple[tuple[Check, frozenset[str]], ...] = (
    (patterns.check, frozenset({codes.ACCIDENTAL_ANCHOR, codes.MATCHES_EMPTY, codes.BARE_WORD, codes.BARE_NUMBER})),
    (backtracking.check, frozenset({codes.BACKTRACKS})),
    (literal_use.check, frozenset({codes.NO_LITERAL, codes.COMMON_LITERAL, codes.NOT_REACHED})),
    (
        samples.check,
        frozenset(
            {
                codes.LETTER_CASE,
                codes.CLAUSE_WITHOUT_SAMPLE,
                codes.NO_OTHER_SAMPLE,
                codes.SAMPLE_MISSED,
                codes.SAMPLE_CAUGHT,
            }
        ),
    ),
    (contest.check, frozenset({codes.NEVER_WINS, codes.EQUAL_PRIORITY})),
    (wording.check, frozenset({codes.UNBOUND_NAME, codes.UNFILLED_HOLE})),
    (flags.check, frozenset({codes.UNKNOWN_FLAG})),
    (unfinished.check, frozenset({codes.UNFINISHED})),
    (healthy_logs.check, frozenset({codes.FIRES_ON_HEALTHY})),
)
ASK_CORPUS = frozenset({codes.COMMON_LITERAL, codes.NOT_REACHED, codes.FIRES_ON_HEALTHY})
# what depends on more than the pack under lint: a switch for it is never called useless
ASK_OTHERS = ASK_CORPUS | {codes.NEVER_WINS, codes.EQUAL_PRIORITY, codes.BACKTRACKS}


class Report(NamedTuple):
    """What lint found, in order of files and lines. hidden: what was switched off; notices: what could not be looked at."""

    violations: tuple[Violation, ...]
    hidden: tuple[Violation, ...]
    notices: tuple[str, ...]
    files: tuple[str, ...]

    @property
    def failing(self) -> tuple[Violation, ...]:
        """The errors and warnings."""
        return tuple(one for one in self.violations if one.severity != NOTE)


def lint(wishes: Wishes) -> Report:
    """Lint packs. Raises WorkshopError for a target or a corpus that there isn't, SettingsError for broken settings."""
    healthy = _healthy_logs(wishes)
    loaded = load_subject(wishes, healthy)
    found = _of_files(loaded)
    notices: list[str] = []
    looked_for: frozenset[str] = frozenset()
    if loaded.subject is None:
        notices.append("the checks of patterns, samples and verdicts wait until the packs can be loaded")
    else:
        found += _of_rules(loaded.subject, wishes.codes)
        notices += loaded.subject.notices
        looked_for = wishes.codes - ASK_OTHERS
        if healthy is None and wishes.codes & ASK_CORPUS:
            notices.append("no healthy log is at hand: what needs some was left out (name a corpus with --corpus)")
    kept, hidden = apply_switches(_once(found), read_switches(loaded.files), looked_for)
    wanted = [one for one in kept if one.code in wishes.codes]
    return Report(
        tuple(sorted(wanted, key=_order)), tuple(hidden), tuple(notices), tuple(file.shown for file in loaded.files)
    )


def _healthy_logs(wishes: Wishes) -> HealthyLogs | None:
    """The healthy logs to hold rules against; None where nothing asks for them, or there are none."""
    folder = wishes.corpus or corpus_of_checkout()
    if folder is None or not wishes.codes & ASK_CORPUS:
        return None
    found = HealthyLogs(folder)
    return found if found.logs else None


def _of_files(loaded: Loaded) -> list[Violation]:
    """What loading says, and YAML's traps; where a trap is why a value can't be used, the trap says it better."""
    traps = [trap for file in loaded.files for trap in find_traps(file)]
    trapped = {(trap.violation.file, trap.key_line) for trap in traps}
    problems = [
        problem
        for problem in loaded.problems
        if problem.code != ProblemCode.UNUSABLE_VALUE or (problem.file, problem.line) not in trapped
    ]
    files = {file.shown: file for file in loaded.files}
    found = [of_problem(problem)._replace(fix=_other_key(problem, files.get(problem.file))) for problem in problems]
    return [*found, *(trap.violation for trap in traps)]


def _other_key(problem: Problem, file: PackFile | None) -> Fix | None:
    """The change that writes the key which was meant; None where it isn't sure, or the file isn't under lint."""
    if not problem.instead or file is None:
        return None
    start = _offset(file.text, problem.line, problem.column)
    key = re.compile(r"[A-Za-z_][\w-]*").match(file.text, start)
    return Fix(start, key.end(), problem.instead) if key else None


def _offset(text: str, line: int, column: int) -> int:
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[: line - 1])) + column - 1


def _of_rules(subject: Subject, wanted: frozenset[str]) -> list[Violation]:
    return [violation for check, its_codes in FAMILIES if its_codes & wanted for violation in check(subject)]


def _once(found: Iterable[Violation]) -> list[Violation]:
    """Without repetitions: the rules that a vocabulary makes of one text share what is wrong with it."""
    alike: dict[tuple[str, int, int, str, str], list[Violation]] = {}
    for one in found:
        alike.setdefault((one.file, one.line, one.column, one.code, _said_apart(one)), []).append(one)
    return [
        first._replace(what=f"{first.what} (and {len(more)} more like it)") if more else first
        for first, *more in alike.values()
    ]


def _said_apart(one: Violation) -> str:
    """By what two violations of one code at one place are told apart: what loading says is never put together."""
    return one.what if CODES[one.code].loads else ""


def _order(one: Violation) -> tuple[str, int, int, str, str]:
    return (one.file, one.line, one.column, one.code, one.what)
