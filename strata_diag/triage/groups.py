"""Results by what failed: the worst first.

The order: by status (`WORST_FIRST`: what ended a running program, then what kept it from starting, then what was ended from
outside, then what nobody knows, then what is well), by how many logs, by cause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from strata_diag.model import Status
from strata_diag.ruleset import Cause
from strata_diag.triage.records import Group, Result

WORST_FIRST = (
    Status.CRASH,
    Status.OOM,
    Status.FAIL_BOOT,
    Status.CUDA_UNAVAILABLE,
    Status.UNSUPPORTED,
    Status.TIMEOUT,
    Status.KILLED,
    Status.UNKNOWN,
    Status.PASS,
)


def groups_of(results: Sequence[Result], causes: Mapping[str, Cause]) -> tuple[Group, ...]:
    """The groups, the worst first; within one the results in the order given. causes: their titles."""
    members: dict[tuple[Status, str], list[int]] = {}
    for place, result in enumerate(results):
        verdict = result.diagnosis.verdict
        members.setdefault((verdict.status, verdict.cause), []).append(place)
    ordered = sorted(members, key=lambda key: (WORST_FIRST.index(key[0]), -len(members[key]), key[1]))
    return tuple(_group(status, cause, members[status, cause], results, causes) for status, cause in ordered)


def _group(
    status: Status, cause: str, places: list[int], results: Sequence[Result], causes: Mapping[str, Cause]
) -> Group:
    verdicts = [results[place].diagnosis.verdict for place in places]
    rules = Counter(verdict.rule for verdict in verdicts if verdict.rule)
    title = causes[cause].title if cause in causes else verdicts[0].title
    return Group(str(status), cause, title, tuple(rule for rule, _ in rules.most_common()), tuple(places))
