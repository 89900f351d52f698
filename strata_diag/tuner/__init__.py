"""The tuner's backend: the right word for a run, the right memory of it, the right next step.

    from strata_diag.tuner import History, bad_signatures, classify_run, make_row, next_step, preflight

    found = classify_run(output, exit_code=code)
    history.append(make_row(found, sig=sig, label=label, hw=hw, model=model, engine=engine))
    step = next_step(found, history, sig=sig, label=label, hw=hw, model=model, engine=engine)

Everything public is named here, and holds as `docs/tuner.md` promises for this `CONTRACT`. What only a person at a terminal
needs (audit, repair) or what looks at the machine (preflight) is imported when it is first used.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from strata_diag.tuner.decide import bad_signatures, classify_run, failure_kind, next_step
from strata_diag.tuner.history import History
from strata_diag.tuner.records import CONTRACT, HistoryError, Row, Step, make_row

if TYPE_CHECKING:
    from strata_diag.tuner.audit import Audit, SignatureAudit, audit_history
    from strata_diag.tuner.preflight import Preflight, preflight
    from strata_diag.tuner.recheck import read_recheck
    from strata_diag.tuner.repair import Change, Repaired, plan_repair, repair_history, undo_repair

_LAZY = {
    "Audit": "audit",
    "SignatureAudit": "audit",
    "audit_history": "audit",
    "Preflight": "preflight",
    "preflight": "preflight",
    "read_recheck": "recheck",
    "Change": "repair",
    "Repaired": "repair",
    "plan_repair": "repair",
    "repair_history": "repair",
    "undo_repair": "repair",
}

__all__ = [
    "CONTRACT",
    "Audit",
    "Change",
    "History",
    "HistoryError",
    "Preflight",
    "Repaired",
    "Row",
    "SignatureAudit",
    "Step",
    "audit_history",
    "bad_signatures",
    "classify_run",
    "failure_kind",
    "make_row",
    "next_step",
    "plan_repair",
    "preflight",
    "read_recheck",
    "repair_history",
    "undo_repair",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - only for what is seldom used

    value = getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    globals()[name] = value
    return value


class _Package(ModuleType):
    """The package itself. Importing a submodule puts it into its package by name; `preflight` stays the function."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "preflight" and isinstance(value, ModuleType):
            value = value.preflight
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
