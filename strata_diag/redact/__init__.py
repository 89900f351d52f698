"""A log, a name or a message without what is private: names, addresses, tokens and numbers of devices become stand-ins.

    redactor = Redactor(keep=words_of(rules))
    with open("strata.log", "rb") as log:
        found = diagnose(redact_stream(log, redactor), rules=rules)
    redactor.line(message), redactor.summary()

The redacted log gets the same verdict from the same line: nothing else changes, line feeds least of all. Redacting twice
changes nothing more, unless one secret stood against the next without a sign between them.

What it can't promise is `PROMISE`: it knows private things by their shape and their place, not by their meaning.
"""

from __future__ import annotations

from strata_diag.redact.redactor import Redactor, words_of
from strata_diag.redact.standins import Replaced
from strata_diag.redact.stream import Place, learn, places, redact_chunks, redact_path, redact_stream

PROMISE = (
    "not found: names in prose, short or common names outside paths and prompts, names of hosts and domains that only you\n"
    "know, and what is inside pictures, archives and encoded text; read the result before you publish it"
)

__all__ = [
    "PROMISE", "Place", "Redactor", "Replaced", "learn", "places", "redact_chunks", "redact_path", "redact_stream", "words_of",
]  # fmt: skip
