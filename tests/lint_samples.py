"""What the tests of lint work on: the examples of the pages in docs/lint, packs and a corpus in a folder, a call of lint."""

from __future__ import annotations

import re
from pathlib import Path

from conftest import ROOT
from packs import pack_text, write_packs

from strata_diag.workshop.lint.codes import CODES
from strata_diag.workshop.lint.runner import Report, lint
from strata_diag.workshop.lint.subject import Wishes

PAGES = ROOT / "docs" / "lint"
FLAGS = "flags:\n  strata: [--max-context, --kv]\n"
HEALTHY = (
    "".join(f"request {number} is done, the table is placed\n" for number in range(100)) + "request 4: slow down\n"
)
LABEL = "status: PASS\ncause: none\nline: null\nwhy: an everyday log\n"
RULE = """\
- id: no-room
  role: failure
  title: The table has no room
  cause: card-full
  any: [{regex: 'cannot place the table'}]
  samples:
    match: ['engine: cannot place the table']
    no_match: ['engine: the table is placed']
"""


def examples(code: str) -> dict[str, str]:
    """The examples of a code's page by their headings (`Wrong`, `Right`)."""
    text = (PAGES / f"{code}.md").read_text("utf-8")
    return dict(re.findall(r"^## (Wrong|Right)\n\n```yaml\n(.*?)```$", text, re.DOTALL | re.MULTILINE))


def write_example(folder: Path, example: str) -> Path:
    """A folder with an example as the pack `sample`: a whole file, or rules alone; with causes and a list of options."""
    rules_alone = example.startswith("- id:")
    indented = "".join(f"  {line}\n" for line in example.splitlines())
    return write_packs(folder, flags=FLAGS, sample=pack_text(indented) if rules_alone else example)


def write_corpus(folder: Path, log: str = HEALTHY) -> Path:
    """A corpus with one healthy log."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "everyday.log").write_text(log, "utf-8", newline="\n")
    (folder / "everyday.yaml").write_text(LABEL, "utf-8")
    return folder


def lint_folder(
    folder: Path, *more: str, corpus: Path | None = None, codes: frozenset[str] = frozenset(CODES)
) -> Report:
    """Lint a folder, and nothing of what strata-diag or a plugin brings; without a corpus there are no healthy logs."""
    if corpus is None:
        corpus = folder.parent / "nothing"
        corpus.mkdir(exist_ok=True)
    return lint(Wishes((str(folder), *more), codes, corpus, builtin=False, no_plugins=("*",)))


def lint_rules(folder: Path, rules: str = RULE, corpus: Path | None = None) -> Report:
    """Lint a pack with these rules."""
    return lint_folder(write_example(folder, rules), corpus=corpus)


def found(report: Report) -> list[tuple[str, int, int]]:
    """(code, line, column) of each violation but the notes."""
    return [(one.code, one.line, one.column) for one in report.failing]
