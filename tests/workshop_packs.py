"""What the tests of the author's workshop share: a folder of packs that stands for itself, a log, and calls of the command."""

from __future__ import annotations

from pathlib import Path

from packs import pack_text, write_packs

from strata_diag.cli import main

ALONE = ("--no-builtin-rules", "--no-plugin", "*", "--no-settings")
RULES = """\
  - id: no-room
    role: failure
    cause: card-full
    priority: 900
    title: The table has no room on the card
    why: The card is full.
    any:
      - regex: 'engine: no room for the table: it needs (?P<needed_mib>\\d+) MiB'
    remedies: [smaller-table]
    samples:
      match: ['engine: no room for the table: it needs 274 MiB']
      no_match: ['engine: the table is placed: it needs 274 MiB']
  - id: gave-up
    role: symptom
    cause: card-full
    priority: 300
    title: The engine gave up
    any:
      - regex: 'engine: giving up on the start'
    yields_to: [no-room]
    samples:
      match: ['engine: giving up on the start']
      no_match: ['engine: starting']
  - id: slow-disk
    role: info
    title: The disk is slow
    any:
      - regex: 'engine: warning: failed to read ahead'
    samples:
      match: ['engine: warning: failed to read ahead']
      no_match: ['engine: read ahead']
"""
REMEDIES = """\
remedies:
  smaller-table:
    texts: ['Take a table that fits into ${needed_mib} MiB.', 'Take a smaller table.']
    commands: {any: 'engine --table small'}
    risk: Answers get shorter.
"""
LOG = """\
engine: starting on card 0
engine: table of 8192 rows from /srv/jane/tables/big.bin
engine: warning: failed to read ahead
engine: no room for the table: it needs 1874 MiB
engine: giving up on the start
"""
LABEL = """\
status: OOM
cause: card-full
line: 4
symptoms: [5]
why: The card is full.
"""


def packs_folder(folder: Path, rules: str = RULES) -> Path:
    """A folder with causes, a remedy and the pack `sample`."""
    return write_packs(folder, remedies=REMEDIES, sample=pack_text(rules))


def corpus_folder(folder: Path, *, log: str = LOG, label: str = LABEL) -> Path:
    """A corpus with the one case `no-room`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "no-room.log").write_text(log, "utf-8", newline="\n")
    (folder / "no-room.yaml").write_text(label, "utf-8", newline="\n")
    return folder


def run(*words: object) -> int:
    """The exit code of the command with these words, with the packs that they name and no others."""
    return main([*map(str, words), *ALONE])
