"""What became of one run: the tuner's question, answered by `diagnose`.

Comes in: whatever the tuner kept of a run's output (all of it, its tail, or the joined and cut reason of a history row), and
what else it knows. Goes out: a diagnosis. Nothing is decided here that the rules don't decide.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from strata_diag.api import diagnose
from strata_diag.model import Diagnosis
from strata_diag.ruleset import RuleSet

if TYPE_CHECKING:
    from strata_diag.source import Target

WAIT_EXPIRED = "startup_wait_expired"  # a run record's word: the app gave up waiting
NOTHING_SAID = "\n"  # an empty line: a run without output is still a run, of which exit code and time-out speak


def classify_run(
    output: Target | None,
    *,
    exit_code: int | None = None,
    timed_out: bool | None = None,
    error: str | None = None,
    rules: RuleSet | None = None,
) -> Diagnosis:
    """What became of a run, from its output and from what is known beside it.

    output: the log's text (all of it, its tail, or a history row's reason with its parts joined by ` | `), bytes, a path
    (PathLike), a binary stream, or None for a run that printed nothing. exit_code: as the system gives it (-9, 137,
    0xC0000135, signed or not). timed_out: the tuner gave up waiting. error: the run record's word, such as
    `startup_wait_expired` or `server_exited`. Facts sharpen and never overrule what the output says.

    Raises SourceError for a path that can't be read, RuleSetError for broken rules; never because of what the output holds.
    """
    facts: dict[str, Any] = {"error": error} if error else {}
    if error == WAIT_EXPIRED and timed_out is None:
        timed_out = True
    known = {"rules": rules, "exit_code": exit_code, "timed_out": timed_out, "facts": facts}
    found = diagnose(NOTHING_SAID if output is None else output, **known)  # type: ignore[arg-type]
    if found.runs or (exit_code, timed_out, error) == (None, None, None):
        return found
    # no line at all: a run that only its facts speak of
    name = os.fspath(output) if isinstance(output, os.PathLike) else found.name
    return diagnose(NOTHING_SAID, **known)._replace(name=str(name))  # type: ignore[arg-type]


def failure_kind(output: Target | None, exit_code: int | None = None, *, rules: RuleSet | None = None) -> str:
    """One of the tuner's four words for a run: `PASS`, `OOM`, `UNSUPPORTED` or `FAIL_BOOT`.

    output, exit_code, and what is raised: as in `classify_run`.
    """
    return classify_run(output, exit_code=exit_code, rules=rules).verdict.tuner_status
