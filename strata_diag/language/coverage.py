"""What a catalogue lacks: for whoever translates, and for a test that nothing is forgotten."""

from __future__ import annotations

from collections.abc import Iterator

from strata_diag.language.translator import translator_for
from strata_diag.ruleset import RuleSet


def missing(rules: RuleSet, language: str) -> dict[str, str]:
    """The texts of a rule set that have no translation, each with the rule, cause or remedy that says it.

    Raises LanguageError for a language without a catalogue.
    """
    translator = translator_for(rules, language)
    return {text: where for text, where in rule_texts(rules) if translator.pack_text(text) is None}


def rule_texts(rules: RuleSet) -> Iterator[tuple[str, str]]:
    """Every text of a rule set that a person reads, and the rule, cause or remedy that says it."""
    for rule in rules.rules:
        yield from ((text, f"rule {rule.id}") for text in (rule.title, rule.why) if text)
    for cause in rules.causes.values():
        yield from ((text, f"cause {cause.id}") for text in (cause.title, cause.about) if text)
    for template in rules.remedies.values():
        wordings = (*(wording.text for wording in template.texts), template.risk)
        yield from ((text, f"remedy {template.action}") for text in wordings if text)
