"""Texts in other languages: catalogues that give a translation for the English text itself.

    translator = translator_for(rules, "zh")
    found = translator.diagnosis(diagnose(log, rules=translator.rules(rules)))

Comes in: a rule set and the name of a language. Goes out: the same rule set with the wordings of its rules, causes and remedies
replaced, before the numbers of a log are filled in, and a function for the sentences that the program puts together itself. No
stage knows of it, so no translation can change a verdict. A text without a translation stays English.

Nothing is taken from the system's locale: programs read what we print, and a locale is no wish to read another language here.
"""

from __future__ import annotations

from strata_diag.language.catalogue import ENGLISH, LanguageError, flaw, read_catalogue
from strata_diag.language.coverage import missing, rule_texts
from strata_diag.language.translator import Translator, localized, translator_for

__all__ = [
    "ENGLISH",
    "LanguageError",
    "Translator",
    "flaw",
    "localized",
    "missing",
    "read_catalogue",
    "rule_texts",
    "translator_for",
]
