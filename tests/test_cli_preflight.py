"""`strata-diag preflight`: exit codes, text for a person, JSON for a program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CORPUS
from machines import compile_library, machine_environment, needs_compiler, until

from strata_diag import Notice, RuleSet
from strata_diag.cli import main
from strata_diag.render.layout import plain
from strata_diag.render.preflight import preflight_lines
from strata_diag.tuner.checks import Check, State, worded
from strata_diag.tuner.preflight import Preflight

IDLE = "driver 581.15\ncard 16311 15800 0 12 0 NVIDIA GeForce RTX 5060 Ti\n"
BUSY = IDLE + "process 0 compute 999001 14100 /opt/strata/engine/strata\n"
LOG = CORPUS / "strata" / "calibration-no-vram.log"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the compiled driver library."""
    return compile_library(tmp_path_factory.mktemp("nvml"))


def on_machine(library: Path, folder: Path, cards: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """The command on a machine with these cards."""
    description = folder / "cards.txt"
    description.write_bytes(cards.encode("utf-8"))
    words = [sys.executable, "-m", "strata_diag", "preflight", "--no-plugin", "*", *map(str, arguments)]
    environment = {**os.environ, **machine_environment(library, description)}
    environment.pop("CUDA_VISIBLE_DEVICES", None)
    return subprocess.run(words, capture_output=True, text=True, check=False, env=environment)


@needs_compiler
def test_a_free_machine_is_exit_code_zero(library: Path, tmp_path: Path) -> None:
    """With a free card and no program of Strata nothing stands in the way, and every check says so."""
    done: list[subprocess.CompletedProcess[str]] = []

    def clear() -> bool:  # another test run on this machine may have a program of these names for some seconds
        done.append(on_machine(library, tmp_path, IDLE, "--need-mib", 6000))
        return done[-1].returncode == 0

    assert until(clear), done[-1].stdout
    shown = done[-1].stdout
    assert "card 0: NVIDIA GeForce RTX 5060 Ti, driver 581.15" in shown
    assert "CLEAR  Nothing stands in the way." in shown
    assert "15800 MiB of 16311 MiB are free on card 0, and the run takes at least 6000 MiB." in shown
    assert "What to do" not in shown


@needs_compiler
def test_a_held_card_is_exit_code_one(library: Path, tmp_path: Path) -> None:
    """A person reads status, cause, who holds the card and how much, what to do, and when to look again."""
    done = on_machine(library, tmp_path, BUSY, "--need-mib", 6000)
    assert (done.returncode, done.stderr) == (1, "")
    for words in (
        "CUDA_UNAVAILABLE / device-busy",
        "held by strata (process 999001, 14100 MiB)",
        "BLOCKED",
        "  1. Unload or stop the model",
        "Look again? yes, once the card is free",
    ):
        assert words in done.stdout


@needs_compiler
def test_json_of_the_command_line_about_to_be_measured(library: Path, tmp_path: Path) -> None:
    """With an earlier log and a command line the need is added up, and the shortage has numbers and remedies."""
    cards = IDLE.replace("15800", "3000")
    command = ["--", "strata", "--max-context", "262144", "--spec", "4", "--vram-reserve-mib", "700"]
    done = on_machine(library, tmp_path, cards, "--format", "json", "--earlier-log", LOG, *command)
    answer = json.loads(done.stdout)
    assert done.returncode == 1
    assert answer["schema"] == 1
    assert answer["need"]["vram_mib"] == sum(mib for _, mib in answer["need"]["vram_parts"]) > 3000
    vram = next(check for check in answer["checks"] if check["name"] == "vram")
    assert (vram["status"], vram["cause"], vram["retry"]) == ("OOM", "vram-exhausted", "after:card-free")
    assert vram["values"]["short_mib"] == answer["need"]["vram_mib"] - 3000
    assert f"about {vram['values']['short_mib']} MiB more must be free" in vram["remedies"][0]["text"]
    assert {"action", "text", "commands", "risk", "link", "page"} == vram["remedies"][0].keys()


@needs_compiler
def test_hostile_names_can_not_reach_the_terminal(library: Path, tmp_path: Path) -> None:
    """No control code in the name of a card or of a program is obeyed, and no byte that is no text stops the command."""
    cards = IDLE.replace("NVIDIA", "\x1b]0;owned\x07\x1b[2J") + "process 0 compute 999002 9 \u202eevil\x1b[31m\n"
    done = on_machine(library, tmp_path, cards)
    assert done.returncode in (0, 1)
    assert not any(ord(character) < 32 and character != "\n" for character in done.stdout)
    assert "\u202e" not in done.stdout


def shown(*checks: Check) -> str:
    """The text for a person of a preflight with these checks."""
    notices = (Notice("plugin", "a probe \x1b[2J raised"),)
    return "\n".join(plain(line) for line in preflight_lines(Preflight(checks, notices=notices), "linux"))


def test_every_state_is_shown(rules: RuleSet) -> None:
    """Each check is a line with its state; what could not be looked at stands beside the word CLEAR, and is no advice."""
    clear = Check("ram", State.CLEAR, "Enough.")
    caution = worded(Check("card", State.CAUTION, "Somebody \x1b[31mdraws.", "device-busy"), rules)
    unknown = worded(Check("vram", State.UNKNOWN, "Not to be had."), rules)
    text = shown(clear, caution, unknown)
    assert "CLEAR  Nothing stands in the way. Not looked at: vram." in text
    assert "  card      look     Somebody \\x1b[31mdraws." in text
    assert "  vram      unknown  Not to be had." in text
    assert "a probe \\x1b[2J raised" in text
    assert "What to do" not in text
    assert shown(unknown).splitlines()[1] == "UNKNOWN  Nothing could be looked at."
    blocked = worded(Check("driver", State.BLOCKED, "Too old.", "driver-mismatch"), rules)
    text = shown(clear, blocked, caution)
    assert "CUDA_UNAVAILABLE / driver-mismatch  Too old." in text
    assert "Look again? only with another driver" in text


def test_a_lease_of_another_job_is_exit_code_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The mark of another tuning job whose owner runs stands in the way."""
    lease = tmp_path / "tuning.lease"
    lease.write_text(str(os.getpid()), "ascii")
    assert main(["preflight", "--no-plugin", "*", "--lease", str(lease)]) == 1
    assert "Another tuning job has left its mark" in capsys.readouterr().out


def test_an_earlier_log_that_is_missing_is_exit_code_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that was named and can't be read is an error with its path, not a check that was left out."""
    assert main(["preflight", "--no-plugin", "*", "--earlier-log", str(tmp_path / "gone.log")]) == 2
    assert "gone.log: there is no such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    "wrong", [["--need-mib", "-1"], ["--device", "x"], ["--need-mib", "1.5"], ["--format", "html"]]
)
def test_usage_errors_are_exit_code_two(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A number that is none is a usage message, not a traceback."""
    with pytest.raises(SystemExit) as stopped:
        main(["preflight", *wrong])
    assert stopped.value.code == 2
    assert "usage: strata-diag preflight" in capsys.readouterr().err


def test_help_names_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    """--help shows calls and says what each exit code means."""
    with pytest.raises(SystemExit):
        main(["preflight", "--help"])
    shown = capsys.readouterr().out
    assert "strata-diag preflight --need-mib 6000" in shown
    assert "3 nothing could be looked at" in shown
