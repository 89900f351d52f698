"""What a command line takes at least, from the numbers of an earlier log of the same model."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import CORPUS

from strata_diag.tuner.needs import Need, command_words, option, read_needs

HEALTHY = CORPUS / "strata" / "busy-then-healthy.log"
REFUSED = CORPUS / "strata" / "calibration-no-vram.log"
COMMAND = "strata --serve --spec 4 --mtp mtp/rt --max-context 131072 --kv k8v4 --vram-reserve-mib 700"


def needs(log: Path | str, command: str = COMMAND) -> Need:
    """The needs of a command line by a log."""
    return read_needs(log, command_words(command))


def vram(log: Path | str, command: str = COMMAND) -> dict[str, int]:
    """The parts of the VRAM in MiB."""
    return dict(needs(log, command).vram_parts)


def test_a_healthy_log_tells_its_fixed_parts() -> None:
    """Weights, projections, draft layer, head, draft head and reserve are added up; experts and embedding lie in RAM."""
    found = needs(HEALTHY)
    assert dict(found.vram_parts) == {
        "weights": 1443,
        "projections": 1766,
        "draft layer": 835,
        "head": 434,
        "draft head": 192,
        "reserve": 700,
    }
    assert found.vram_mib == sum(dict(found.vram_parts).values())
    assert dict(found.ram_parts) == {"experts": 40663, "token embedding": 258}
    assert found.ram_gib == pytest.approx(39.96, abs=0.01)
    assert found.origin == str(HEALTHY)


def test_a_refusal_tells_the_session_and_the_smallest_cache() -> None:
    """Where the engine refused for lack of VRAM, it named what the session and the smallest cache take."""
    found = vram(REFUSED)
    assert (found["session"], found["expert cache"]) == (1120, 402)


@pytest.mark.parametrize(("context", "session"), [("131072", 1120), ("65536", 560), ("262144", 2016), ("auto", 1120)])
def test_the_session_follows_the_context(context: str, session: int) -> None:
    """The session shrinks with the context, and grows by the share that surely is KV cache: the sum stays a lower bound."""
    assert vram(REFUSED, COMMAND.replace("131072", context))["session"] == session


def test_the_session_follows_the_kv_type() -> None:
    """A tighter KV type takes less, once the earlier command line says what the log's session was stored as."""
    log = f"[strata] 2026-10-01 10:00:00 engine started: {COMMAND}\n" + REFUSED.read_text("utf-8")
    assert vram(log, COMMAND.replace("k8v4", "q4_0"))["session"] == 840
    assert vram(log, COMMAND.replace("k8v4", "fp16"))["session"] == pytest.approx(1120 * (1 + 0.8 * 5 / 3), abs=1)
    assert "session" not in vram(log, COMMAND + " --kv-resident 32768")


def test_options_of_the_command_change_the_sum() -> None:
    """The reserve is that of the command; slots by number take their share; without drafts nothing is drafted."""
    assert vram(HEALTHY, COMMAND.replace("reserve-mib 700", "reserve-mib=2048"))["reserve"] == 2048
    slots = vram(HEALTHY, COMMAND + " --expert-cache 1000")["expert cache"]
    assert slots == round(1000 * 25.68 * 1024 / 15278)
    assert "draft layer" not in vram(HEALTHY, "strata --serve --max-context 65536")


def test_experts_that_stay_in_the_files_take_their_budget() -> None:
    """With a RAM budget the experts take that much; mapped without one, nothing is known."""
    assert needs(HEALTHY, COMMAND + " --mmap-experts --resident-budget-gib 20").ram_parts[0] == ("experts", 20480)
    assert needs(HEALTHY, COMMAND + " --mmap-experts").ram_gib is None


def test_a_log_of_another_model_is_left_out() -> None:
    """Another pack has other sizes, so nothing is taken from its log; another place of the same pack is no other model."""
    other = needs(HEALTHY, COMMAND + " --pack /data/packs/iq2_s")
    assert (other.vram_mib, other.ram_gib) == (None, None)
    assert "another model" in other.remark
    assert needs(HEALTHY, COMMAND + " --pack D:\\packs\\swift-iq3_xxs\\").vram_mib


def test_several_cards_are_not_added_up() -> None:
    """A log of a layer split does not say what each card takes, so only the RAM is known."""
    log = HEALTHY.read_text("utf-8") + "strata generate: layer split, CUDA1: 10.10 GiB free of 15.60\n"
    found = needs(log)
    assert found.vram_mib is None
    assert found.ram_gib
    assert "several cards" in found.remark
    assert needs(HEALTHY, COMMAND + " --layer-split 24").vram_mib is None


def test_the_newest_start_counts() -> None:
    """A log holds many starts; the newest number of each kind is used."""
    log = HEALTHY.read_text("utf-8") + "strata mtp: draft layer loaded, 900 MiB of VRAM (experts 675, dense 111)\n"
    assert vram(log)["draft layer"] == 900


def test_absurd_numbers_are_no_numbers() -> None:
    """A hostile log can't make a need of a petabyte, a negative one or none at all."""
    log = (
        "strata generate: 99999999999999 MiB of weights loaded from x\nstrata mtp: draft layer loaded, 8 MiB of VRAM\n"
    )
    assert vram(log, COMMAND.replace("mib 700", "mib nan")) == {"draft layer": 8}


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (None, []),
        ("a --b c", ["a", "--b", "c"]),
        ('"C:\\Program Files\\strata.exe" --kv q4_0', ["C:\\Program Files\\strata.exe", "--kv", "q4_0"]),
        ('"it is cut', ['"it', "is", "cut"]),
        (("a", "b c"), ["a", "b c"]),
    ],
)
def test_command_lines_of_both_systems(command: str | tuple[str, ...] | None, words: list[str]) -> None:
    """A command line is read as words, with blanks in quotes and backslashes as they stand."""
    assert command_words(command) == words


def test_the_last_of_an_option_counts() -> None:
    """An option may be written with a blank or an equals sign, and the last one wins, as in the engine."""
    words = ["--kv", "int8", "--kv=q4_0", "--max-context"]
    assert option(words, "--kv") == "q4_0"
    assert option(words, "--max-context") is None
