"""Other languages: what is translated, what a catalogue may hold, and that no translation changes a verdict."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from conftest import CORPUS

from strata_diag import Diagnosis, RuleSet, diagnose
from strata_diag.cli import main
from strata_diag.language import LanguageError, flaw, missing, read_catalogue, rule_texts, translator_for
from strata_diag.language.catalogue import FOLDER
from strata_diag.model import Notice
from strata_diag.render.htmllog import PARTS
from strata_diag.render.htmllog import TEXTS as PAGE_TEXTS
from strata_diag.render.layout import RETRY_WORDS, diagnosis_lines, plain
from strata_diag.render.markdown import ATTACH_ENGINE, ATTACH_OTHER, ATTACH_STRATA, ATTACH_SYSTEM, TEXTS
from strata_diag.render.timeline import TEXTS as PICTURE_TEXTS
from strata_diag.ruleset import NoExtensions

BUSY = CORPUS / "strata" / "v100-busy-console.log"
EVERY_SO_MANY = 15  # logs of the corpus, of which one is diagnosed: both ways would take too long for all


@pytest.fixture(autouse=True)
def _no_language_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may have chosen a language."""
    monkeypatch.delenv("STRATA_DIAG_LANGUAGE", raising=False)


class Brought(NoExtensions):
    """The extensions of a rule set to which one plugin brings catalogues."""

    def __init__(self, catalogues: Mapping[str, Any]) -> None:
        self._catalogues = catalogues

    def catalogues(self) -> tuple[list[tuple[str, Any]], list[Notice]]:
        """The plugin's answer."""
        return [("polyglot", self._catalogues)], []


def what_programs_read(found: Diagnosis) -> tuple[object, ...]:
    """Everything of a diagnosis that is no wording."""
    verdict = found.verdict
    return (
        verdict.status, verdict.cause, verdict.rule, verdict.line, verdict.lasting, verdict.retry, verdict.contested,
        [(one.rule, one.lines) for one in verdict.chain],
        [(one.finding.rule, one.kind) for one in verdict.beaten],
        [one.rule for one in verdict.harmless],
        [(step.action, step.commands) for step in found.remedies],
        [(run.first_line, run.verdict.cause) for run in found.runs],
    )  # fmt: skip


def test_every_text_of_the_shipped_packs_has_a_translation(all_rules: RuleSet) -> None:
    """Titles, explanations, causes and remedies of the built-in packs and the shipped plugins are complete in Chinese."""
    left = missing(all_rules, "zh")
    entries = "\n".join(f"{english!r}:  # {where}" for english, where in left.items())
    assert not left, f"add a translation to a file of strata_diag/catalogues/zh for:\n{entries}"
    assert len(dict(rule_texts(all_rules))) > 1000


def test_every_label_has_a_translation(all_rules: RuleSet) -> None:
    """The labels of the text, of the reply and of a log on a page are complete in Chinese."""
    translator = translator_for(all_rules, "zh")
    attached = [text for steps in ATTACH_SYSTEM.values() for text, _ in steps] + [
        text for text, _ in ATTACH_ENGINE.values()
    ]
    texts = [re.sub(r"{\w+}", "7", text) for labels in (TEXTS, PAGE_TEXTS, PICTURE_TEXTS) for text in labels.values()]
    labels = [*texts, *PARTS.values(), *RETRY_WORDS.values(), *attached, ATTACH_STRATA, ATTACH_OTHER]
    assert [label for label in labels if translator.text(label) == label] == []


def test_our_catalogue_has_no_flaws(all_rules: RuleSet) -> None:
    """Each entry is a text with the holes of its key, and no file of ours is refused."""
    assert translator_for(all_rules, "zh").notices == ()
    problems: list[Any] = []
    assert [key for key, said in read_catalogue(FOLDER / "zh", problems).items() if flaw(key, said)] == []
    assert problems == []


def test_a_translation_changes_no_verdict(all_rules: RuleSet) -> None:
    """Logs of the corpus get the same verdict, evidence and commands in Chinese as in English."""
    localized = translator_for(all_rules, "zh").rules(all_rules)
    logs = sorted(CORPUS.rglob("*.log"))[::EVERY_SO_MANY]
    assert logs
    for log in logs:
        found = translator_for(all_rules, "zh").diagnosis(diagnose(log, rules=localized))
        assert what_programs_read(found) == what_programs_read(diagnose(log, rules=all_rules)), log


def test_the_text_of_a_diagnosis_is_chinese_around_the_lines_of_the_log(all_rules: RuleSet) -> None:
    """Labels, title and steps are translated, the deciding line stays as the engine wrote it."""
    translator = translator_for(all_rules, "zh_CN.UTF-8")
    found = translator.diagnosis(diagnose(BUSY, rules=translator.rules(all_rules)))
    text = "\n".join(map(plain, diagnosis_lines(found, "linux", translate=translator.text)))
    assert "决定性的行" in text
    assert found.verdict.title in text
    assert not found.verdict.title.isascii()
    assert "What to do" not in text
    assert "CUDA-capable device(s) is/are busy or unavailable" in text


def test_the_catalogue_of_a_plugin_is_added() -> None:
    """A plugin's entry is used beside ours, and may bring a language that we do not have."""
    chinese = translator_for(Brought({"zh": {"The flux is out": "通量不足"}}), "zh")
    assert chinese.text("The flux is out") == "通量不足"
    assert chinese.text("no") != "no"
    assert translator_for(Brought({"de": {"The flux is out": "Der Fluss ist aus"}}), "de").text("The flux is out") == (
        "Der Fluss ist aus"
    )


@pytest.mark.parametrize(
    ("english", "translation"),
    [
        ("{count} times", "viele Male"),
        ("${free_mib} MiB", "MiB"),
        ("a text", ""),
        ("a text", 7),
        ("a {name}", "{other}"),
    ],
)
def test_a_flawed_entry_is_a_notice_and_stays_english(english: str, translation: object) -> None:
    """Holes that differ, and what is no text, are said aloud and never used."""
    translator = translator_for(Brought({"de": {english: translation, "fine": "gut"}}), "de")
    assert [notice.kind for notice in translator.notices] == ["plugin"]
    assert "polyglot" in translator.notices[0].text
    assert translator.text(english) == english
    assert translator.text("fine") == "gut"


def test_an_answer_that_is_no_catalogue_is_a_notice() -> None:
    """A plugin that answers with something else does not stop the translation."""
    translator = translator_for(Brought({"zh": 7}), "zh")
    assert "polyglot" in translator.notices[0].text
    assert translator.text("no") != "no"


def test_an_unknown_language_names_the_known_ones() -> None:
    """Who asks for a language that nobody brings is told which there are."""
    with pytest.raises(LanguageError, match="en, zh") as raised:
        translator_for(NoExtensions(), "xx")
    assert raised.value.known == ("en", "zh")


def test_the_option_and_the_variable_choose_the_language(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both do the same, the option wins, and LANG is not asked."""
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert main(["classify", str(BUSY)]) == 1
    english = capsys.readouterr().out
    assert main(["classify", "--language", "zh", str(BUSY)]) == 1
    chinese = capsys.readouterr().out
    monkeypatch.setenv("STRATA_DIAG_LANGUAGE", "zh")
    assert main(["classify", str(BUSY)]) == 1
    assert capsys.readouterr().out == chinese
    assert main(["classify", "--language", "en", str(BUSY)]) == 1
    assert capsys.readouterr().out == english
    assert "What to do" in english
    assert "决定性的行" in chinese


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_an_unknown_language_ends_with_2(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is printed but the complaint."""
    assert main(["classify", "--language", "xx", "--format", form, str(BUSY)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "'xx'; there are: en, zh" in printed.err


def test_the_reply_is_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    """The reply to an issue has its labels in the language, and none of ours in English."""
    assert main(["classify", "--language", "zh", "--format", "markdown", str(BUSY)]) == 1
    reply = capsys.readouterr().out
    assert TEXTS["proof"] not in reply
    assert TEXTS["steps"] not in reply
    assert "决定性的行" in reply


@pytest.mark.parametrize("form", ["text", "json"])
def test_english_imports_nothing_of_it(form: str, tmp_path: Path) -> None:
    """A plain call pays nothing for the other languages."""
    code = (
        "import sys; from strata_diag.cli import main; "
        f"main(['classify', '--format', {form!r}, {str(BUSY)!r}]); "
        "sys.exit(any(name.startswith('strata_diag.language') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, cwd=tmp_path).returncode == 0
