"""The healthy logs of a corpus: what a rule must stay silent on, and the words that prove that silence means something."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from strata_diag.builtin import rules_folder
from strata_diag.linetext import decode_line
from strata_diag.testing import read_label
from strata_diag.text import Reader
from strata_diag.workshop.errors import WorkshopError

PASS = "PASS"  # noqa: S105 - a verdict, not a secret
SHORTEST_WORD = 4  # letters; shorter ones stand in every log
_WORD = re.compile(rf"[a-z_]{{{SHORTEST_WORD},}}")


class HealthyLog(NamedTuple):
    """A log that a person labelled PASS, in every start that it holds."""

    path: Path
    data: bytes


class HealthyLogs:
    """All healthy logs of a corpus; read when they are asked for. Raises WorkshopError for what is no folder."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise WorkshopError(f"{folder}: is no folder; name the one with the labelled logs")
        self.folder = folder

    @cached_property
    def logs(self) -> tuple[HealthyLog, ...]:
        """The logs, in the order of their paths. Raises WorkshopError for a label or a log that can't be read."""
        import yaml  # noqa: PLC0415 - as everywhere

        found = []
        for path in sorted(self.folder.rglob("*.yaml")):
            try:
                label = read_label(path)
                if label.status == PASS and all(status == PASS for status, _ in label.runs):
                    found.append(HealthyLog(label.log, label.log.read_bytes()))
            except (KeyError, TypeError, ValueError, OSError, yaml.YAMLError) as error:
                advice = "`strata-diag corpus check` says what is wrong with it"
                raise WorkshopError(f"{path}: is no label of a log ({error!s:.100}); {advice}") from None
        return tuple(found)

    @cached_property
    def clean(self) -> bytes:
        """The lines of all of them as the search for literals sees them."""
        blocks = (bytes(window.block.clean) for log in self.logs for window in Reader(iter([log.data])))
        return b"".join(block if block.endswith(b"\n") else block + b"\n" for block in blocks)

    @cached_property
    def lowered(self) -> bytes:
        """The same in lower case."""
        return self.clean.lower()

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Their distinct lines as text."""
        return tuple(dict.fromkeys(decode_line(line) for line in self.clean.split(b"\n") if line.strip()))

    @cached_property
    def line_count(self) -> int:
        """How many lines they have."""
        return self.clean.count(b"\n")

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word that stands in one of them, in lower case."""
        return frozenset(word for line in self.lines for word in words_of(line))

    def line_at(self, start: int) -> str:
        """The line that begins at this offset of `clean`, as text."""
        return decode_line(self.clean[start : self.clean.index(b"\n", start)])


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return _WORD.findall(text.lower())


def corpus_of_checkout() -> Path | None:
    """Our own corpus, where strata-diag runs from a checkout."""
    folder = rules_folder().parent / "corpus"
    return folder if folder.is_dir() and rules_folder().name == "rules" else None
