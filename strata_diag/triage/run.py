"""A whole triage: from paths to results, groups and shapes.

    triage(["reports/"], load=load_rules)

Ctrl+C ends it with what was done until then.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import closing

from strata_diag.model import Diagnosis, Notice
from strata_diag.redact import Redactor
from strata_diag.ruleset import RuleSet
from strata_diag.triage.groups import groups_of
from strata_diag.triage.plan import MOST_FILES, MOST_JOINED, Plan, plan_of
from strata_diag.triage.reading import Reading
from strata_diag.triage.records import Part, Triage
from strata_diag.triage.shapes import shapes_of
from strata_diag.triage.workers import Load, parts_of


def triage(
    paths: Iterable[str | os.PathLike[str]],
    *,
    load: Load,
    rules: RuleSet | None = None,
    jobs: int | None = None,
    joined: bool = True,
    redactor: Redactor | None = None,
    worded: Callable[[Diagnosis], Diagnosis] | None = None,
    planned: Callable[[Plan], None] | None = None,
    told: Callable[[Part], None] | None = None,
) -> Triage:
    """Diagnose every log behind paths (files, folders, patterns, archives; `-` is standard input).

    load: gives the rules, here and in other processes, so it can be pickled; rules: the same, where they are loaded already;
    jobs: processes, None for as many as it is worth, 1 for none beside this one; joined: logs of one place that belong
    together take part in each other's diagnosis; redactor: takes what is private out of everything, in one process; worded:
    puts a diagnosis into another language; planned: is told what will be read; told: is told each part as soon as it is done,
    in order.

    KeyboardInterrupt ends it with what is done. Raises RuleSetError for broken rules; never because of a file.
    """
    reading = Reading(rules or load(), joined, redactor)
    plan = plan_of(paths, joined=joined)
    if planned is not None:
        planned(plan)
    parts: list[Part] = []
    interrupted = False
    try:
        with closing(parts_of(plan, reading, load, jobs)) as made:
            for part in made:
                parts.append(_worded(part, worded))
                if told is not None:
                    told(parts[-1])
    except KeyboardInterrupt:
        interrupted = True
    return _whole(parts, plan, reading, interrupted=interrupted)


def _worded(part: Part, worded: Callable[[Diagnosis], Diagnosis] | None) -> Part:
    if worded is None:
        return part
    return part._replace(results=tuple(one._replace(diagnosis=worded(one.diagnosis)) for one in part.results))


def _whole(parts: list[Part], plan: Plan, reading: Reading, *, interrupted: bool) -> Triage:
    results = tuple(result for part in parts for result in part.results)
    return Triage(
        results,
        tuple(one for part in parts for one in part.unreadable),
        groups_of(results, reading.rules.causes),
        shapes_of(results),
        tuple(one for part in parts for one in part.skipped),
        interrupted,
        tuple(dict.fromkeys([*_notices(plan, reading), *(one for part in parts for one in part.notices)])),
    )


def _notices(plan: Plan, reading: Reading) -> list[Notice]:
    notices = [
        Notice("limit", f"{reading.said(folder)}: more than {MOST_JOINED} files; each was diagnosed by itself")
        for folder in plan.crowded
    ]
    if plan.full:
        notices.append(Notice("limit", f"only the first {MOST_FILES:,} files were read; name the rest by themselves"))
    return notices
