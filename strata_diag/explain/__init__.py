"""Why a log gets its verdict: every candidate and what became of it, single rules clause by clause, single lines.

    found = explain(Path("strata-iq3_s.log"), rules=rules, wanted=[rules.by_id["cuda-malloc/device-busy"]], lines=[41])

The verdicts are those of `diagnose`: there is one way through a log, and this only tells what it came by. A second reading
is made for single rules and lines alone, since the first looks at no more lines than a verdict needs.
"""

from __future__ import annotations

from strata_diag.explain.explaining import explain
from strata_diag.explain.records import (
    ExplainError,
    Explanation,
    LineExplanation,
    LineHit,
    NearRule,
    RuleExplanation,
    RunExplanation,
)

__all__ = [
    "ExplainError", "Explanation", "LineExplanation", "LineHit", "NearRule", "RuleExplanation", "RunExplanation", "explain",
]  # fmt: skip
