"""The pre-commit hooks and the GitHub Action: their own commands are run, on a folder that is right and one that is wrong."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import ROOT
from workshop_packs import ALONE, LABEL, RULES, corpus_folder, packs_folder

from strata_diag.cli.tree import command_tree

HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
WRONG = RULES.replace("match: ['engine: no room", "match: ['ENGINE: no room")
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"] if "name" in step}
ENVIRONMENT = {**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}


def bash(command: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command line in a folder, with the `strata-diag` of this environment."""
    words = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", command]
    env = {**ENVIRONMENT, **variables}
    return subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)


def action_step(name: str, folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run a step of the action as GitHub does: its inputs come by its environment."""
    given = {key: one.get("default", "") for key, one in ACTION["inputs"].items()} | inputs
    step = STEPS[name]
    variables = {
        variable: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: given[found[1]], value)
        for variable, value in step["env"].items()
    }
    return bash(step["run"], folder, **variables)


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_a_hook_runs_on_the_files_that_it_is_given(hook: dict[str, Any], tmp_path: Path) -> None:
    """Its entry with the changed files behind it is 0 for right packs and 1 for wrong ones."""
    packs = packs_folder(tmp_path / "rules")
    arguments = ["--rules", "rules", *ALONE]
    command = shlex.join([*shlex.split(hook["entry"]), *arguments, "rules/sample.yaml"])
    done = bash(command, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    packs_folder(packs, WRONG)
    done = bash(command, tmp_path)
    assert done.returncode == 1
    assert "sample.yaml:12" in done.stdout


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_a_hook_is_what_pre_commit_reads(hook: dict[str, Any]) -> None:
    """Its keys are those that pre-commit asks for, its pattern finds packs and its entry is a verb of ours."""
    assert {"id", "name", "entry", "language", "files"} <= set(hook)
    assert hook["language"] == "python"
    wanted = re.compile(hook["files"])
    assert wanted.search("rules/cuda.yaml")
    assert wanted.search("my/packs/cuda.yaml")
    assert not wanted.search("corpus/case.yaml")
    verbs = {" ".join(part.path) for verb in command_tree().parts for part in verb.parts}
    assert hook["entry"].removeprefix("strata-diag ") in verbs


@pytest.mark.parametrize("name", ["Lint the packs", "Test the packs"])
def test_a_step_of_the_action_annotates_what_is_wrong(name: str, tmp_path: Path) -> None:
    """Right packs are silent and 0; wrong ones are 1, with an annotation at the line of the sample."""
    packs_folder(tmp_path / "my rules")
    options = shlex.join(ALONE).replace("'*'", "builtin")  # a bare word: the options are split at blanks and globbed
    given = {"rules": "my rules", "options": options}
    done = action_step(name, tmp_path, **given)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    packs_folder(tmp_path / "my rules", WRONG)
    done = action_step(name, tmp_path, **given)
    assert done.returncode == 1
    assert re.search(r"^::error file=my rules/sample\.yaml,line=15,", done.stdout, re.MULTILINE)


def test_the_action_tests_the_corpus_that_it_is_given(tmp_path: Path) -> None:
    """A label that the packs contradict is an annotation at the label."""
    packs_folder(tmp_path / "rules")
    corpus_folder(tmp_path / "corpus", label=LABEL.replace("line: 4", "line: 5"))
    options = shlex.join(ALONE).replace("'*'", "builtin")
    done = action_step("Test the packs", tmp_path, rules="rules", corpus="corpus", options=options)
    assert done.returncode == 1
    assert "::error file=corpus/no-room.yaml,line=3,title=no-room::labelled line 5, found line 4" in done.stdout


def test_no_input_is_read_as_a_command(tmp_path: Path) -> None:
    """The values of inputs reach the shell only by the environment, and in quotes."""
    packs_folder(tmp_path / "rules")
    done = action_step("Lint the packs", tmp_path, rules="rules; touch made", corpus="$(touch made)", options="")
    assert done.returncode == 2
    assert not (tmp_path / "made").exists()
    assert not any("${{" in step.get("run", "") for step in ACTION["runs"]["steps"])


def test_the_action_is_what_github_reads() -> None:
    """Every step of a composite action names its shell or what it uses, and each input is used and described."""
    assert ACTION["runs"]["using"] == "composite"
    assert all("uses" in step or step["shell"] == "bash" for step in ACTION["runs"]["steps"])
    text = (ROOT / "action.yml").read_text("utf-8")
    for name, one in ACTION["inputs"].items():
        assert one["description"]
        assert f"inputs.{name} " in text
    assert 'pip install --quiet --disable-pip-version-check "$SOURCE"' in STEPS["Install strata-diag"]["run"]


def test_the_one_line_of_the_documentation_works(tmp_path: Path) -> None:
    """What an author copies into a CI of their own is 0 for right packs and logs, 1 for a wrong label."""
    lines = [line.strip() for line in (ROOT / "docs" / "own-rules.md").read_text("utf-8").splitlines()]
    (line,) = [one for one in lines if one.startswith("strata-diag rules test") and "--corpus" in one]
    packs_folder(tmp_path / "my-rules")
    corpus_folder(tmp_path / "my-corpus")
    command = f"{line} {shlex.join(ALONE)}"
    assert bash(command, tmp_path).returncode == 0
    corpus_folder(tmp_path / "my-corpus", label=LABEL.replace("line: 4", "line: 5"))
    assert bash(command, tmp_path).returncode == 1
