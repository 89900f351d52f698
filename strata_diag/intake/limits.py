"""Every limit of the intake, in one place. Whatever crosses one becomes a notice, never silence."""

from __future__ import annotations

HEAD_BYTES = 16 * 1024  # of a file that are looked at to tell what it is; a plain log is read no further
CHUNK_BYTES = 256 * 1024  # handed on at a time
PACKED_CHUNK = 16 * 1024  # bytes fed to a decompressor at a time; deflate makes at most 1,032 times as much of them

DEEPEST = 8  # containers inside each other, the outermost counted
MOST_LOGS = 4096  # logs out of one file, all its containers together
MOST_MEMBERS = 20_000  # entries of one archive that are visited, whatever they are
MOST_BYTES = 8 * 1024**3  # bytes that come out of the containers of one file, all layers added up
LARGEST_RATIO = 500  # bytes out for one byte in; real logs stay below 100
RATIO_FROM = 64 * 1024 * 1024  # bytes out from which the ratio counts: a short log of one repeated line packs well
XZ_MEMORY = 128 * 1024 * 1024  # bytes an xz stream may ask for; `xz -9` asks for 65 MiB
ZSTD_WINDOW_LOG = 27  # 128 MiB, as the zstd program allows by itself
LARGEST_DIRECTORY = 4 * 1024 * 1024  # bytes of a zip's list of files, some 40,000 names
LARGEST_TAR_HEADER = 1024 * 1024  # bytes of headers in front of one member of a tar
LARGEST_SPOOL = 2 * 1024**3  # bytes of a zip that can't be read in place and is put into an unnamed temporary file
SPOOL_IN_MEMORY = 8 * 1024 * 1024  # bytes of it that stay in memory

LARGEST_DOCUMENT = 512 * 1024  # bytes of a Markdown document; one issue or comment has at most 64 KiB
LARGEST_JSON = 32 * 1024 * 1024  # bytes of a JSON document that is read as a whole
LONGEST_RECORD = 1024 * 1024  # bytes of one record in a file of JSON lines
MOST_RECORD_LINES = 64  # lines over which one record may be spread where it should stand in one

NOTICES_NAMED = 8  # things of a kind that get a notice of their own; the rest is counted


def is_too_dense(produced: int, consumed: int) -> bool:
    """Whether `produced` bytes out of `consumed` are more than a log can be."""
    return produced > RATIO_FROM and produced > consumed * LARGEST_RATIO
