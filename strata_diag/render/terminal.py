"""Styled lines on a terminal, by rich; as bare text everywhere else, without importing it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from strata_diag.record import TYPE_CHECKING
from strata_diag.render.escape import encodable
from strata_diag.render.layout import Line, plain

if TYPE_CHECKING:
    from typing import TextIO


def print_lines(lines: Iterable[Line], stream: TextIO, *, colour: bool | None = None) -> None:
    """Write lines to a stream. colour: True forces styles, False forbids them, None asks the stream and NO_COLOR.

    On a terminal lines are wrapped to its width; into a pipe they stay whole, one line of output a line.
    """
    terminal = stream.isatty() if colour is None else colour
    if not terminal:
        for line in lines:
            stream.write(encodable(plain(line), stream.encoding) + "\n")
        return
    _print_rich(lines, stream, no_colour=colour is None and "NO_COLOR" in os.environ)


def _print_rich(lines: Iterable[Line], stream: TextIO, *, no_colour: bool) -> None:
    from rich.console import Console  # noqa: PLC0415 - 100 ms that a pipe must not pay
    from rich.padding import Padding  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console(
        file=stream,
        force_terminal=True,
        no_color=no_colour,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=False,
    )
    for line in lines:
        text = Text(no_wrap=False, overflow="fold")
        for span in line.spans:
            text.append(encodable(span.text, stream.encoding), style=span.style)
        wrapped = text.wrap(console, max(console.width - line.indent, 20)) if line.indent else None
        if wrapped is None or len(wrapped) < 2:  # noqa: PLR2004 - nothing to indent
            console.print(text)
            continue
        console.print(wrapped[0])
        rest = Text("\n").join(wrapped[1:])
        console.print(Padding(rest, (0, 0, 0, line.indent), expand=False))


def is_terminal(stream: TextIO) -> bool:
    """Whether a stream is a terminal; a closed or replaced one is not."""
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False


def system_name() -> str:
    """Linux | windows | macos: whose commands a person at this machine can use."""
    return {"win32": "windows", "cygwin": "windows", "darwin": "macos"}.get(sys.platform, "linux")
