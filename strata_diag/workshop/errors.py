"""What an author asked for and can't be done."""

from __future__ import annotations

from strata_diag.errors import StrataDiagError


class WorkshopError(StrataDiagError):
    """A rule that there isn't, a line that a log doesn't have, a file that would be overwritten: the text says what to do."""
