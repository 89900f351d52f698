"""What the tests of the intake share: a log, its verdict's line, and reading all that is found in something."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import NamedTuple

from strata_diag.intake import logs_in, logs_in_stream
from strata_diag.ruleset import NoExtensions

LOG = (
    b"[strata] 2026-10-21 03:32:12 engine started: /opt/strata/engine/strata --serve --pack /data/iq3_s\n"
    b"strata generate: 1457 MiB of weights loaded from /data/iq3_s\n"
    b"ggml_cuda_init: failed to initialize CUDA: no CUDA-capable device is detected\n"
)


class Read(NamedTuple):
    """An attachment that was read to its end."""

    name: str
    data: bytes
    notices: list[tuple[str, str]]
    first_line: int
    facts: dict[str, object]
    skipped: bool

    @property
    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.notices]

    @property
    def words(self) -> str:
        return "\n".join(text for _, text in self.notices)


def read_path(path: Path, extensions: NoExtensions | None = None) -> list[Read]:
    """All that is found in a file; names without its folder."""
    found = []
    for one in logs_in(path, extensions):
        data = one.stream.read()
        name = one.name.replace(str(path.parent) + "/", "").replace(str(path.parent) + "\\", "")
        found.append(
            Read(
                name, data, [(kind, words) for kind, words in one.notices], one.first_line, dict(one.facts), one.skipped
            )
        )
    return found


def read_bytes(data: bytes, name: str = "-") -> list[Read]:
    """All that is found in bytes that come from a pipe."""
    found = []
    for one in logs_in_stream(name, Pipe(data)):
        text = one.stream.read()
        found.append(
            Read(
                one.name,
                text,
                [(kind, words) for kind, words in one.notices],
                one.first_line,
                dict(one.facts),
                one.skipped,
            )
        )
    return found


class Pipe(io.BytesIO):
    """Bytes of a pipe: read once, in order."""

    def seekable(self) -> bool:
        return False

    def seek(self, *_: object) -> int:
        raise OSError("a pipe has no places")


def zipped(members: dict[str, bytes] | list[tuple[str, bytes]]) -> bytes:
    """A zip archive with these members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items() if isinstance(members, dict) else members:
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
