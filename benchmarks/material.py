"""Logs and rule sets to measure with: made from a seed, so that a figure can be made again.

A healthy line is what a served engine prints by the million, near misses included (a word of a failure in a harmless place);
a failure line is a sample of one of the rules that are measured.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from strata_diag import RuleSet, load_rules
from strata_diag.ruleset import is_deciding

START = (
    "strata 0.1.43 (build 9f2c1de) starting\n"
    "ggml_cuda_init: found 1 CUDA devices:\n"
    "  Device 0: NVIDIA GeForce RTX 4070, compute capability 8.9, VMM: yes\n"
)
# fields: n a count, m milliseconds, k tokens, s a slot, t seconds since the start
HEALTHY = (
    "[{t:10.3f}] slot {s}: decode step {n}, {k} tokens in {m}.{s}1 ms (37.{s} tokens/s)",
    "[{t:10.3f}] slot {s}: prompt processing progress, n_past = {n}, n_tokens = {k}, progress = 0.{m}",
    "[{t:10.3f}] expert cache: {n} hits, {k} fetched over PCIe, {s} evicted, hit rate 96.{s} %",
    "[{t:10.3f}] srv  update_slots: all slots are idle, {n} requests served",
    '[{t:10.3f}] 127.0.0.1 - "POST /v1/chat/completions HTTP/1.1" 200 OK, {n} bytes, {m} ms',
    "[{t:10.3f}] slot {s}: cached prompt of {n} tokens reused, {k} new ones",
    "[{t:10.3f}] graph {n}: {k} nodes, {s} splits, compute buffer 304.75 MiB of 512.00 MiB in use",
    "[{t:10.3f}] sampler {s}: top-k {k}, top-p 0.95, temperature 0.{m}, seed {n}",
    "[{t:10.3f}] stream {s}: copied {n} bytes in {m} us, no error pending",
    "[{t:10.3f}] memory: {n} MiB of 16303 MiB used on the card, {k} MiB pinned, 0 errors",
    "[{t:10.3f}] speculative: {n} drafted, {k} accepted, {s} rejected; retrying with a shorter draft",
    "[{t:10.3f}] Modell geladen für Gerät {s}: {n} Schichten, Größe {k} MiB",
    "[{t:10.3f}] 请求 {n} 已完成,用时 {m} 毫秒",
    "[{t:10.3f}] kv cache: {n} cells used of 32768, defragmented {s} times, failed moves 0",
    "[{t:10.3f}] request {n}: client closed the connection after {k} tokens",
    "[{t:10.3f}] layer {s}: experts {n},{k},{m} read ahead from the file, {s} MiB in flight",
    "[{t:10.3f}] health: ok, {n} s up, {k} requests, {s} waiting, last error: none",
    "[{t:10.3f}] graph cache: {n} reused, {k} built, exchange with host {m} us",
)
BATCH_LINES = 200_000  # healthy lines made once and repeated: what is measured is not this module


def built_in() -> RuleSet:
    """The rules that a user has."""
    return load_rules()


def synthetic(count: int) -> RuleSet:
    """`count` rules beside the causes: every second one with a captured number, every sixth caseless, some with two forms."""
    rules = [_rule(number) for number in range(count)]
    import tempfile  # noqa: PLC0415

    import yaml  # noqa: PLC0415

    folder = Path(tempfile.mkdtemp(prefix="strata-diag-benchmark-"))
    for first in range(0, count, 500):
        pack = {
            "pack": f"made-{first}",
            "version": 1,
            "about": "rules to measure with",
            "rules": rules[first : first + 500],
        }
        (folder / f"made-{first}.yaml").write_text(yaml.safe_dump(pack), "utf-8")
    causes = Path(__file__).parent.parent / "rules" / "causes.yaml"
    remedies = Path(__file__).parent.parent / "rules" / "remedies.yaml"
    return load_rules([causes, remedies, folder], builtin=False, discover=False)


_PARTS = (
    "cuda",
    "vulkan",
    "hip",
    "metal",
    "sycl",
    "expert",
    "vision",
    "loader",
    "kv",
    "graph",
    "sampler",
    "socket",
    "draft",
    "router",
    "cache",
    "pager",
    "mmap",
    "nccl",
    "rccl",
    "opencl",
)
_VERBS = (
    "Malloc",
    "Memcpy",
    "StreamCreate",
    "Launch",
    "Map",
    "Register",
    "Query",
    "Import",
    "Bind",
    "Submit",
    "Pin",
    "Allocate",
    "Release",
    "Probe",
    "Fetch",
    "Merge",
    "Split",
    "Wait",
)
_OBJECTS = (
    "buffer",
    "tensor",
    "event",
    "context",
    "fence",
    "queue",
    "window",
    "page",
    "handle",
    "slot",
    "shard",
    "mirror",
    "ticket",
    "segment",
    "stripe",
    "lane",
)
_ADJECTIVES = ("stale", "foreign", "truncated", "misaligned", "oversized", "revoked", "orphaned", "duplicate")
_NOUNS = ("mapping", "revision", "checksum", "ordinal", "stride", "token", "signature", "watermark", "epoch")


def _rule(number: int) -> dict[str, object]:
    rest, part = divmod(number, len(_PARTS))
    rest, verb = divmod(rest, len(_VERBS))
    rest, thing = divmod(rest, len(_OBJECTS))
    call = f"{_PARTS[part]}{_VERBS[verb]}"
    why = f"has a {_ADJECTIVES[number % len(_ADJECTIVES)]} {_NOUNS[number // 7 % len(_NOUNS)]}" + (
        f" in pass {rest}" if rest else ""
    )
    sample = f"{call} failed: {_OBJECTS[thing]} 4711 {why}"
    pattern = f"{call} failed: {_OBJECTS[thing]} (?P<n>\\d+) {why}"
    if number % 6 == 1:
        pattern = f"(?i){pattern}"
    if number % 10 == 3:
        pattern = f"(?P<n>\\d+) of \\d+: {call} failed: {_OBJECTS[thing]} {why}"
        sample = f"17 of 20: {call} failed: {_OBJECTS[thing]} {why}"
    return {
        "id": f"r{number}", "role": "failure", "cause": "internal-error", "priority": 600, "title": f"{call} failed",
        "any": [{"regex": pattern}], "samples": {"match": [sample], "no_match": [f"{call}: {_OBJECTS[thing]} 4711 done"]},
    }  # fmt: skip


def log_lines(rules: RuleSet, failures_in: int, seed: int = 5) -> Iterator[bytes]:
    """Pieces of a log without an end, of whole lines; one line in `failures_in` is a failure's."""
    made = random.Random(seed)
    failures = [
        rule.sample_match[0].replace("\n", " ") for rule in rules.rules if is_deciding(rule) and rule.sample_match
    ]
    yield START.encode()
    healthy = []
    for number in range(BATCH_LINES):
        line = made.choice(HEALTHY)
        healthy.append(
            line.format(
                t=number / 7, s=made.randrange(8), n=made.randrange(1000, 99999), k=made.randrange(16, 4096),
                m=made.randrange(10, 99),
            )
        )  # fmt: skip
    while True:
        lines = healthy.copy()
        for place in range(made.randrange(failures_in), len(lines), failures_in):
            lines[place] = f"[{place / 7:10.3f}] {made.choice(failures)}"
        yield ("\n".join(lines) + "\n").encode()


def write_log(path: Path, rules: RuleSet, size: int, failures_in: int) -> None:
    """A log of about `size` bytes."""
    with path.open("wb") as file:
        for piece in log_lines(rules, failures_in):
            file.write(piece[: size - file.tell()])
            if file.tell() >= size:
                return
