"""Logs generated from the message templates of `templates/`: other values, other surroundings, cut heads and tails.

Everything is drawn from a `random.Random` that a test seeds, so a failure can be repeated by its name alone.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import yaml

from strata_diag import Role, load_rules

FOLDER = Path(__file__).parent / "templates"
PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
BOOT_PHASES = ("header", "probe", "pack", "weights", "drafter", "gpu", "experts", "cache")
WINDOW = (
    "Strata - Qwen3.8-Flash-Next on a normal PC (a GPU + system RAM + CPU)",
    "",
    "  [ok] GPU: GPU 0 (NVIDIA GeForce RTX 4070, 12 GB)",
)


class Template(NamedTuple):
    """One message of the catalogue: where it stands, what it means, and every reading that can be defended."""

    row: str
    section: str
    severity: str
    stage: str
    text: str
    more: tuple[str, ...]
    accepted: tuple[tuple[str, str], ...]
    until: str

    @property
    def decides(self) -> bool:
        """Whether a run that ends with this message has a verdict of its own."""
        return bool(self.accepted)


@functools.cache
def templates() -> tuple[Template, ...]:
    """Every message, in the order of the catalogue."""
    content = _content()
    return tuple(_template(entry) for entry in content["messages"])


@functools.cache
def _content() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((FOLDER / "strata.yaml").read_text("utf-8"))
    return loaded


@functools.cache
def healthy_starts() -> dict[str, list[dict[str, str]]]:
    """The lines of a healthy start, with their phases, by kind of installation."""
    loaded: dict[str, list[dict[str, str]]] = yaml.safe_load((FOLDER / "healthy-start.yaml").read_text("utf-8"))[
        "variants"
    ]
    return loaded


def _template(entry: dict[str, Any]) -> Template:
    accepted = [(entry["status"], entry["cause"])] if "status" in entry else []
    accepted += [(status, cause) for status, cause in entry.get("also", ())]
    return Template(
        str(entry["row"]), entry["section"], entry["severity"], entry["stage"], entry["text"],
        tuple(entry.get("more", ())), tuple(accepted), entry.get("until", BOOT_PHASES[-1]),
    )  # fmt: skip


def fill(text: str, random: Random) -> str:
    """A template with a random value in each placeholder."""
    values = _content()["values"]
    return PLACEHOLDER.sub(lambda found: random.choice(values[found[1]]) if found[1] in values else found[0], text)


def filled(template: Template, random: Random) -> list[str]:
    """The lines of one message."""
    return [fill(text, random) for text in (template.text, *template.more)]


def healthy_until(random: Random, phases: tuple[str, ...] | None, *, gpu_encoder: bool = False) -> list[str]:
    """A healthy start of a random kind: up to a random one of `phases` (whole phase), or all of it with some requests.

    gpu_encoder: not the kind whose encoder hides the GPU from itself, which is a failure until it says so.
    """
    kinds = {name: lines for name, lines in healthy_starts().items() if not (gpu_encoder and name == "cpu-encoder")}
    lines = random.choice(list(kinds.values()))
    if phases is not None:
        present = [phase for phase in phases if any(line["phase"] == phase for line in lines)]
        last = random.choice(present)
        end = max(position for position, line in enumerate(lines) if line["phase"] == last)
        lines = lines[: end + 1]
    return [fill(line["text"], random) for line in lines]


def before(template: Template, random: Random) -> list[str]:
    """What stands before a message in a log, by its stage."""
    match template.stage:
        case "encoder":
            return healthy_until(random, ("encoder",), gpu_encoder=True)
        case "serving":
            return healthy_until(random, None)
        case "server" | "setup":
            return list(WINDOW)
        case _:
            return healthy_until(random, BOOT_PHASES[: BOOT_PHASES.index(template.until) + 1])


@functools.cache
def calm_lines(stage: str) -> tuple[Template, ...]:
    """Messages that look bad and are in healthy logs, of those that neither begin a start nor prove how far one came."""
    rules = load_rules(discover=False)
    turning = {Role.RUN_START, Role.READY, Role.RUN_END, Role.RECOVERY}
    patterns = [rules.compiled(one.number) for one in rules.patterns if rules.rules[one.rule].role in turning]

    def turns(text: str) -> bool:
        example = fill(text, Random(text))
        return any(pattern.search(example) for pattern in patterns)

    deciding = {one.text for one in templates() if one.decides}
    calm = [one for one in templates() if one.severity == "info" and one.stage == stage and one.text not in deciding]
    return tuple(one for one in calm if not one.more and not turns(one.text))


def harmless(random: Random, stage: str = "boot") -> str:
    """One of the calm lines, with values."""
    return fill(random.choice(calm_lines(stage)).text, random)


def alone(template: Template, random: Random) -> str:
    """A normal start or session that ends with the message."""
    return joined([*before(template, random), *filled(template, random)])


def surrounded(template: Template, random: Random) -> str:
    """The same with scary, harmless lines around the message; only before it where a later one would say that all goes on."""
    if (
        template.stage == "encoder"
    ):  # nothing of the engine stands around it: a line of the engine would prove that it started
        return alone(template, random)
    stage = "serving" if template.stage == "serving" else "boot"
    calm = [harmless(random, stage) for _ in range(3)]
    after = calm[2:] if stage == "boot" and template.severity != "companion" else []
    return joined([*before(template, random), *calm[:2], *filled(template, random), *after])


def cut(template: Template, random: Random) -> str:
    """The same with its head cut away, at a random line."""
    head = before(template, random)
    return joined([*head[random.randrange(len(head)) :], *filled(template, random)])


def quoted(template: Template, random: Random) -> str:
    """The same as the server quotes it in its window: each line indented, in a container's prefix, with CRLF."""
    lines = [*before(template, random), *filled(template, random)]
    return "".join(f"strata-1  |   {line}\r\n" if line else "strata-1  | \r\n" for line in lines)


def joined(lines: list[str]) -> str:
    """Lines as a log."""
    return "\n".join(lines) + "\n"
