"""Logs that are still being written: a verdict as soon as one is certain, a corrected one when later lines change it.

    for found in diagnose_stream(process.stdout, exit_code=process.wait):
        print(found.verdict.status, found.verdict.reason)

The last one is the answer of `diagnose` for the whole log.
"""

from __future__ import annotations

from strata_diag.live.diagnosis import LiveDiagnosis, diagnose_stream

__all__ = ["LiveDiagnosis", "diagnose_stream"]
