"""`--language` of the verbs: what each prints in Chinese, its complaints, and what stays as it is."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import CORPUS, ROOT

from strata_diag import RuleSet
from strata_diag.cli import main
from strata_diag.language import translator_for
from strata_diag.model import Notice
from strata_diag.render.layout import plain
from strata_diag.render.preflight import STATES, in_language, preflight_lines
from strata_diag.tuner.checks import Check, State
from strata_diag.tuner.needs import Need
from strata_diag.tuner.preflight import Preflight

BUSY = CORPUS / "strata" / "v100-busy-console.log"
HISTORY = CORPUS / "history" / "poisoned.jsonl"
DAMAGED = CORPUS / "history" / "damaged.jsonl"
COMMAND = re.compile(r"strata-diag rules .*")
WORDS = re.compile(r"(?:\b[A-Za-z][a-z']*[ ,;]+){3}[A-Za-z']+")  # four English words in a row
PLUGIN = """
from pathlib import Path
from strata_diag import hookimpl


@hookimpl
def strata_diag_catalogues():
    return {"zh": Path(__file__).with_name("texts"), "de": {"What to do": "Was zu tun ist"}}
"""
TEXTS = """
The GPU is held by another process: 别的程序占着 GPU
the GPU is held by another process: 别的程序占着 GPU
"{count} times": 没有洞
"""


@pytest.fixture(autouse=True)
def _no_language_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may have chosen a language."""
    monkeypatch.delenv("STRATA_DIAG_LANGUAGE", raising=False)


@pytest.fixture(scope="module")
def quoted(all_rules: RuleSet) -> str:
    """What may stay English: the logs and the patterns of rules."""
    texts = [file.read_text("utf-8", "replace") for file in (BUSY, HISTORY, DAMAGED)]
    return " ".join([*texts, *(pattern.source for pattern in all_rules.patterns)])


def english_in(printed: str, quoted: str) -> list[str]:
    """Sentences of four English words and more that are nobody else's words."""
    return [words for words in WORDS.findall(COMMAND.sub("", printed)) if words not in quoted]


@pytest.mark.parametrize(
    "words",
    [
        ["history", "audit", str(DAMAGED)],
        ["history", "audit", str(HISTORY)],
        ["history", "repair", str(HISTORY)],
        ["preflight", "--need-mib", "6000"],
        ["explain", str(BUSY)],
        ["explain", str(BUSY), "--rule", "cuda-*/*busy", "--rule", "engine-start/*", "--line", "44", "--line", "3"],
        ["explain", str(BUSY), "--line", "4444"],
        ["triage", "--jobs", "1", str(BUSY), str(DAMAGED), "/nowhere/at-all.log"],
        ["classify", str(BUSY), str(BUSY), "/nowhere/at-all.log"],
        ["redact", "--check", "/nowhere/at-all.log"],
    ],
    ids=lambda words: "-".join(words[:2]),
)
def test_a_verb_speaks_chinese(words: list[str], quoted: str, capsys: pytest.CaptureFixture[str]) -> None:
    """No sentence of ours is left in English, on neither stream, and the exit code is the same."""
    code = main(words)
    english = capsys.readouterr()
    assert main([*words, "--language", "zh"]) == code
    chinese = capsys.readouterr()
    assert chinese.out != english.out or chinese.err != english.err
    assert english_in(chinese.out + chinese.err, quoted) == []


def test_the_history_that_is_written_stays_english(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A tuner reads it: a repair writes the same bytes in any language."""
    files = [tmp_path / name for name in ("en.jsonl", "zh.jsonl")]
    for file in files:
        shutil.copy(HISTORY, file)
    for file, language in zip(files, ("en", "zh"), strict=True):
        assert main(["history", "repair", "--yes", "--language", language, str(file)]) == 0
    written = [re.sub(rb'"repaired": *"[^"]*"', b"", file.read_bytes()) for file in files]
    assert written[0] == written[1]
    assert "已修复 7 行记录。" in capsys.readouterr().out


def test_json_has_the_same_keys_and_ids(capsys: pytest.CaptureFixture[str]) -> None:
    """Titles are Chinese, all that a program reads is not."""
    answers: list[dict[str, Any]] = []
    for language in ("en", "zh"):
        assert main(["classify", "--format", "json", "--language", language, str(BUSY)]) == 1
        answers.append(json.loads(capsys.readouterr().out))
    english, chinese = answers
    same = ("status", "cause", "line", "rule", "reason", "retry", "lasting", "contested")
    assert english.keys() == chinese.keys()
    assert [english["verdict"][key] for key in same] == [chinese["verdict"][key] for key in same]
    assert [step["commands"] for step in english["remedies"]] == [step["commands"] for step in chinese["remedies"]]
    assert chinese["verdict"]["title"] == "无法读取显存状况：GPU 被另一个进程占用"


def test_watch_speaks_chinese(tmp_path: Path, quoted: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The news while the log is written and the diagnosis in the end."""
    log = tmp_path / "strata.log"
    shutil.copy(BUSY, log)
    assert main(["watch", "--timeout", "0.1", "--language", "zh", str(log)]) == 1
    shown = capsys.readouterr().out
    assert "无法读取显存状况" in shown.splitlines()[0]
    assert english_in(shown, quoted) == []


def test_complaints_are_in_the_language(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no rule was loaded yet too; an unknown language is named in English."""
    monkeypatch.setenv("STRATA_DIAG_LANGUAGE", "zh")
    assert main(["classify", "--no-builtin-rules", "--no-plugin", "*", str(BUSY)]) == 2
    assert "没有加载任何规则" in capsys.readouterr().err
    assert main(["history", "audit", "/nowhere.jsonl"]) == 2
    assert "没有这个文件" in capsys.readouterr().err
    assert main(["history", "audit", "--language", "xx", str(HISTORY)]) == 2
    assert "there are: en, zh" in capsys.readouterr().err


def test_columns_stand_under_each_other_in_chinese(all_rules: RuleSet) -> None:
    """Each sign takes two columns, so the texts of preflight's checks begin in one."""
    checks = tuple(
        Check(name, state, "正文") for name, state in zip(("driver", "ram", "own-probe"), STATES, strict=False)
    )
    found = Preflight(checks, 0, "580.1", (), (), Need(), (Notice("plugin", "the driver answered: x"),))
    translate = translator_for(all_rules, "zh").text
    lines = list(map(plain, preflight_lines(in_language(found, translate), "linux", translate)))
    first = lines.index("检查的内容") + 1
    assert {line.encode("gbk").index("正文".encode("gbk")) for line in lines[first : first + 3]} == {21}
    assert "  驱动应答：x" in lines
    assert {State.CLEAR, State.CAUTION, State.BLOCKED} == {check.state for check in checks}


def test_a_plugin_changes_our_texts_and_brings_a_language(tmp_path: Path) -> None:
    """Its entries win; a flawed one is a notice of the diagnosis, and ours is used instead."""
    (tmp_path / "polyglot.py").write_text(PLUGIN, "utf-8")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "mine.yaml").write_text(TEXTS, "utf-8")
    information = tmp_path / "polyglot-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: polyglot\nVersion: 1\n", "utf-8")
    (information / "entry_points.txt").write_text("[strata_diag]\npolyglot = polyglot\n", "utf-8")
    paths = os.pathsep.join([str(tmp_path), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONUTF8": "1"}

    def classified(*words: str) -> str:
        command = [sys.executable, "-m", "strata_diag", "classify", *words, str(BUSY)]
        return subprocess.run(command, env=environment, capture_output=True, check=False, encoding="utf-8").stdout

    chinese = json.loads(classified("--language", "zh", "--format", "json"))
    assert chinese["verdict"]["title"] == "无法读取显存状况：别的程序占着 GPU"
    assert ["polyglot" in notice["text"] and "has other holes" in notice["text"] for notice in chinese["notices"]] == [
        True
    ]
    german = classified("--language", "de")
    assert "Was zu tun ist" in german
    assert "Try again?" in german
