"""`strata-diag completion SHELL`: a script that completes verbs, options, choices and files, made once and static."""

from __future__ import annotations

import argparse
import sys

from strata_diag.cli.complaints import EXIT_TROUBLE, complain
from strata_diag.render.escape import encodable

SHELLS = ("bash", "zsh", "fish", "powershell")
INSTALL = "pip install 'strata-diag[completion]'"
EXAMPLES = """examples:
  strata-diag completion bash > ~/.local/share/bash-completion/completions/strata-diag
  strata-diag completion zsh > ~/.zfunc/_strata-diag         # ~/.zfunc being in fpath
  strata-diag completion fish > ~/.config/fish/completions/strata-diag.fish
  strata-diag completion powershell >> $PROFILE
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Give the verb's parser its arguments."""
    parser.epilog = EXAMPLES
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=f"one of: {', '.join(SHELLS)}")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the script. 2: the package that writes it is not installed."""
    try:
        import shtab  # noqa: PLC0415 - an extra that only this verb needs
    except ImportError:
        complain(f"completion scripts are written by shtab, which is not installed; install it: {INSTALL}")
        return EXIT_TROUBLE
    from strata_diag.cli.tree import all_parsers, takes_path, whole_parser  # noqa: PLC0415 - imports every verb

    parser = whole_parser()
    for action in (action for one in all_parsers(parser) for action in one._actions):  # noqa: SLF001 - as shtab reads them
        if takes_path(action):
            action.complete = shtab.FILE  # type: ignore[attr-defined] # where shtab looks for it
    sys.stdout.write(encodable(shtab.complete(parser, options.shell), sys.stdout.encoding) + "\n")
    return 0
