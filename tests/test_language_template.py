"""Keys with holes: what fits them, what they make of it, and which translations are refused."""

from __future__ import annotations

import pytest

from strata_diag.language.catalogue import Catalogue
from strata_diag.language.template import flaw, template_of
from strata_diag.language.translator import LONGEST_SENTENCE, Translator

ERRORS = {
    "A call failed: <<error>>": "调用失败：<<error>>",
    "<<place>> comes first": "<<place>>在前",
    "the card is full": "显卡已满",
    "line {number}": "第 {number} 行",
    "line {number} of {file}": "{file} 第 {number} 行",
    "line {number} is longer than {size}": "第 {number} 行超过 {size}",
    "{name}: <<notice>>": "{name}：<<notice>>",
}


def speaking(texts: dict[str, str]) -> Translator:
    """A translator with these texts."""
    return Translator(Catalogue("zh", texts))


@pytest.mark.parametrize(
    ("english", "expected"),
    [
        ("A call failed: the card is full", "调用失败：显卡已满"),
        ("line 12 comes first", "第 12 行在前"),
        ("line 12 of kernel.txt comes first", "kernel.txt 第 12 行在前"),
        ("line 7 of a is longer than b.txt", "a is longer than b.txt 第 7 行"),
        ("line 7 is longer than 64 KiB", "第 7 行超过 64 KiB"),
        ("kernel.txt: line 7 is longer than 64 KiB", "kernel.txt：第 7 行超过 64 KiB"),
    ],
)
def test_a_sentence_is_put_together_from_its_parts(english: str, expected: str) -> None:
    """Values stay, parts are looked up by themselves, and the key that says most wins."""
    assert speaking(ERRORS).text(english) == expected


@pytest.mark.parametrize(
    "english", ["line x", "line ", "A call failed: ", "something: else", "line two of a file", "", "line 7\nline 8"]
)
def test_what_does_not_fit_stays_english(english: str) -> None:
    """A number's hole takes digits only, no hole is empty, and signs alone make no sentence."""
    assert speaking(ERRORS).text(english) == english


def test_a_part_without_translation_stays_english_in_a_sentence() -> None:
    """Half a sentence is better than none where a person reads it."""
    assert speaking(ERRORS).text("A call failed: the moon is full") == "调用失败：the moon is full"


def test_a_text_of_a_pack_is_translated_whole_or_not_at_all() -> None:
    """Unknown parts make it missing, and a sentence of the program never passes for a text of a pack."""
    translator = speaking(ERRORS)
    assert translator.pack_text("A call failed: the card is full") == "调用失败：显卡已满"
    assert translator.pack_text("A call failed: the moon is full") is None
    assert translator.pack_text("line 7 is longer than 64 KiB") is None


def test_a_sentence_beyond_all_measure_is_not_compared() -> None:
    """What a log could blow up is not searched for pieces of keys."""
    english = "A call failed: " + "x" * LONGEST_SENTENCE
    assert speaking(ERRORS).text(english) == english


def test_parts_of_parts_end() -> None:
    """A key that is a part of itself costs a few steps, not a recursion without end."""
    english = ("A call failed: " * 50) + "the card is full"
    assert speaking(ERRORS).text(english).startswith("调用失败：调用失败：")


def test_english_translates_nothing() -> None:
    """The translator of English gives back what it gets, and misses nothing."""
    english = Translator(Catalogue("en", {}))
    assert english.text("line 7") == "line 7"
    assert english.pack_text("The card is full") == "The card is full"


@pytest.mark.parametrize("key", ["<<a>><<b>>", "{a}", "plain", "<<a>>", "costs ${free_mib} MiB", "{A}", "{}"])
def test_a_key_needs_text_around_its_holes(key: str) -> None:
    """Without it nothing would tell where one ends; a value of a remedy is no hole."""
    assert template_of(key, key) is None


@pytest.mark.parametrize(
    ("english", "translation", "expected"),
    [
        ("a {name} b", "乙 {name} 甲", ""),
        ("a <<x>> and {y}", "{y} 和 <<x>>", ""),
        ("a {name}", "甲 {nome}", "has other holes"),
        ("a <<x>>", "甲 {x}", "has other holes"),
        ("a", "甲 {name}", "has other holes"),
        ("needs ${free_mib} MiB", "需要 ${free_mib} MiB", ""),
        ("needs ${free_mib} MiB", "需要 ${need_mib} MiB", "has other $values"),
        ("a", "  ", "is no text"),
        ("a", None, "is no text"),
        (7, "甲", "is no text"),
    ],
)
def test_an_entry_must_have_the_holes_of_its_key(english: object, translation: object, expected: str) -> None:
    """In any order; the values of remedies too."""
    assert flaw(english, translation) == expected
