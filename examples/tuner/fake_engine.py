"""An engine that computes nothing: it prints what a real one prints, and ends as a real one ends.

What happens follows from the options, so that a search meets everything once:

    the first start of all      another program took the card a moment ago
    --max-context 262144        no VRAM is left for the expert cache (every time)
    --kv fp16                   the session does not fit (every time)
    --workers 12                a GPU fault at the first start, fine afterwards
    --workers 16                hangs while it loads (every time)
    anything else               loads, answers one request, ends

Starts are counted in the folder that FAKE_ENGINE_STATE names. The log holds the lines that every healthy start prints, among
them those that look like a failure to a search for words: the memory guard, and an arena of which only a part can be locked.
"""

from __future__ import annotations

import os
import sys
import time
import zlib
from collections.abc import Sequence
from pathlib import Path

HANG_S = 600.0

BUSY = """\
strata generate: memory guard: limit 63.8 GiB (source: meminfo), current 12.9 GiB, reclaimable cache credited 0.0 GiB; \
available 50.9 GiB (MemAvailable 50.9 GiB), floor 2560 MiB
strata generate: PCIe probe failed -> pcie_frac default 0.55
strata generate: native embedding: cannot pin 258 MiB: CUDA-capable device(s) is/are busy or unavailable, nor place it in VRAM
"""
BEGIN = """\
strata generate: memory guard: limit 63.8 GiB (source: meminfo), current 12.6 GiB, reclaimable cache credited 0.0 GiB; \
available 51.2 GiB (MemAvailable 51.2 GiB), floor 2560 MiB
strata generate: PCIe probe: 26.3 GB/s host->device (best of 26.3 26.1) -> pcie_frac 0.55 (default 0.55)
strata generate: 1443 MiB of weights loaded from packs/tiny (304 canonical tensors skipped: served natively)
strata generate: 300 native projection matrices, 1766.12 MiB of weights
"""
NO_SESSION = "strata generate: session state allocation failed\n"
LOADED = """\
strata mtp: draft layer loaded, 835 MiB of VRAM (experts 675, dense 111), files read in 0.34 s (2287 MiB/s)
strata generate: GPU 0: NVIDIA GeForce RTX 5060 Ti, compute capability 12.0
strata generate: expert arena: locked 1302 MiB via working-set minimum + VirtualLock; cudaHostRegister of the whole arena \
FAILED (out of memory); 47 slices pinned (1 GiB)
strata generate: loaded 1.20 GiB at 4.20 GiB/s
"""
NO_CACHE = """\
strata generate: expert cache auto: 0.31 GiB free, 700 MiB reserved (+218 MiB for the draft head) -> 0 slots
strata generate: no VRAM is left for the expert cache: it needs at least 274 slots (695 MiB), about 1294 MiB more than this \
card has free. To make room: a smaller --max-context (the session, mostly its KV cache, takes 3142 MiB at 262144 tokens), \
--kv q4_0, a smaller --vram-reserve-mib (700 now; 300 is enough on a small card), or close other programs that use the GPU
strata generate: the embedding buffer failed
"""
READY = """\
strata generate: expert cache auto: 8.12 GiB free, 700 MiB reserved (+192 MiB for the draft head) -> 2912 slots
strata generate: expert cache 2912 slots, 7.20 GiB of VRAM; policy is
                 PROFILE, ranked by routing frequency, no eviction.
strata generate: session is up (engine 0.1.46)
strata serve: 523 MiB of VRAM free with everything loaded
READY 131072 stop 2
"""
FAULT = "strata generate: session_replay of the 4-token window faulted: an illegal memory access was encountered\n"
ANSWER = (
    "strata serve: prompt 2048 tokens = 0 reused + 2048 read in 1300 ms ({prompt:.1f} tok/s), "
    "128 generated in 1900 ms ({decode:.1f} tok/s)\n"
)


def main(arguments: Sequence[str]) -> int:
    """Print what an engine with these options prints; its exit code."""
    options = dict(zip(arguments[::2], arguments[1::2], strict=False))
    first_of_all, starts = count_starts(arguments)
    if first_of_all:
        return say(BUSY, code=1)
    say(BEGIN)
    if options.get("--kv") == "fp16":
        return say(NO_SESSION, code=1)
    say(LOADED)
    if options.get("--workers") == "16":
        time.sleep(HANG_S)
    if options.get("--max-context") == "262144":
        return say(NO_CACHE, code=1)
    say(READY)
    if options.get("--workers") == "12" and starts == 1:
        return say(FAULT, code=1)
    speed = zlib.crc32(" ".join(arguments).encode()) % 200 / 10  # each set of options has a speed of its own
    return say(ANSWER.format(prompt=1500 + speed, decode=55 + speed))


def count_starts(arguments: Sequence[str]) -> tuple[bool, int]:
    """Whether this is the first start of all, and how often an engine was started with these options, this time included."""
    log = Path(os.environ.get("FAKE_ENGINE_STATE", "."), "starts.txt")
    earlier = log.read_text("utf-8").splitlines() if log.exists() else []
    line = " ".join(arguments)
    with log.open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    return not earlier, earlier.count(line) + 1


def say(text: str, *, code: int = 0) -> int:
    """Print a part of the log; the exit code that goes with it."""
    sys.stderr.write(text)
    sys.stderr.flush()
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
