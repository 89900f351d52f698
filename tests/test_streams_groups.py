"""Which files of a folder belong together, and that ambiguous folders join less."""

from __future__ import annotations

import pytest
from streams import LOADING, NamedBytes, fault, killed, timed, untimed, vllm

from strata_diag import RuleSet
from strata_diag.streams import Group, Stream, companions, join, read_companion, read_log

SMI = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"


def logs(rules: RuleSet, **files: str) -> list[Stream]:
    """Files of one folder, as they were read; two underscores in a name stand for a folder."""
    return [_read(name.replace("__", "/"), text, rules) for name, text in files.items()]


def _read(name: str, text: str, rules: RuleSet) -> Stream:
    return read_companion(NamedBytes(name, text), rules=rules)


def shown(groups: tuple[Group, ...]) -> dict[str, list[str]]:
    """The names in each group, by its log."""
    return {group.log.name: [stream.name for stream in group.beside] for group in groups}


@pytest.mark.parametrize(
    "system",
    [
        pytest.param(killed(), id="kernel"),
        pytest.param(killed("strata"), id="kernel, with the name of an engine"),
        pytest.param(fault(), id="driver"),
        pytest.param("llama-1 exited with code 137\n", id="compose"),
        pytest.param(SMI, id="nvidia-smi"),
    ],
)
def test_what_the_system_tells_stands_beside_a_log(all_rules: RuleSet, system: str) -> None:
    """A file in which rules know only the system's lines is put beside the engine's log of its folder."""
    found = companions(logs(all_rules, engine=untimed(), other=system), rules=all_rules)
    assert shown(found) == {"engine": ["other"]}
    assert not found[0].certain


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"engine": untimed()}, id="a log alone"),
        pytest.param({"dmesg": killed()}, id="a kernel's log alone"),
        pytest.param({"engine": untimed(), "vllm": vllm()}, id="two engines"),
        pytest.param({"a__engine": untimed(), "b__dmesg": killed()}, id="two folders"),
        pytest.param({"engine": untimed(), "notes": "hello\nworld\n"}, id="a file that nobody knows"),
        pytest.param({"engine": untimed(), "empty": ""}, id="an empty file"),
    ],
)
def test_the_rest_is_left_alone(all_rules: RuleSet, files: dict[str, str]) -> None:
    """Engines' logs, files of other folders and files of unknown content stand beside nothing."""
    assert companions(logs(all_rules, **files), rules=all_rules) == ()


def test_a_copy_with_more_in_it_stands_beside_its_log(all_rules: RuleSet) -> None:
    """A container's log that holds the engine's lines and goes on is put beside it."""
    copy = "".join(f"llm-1  | {line}\n" for line in LOADING) + "llm-1 exited with code 137\n"
    found = companions(logs(all_rules, engine=untimed(), compose=copy), rules=all_rules)
    assert shown(found)["engine"] == ["compose"]
    verdict = join(found[0].log, found[0].beside, rules=all_rules, certain=found[0].certain).verdict
    assert (verdict.cause, verdict.file, verdict.line) == ("killed", "compose", 4)


def test_parts_of_an_archive_are_folders(all_rules: RuleSet) -> None:
    """Files of one place in an archive belong together, those of two archives do not."""
    inside = [_read("bundle.zip!a/engine.log", untimed(), all_rules), _read("bundle.zip!a/dmesg", killed(), all_rules)]
    assert shown(companions(inside, rules=all_rules)) == {"bundle.zip!a/engine.log": ["bundle.zip!a/dmesg"]}
    apart = [inside[0], _read("other.zip!a/dmesg", killed(), all_rules)]
    assert companions(apart, rules=all_rules) == ()


def test_of_several_logs_only_pid_and_time_tell_which(all_rules: RuleSet) -> None:
    """Beside two logs of engines a name decides nothing; the time still does."""
    named = logs(all_rules, one=untimed(), two=timed(), dmesg=killed(time="[Wed Mar 11 08:02:14 2026]"))
    found = companions(named, rules=all_rules)
    assert [group.certain for group in found] == [True, True]
    files = [join(group.log, group.beside, rules=all_rules, certain=group.certain).verdict.file for group in found]
    assert files == ["", "dmesg"]


def test_a_log_that_was_read_keeps_what_the_caller_knows(all_rules: RuleSet) -> None:
    """The exit code that is given with the log takes part in the joined verdict."""
    log = read_log(NamedBytes("engine.log", untimed()), rules=all_rules, exit_code=137)
    found = join(log, [_read("dmesg", killed(), all_rules)], rules=all_rules)
    assert "process-end/killed" in {finding.rule for finding in found.verdict.chain}
    assert join(log, [], rules=all_rules) == log.diagnosis
