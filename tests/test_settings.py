"""Settings of a project: where they are looked for, what they may say, and that only the command reads them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from packs import pack_text, write_packs

from strata_diag import load_rules
from strata_diag.cli import main
from strata_diag.errors import SettingsError
from strata_diag.settings import LARGEST_FILE, Settings, find_settings, read_settings

WIDGET = pack_text(
    "- {id: jam, role: failure, cause: wrong-option, title: The widget is jammed, any: [{regex: widget jammed}]}\n",
    name="widget",
)

PLAIN = pack_text("- {id: hello, role: info, title: Hello, why: x, any: [{regex: hello}]}\n", name="plain")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a folder of packs, in which the test runs; no settings stand above it."""
    monkeypatch.delenv("STRATA_DIAG_RULES", raising=False)
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    write_packs(tmp_path / "base", plain=PLAIN)
    (folder / "packs").mkdir()
    (folder / "packs" / "widget.yaml").write_text(WIDGET, "utf-8")
    (folder / "run.log").write_text("loading\nwidget jammed\n", "utf-8")
    monkeypatch.chdir(folder)
    return folder


def problems_of(folder: Path, environment: dict[str, str] | None = None) -> list[tuple[int, str, str]]:
    """Line, complaint and advice of everything that is wrong with the settings of a folder."""
    with pytest.raises(SettingsError) as caught:
        find_settings(folder, environment or {})
    return [(problem.line, problem.what, problem.advice) for problem in caught.value.problems]


def classify(project: Path, *arguments: str) -> int:
    """The exit code of `classify` with a small set of rules beside the project in place of the built-in ones."""
    base = ["--no-builtin-rules", "--no-plugin", "*", "--rules", str(project.parent / "base")]
    return main(["classify", *base, *arguments])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("strata-diag.toml", 'rules = ["packs/"]\n'),
        ("pyproject.toml", '[project]\nname = "x"\n[tool.strata-diag]\nrules = ["packs/"]\n'),
        ("pyproject.toml", '[tool]\nstrata-diag = {rules = ["packs"]}\n'),
        ("pyproject.toml", '[tool."strata-diag"]\nrules = ["./packs"]\n'),
    ],
)
def test_a_file_names_packs(
    project: Path, name: str, text: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command loads the packs that a file of the project names, from any folder inside it."""
    assert classify(project, "run.log") == 3
    (project / name).write_text(text, "utf-8")
    (project / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(project / "deep" / "er")
    assert classify(project, str(project / "run.log")) == 1
    assert "widget/jam" in capsys.readouterr().out


def test_the_variable_names_packs(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """STRATA_DIAG_RULES holds paths as PATH does; an empty one among them is nothing."""
    monkeypatch.setenv("STRATA_DIAG_RULES", os.pathsep.join(["", "packs"]))
    assert classify(project, "run.log") == 1
    assert "widget/jam" in capsys.readouterr().out
    assert classify(project, "--no-settings", "run.log") == 3


def test_the_library_reads_no_settings_by_itself(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program's rules don't depend on the folder or the variables it runs in, unless it asks for them."""
    (project / "strata-diag.toml").write_text('rules = ["packs"]\n', "utf-8")
    monkeypatch.setenv("STRATA_DIAG_RULES", "packs")
    base = [project.parent / "base"]
    assert "widget/jam" not in load_rules(base, builtin=False, discover=False).by_id
    rules = load_rules(base, builtin=False, discover=False, settings=find_settings())
    assert "widget/jam" in rules.by_id


def test_a_path_that_is_named_twice_is_loaded_once(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same folder in the file, the variable and `--rules` is one source of packs."""
    (project / "strata-diag.toml").write_text('rules = ["packs", "packs/", "./packs"]\n', "utf-8")
    monkeypatch.setenv("STRATA_DIAG_RULES", str(project / "packs"))
    assert classify(project, "--rules", "packs", "run.log") == 1


def test_the_nearest_file_is_taken(project: Path) -> None:
    """A file in an inner folder hides those above it, and strata-diag.toml hides the pyproject.toml beside it."""
    inner = project / "inner"
    inner.mkdir()
    (project / "strata-diag.toml").write_text('silence = {"a/b" = "outer"}\n', "utf-8")
    (project / "pyproject.toml").write_text('[tool.strata-diag.silence]\n"a/b" = "project"\n', "utf-8")
    assert [one.reason for one in find_settings(inner, {}).silence] == ["outer"]
    (inner / "pyproject.toml").write_text('[tool.black]\n[project]\ndependencies = ["strata-diag"]\n', "utf-8")
    assert [one.reason for one in find_settings(inner, {}).silence] == ["outer"]
    (inner / "pyproject.toml").write_text('[tool.strata-diag.silence]\n"a/b" = "inner"\n', "utf-8")
    assert [one.reason for one in find_settings(inner, {}).silence] == ["inner"]


def test_the_search_ends_at_the_repository_and_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever lies above a repository's root, or above the home folder, belongs to somebody else."""
    (tmp_path / "strata-diag.toml").write_text('silence = {"a/b" = "stranger"}\n', "utf-8")
    repository, home = tmp_path / "repository", tmp_path / "home"
    (repository / ".git").mkdir(parents=True)
    (home / "work").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    assert find_settings(repository, {}) == Settings()
    assert find_settings(home / "work", {}) == Settings()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert find_settings(home / "work", {}).silence


def test_a_folder_that_is_gone_has_no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A current folder that was removed is no error."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert find_settings(".", {}) == Settings()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no numbered owner here")
def test_a_planted_file_is_not_read(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of somebody else in a folder that all can write is passed over with a notice; in one's own folder it counts."""
    (project / "strata-diag.toml").write_text('silence = {"a/b" = "planted"}\n', "utf-8")
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    if os.getuid() == 0:  # what belongs to the system is trusted
        os.chown(project / "strata-diag.toml", 4343, -1)
    project.chmod(0o1777)
    found = find_settings(project, {})
    assert found.silence == ()
    assert [notice.kind for notice in found.notices] == ["settings"]
    rules = load_rules([project.parent / "base"], builtin=False, discover=False, settings=found)
    assert found.notices[0] in rules.notices
    project.chmod(0o755)
    assert find_settings(project, {}).silence


def test_wrong_keys_and_values_are_named_with_their_lines(project: Path) -> None:
    """Every problem of a file comes at once, with its line, the nearest key and what to write."""
    text = '# rules of ours: rule\nrule = ["packs"]\nrules = "packs"\n\n[silence]\n"server/x" = ""\n"server/y" = 3\n'
    (project / "strata-diag.toml").write_text(text, "utf-8")
    found = problems_of(project)
    assert [(line, what) for line, what, _ in found] == [
        (2, "unknown key `rule`"),
        (3, "`rules` is no list of paths"),
        (6, "silences `server/x` without a reason"),
        (7, "silences `server/y` without a reason"),
    ]
    assert found[0][2] == "did you mean `rules`?"


def test_lines_of_a_project_file_count_from_our_table(project: Path) -> None:
    """The same words in another tool's table are not where our problem is."""
    text = '[tool.other]\nrules = ["packs", "nowhere"]\n\n[tool.strata-diag]\nrules = [\n  "packs",\n  "nowhere",\n]\nodd = 1\n'
    (project / "pyproject.toml").write_text(text, "utf-8")
    assert [(line, what[:30]) for line, what, _ in problems_of(project)] == [
        (7, "names `nowhere`, and there is "),
        (9, "unknown key `odd`"),
    ]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("rules = [\n", 1, "is not valid TOML"),
        ('rules = ["packs"]\nrules = []\n', 2, "is not valid TOML"),
        ("silence = 3\n", 1, "`silence` is no table"),
        ('rules = ["packs", 3]\n', 1, "`rules` is no list of paths"),
        ('x = "' + "y" * LARGEST_FILE + '"\n', 0, "bytes long"),
        ("a = " + "[" * 5000, 1, "is not valid TOML"),
    ],
)
def test_unusable_files_are_refused(project: Path, text: str, line: int, words: str) -> None:
    """A file that can't be read as settings is an error with its line, never half a setting."""
    (project / "strata-diag.toml").write_text(text, "utf-8")
    found = problems_of(project)
    assert words in found[0][1]
    assert found[0][0] == line


def test_other_encodings_and_rights_are_refused(project: Path) -> None:
    """UTF-16 and a project's table that is no table are named as such."""
    (project / "strata-diag.toml").write_bytes("# x\nrules = []".encode("utf-16"))
    assert problems_of(project)[0][1] == "is not UTF-8"
    (project / "strata-diag.toml").unlink()
    (project / "pyproject.toml").write_text("[tool]\nstrata-diag = 3\n", "utf-8")
    assert problems_of(project)[0][:2] == (2, "`strata-diag` is no table")
    with pytest.raises(SettingsError, match="can't be read"):
        read_settings(project / "packs")


def test_a_missing_folder_of_the_variable_is_an_error(project: Path) -> None:
    """The variable is named where one of its paths isn't there."""
    found = problems_of(project, {"STRATA_DIAG_RULES": os.pathsep.join(["packs", "gone"])})
    assert found[0][1] == "names `gone`, and there is no such folder or file"


def test_broken_settings_end_the_command_with_code_two(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command says file, line and advice, and diagnoses nothing."""
    (project / "strata-diag.toml").write_text('\nrules = ["gone"]\n', "utf-8")
    assert classify(project, "run.log") == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert f"{project / 'strata-diag.toml'}:2: names `gone`" in shown.err


def test_a_silenced_rule_is_said_aloud(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A rule that the settings silence decides no longer, and the answer says which, where and why."""
    text = 'rules = ["packs"]\n\n[silence]\n"widget/jam" = "the widget is a test of ours"\n'
    (project / "strata-diag.toml").write_text(text, "utf-8")
    assert classify(project, "run.log") == 3
    shown = capsys.readouterr().out
    assert f"silenced in {project / 'strata-diag.toml'}:4: the widget is a test of ours" in shown
    assert "silences widget/jam" in shown
    (project / "strata-diag.toml").write_text('silence = {"widget/jem" = "x"}\nrules = ["packs"]\n', "utf-8")
    assert classify(project, "run.log") == 2
    assert "strata-diag.toml:1: overrides the rule `widget/jem`" in capsys.readouterr().err


def test_a_start_without_settings_reads_no_toml(project: Path) -> None:
    """Where no file has settings, the parser of TOML is never imported."""
    (project / "pyproject.toml").write_text('[project]\nname = "strata-diag-user"\n', "utf-8")
    code = (
        "import sys; from strata_diag.settings import find_settings; find_settings(); print('tomllib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=project)
    assert done.stdout.strip() == "False"


def test_plugins_lists_packs_that_no_plugin_brought(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Who looks at where rules come from sees the packs of the settings and of `--rules` too."""
    (project / "strata-diag.toml").write_text('rules = ["packs"]\n', "utf-8")
    base = str(project.parent / "base")
    assert main(["plugins", "--no-builtin-rules", "--no-plugin", "*", "--rules", base]) == 0
    shown = capsys.readouterr().out
    assert "named by the settings of this project\n  packs: widget (1 rules)" in shown
    assert "named with --rules\n  packs: plain (1 rules)" in shown
