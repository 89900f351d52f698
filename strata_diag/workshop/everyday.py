"""`strata_diag/healthy.txt` from the healthy logs of a corpus: `python -m strata_diag.workshop.everyday corpus`.

What stands there decides which texts a log is searched for (`healthy`), so it is made anew when healthy logs are added.
"""

from __future__ import annotations

import sys
from pathlib import Path

from strata_diag import healthy
from strata_diag.workshop.lint.healthy import HealthyLogs

TARGET = Path(healthy.__file__).with_name(healthy.FILE)


def everyday_lines(corpus: Path) -> bytes:
    """What `healthy.txt` must hold for a corpus. Raises WorkshopError for what is no folder."""
    logs = sorted(HealthyLogs(corpus).logs, key=lambda log: log.path.relative_to(corpus).as_posix())
    return healthy.distinct_lines([log.data for log in logs])


if __name__ == "__main__":
    TARGET.write_bytes(everyday_lines(Path(sys.argv[1])))
