"""strata-diag reads an engine's log and says what failed, why, which line proves it, and what to do.

    from strata_diag import diagnose, load_rules

    found = diagnose(Path("strata-iq3_s.log"), exit_code=6)
    found.verdict.status, found.verdict.cause, found.verdict.line

Everything public is named here; modules and names that are not may change.
"""

from __future__ import annotations

from strata_diag.api import diagnose, load_rules
from strata_diag.errors import NoRulesError, Problem, RulePackError, RuleSetError, SourceError, StrataDiagError
from strata_diag.hookspecs import hookimpl
from strata_diag.model import (
    Beaten,
    Diagnosis,
    Evidence,
    Finding,
    Notice,
    Remedy,
    Role,
    Run,
    RunDiagnosis,
    Sighting,
    Status,
    Suspect,
    Verdict,
)
from strata_diag.ruleset import RuleSet

__version__ = "0.1.0"

__all__ = [
    "Beaten",
    "Diagnosis",
    "Evidence",
    "Finding",
    "NoRulesError",
    "Notice",
    "Problem",
    "Remedy",
    "Role",
    "RulePackError",
    "RuleSet",
    "RuleSetError",
    "Run",
    "RunDiagnosis",
    "Sighting",
    "SourceError",
    "Status",
    "StrataDiagError",
    "Suspect",
    "Verdict",
    "__version__",
    "diagnose",
    "hookimpl",
    "load_rules",
]
