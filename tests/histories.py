"""What tests of the tuner's backend make histories of: rows of every kind, and the histories of the corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from conftest import CORPUS

HISTORIES = sorted((CORPUS / "history").glob("*.jsonl"))
PLACE: dict[str, Any] = {"hw": "hw-1", "model": "model-1", "engine": "engine-1"}

MEMORY_GUARD = (
    "strata generate: memory guard: limit 47.8 GiB (source: meminfo), current 11.9 GiB, reclaimable cache credited 0.0 GiB; "
    "available 35.9 GiB (MemAvailable 35.9 GiB), floor 2560 MiB"
)
NO_DEVICE = "ggml_cuda_init: failed to initialize CUDA: no CUDA-capable device is detected"
BUSY = (
    "strata generate: native embedding: cannot pin 318 MiB: CUDA-capable device(s) is/are busy or unavailable, nor place it "
    "in VRAM"
)
SESSION = "strata generate: session state allocation failed"
NO_ROOM = (
    "strata generate: no VRAM is left for the expert cache: it needs at least 252 slots (648 MiB), about 618 MiB more than this "
    "card has free. To make room: a smaller --max-context (the session, mostly its KV cache, takes 8…"
)
ELASTIC = (
    "strata generate: ExpertCache: --vram-elastic needs the driver's virtual memory management, which this GPU or driver "
    "does not offer"
)
ARENA = "strata generate: ArenaExpertSource: the arena could not be reserved (31000000000 B): VirtualAlloc error 1455"
NOBODY_KNOWS = "strata generate: widget table lost its order at 7 of 12 - cannot go on"

# kind: (stored status, reason, what it is, may it be remembered)
KINDS = {
    "pass": ("PASS", "", "PASS / none", False),
    "no room": ("OOM", NO_ROOM, "OOM / vram-budget", True),
    "no room, stored as boot failure": ("FAIL_BOOT", NO_ROOM, "OOM / vram-budget", True),
    "session": ("OOM", f"{MEMORY_GUARD} | {SESSION}", "OOM / vram-exhausted", True),
    "elastic": ("UNSUPPORTED", ELASTIC, "UNSUPPORTED / gpu-unsupported", True),
    "arena": ("OOM", ARENA, "OOM / host-memory", False),
    "no device": ("OOM", f"{NO_DEVICE} | {MEMORY_GUARD}", "CUDA_UNAVAILABLE / no-device", False),
    "busy": ("OOM", BUSY, "CUDA_UNAVAILABLE / device-busy", False),
    "waited": ("FAIL_BOOT", "startup_wait_expired", "TIMEOUT / timeout", False),
    "nobody knows": ("FAIL_BOOT", NOBODY_KNOWS, "UNKNOWN / unknown", False),
    "word without evidence": ("OOM", "", "UNKNOWN / unknown", False),
    "harmless line alone": ("OOM", MEMORY_GUARD, "UNKNOWN / unknown", False),
}
LASTING = [kind for kind, (_, _, _, lasting) in KINDS.items() if lasting]
TRANSIENT = [kind for kind, (_, _, _, lasting) in KINDS.items() if not lasting and kind != "pass"]


def row(kind: str, sig: str = "--base", time: str | None = "2026-10-01T10:00:00", **fields: Any) -> dict[str, Any]:
    """The fields of a row as an older tuner stored them. time: None leaves it out; `fields`: what differs."""
    status, reason, _, _ = KINDS[kind]
    speed = 54.3 if status == "PASS" else None
    made = {
        "status": status,
        "label": "base",
        "decode_tok_s": speed,
        "pp_tok_s": speed,
        "reason": reason,
        "sig": sig,
        **PLACE,
    }
    return {**made, **({} if time is None else {"time": time}), **fields}


def line(kind: str, **fields: Any) -> bytes:
    """A row as a line of a file, with its end."""
    return json.dumps(row(kind, **fields), ensure_ascii=False).encode() + b"\n"


def meaning(history: Path) -> dict[str, Any]:
    """What a person wrote down about a history of the corpus."""
    content: dict[str, Any] = json.loads(history.with_suffix(".json").read_text("utf-8"))
    return content
