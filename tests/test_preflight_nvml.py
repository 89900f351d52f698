"""Preflight against a driver: several cards, who holds them, MIG, error codes, and a driver that never answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import CORPUS, ROOT
from machines import Machine, check, compile_library, needs_compiler

pytestmark = needs_compiler

SCHEMA = ROOT / "strata_diag" / "schema" / "preflight-1.json"
HEALTHY = CORPUS / "strata" / "busy-then-healthy.log"
IDLE = "driver 581.15\ncard 16311 15800 0 12 0 NVIDIA GeForce RTX 5060 Ti\n"
SERVED = IDLE.replace("15800", "1600") + "process 0 compute 999001 14100 /opt/strata/engine/strata\n"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the compiled driver library."""
    return compile_library(tmp_path_factory.mktemp("nvml"))


@pytest.fixture(scope="module")
def machine(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """One process for all questions that get an answer."""
    made = Machine(library, tmp_path_factory.mktemp("machine"), measured=True)
    yield made
    assert made.close() == 0


def test_a_free_card_is_read_in_full(machine: Machine) -> None:
    """Driver, name, memory in MiB, compute mode and capability of every card are in the JSON."""
    answer = machine.preflight(IDLE + "card 24564 24000 3 8 9 NVIDIA GeForce RTX 4090\n", need_mib=6000)
    assert answer["driver"] == "581.15"
    assert [card["name"] for card in answer["cards"]] == ["NVIDIA GeForce RTX 5060 Ti", "NVIDIA GeForce RTX 4090"]
    assert answer["cards"][1] == {
        "number": 1,
        "name": "NVIDIA GeForce RTX 4090",
        "total_mib": 24564,
        "free_mib": 24000,
        "compute_mode": "exclusive-process",
        "capability": "8.9",
        "instances": None,
        "processes": [],
        "lost": False,
        "problems": [],
    }
    for name in ("driver", "card", "vram"):
        assert check(answer, name)["state"] == "clear", check(answer, name)


@pytest.mark.parametrize("cards", [IDLE, SERVED, "", IDLE + "answer nvmlDeviceGetHandleByIndex_v2 15\n"])
def test_the_answer_fits_its_schema(cards: str, machine: Machine) -> None:
    """The JSON is what the shipped schema describes, whatever the driver says."""
    answer = machine.preflight(cards, earlier_log=HEALTHY.read_text("utf-8"), command="strata --max-context 65536")
    jsonschema.validate(answer, json.loads(SCHEMA.read_text("utf-8")))


def test_a_served_engine_on_the_card_stands_in_the_way(machine: Machine) -> None:
    """The engine that the driver lists blocks, by name and memory, even where this process list does not show it."""
    answer = machine.preflight(SERVED)
    found = check(answer, "card")
    assert (found["state"], found["status"], found["cause"]) == ("blocked", "CUDA_UNAVAILABLE", "device-busy")
    assert "strata (process 999001, 14100 MiB)" in found["text"]
    assert found["remedies"][0]["action"] == "unload-the-model"
    assert check(answer, "vram")["cause"] == "vram-exhausted"
    assert {step["action"] for step in answer["remedies"]} == {step["action"] for step in found["remedies"]}


def test_the_other_card_is_free(machine: Machine) -> None:
    """Only the card that the run will use counts."""
    both = SERVED + "card 24564 24000 0 8 9 NVIDIA GeForce RTX 4090\n"
    assert check(machine.preflight(both, device=0), "card")["state"] == "blocked"
    assert check(machine.preflight(both, device=1), "card")["state"] == "clear"
    missing = check(machine.preflight(both, device=2), "card")
    assert (missing["state"], missing["cause"]) == ("blocked", "no-device")
    assert "the driver sees 2" in missing["text"]


def test_another_program_on_the_card_is_worth_a_look(machine: Machine) -> None:
    """A foreign program that leaves enough room does not block; a desktop that draws on the card is not named at all."""
    cards = IDLE + "process 0 compute 999002 900 /usr/bin/blender\nprocess 0 graphics 999003 300 /usr/bin/Xorg\n"
    answer = machine.preflight(cards, need_mib=6000)
    found = check(answer, "card")
    assert found["state"] == "caution"
    assert "blender (process 999002, 900 MiB)" in found["text"]
    assert "Xorg" not in found["text"]
    assert [process["kind"] for process in answer["cards"][0]["processes"]] == ["compute", "graphics"]


@pytest.mark.parametrize(
    ("mode", "holder", "state"),
    [(3, True, "blocked"), (3, False, "clear"), (1, True, "blocked"), (2, False, "blocked"), (0, True, "caution")],
    ids=["exclusive-held", "exclusive-free", "exclusive-thread", "prohibited", "default"],
)
def test_compute_modes(mode: int, holder: bool, state: str, machine: Machine) -> None:
    """An exclusive card is busy once anybody computes on it, a prohibited one always."""
    cards = f"driver 581.15\ncard 32768 32000 {mode} 7 0 Tesla V100\n"
    found = check(machine.preflight(cards + "process 0 compute 999002 400 python3\n" * holder, need_mib=6000), "card")
    assert found["state"] == state
    if state == "blocked":
        assert found["cause"] == "device-busy"
        assert found["remedies"][0]["action"] == "check-compute-mode"


def test_memory_that_windows_does_not_report(machine: Machine) -> None:
    """A process whose memory the driver does not say is listed without a number."""
    answer = machine.preflight(IDLE + "process 0 compute 999004 - C:\\Strata\\engine\\strata.exe\n")
    assert answer["cards"][0]["processes"][0]["used_mib"] is None
    assert "strata.exe (process 999004)" in check(answer, "card")["text"]


def test_windows_programs_with_a_window_are_no_other_computation(machine: Machine) -> None:
    """Windows lists the desktop as compute and graphics at once; that alone is nothing to look at."""
    desktop = "process 0 compute 999005 - explorer.exe\nprocess 0 graphics 999005 - explorer.exe\n"
    answer = machine.preflight(IDLE + desktop, need_mib=6000)
    assert check(answer, "card")["state"] == "clear"
    assert [process["kind"] for process in answer["cards"][0]["processes"]] == ["both"]
    exclusive = IDLE.replace("15800 0", "15800 3")
    assert check(machine.preflight(exclusive + desktop), "card")["state"] == "blocked"


@pytest.mark.parametrize(
    ("need", "free", "state", "cause"),
    [
        (6000, 6000, "clear", "none"),
        (6000, 5999, "blocked", "vram-exhausted"),
        (20000, 15800, "blocked", "vram-budget"),
        (None, 15800, "clear", "none"),
        (None, 5000, "caution", "vram-exhausted"),
        (None, 2999, "blocked", "vram-exhausted"),
    ],
)
def test_free_vram_against_the_need(need: int | None, free: int, state: str, cause: str, machine: Machine) -> None:
    """A shortage blocks; more than the card has at all is a matter of settings; without a need only the extremes decide."""
    found = check(machine.preflight(IDLE.replace("15800", str(free)), need_mib=need), "vram")
    assert (found["state"], found["cause"]) == (state, cause)
    if state == "blocked":
        assert found["values"]["short_mib"] == (need or 3000) - free


def test_a_full_card_without_a_listed_holder(machine: Machine) -> None:
    """In a container the driver lists no process of the host; preflight says that it does not know who."""
    found = check(machine.preflight(IDLE.replace("15800", "4000")), "vram")
    assert "does not say by whom" in found["text"]


@pytest.mark.parametrize(
    ("version", "capability", "command", "state"),
    [
        ("580.65.06", "12 0", None, "clear"),
        ("579.99", "12 0", None, "blocked"),
        ("570.86.15", "7 0", None, "clear"),
        ("570.86.15", "8 9", ["/opt/strata/engine-cuda12/strata", "--serve"], "clear"),
        ("470.256.02", "7 0", None, "blocked"),
        ("616.56", "8 9", ["C:\\Strata\\engine\\strata.exe"], "clear"),
        ("experimental", "8 9", None, "unknown"),
    ],
)
def test_driver_versions(
    version: str, capability: str, command: list[str] | None, state: str, machine: Machine
) -> None:
    """CUDA 13 needs 580; the CUDA 12 engine, and cards that only it supports, need 525."""
    found = check(
        machine.preflight(f"driver {version}\ncard 16000 15000 0 {capability} Card\n", command=command), "driver"
    )
    assert found["state"] == state
    assert found["cause"] == {"blocked": "driver-mismatch", "clear": "none", "unknown": "unknown"}[state]
    if state == "blocked":
        assert found["retry"] == "after:driver-change"
        assert found["remedies"][0]["action"] == "update-driver"


MIG = "driver 581.15\ncard 81920 80000 0 9 0 NVIDIA H100\nmig 0 9856 500 MIG-aaaa\nmig 0 40192 40000 MIG-bbbb\n"


def test_a_partitioned_card(machine: Machine) -> None:
    """With MIG a program gets one instance: the first, or the one that CUDA_VISIBLE_DEVICES names."""
    answer = machine.preflight(MIG, need_mib=6000)
    assert answer["cards"][0]["instances"] == 2
    assert "500 MiB of 9856 MiB" in check(answer, "vram")["text"]
    chosen = machine.preflight(MIG, need_mib=6000, environment={"CUDA_VISIBLE_DEVICES": "MIG-bbbb"})
    assert check(chosen, "vram")["state"] == "clear"
    none = check(machine.preflight("driver 581.15\ncard 81920 80000 0 9 0 NVIDIA H100\nnomig 0\n"), "card")
    assert (none["state"], none["cause"]) == ("blocked", "no-device")
    assert "without an instance" in none["text"]


@pytest.mark.parametrize("hidden", ["-1", ""])
def test_a_variable_that_hides_every_card(hidden: str, machine: Machine) -> None:
    """An empty CUDA_VISIBLE_DEVICES, or -1, hides every card, unless the command line chooses one itself."""
    found = check(machine.preflight(IDLE, environment={"CUDA_VISIBLE_DEVICES": hidden}), "card")
    assert (found["state"], found["cause"]) == ("blocked", "no-device")
    assert found["remedies"][0]["action"] == "check-visible-devices"
    chosen = machine.preflight(IDLE, environment={"CUDA_VISIBLE_DEVICES": hidden}, command=["strata", "--gpu", "0"])
    assert check(chosen, "card")["state"] == "clear"


@pytest.mark.parametrize(
    ("code", "words"),
    [(9, "not loaded"), (4, "may not ask"), (999, "Unknown Error"), (12, "is not there"), (17, "blocked the request")],
    ids=["driver-not-loaded", "no-permission", "unknown-error", "library-not-found", "operating-system"],
)
def test_a_driver_that_can_not_be_asked_never_blocks(code: int, words: str, machine: Machine) -> None:
    """Without a driver preflight says which checks could not be made and why, and stands in nobody's way."""
    answer = machine.preflight(IDLE + f"answer nvmlInitWithFlags {code}\n")
    assert words in check(answer, "driver")["text"]
    assert [check(answer, name)["state"] for name in ("driver", "card", "vram")] == ["unknown"] * 3
    assert answer["cause"] in ("none", "device-busy")  # whatever else runs on the machine of this test


def test_driver_and_library_of_two_versions(machine: Machine) -> None:
    """After an update without a restart no program can use the card, so this one error blocks."""
    found = check(machine.preflight(IDLE + "answer nvmlInitWithFlags 18\n"), "driver")
    assert (found["state"], found["cause"]) == ("blocked", "driver-mismatch")
    assert found["remedies"][0]["action"] == "restart-pc"


@pytest.mark.parametrize("function", ["nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetMemoryInfo"])
def test_a_lost_card(function: str, machine: Machine) -> None:
    """A card that fell off the bus is a fault of the GPU; the other card is read all the same."""
    cards = IDLE + f"card 24564 24000 0 8 9 NVIDIA GeForce RTX 4090\nanswer {function} 15 0\n"
    answer = machine.preflight(cards)
    found = check(answer, "card")
    assert (found["state"], found["status"], found["cause"]) == ("blocked", "CRASH", "gpu-fault")
    assert answer["cards"][1]["free_mib"] == 24000


@pytest.mark.parametrize(
    ("function", "code", "check_name"),
    [
        ("nvmlDeviceGetMemoryInfo", 3, "vram"),
        ("nvmlDeviceGetMemoryInfo", 4, "vram"),
        ("nvmlDeviceGetComputeRunningProcesses_v3", 3, "card"),
        ("nvmlDeviceGetComputeRunningProcesses_v3", 4, "card"),
    ],
)
def test_one_value_that_is_not_to_be_had(function: str, code: int, check_name: str, machine: Machine) -> None:
    """A card that does not report one value leaves that check open and no other."""
    answer = machine.preflight(IDLE + f"answer {function} {code}\n", need_mib=6000)
    states = {name: check(answer, name)["state"] for name in ("driver", "card", "vram")}
    assert states == {**dict.fromkeys(states, "clear"), check_name: "unknown"}
    assert {3: "Not Supported", 4: "Insufficient Permissions"}[code] in check(answer, check_name)["text"]


def test_names_that_can_not_be_read_change_nothing(machine: Machine) -> None:
    """A card without a name, mode or capability is still judged by what it does report."""
    functions = ("nvmlDeviceGetName", "nvmlDeviceGetComputeMode", "nvmlDeviceGetCudaComputeCapability")
    answer = machine.preflight(IDLE + "".join(f"answer {name} 3\n" for name in functions), need_mib=6000)
    assert check(answer, "vram")["state"] == "clear"
    assert answer["cards"][0]["problems"] == [
        "name: Not Supported",
        "compute mode: Not Supported",
        "compute capability: Not Supported",
    ]


def test_a_name_that_is_no_text(machine: Machine) -> None:
    """A card whose name is no UTF-8 is judged all the same."""
    answer = machine.preflight(IDLE.replace("NVIDIA", "\udcff"), need_mib=6000)
    assert check(answer, "vram")["state"] == "clear"
    assert answer["cards"][0]["problems"][0].startswith("name: 'utf-8' codec")


def test_no_card_at_all(machine: Machine) -> None:
    """A driver that sees no card blocks nothing: the run itself will say what it found."""
    answer = machine.preflight("driver 581.15\n")
    assert check(answer, "card")["state"] == "unknown"
    assert "sees no card" in check(answer, "card")["text"]


def hung(machine: Machine, cards: str, **request: Any) -> dict[str, Any]:
    """The answer with a limit of a fraction of a second."""
    return machine.preflight(cards, limit_s=0.3, **request)


@pytest.mark.parametrize(
    ("function", "driver", "cards"),
    [("nvmlInitWithFlags", "", 0), ("nvmlDeviceGetMemoryInfo", "581.15", 0), ("nvmlDeviceGetName 1", "581.15", 1)],
    ids=["at-once", "first-card", "second-card"],
)
def test_a_driver_that_never_answers(function: str, driver: str, cards: int, library: Path, tmp_path: Path) -> None:
    """A hung call costs the limit and nothing more; what was read before it is kept, and the process can end."""
    machine = Machine(library, tmp_path)
    two = IDLE + "card 24564 24000 0 8 9 NVIDIA GeForce RTX 4090\n"
    answer = hung(machine, two + f"hang {function}\n", device=1)
    assert (answer["driver"], len(answer["cards"])) == (driver, cards)
    found = check(answer, "card" if driver else "driver")
    assert found["state"] == "unknown"
    assert "did not answer within 0.3 s" in found["text"]
    again = check(hung(machine, two, device=1), "driver")
    assert "has not answered an earlier question yet" in again["text"]
    assert machine.close() == 0
