"""`python -m strata_diag` and the command `strata-diag`."""

from __future__ import annotations

import sys

from strata_diag.cli import main

if __name__ == "__main__":
    sys.exit(main())
