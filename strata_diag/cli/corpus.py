"""`strata-diag corpus ...`: labelled logs, the answer sheet of packs. One module a part, `corpus_<part>`."""

from __future__ import annotations

import argparse
from importlib import import_module

# each part's module has `set_up(parser)`, as a verb's has
PARTS = {
    "check": "hold labelled logs against what the program answers, and show what differs",
    "add": "make a labelled case of a log: cut, redacted, with other values",
}
EXAMPLES = """examples:
  strata-diag corpus check my-corpus/ --rules my-rules/
  strata-diag corpus add engine.log --into my-corpus/
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Give the verb's parser its parts."""
    parser.epilog = EXAMPLES
    parts = parser.add_subparsers(title="what to do", metavar="|".join(PARTS), required=True)
    for part, summary in PARTS.items():
        its_parser = parts.add_parser(part, help=summary, formatter_class=parser.formatter_class)
        import_module(f"strata_diag.cli.corpus_{part}").set_up(its_parser)
