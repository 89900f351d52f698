"""`strata-diag rules list|test|new|schema` as they are typed: exit codes, formats, what is refused and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from workshop_packs import ALONE, LABEL, LOG, RULES, corpus_folder, packs_folder, run

from strata_diag.cli import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with packs in `rules` and a log `engine.log`."""
    packs_folder(tmp_path / "rules")
    (tmp_path / "engine.log").write_text(LOG, "utf-8", newline="\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def listed(*words: object) -> int:
    """`rules list` of the packs."""
    return run("rules", "list", "--rules", "rules", *words)


def try_packs(*words: object) -> int:
    """`rules test` of the packs."""
    return run("rules", "test", "rules", *words)


def write(folder: Path, old: str, new: str) -> None:
    """Change the pack of the test."""
    pack = folder / "rules" / "sample.yaml"
    text = pack.read_text("utf-8")
    assert old in text
    pack.write_text(text.replace(old, new), "utf-8")


def test_rules_are_listed_by_pack(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line a rule: name, role, priority, cause, title; marks say what is no plain rule."""
    write(folder, "    title: The disk is slow\n", "    title: The disk is slow\n    lifecycle: experimental\n")
    write(folder, "rules:\n", "overrides:\n  - rule: sample/gave-up\n    silence: we know\nrules:\n")
    assert listed() == 0
    out = capsys.readouterr().out
    assert "sample  a pack of a test (version 1, --rules)" in out
    assert "  no-room    failure    900  card-full  The table has no room on the card" in out
    assert "The engine gave up (silenced)" in out
    assert "The disk is slow (experimental)" in out
    assert out.endswith("\n3 rules\n")


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("--cause", "card-full"), ["no-room", "gave-up"]),
        (("--role", "info", "--role", "symptom"), ["gave-up", "slow-disk"]),
        (("--pack", "sam*", "--role", "failure"), ["no-room"]),
        (("--plugin=--rules",), ["no-room", "gave-up", "slow-disk"]),
        (("--cause", "card-busy"), []),
    ],
)
def test_filters(words: tuple[str, ...], names: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each may be repeated and takes wildcards; all of them must fit; none at all is an answer."""
    assert listed("--format", "json", *words) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["schema"] == 1
    assert [rule["id"].partition("/")[2] for rule in content["rules"]] == names
    assert all(rule["line"] and rule["file"].endswith("sample.yaml") and rule["page"] for rule in content["rules"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--role", "failur"), "there is no role `failur`; did you mean `failure`?"),
        (("--cause", "card-ful"), "did you mean `card-full`?"),
        (("--pack", "zzz*"), "there is no pack `zzz*`; there are: sample"),
        (("--plugin", "nobody"), "there is no plugin `nobody`"),
        (("--engine", "strata"), "there is no engine `strata`"),
    ],
)
def test_a_misspelt_filter_is_said(
    words: tuple[str, ...], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A name that nothing has would look like "no rules"."""
    assert listed(*words) == 2
    assert said in capsys.readouterr().err


def test_right_packs_are_zero(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The counts of rules, logs and clauses, and what exercises them."""
    corpus = corpus_folder(folder / "corpus")
    assert try_packs("--corpus", corpus, "--coverage") == 0
    out = capsys.readouterr().out
    assert "3 rules: each as its samples say" in out
    assert "1 log: each as its label says" in out
    assert "3 clauses: 3 exercised by samples, 3 by the corpus" in out
    assert "rules/sample.yaml:12: sample/no-room (any) engine: no room for the table" in out
    assert "    1 sample, 1 log" in out


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "match: ['engine: no room for the table: it needs 274 MiB']",
            "match: ['engine: no room for the tables: 274 MiB']",
            [
                "rules/sample.yaml:12: sample/no-room: no matching sample exercises this pattern",
                "rules/sample.yaml:15: sample/no-room: does not match its sample",
                "expected  a match of `engine: no room for the tables: 274 MiB`",
                "got       none: it matches as far as `engine: no room for the table`, then wants `: it needs",
                "Clauses that no sample and no log exercises",
            ],
        ),
        (
            "no_match: ['engine: the table is placed: it needs 274 MiB']",
            "no_match: ['x engine: no room for the table: it needs 1 MiB x']",
            [
                "rules/sample.yaml:16: sample/no-room: matches a sample that it must not match",
                "got       a match of `engine: no room for the table: it needs 1 MiB`",
            ],
        ),
        (
            "      no_match: ['engine: starting']\n",
            "",
            ["rules/sample.yaml:25: sample/gave-up: has no sample that must not match"],
        ),
        (
            "    remedies: [smaller-table]\n",
            "    remedies: [smaller-table]\n    when: ['needed_mib > 1000']\n",
            ["its pattern matches, but not its conditions: needed_mib > 1000"],
        ),
        (
            "match: ['engine: giving up on the start']",
            "match: ['nothing alike']",
            ["got       none: nothing of `engine: giving up on the start` is in it"],
        ),
    ],
)
def test_a_wrong_sample_is_one_and_readable(
    old: str, new: str, said: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """File and line of the sample or pattern, what was expected, what came instead."""
    write(folder, old, new)
    assert try_packs() == 1
    out = capsys.readouterr().out
    for words in said:
        assert words in out


def test_a_pattern_that_backtracks_ends(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A catastrophic pattern runs out of time and counts as no match."""
    write(folder, "regex: 'engine: giving up on the start'", "regex: 'engine: (?:g|gi|i|v|[a-z ])+(?:a+)+on the stop$'")
    write(folder, "match: ['engine: giving up on the start']", f"match: ['engine: {'a' * 3000}']")
    assert try_packs() == 1
    assert "no matching sample" in capsys.readouterr().out


def test_snapshots_are_blessed_and_labels_never(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--bless writes what the program answers, for logs with the answer of their label alone."""
    corpus = corpus_folder(folder / "corpus")
    label = (corpus / "no-room.yaml").read_bytes()
    assert try_packs("--corpus", corpus, "--bless") == 0
    assert "snapshot written: corpus/no-room.snapshot.json" in capsys.readouterr().out
    assert try_packs("--corpus", corpus, "--bless") == 0
    assert "snapshot written" not in capsys.readouterr().out
    write(folder, "priority: 900", "priority: 700")
    assert try_packs("--corpus", corpus) == 0
    write(folder, "    yields_to: [no-room]\n", "")
    write(folder, "    title: The engine gave up\n", "    title: The engine gave up\n    why: x\n")
    write(folder, "  - id: slow-disk\n", "  - id: slower-disk\n")
    capsys.readouterr()
    assert try_packs("--corpus", corpus) == 1
    out = capsys.readouterr().out
    assert "corpus/no-room.snapshot.json:1: no-room: the snapshot has another `harmless`" in out
    assert "expected  3 sample/slow-disk" in out
    assert "got       3 sample/slower-disk" in out
    assert (corpus / "no-room.yaml").read_bytes() == label


def test_a_log_that_is_wrong_is_not_blessed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A snapshot of a wrong answer would make it look right."""
    corpus = corpus_folder(folder / "corpus", label=LABEL.replace("line: 4", "line: 5"))
    assert try_packs("--corpus", corpus, "--bless") == 1
    assert "no snapshot was taken" in capsys.readouterr().out
    assert not (corpus / "no-room.snapshot.json").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [("{", "the snapshot is no JSON"), ('{"schema": 9}', "the snapshot has another shape"), ("[]", "another shape")],
)
def test_a_damaged_snapshot_is_said(content: str, words: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever edits it by hand is told to take it anew."""
    corpus = corpus_folder(folder / "corpus")
    (corpus / "no-room.snapshot.json").write_text(content, "utf-8")
    assert try_packs("--corpus", corpus) == 1
    assert words in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere",), "nowhere: is no folder, no file and no plugin with packs"),
        (("rules", "--bless"), "name it with --corpus"),
        (("rules", "--corpus", "nowhere"), "nowhere: is no folder"),
        (("rules/causes.yaml",), "holds no rule"),
        (("empty",), "holds no pack"),
    ],
)
def test_what_can_t_be_tested_is_two(
    words: tuple[str, ...], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, and what to name instead."""
    (folder / "empty").mkdir()
    assert run("rules", "test", *words, "--rules", "rules") == 2
    assert said in capsys.readouterr().err


def test_formats_of_test(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Programs read the same; packs that can't be loaded are two in every format."""
    write(folder, "match: ['engine: giving up on the start']", "match: ['nothing alike']")
    assert try_packs("--format", "json") == 1
    content = json.loads(capsys.readouterr().out)
    assert [one["subject"] for one in content["outcomes"] if one["faults"]] == ["sample/gave-up"]
    assert [one["samples"] for one in content["clauses"]] == [1, 0, 1]
    assert try_packs("--format", "github") == 1
    out = capsys.readouterr().out
    assert (
        "::error file=rules/sample.yaml,line=23,title=sample/gave-up::no matching sample exercises this pattern" in out
    )
    assert "::warning file=rules/sample.yaml,line=23" in out
    assert try_packs("--format", "junit") == 1
    out = capsys.readouterr().out
    assert '<testsuite name="samples" tests="3" failures="1" errors="0">' in out
    write(folder, "role: info", "role: inof")
    assert try_packs("--format", "json") == 2
    content = json.loads(capsys.readouterr().out)
    assert content["passed"] is False
    assert "did you mean `info`?" in content["problems"][0]["advice"]
    assert try_packs("--format", "junit") == 2
    assert "<error message=" in capsys.readouterr().out


def test_plugins_and_single_files_are_tested_by_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A plugin's name stands for its packs; a file that is loaded anyway is not loaded twice."""
    assert run("rules", "test", "--rules", "rules", "rules/sample.yaml") == 0
    assert "3 rules" in capsys.readouterr().out
    assert main(["rules", "test", "--rules", "rules", *ALONE, "--", "--rules"]) == 0
    assert "3 rules" in capsys.readouterr().out


def test_a_rule_is_made_of_a_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Printed as a pack that loads, passes its samples, and lints but for what is marked TODO."""
    assert run("rules", "new", "mine/no-table", "--from", "engine.log:4", "--rules", "rules") == 0
    text = capsys.readouterr().out
    made = yaml.safe_load(text)["rules"][0]
    assert made["any"] == [{"regex": r"engine: no room for the table: it needs (?P<needed_mib>\d+) MiB"}]
    assert made["samples"]["match"] == ["engine: no room for the table: it needs 1874 MiB"]
    assert "this line is matched already by sample/no-room (failure, 900)" in " ".join(text.replace("# ", "").split())
    assert "1 line above, sample/slow-disk (info) matches" in text
    assert "1 line below, sample/gave-up (symptom) matches" in text


def test_a_rule_goes_into_its_folder_and_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A new folder and file are made, a second rule goes behind the first; what stands there stays."""
    assert run("rules", "new", "mine/one", "--from", "engine.log:4", "--into", "new", "--rules", "rules") == 0
    out = capsys.readouterr().out
    assert "mine.yaml: added" in out
    assert "rules schema > " in out
    file = folder / "new" / "mine.yaml"
    first = file.read_text("utf-8")
    assert run("rules", "new", "mine/two", "--from", "engine.log:5", "--into", "new", "--rules", "rules") == 0
    assert file.read_text("utf-8").startswith(first)
    assert run("rules", "test", "new", "--rules", "rules") == 0
    capsys.readouterr()
    assert run("rules", "lint", "new", "--rules", "rules", "--ignore", "unfinished,equal-priority,never-wins") == 0
    assert run("rules", "lint", "new", "--rules", "rules", "--select", "unfinished") == 1
    assert "SD604 (unfinished): is not finished: what these rules are about" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("sample/no-room", "--from", "engine.log:4"), "exists already"),
        (("mine/x", "--from", "engine.log:44"), "there is no line 44; the log has 5 lines"),
        (("mine/x", "--from", "nowhere.log:4"), "nowhere.log"),
        (("mine/x", "--from", "numbers.log:1"), "holds no words"),
        (("mine/x", "--from", "engine.log:4", "--cause", "card-ful"), "there is no cause `card-ful`"),
        (("mine/x", "--from", "engine.log:4", "--into", "other.yaml"), "a pack's file has its name"),
        (("mine/x", "--from", "engine.log:4", "--into", "engine.log/x.d"), "can't be made"),
        (("mine/x", "--from", "engine.log:2", "--role", "recovery"), "none matches the 3 lines above"),
        (("mine/x", "--from", "engine.log:2", "--role", "run-start"), "no pack declares one"),
    ],
)
def test_a_rule_that_can_t_be_made_is_two(
    words: tuple[str, ...], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is written, and the text says what to do."""
    (folder / "numbers.log").write_text("12 34 56\n", "utf-8")
    assert run("rules", "new", *words, "--rules", "rules") == 2
    assert said in capsys.readouterr().err


def test_a_rule_for_a_pack_that_is_loaded_is_printed_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is an item for the file that is named above it."""
    assert run("rules", "new", "sample/more", "--from", "engine.log:2", "--rules", "rules", "--role", "info") == 0
    head, rule, *_ = capsys.readouterr().out.split("\n")
    assert head.endswith("sample.yaml; --into puts it there")
    assert rule == "- id: more"


@pytest.mark.parametrize("words", [("mine", "--from", "a:1"), ("mine/X", "--from", "a:1"), ("mine/x", "--from", "a")])
def test_unusable_words_are_a_usage_error(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """Ids are PACK/NAME, places LOG:LINE."""
    with pytest.raises(SystemExit) as caught:
        main(["rules", "new", *words])
    assert caught.value.code == 2
    assert "is not" in capsys.readouterr().err


def test_samples_of_the_shared_packs_are_right() -> None:
    """What these tests change is right before they change it."""
    assert len(yaml.safe_load(f"rules:\n{RULES}")["rules"]) == 3
