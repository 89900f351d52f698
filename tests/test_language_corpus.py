"""What people read of every log in the corpus, in Chinese: nothing of ours stays English around the lines of the log."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from conftest import CORPUS

from strata_diag import Diagnosis, RuleSet, diagnose
from strata_diag.language import Translator, rule_texts, translator_for
from strata_diag.render import markdown
from strata_diag.render.layout import diagnosis_lines, plain

LOGS = sorted(CORPUS.rglob("*.log"))
SITE = "https://example.org/"
WORDS = re.compile(r"(?:\b[A-Za-z][a-z']*[ ,;]+){3}[A-Za-z']+")  # four English words in a row
LINE_OF_A_LOG = re.compile(r"[> ] +\d+ \| ")
COMMAND = "     $ "
LONG_ENOUGH = 12  # characters of a text that stands in no line of ours by chance


@pytest.fixture(scope="module")
def translator(all_rules: RuleSet) -> Translator:
    """The Chinese texts."""
    return translator_for(all_rules, "zh")


@pytest.fixture(scope="module")
def found(all_rules: RuleSet, translator: Translator) -> list[Diagnosis]:
    """Every log of the corpus, diagnosed in Chinese."""
    localized = translator.rules(all_rules)
    return [translator.diagnosis(diagnose(log, rules=localized)) for log in LOGS]


def ours(one: Diagnosis, translator: Translator) -> Iterator[str]:
    """The lines of text and reply that are neither a line of the log, nor its name, nor a command."""
    for line in diagnosis_lines(one, "linux", SITE, translator.text)[1:]:
        text = plain(line)
        if not LINE_OF_A_LOG.match(text) and not text.startswith(COMMAND):
            yield text
    fenced = False
    for text in markdown.reply(one, "linux", translator.text, SITE).splitlines():
        if text.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield re.sub(r"`[^`]*`", "", text)


def test_no_line_of_ours_holds_english_sentences(found: list[Diagnosis], translator: Translator) -> None:
    """Four English words in a row stand only in what a log, a command or a path says."""
    left = {words for one in found for line in ours(one, translator) for words in WORDS.findall(line)}
    assert left == set()


def test_no_text_of_a_rule_stays_english(found: list[Diagnosis], translator: Translator, all_rules: RuleSet) -> None:
    """No title, explanation, cause or step of the packs is shown as it is written there."""
    english = {text for text, _ in rule_texts(all_rules) if len(text) >= LONG_ENOUGH}
    shown = "\n".join(line for one in found for line in ours(one, translator))
    assert [text for text in english if text in shown] == []


def test_the_reason_is_the_line_of_the_log(found: list[Diagnosis]) -> None:
    """What goes into a history is what the engine wrote."""
    decided = [one.verdict for one in found if one.verdict.deciding and one.verdict.deciding.lines]
    assert len(decided) > len(LOGS) // 2
    for verdict in decided:
        assert verdict.deciding is not None
        assert verdict.reason.rstrip("…") in " ".join(verdict.deciding.evidence.text.split())


def test_a_console_in_china_can_print_all_of_it(all_rules: RuleSet, translator: Translator) -> None:
    """Every translation can be written in code page 936."""
    localized = translator.rules(all_rules)
    for text, _ in rule_texts(localized):
        text.encode("gbk")
    for text in (*markdown.TEXTS.values(), markdown.ATTACH_STRATA, markdown.ATTACH_OTHER):
        translator.text(text).encode("gbk")
