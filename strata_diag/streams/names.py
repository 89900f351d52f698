"""Whether the name of a process, container or image is one that an engine goes by.

Comes in: a name and an engine as packs write it (`llama.cpp`, `vllm`). An engine that is not listed goes by its own name.
"""

from __future__ import annotations

from collections.abc import Iterable

from strata_diag.lazy import later_regex

LONGEST_COMM = 15  # letters of a process's name that Linux keeps
SHORTEST_BEGINNING = 4  # letters of a word with which a longer name may begin; a shorter one must be the whole name

_WORDS = {
    "llama.cpp": ("llama",),
    "lm studio": ("lmstudio", "llmworker"),
    "ollama": ("ollama",),
    "stable-diffusion.cpp": ("sd", "sdserver", "sdcli", "stablediffusion"),
    "tensorrt-llm": ("triton", "trtllm", "tensorrt"),
    "tgi": ("textgen", "tgi"),
    "whisper.cpp": ("whisper",),
}
_PYTHON = frozenset({
    "strata", "vllm", "sglang", "tgi", "pytorch", "transformers", "exllama", "mlx", "nccl", "ray", "tensorrt-llm",
})  # fmt: skip
_ALSO_IN_PYTHON = frozenset({"llama.cpp", "koboldcpp"})  # through bindings, or a program around the library
_WITH_CHILDREN = frozenset({
    "vllm", "sglang", "tgi", "ollama", "lm studio", "localai", "pytorch", "nccl", "ray", "triton", "tensorrt-llm",
})  # fmt: skip
_INTERPRETERS = ("python", "pt_main_thread", "ray::")
_NO_LETTER = later_regex(r"[^a-z0-9]+")


def runs_in_python(engine: str) -> bool:
    """Whether the engine's processes are usually called after Python."""
    return engine.lower() in _PYTHON


def has_children(engine: str) -> bool:
    """Whether the engine starts processes of its own name, whose pids its log does not tell."""
    return engine.lower() in _WITH_CHILDREN


def is_its_own(name: str, engine: str) -> bool:
    """Whether a process of this name can only be the engine's."""
    plain = _plain(name)
    return any(_begins(plain, word) for word in _words(engine))


def may_be_its_own(name: str, engine: str) -> bool:
    """Whether a process of this name is an interpreter in which the engine may run, as many other programs do."""
    known = engine.lower() in _PYTHON | _ALSO_IN_PYTHON
    return known and name.lower().startswith(_INTERPRETERS)


def is_named_after(name: str, engine: str) -> bool:
    """Whether a part of the name of a container or image is the engine's name: `my-vllm-1`, `vllm/vllm-openai:v0.11`."""
    parts = _NO_LETTER.split(name.lower())
    return any(_begins(part, word) for part in parts for word in _words(engine))


def is_mentioned(name: str, lines: Iterable[str]) -> bool:
    """Whether lines hold the first word of a program's name, for a log whose engine is not known."""
    word = next(iter(_NO_LETTER.split(name.lower())), "")
    return word.isalpha() and len(word) >= SHORTEST_BEGINNING and any(word in line.lower() for line in lines)


def same_program(name: str, other: str) -> bool:
    """Whether two names are those of one program, one of them cut as the kernel cuts it."""
    short, long = sorted((name, other), key=len)
    return short == long or (len(short) == LONGEST_COMM and long.startswith(short))


def _words(engine: str) -> tuple[str, ...]:
    known = engine.lower()
    return _WORDS.get(known, (_plain(known),) if known else ())


def _plain(name: str) -> str:
    return _NO_LETTER.sub("", name.lower())


def _begins(name: str, word: str) -> bool:
    return name == word or (len(word) >= SHORTEST_BEGINNING and name.startswith(word))
