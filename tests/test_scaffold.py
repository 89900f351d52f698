"""`plugins new`: a package that installs, is found, passes its own tests, and fits the example that ships with us."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from conftest import ROOT

from strata_diag.cli import main
from strata_diag.workshop.errors import WorkshopError
from strata_diag.workshop.scaffold import FILES, LONGEST_NAME, new_plugin

PACKAGE = "strata_diag_my_engine"
# Stands for the built-in plugin, whose thousand rules take seconds to compile: it brings the causes and remedies alone
CATALOGUES = f"""\
from pathlib import Path
from strata_diag import hookimpl

@hookimpl
def strata_diag_rule_packs():
    folder = Path({str(ROOT / "rules")!r})
    return (folder / "causes.yaml", folder / "remedies.yaml")
"""


class Package:
    """A new plugin, installed into a folder of its own that only its own processes see."""

    def __init__(self, folder: Path, target: Path) -> None:
        self.folder = folder
        self.rules = target / PACKAGE / "rules"
        paths = os.pathsep.join([str(target), str(ROOT)])
        others = "builtin,llama-family,python-engines,system"
        alone = {"PYTHONPATH": paths, "STRATA_DIAG_NO_PLUGIN": others, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        self.env = {**os.environ, **alone}

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A Python that has the plugin, in the plugin's folder."""
        words = [sys.executable, "-P", *arguments]  # -P: what is installed, not what lies in the folder
        return subprocess.run(words, capture_output=True, text=True, check=False, cwd=self.folder, env=self.env)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Package:
    """A plugin made by the command, built and installed without a network."""
    folder = tmp_path_factory.mktemp("new")
    assert main(["plugins", "new", "my-engine", "--into", str(folder)]) == 0
    made, target = folder / "strata-diag-my-engine", folder / "installed"
    offline = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--no-build-isolation"]
    install = [sys.executable, "-m", "pip", "install", *offline, "--target", str(target), str(made)]
    subprocess.run(install, check=True, capture_output=True)
    (target / "catalogues.py").write_text(CATALOGUES, "utf-8")
    information = target / "catalogues-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: catalogues\nVersion: 1\n", "utf-8")
    (information / "entry_points.txt").write_text("[strata_diag]\ncatalogues = catalogues\n", "utf-8")
    return Package(made, target)


def test_the_new_package_passes_its_own_tests(package: Package) -> None:
    """Samples, corpus and entry point are right before its author has written a line."""
    done = package.python("-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout
    assert "6 passed" in done.stdout


def test_the_command_finds_the_new_plugin(package: Package) -> None:
    """`plugins` lists it with its pack, and its rule decides a log of its corpus."""
    found = json.loads(package.python("-m", "strata_diag", "plugins", "--format", "json").stdout)
    mine = next(plugin for plugin in found["plugins"] if plugin["name"] == "my-engine")
    assert (mine["version"], mine["packs"], mine["state"]) == ("0.1.0", ["my-engine"], "active")
    log = "corpus/my-engine/model-missing.log"
    done = package.python("-m", "strata_diag", "classify", "--format", "json", log)
    answer = json.loads(done.stdout)
    assert answer["verdict"]["rule"] == "my-engine/model-missing"
    assert answer["remedies"][0]["text"] == "Check the path: /models/small.bin is not there."
    assert answer["runs"][0]["details"]["engine_version"] == "1.4.0"


def test_the_new_pack_has_nothing_to_mend(package: Package) -> None:
    """The command that its CI runs finds no fault with the pack."""
    done = package.python("-m", "strata_diag", "rules", "lint", str(package.rules), "--corpus", "corpus")
    assert done.returncode == 0, done.stdout
    assert "nothing to mend" in done.stdout


def test_it_is_made_as_the_example_is(package: Package) -> None:
    """Build system, entry point and wheel are those of the example plugin, under the new name."""
    example = tomllib.loads((ROOT / "plugins" / "slow-storage" / "pyproject.toml").read_text("utf-8"))
    made = tomllib.loads((package.folder / "pyproject.toml").read_text("utf-8"))
    assert made["build-system"] == example["build-system"]
    assert made["project"]["entry-points"]["strata_diag"] == {"my-engine": PACKAGE}
    assert made["project"]["requires-python"] == example["project"]["requires-python"]
    assert made["tool"]["hatch"]["build"]["targets"]["wheel"] == {"packages": [PACKAGE]}


def test_no_mark_is_left_and_ci_runs_the_tests(package: Package) -> None:
    """Every mark of the templates is replaced, and the workflow installs the package and runs pytest."""
    texts = {
        path: path.read_text("utf-8") for path in package.folder.rglob("*") if path.is_file() and path.suffix != ".pyc"
    }
    marks = ("@name@", "@package@", "@distribution@", "@version@")
    assert not [path for path, text in texts.items() if any(mark in text for mark in marks)]
    workflow = yaml.safe_load(texts[package.folder / ".github" / "workflows" / "test.yml"])
    commands = [step["run"] for step in workflow["jobs"]["test"]["steps"] if "run" in step]
    lint = f"strata-diag rules lint {PACKAGE}/rules --corpus corpus"
    assert commands[-3:] == ["pip install --editable . --group dev", "pytest", lint]


@pytest.mark.parametrize(
    "name", ["", "My-Engine", "a--b", "-a", "a-", "a_b", "a/b", "../a", "1a", "no", "a" * (LONGEST_NAME + 1)]
)
def test_a_name_that_can_t_be_one_is_refused(name: str, tmp_path: Path) -> None:
    """A name becomes a file, a package and part of every rule's id; nothing is written for one that can't."""
    with pytest.raises(WorkshopError, match="can't be the name of a plugin"):
        new_plugin(name, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_plugin_of_ours_and_an_existing_folder_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither a shipped plugin's name nor a folder that exists is taken; the command ends with exit code 2."""
    with pytest.raises(WorkshopError, match="ships with strata-diag"):
        new_plugin("system", tmp_path)
    (tmp_path / "strata-diag-mine").mkdir()
    assert main(["plugins", "new", "mine", "--into", str(tmp_path)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert not list((tmp_path / "strata-diag-mine").iterdir())


def test_a_folder_that_can_t_be_written_is_an_error(tmp_path: Path) -> None:
    """What the system says is passed on with the place."""
    blocked = tmp_path / "file"
    blocked.write_text("in the way", "utf-8")
    with pytest.raises(WorkshopError, match="can't be written"):
        new_plugin("mine", blocked)


def test_every_template_is_used() -> None:
    """No template lies in the package that no file is made from."""
    templates = ROOT / "strata_diag" / "workshop" / "scaffold" / "templates"
    assert {path.name.removesuffix(".template") for path in templates.iterdir()} == set(FILES)
