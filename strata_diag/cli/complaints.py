"""How the command speaks of its own trouble: on standard error, harmless whatever it quotes."""

from __future__ import annotations

import sys

from strata_diag.render.escape import encodable, visible

PROGRAM = "strata-diag"
EXIT_TROUBLE = 2  # the command could not do its work


def complain(text: str) -> None:
    """An error for a person, on standard error, harmless whatever it quotes."""
    for number, line in enumerate(text.split("\n")):
        head = f"{PROGRAM}: error: " if number == 0 else "  "
        sys.stderr.write(encodable(head + visible(line), sys.stderr.encoding) + "\n")
