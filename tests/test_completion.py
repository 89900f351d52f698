"""Help, completion and their one source: every verb has an example, and shells complete verbs, options, choices and files."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from strata_diag.cli import VERBS, main
from strata_diag.cli.completion import SHELLS
from strata_diag.cli.tree import Command, all_parsers, command_tree, whole_parser

# what stands on the command line with the cursor at its end, and what the shell must and must not offer there
CASES: tuple[tuple[str, set[str], set[str]], ...] = (
    ("strata-diag cl", {"classify"}, {"history"}),
    ("strata-diag history ", {"audit", "repair"}, {"classify"}),
    ("strata-diag history audit --re", {"--recheck"}, {"--rules"}),
    ("strata-diag classify --format ", {"text", "json", "jsonl"}, {"audit"}),
    ("strata-diag classify eng", {"engine.log"}, {"classify"}),
    ("strata-diag classify --rules pa", {"packs"}, {"engine.log"}),
)
TIMEOUT = 20  # seconds for a shell; it answers within one


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the script of each shell, a log and a folder of packs."""
    folder = tmp_path_factory.mktemp("completion")
    for shell in SHELLS:
        done = subprocess.run(
            [sys.executable, "-m", "strata_diag", "completion", shell], capture_output=True, text=True, check=True
        )
        (folder / f"completion.{shell}").write_text(done.stdout, "utf-8")
    (folder / "engine.log").write_text("a line\n", "utf-8")
    (folder / "packs").mkdir()
    return folder


def answer(words: list[str], folder: Path) -> set[str]:
    """The lines that a shell prints, run in a folder, without marks of folders and what stands behind a tab."""
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=folder, timeout=TIMEOUT)
    return {line.split("\t")[0].rstrip("/ ") for line in done.stdout.splitlines()}


def in_bash(line: str, folder: Path) -> set[str]:
    """What bash's completion function leaves in COMPREPLY."""
    words = line.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    script = f"""
        source completion.bash
        COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; COMP_LINE='{line}'; COMP_POINT={len(line)}
        [[ $(complete -p strata-diag) =~ -F\\ ([^ ]+) ]] && ${{BASH_REMATCH[1]}} strata-diag '{words[-1]}' '{words[-2]}'
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    return answer(["bash", "--norc", "-c", script], folder)


def in_fish(line: str, folder: Path) -> set[str]:
    """What fish would list."""
    return answer(["fish", "--no-config", "-c", f"source completion.fish; complete -C '{line}'"], folder)


def in_powershell(line: str, folder: Path) -> set[str]:
    """What PowerShell would list."""
    script = (
        ". ./completion.powershell.ps1; "
        f"([System.Management.Automation.CommandCompletion]::CompleteInput('{line}', {len(line)}, $null)"
        ".CompletionMatches).CompletionText"
    )
    shutil.copy(folder / "completion.powershell", folder / "completion.powershell.ps1")
    return {word.removeprefix("./") for word in answer(["pwsh", "-NoProfile", "-Command", script], folder)}


@pytest.mark.parametrize(("line", "wanted", "unwanted"), CASES)
@pytest.mark.parametrize(("shell", "ask"), [("bash", in_bash), ("fish", in_fish), ("pwsh", in_powershell)])
def test_a_shell_completes(
    shell: str,
    ask: Callable[[str, Path], set[str]],
    line: str,
    wanted: set[str],
    unwanted: set[str],
    scripts: Path,
) -> None:
    """Each shell offers verbs, their parts, options, choices and files where they can stand."""
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    offered = ask(line, scripts)
    assert wanted <= offered
    assert not unwanted & offered


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh here")
def test_zsh_completes(scripts: Path) -> None:
    """In an interactive zsh a tab behind an option lists its choices."""
    functions = scripts / "functions"
    functions.mkdir()
    shutil.copy(scripts / "completion.zsh", functions / "_strata-diag")
    script = f"""
        zmodload zsh/zpty
        zpty -b shell zsh -f -i
        zpty -w shell 'fpath=({functions} $fpath); autoload -Uz compinit; compinit -D -u; print REA""DY'
        zpty -r shell text '*READY*'
        zpty -w -n shell $'strata-diag classify --format \\t\\t'
        zpty -r shell text '*jsonl*'
        print -r -- $text
        zpty -d shell
    """
    done = subprocess.run(["zsh", "-f", "-c", script], capture_output=True, text=True, check=True, timeout=TIMEOUT)
    assert "jsonl" in done.stdout


def test_every_verb_and_part_has_help_with_an_example() -> None:
    """`--help` of whatever can be asked for ends with a command line to copy, which begins with the program's name."""
    parsers = all_parsers(whole_parser())
    assert len(parsers) > len(VERBS)
    lacking = [
        parser.prog
        for parser in parsers
        if not (parser.epilog and "example" in parser.epilog and "strata-diag " in parser.epilog)
    ]
    assert lacking == []


def test_every_option_says_what_it_does() -> None:
    """No option or argument of any verb is without a word of help, and every part has a summary."""

    def silent(command: Command) -> list[str]:
        own = [f"{' '.join(command.path)} {one.flags or one.value}" for one in command.arguments if not one.help]
        unnamed = [] if command.summary else [" ".join(command.path)]
        return own + unnamed + [name for part in command.parts for name in silent(part)]

    assert silent(command_tree()) == []


def test_without_shtab_the_command_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A missing extra is exit code 2 with the exact line that installs it."""
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "pip install 'strata-diag[completion]'" in shown.err


def test_an_unknown_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """The shells that there are scripts for are named."""
    with pytest.raises(SystemExit) as caught:
        main(["completion", "csh"])
    assert caught.value.code == 2
    assert "powershell" in capsys.readouterr().err


def test_other_verbs_start_without_the_tree() -> None:
    """The modules that know all verbs are imported for completion alone."""
    code = (
        "import sys; from strata_diag.cli import main; main(['plugins', '--no-plugin', '*']); "
        "print([name for name in ('shtab', 'strata_diag.cli.tree') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
