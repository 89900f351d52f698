"""Options that several verbs share: which rules are loaded, colours, redaction, and the language of texts."""

from __future__ import annotations

import os

from strata_diag.api import load_rules
from strata_diag.recall import BLOCK_VARIABLE
from strata_diag.record import TYPE_CHECKING, NamedTuple
from strata_diag.render.layout import unchanged
from strata_diag.ruleset import RuleSet
from strata_diag.settings import PROJECT_FILE, SETTINGS_FILE, Settings, find_settings
from strata_diag.settings import VARIABLE as RULES_VARIABLE

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from typing import Any

    from strata_diag.model import Diagnosis
    from strata_diag.redact import Redactor
    from strata_diag.render.layout import Translate

LANGUAGE_VARIABLE = "STRATA_DIAG_LANGUAGE"
ENGLISH = "en"


def add_rule_options(parser: argparse.ArgumentParser) -> None:
    """--rules, --no-builtin-rules, --no-plugin, --no-settings."""
    group = parser.add_argument_group("rules")
    group.add_argument(
        "--rules",
        action="append",
        default=[],
        metavar="PATH",
        help="add the packs of a folder or file (may be repeated)",
    )
    group.add_argument("--no-builtin-rules", action="store_true", help="leave the built-in packs out")
    group.add_argument(
        "--no-plugin",
        action="append",
        default=[],
        metavar="NAME",
        help=f"leave a plugin out (may be repeated; also the variable {BLOCK_VARIABLE}=NAME,...)",
    )
    group.add_argument(
        "--no-settings",
        action="store_true",
        help=f"look for no {SETTINGS_FILE} or {PROJECT_FILE} here and above, and leave out {RULES_VARIABLE}",
    )


def rules_from(options: argparse.Namespace) -> RuleSet:
    """The rules that the options and the project's settings ask for. Raises RuleSetError."""
    settings = Settings() if options.no_settings else find_settings()
    named = {os.path.abspath(path) for path in settings.rules}  # noqa: PTH100 - resolving links would rename the files
    paths = [path for path in options.rules if os.path.abspath(path) not in named]  # noqa: PTH100
    return load_rules(paths, builtin=not options.no_builtin_rules, no_plugins=options.no_plugin, settings=settings)


def add_colour_option(parser: argparse.ArgumentParser) -> None:
    """--no-color; NO_COLOR in the environment does the same."""
    parser.add_argument("--no-color", action="store_true", help="no colours and no wrapping, as into a pipe")


def add_redact_option(parser: argparse.ArgumentParser) -> None:
    """--redact."""
    parser.add_argument(
        "--redact",
        action="store_true",
        help="replace names, addresses and secrets in everything that is printed (see strata-diag redact)",
    )


def redactor_from(options: argparse.Namespace, rules: RuleSet) -> Redactor | None:
    """The redactor of this call where --redact asks for one; it takes no word of the rules out of a message."""
    if not options.redact:
        return None
    from strata_diag.redact import Redactor, words_of  # noqa: PLC0415 - only with --redact

    return Redactor(words_of(rules))


def add_language_option(parser: argparse.ArgumentParser) -> None:
    """--language; STRATA_DIAG_LANGUAGE in the environment does the same."""
    parser.add_argument(
        "--language",
        metavar="LANGUAGE",
        help=f"the language of texts for people: en, zh, or one that a plugin brings; commands, lines of logs, ids and the "
        f"keys of JSON stay as they are (default: the variable {LANGUAGE_VARIABLE}, else en; never taken from LANG, since "
        "programs read the output)",
    )


class Wording(NamedTuple):
    """How a call words its answer. rules: with their texts in the language; diagnosis: puts one made with them into it."""

    language: str
    rules: RuleSet
    text: Translate
    diagnosis: Callable[[Diagnosis], Diagnosis]


def wording_from(options: argparse.Namespace, rules: RuleSet) -> Wording:
    """The wording that the option or the variable asks for; English costs nothing.

    The system's locale is not asked: programs read our output. Raises LanguageError for a language without a catalogue.
    """
    language = _language(options)
    if language == ENGLISH:
        return Wording(ENGLISH, rules, unchanged, lambda found: found)
    from strata_diag.language import translator_for  # noqa: PLC0415 - only for another language

    translator = translator_for(rules, language)
    return Wording(translator.language, translator.rules(rules), translator.text, translator.diagnosis)


def said_in_language(options: Any, text: str) -> str:
    """An error in the language of these options, as far as it is known without any plugin. options: None for none yet."""
    language = _language(options)
    if language == ENGLISH:
        return text
    from strata_diag.language import LanguageError, translator_for  # noqa: PLC0415 - as above
    from strata_diag.ruleset import NoExtensions  # noqa: PLC0415

    try:
        return translator_for(NoExtensions(), language).text(text)
    except LanguageError:
        return text


def _language(options: Any) -> str:
    return getattr(options, "language", None) or os.environ.get(LANGUAGE_VARIABLE) or ENGLISH
