"""Small logs of several files that tell of one failure, for the tests of `strata_diag.streams`."""

from __future__ import annotations

import io

LOADING = (
    "llama_model_loader: loaded meta data with 33 key-value pairs and 291 tensors from /m/x.gguf (version GGUF V3 (latest))",
    "load_tensors: loading model tensors, this can take a while... (mmap = false)",
    "load_tensors:   CPU model buffer size = 38912.00 MiB",
)
VLLM_START = "(APIServer pid=1) INFO 11-09 12:00:02 [api_server.py:1839] vLLM API server version 0.11.0"
VLLM_FAULT = (
    "(EngineCore_DP0 pid=118) ERROR 11-09 12:00:41 [core.py:710] torch.AcceleratorError: CUDA error: an illegal memory access "
    "was encountered"
)


class NamedBytes(io.BytesIO):
    """A stream with the name of a file."""

    def __init__(self, name: str, text: str | bytes) -> None:
        super().__init__(text.encode() if isinstance(text, str) else text)
        self.name = name


def timed(lines: tuple[str, ...] = LOADING, minute: int = 2) -> str:
    """Lines with times a second apart, from 08:02:10 on the 11th of March 2026."""
    return "".join(f"2026-03-11 08:{minute:02d}:{second:02d} {line}\n" for second, line in enumerate(lines, 10))


def untimed(lines: tuple[str, ...] = LOADING) -> str:
    """The same without times."""
    return "".join(f"{line}\n" for line in lines)


def killed(victim: str = "llama-server", pid: int = 20417, time: str = "[48211.330127]") -> str:
    """The line in which the kernel ends a process."""
    return f"{time} Out of memory: Killed process {pid} ({victim}) total-vm:81240012kB, anon-rss:47110344kB\n"


def fault(number: int = 31, who: str = "pid=30122, name=python3", time: str = "[ 4021.118010]") -> str:
    """The line in which NVIDIA's driver reports a fault."""
    return f"{time} NVRM: Xid (PCI:0000:41:00): {number}, {who}, Ch 0000000a, intr 00000000.\n"


def vllm(*, failing: bool = False) -> str:
    """The log of vLLM in a container, while it loads."""
    loading = [
        f"(EngineCore_DP0 pid=118) INFO 11-09 12:00:{s} [core.py:{s}] Loading weights, part {s}" for s in (37, 39)
    ]
    return "\n".join([VLLM_START, *loading, *([VLLM_FAULT] if failing else [])]) + "\n"
