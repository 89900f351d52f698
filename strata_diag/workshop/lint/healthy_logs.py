"""Rules that call a healthy log a failure."""

from __future__ import annotations

from collections.abc import Iterator

from strata_diag.api import examine
from strata_diag.workshop.lint.codes import FIRES_ON_HEALTHY
from strata_diag.workshop.lint.subject import Subject
from strata_diag.workshop.lint.violations import Violation


def check(subject: Subject) -> Iterator[Violation]:
    """Every rule under lint that decides a start of a log which a person labelled PASS."""
    own = {rule.id: rule for rule in subject.own}
    for log in subject.healthy.logs if subject.healthy else ():
        _, traces = examine(log.data, rules=subject.rules)
        for trace in traces:
            verdict = trace.diagnosis.verdict
            if verdict.rule in own and verdict.deciding is not None:
                shown = verdict.deciding.evidence.text.strip()
                what = f"fires on the healthy log {log.path.name}:{verdict.line} ({shown!r:.100})"
                advice = "narrow it, or write an `info` rule that says why the line is harmless"
                yield subject.violation(FIRES_ON_HEALTHY, own[verdict.rule], ("any",), what, advice)
