"""strata-diag reads an engine's log and says what failed, why, which line proves it, and what to do.

    from strata_diag import diagnose, load_rules

    found = diagnose(Path("strata-iq3_s.log"), exit_code=6)
    found.verdict.status, found.verdict.cause, found.verdict.line

Everything public is named here; modules and names that are not may change. A name's module is imported when the name is
first used, so that the command can start without what it does not need.
"""

from __future__ import annotations

from strata_diag.record import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from strata_diag.api import diagnose, load_rules
    from strata_diag.errors import NoRulesError, Problem, RulePackError, RuleSetError, SourceError, StrataDiagError
    from strata_diag.hookspecs import hookimpl
    from strata_diag.live import diagnose_stream
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

_NAMES_OF = {
    "api": ("diagnose", "load_rules"),
    "errors": ("NoRulesError", "Problem", "RulePackError", "RuleSetError", "SourceError", "StrataDiagError"),
    "hookspecs": ("hookimpl",),
    "live": ("diagnose_stream",),
    "model": (
        *("Beaten", "Diagnosis", "Evidence", "Finding", "Notice", "Remedy", "Role", "Run", "RunDiagnosis"),
        *("Sighting", "Status", "Suspect", "Verdict"),
    ),
    "ruleset": ("RuleSet",),
}
_MODULE_OF = {name: module for module, names in _NAMES_OF.items() for name in names}

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
    "diagnose_stream",
    "hookimpl",
    "load_rules",
]


def __getattr__(name: str) -> Any:
    """A public name, from its module; kept, so that this runs once a name. Raises AttributeError for any other."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - not for a start that needs no public name

    found = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
