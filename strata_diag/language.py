"""Texts in other languages: catalogues that give a translation for the English text itself.

    translator = translator_for(rules, "zh")
    found = translator.diagnosis(diagnose(log, rules=translator.rules(rules)))

Comes in: a rule set and the name of a language. Goes out: the same rule set with the wordings of its rules, causes and remedies
replaced, before the numbers of a log are filled in, and a function for the sentences that the program puts together itself. No
stage knows of it, so no translation can change a verdict. A text without a translation stays English.

A key may have holes, which its translation must have too. `{name}` is a value that stays as it is; those in NUMBER_HOLES hold
digits. `<<name>>` is a text of its own, looked up by itself: rules that expand a vocabulary need one entry a rule and one a
text of the vocabulary, not one a pair. The program's sentences may have both kinds, the texts of packs only parts.

Nothing is taken from the system's locale: programs read the output of others, and a locale is no wish to read Chinese.
"""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from strata_diag.errors import Problem, StrataDiagError
from strata_diag.model import Beaten, Diagnosis, Notice, Remedy, Status, Verdict
from strata_diag.record import TYPE_CHECKING
from strata_diag.ruleset import Cause, RemedyTemplate, RuleSet

if TYPE_CHECKING:
    from strata_diag.ruleset import Extensions

ENGLISH = "en"
NUMBER_HOLES = frozenset({"count", "first", "last", "line", "lines", "number"})
FOLDER = Path(__file__).parent / "catalogues"  # a folder a language
DEEPEST_PART = 4  # parts within parts that are looked up
LONGEST_SENTENCE = 4000  # characters of a text that is compared with keys that have holes

_HOLE = re.compile(r"(?<!\$)\{([a-z][a-z0-9_]*)\}|<<([a-z][a-z0-9_.-]*)>>")
_NUMBER = re.compile(r"\d[\d,]*")
_VALUE = re.compile(r"\$(?:\$|[A-Za-z_]\w*|\{[A-Za-z_]\w*\})")  # of string.Template, in the texts of remedies


class LanguageError(StrataDiagError):
    """There is no catalogue for a language. `known`: those that there are."""

    def __init__(self, wanted: str, known: list[str]) -> None:
        super().__init__(
            f"there is no catalogue for the language {wanted!r}; there are: {', '.join(known)}; "
            "a plugin can bring one (the hook strata_diag_catalogues)"
        )
        self.wanted = wanted
        self.known = tuple(known)


class Template(NamedTuple):
    """A key with holes. pieces: the text around them, one more than holes; parts: the holes that are looked up themselves."""

    pieces: tuple[str, ...]
    names: tuple[str, ...]
    parts: frozenset[str]
    translation: str

    def values_in(self, text: str) -> dict[str, str] | None:
        """What stands in the holes if the text fits; None where it does not. No hole is empty, and each is as short as can be."""
        first, *middle, last = self.pieces
        at, end = len(first), len(text) - len(last)
        if at >= end or not text.startswith(first) or not text.endswith(last):
            return None
        values = []
        for piece in middle:
            found = text.find(piece, at + 1, end)
            if found < 0:
                return None
            values.append(text[at:found])
            at = found + len(piece)
        if at >= end:
            return None
        found_values = dict(zip(self.names, [*values, text[at:end]], strict=True))
        fits = all(_NUMBER.fullmatch(value) for name, value in found_values.items() if name in NUMBER_HOLES)
        return found_values if fits else None


class Translator:
    """The texts of one language. Make one with `translator_for`; it never changes, and costs nothing for English.

    language: its name as the catalogue has it; notices: what is wrong with the catalogues of plugins.
    """

    def __init__(self, language: str, texts: Mapping[str, str], notices: tuple[Notice, ...] = ()) -> None:
        self.language = language
        self.notices = notices
        self._texts = texts
        made = (_template(english, translation) for english, translation in texts.items())
        holey = [template for template in made if template is not None]
        # the key that says most about a text wins
        self._templates = sorted(holey, key=lambda template: -sum(map(len, template.pieces)))

    def text(self, english: str) -> str:
        """The translation of a text, as far as it is known; the text itself where nothing is."""
        if not self._texts or not english:
            return english
        known = self.whole(english)
        if known is not None:
            return known
        for template, values in self._fitting(english):
            return _filled(template, {name: self._part(template, name, value) for name, value in values.items()})
        return english

    def whole(self, english: str, depth: int = 0) -> str | None:
        """The translation of a text where that of each of its parts is known too, else None."""
        found = self._texts.get(english)
        if found is not None or depth > DEEPEST_PART:
            return found
        for template, values in self._fitting(english):
            parts = {
                name: self.whole(value, depth + 1) if name in template.parts else value
                for name, value in values.items()
            }
            complete = {name: value for name, value in parts.items() if value is not None}
            if len(complete) == len(values):
                return _filled(template, complete)
        return None

    def _fitting(self, text: str) -> Iterator[tuple[Template, dict[str, str]]]:
        if len(text) > LONGEST_SENTENCE:
            return
        for template in self._templates:
            values = template.values_in(text)
            if values is not None:
                yield template, values

    def _part(self, template: Template, name: str, value: str) -> str:
        return (self.whole(value) or value) if name in template.parts else value

    def rules(self, rules: RuleSet) -> RuleSet:
        """The rule set in this language; its patterns and everything that was made from them are shared."""
        if not self._texts:
            return rules

        words = _Remembered(self)
        made = copy.copy(rules)
        made.rules = tuple(rule._replace(title=words[rule.title], why=words[rule.why]) for rule in rules.rules)
        made.by_id = {rule.id: rule for rule in made.rules}
        made.causes = {name: _cause(cause, words) for name, cause in rules.causes.items()}
        made.remedies = {name: _remedy(template, words) for name, template in rules.remedies.items()}
        made.notices = (*rules.notices, *self.notices)
        return made

    def diagnosis(self, found: Diagnosis) -> Diagnosis:
        """The diagnosis with the sentences that the program itself puts into it; lines of the log stay as they are."""
        if not self._texts:
            return found
        runs = tuple(
            run._replace(verdict=self.verdict(run.verdict), remedies=self._steps(run.remedies)) for run in found.runs
        )
        notices = tuple(notice._replace(text=self.text(notice.text)) for notice in found.notices)
        return found._replace(
            verdict=self.verdict(found.verdict), remedies=self._steps(found.remedies), runs=runs, notices=notices
        )

    def verdict(self, found: Verdict) -> Verdict:
        """The verdict with its reason, where that is no line of the log, and why each other candidate lost."""
        beaten = tuple(Beaten(loser.finding, self.text(loser.why), loser.kind) for loser in found.beaten)
        said = found.deciding is None and not found.suspects and found.status in (Status.PASS, Status.UNKNOWN)
        return found._replace(reason=self.text(found.reason) if said else found.reason, beaten=beaten)

    def _steps(self, remedies: tuple[Remedy, ...]) -> tuple[Remedy, ...]:
        """Steps that a plugin made in code; those of packs are in this language already."""
        return tuple(step._replace(text=self.text(step.text), risk=self.text(step.risk)) for step in remedies)


class _Remembered(dict[str, str]):
    """Translations by English text, each looked up once: most rules of a vocabulary share their words."""

    def __init__(self, translator: Translator) -> None:
        super().__init__()
        self._translator = translator

    def __missing__(self, english: str) -> str:
        known = self._translator.whole(english) if english else ""
        self[english] = english if known is None else known
        return self[english]


def translator_for(rules: RuleSet, language: str) -> Translator:
    """The translator for a language such as `zh`, `zh_CN` or `zh-CN.UTF-8`: our texts, then what the rule set's plugins add.

    Raises LanguageError for a language without a catalogue.
    """
    return _translator(rules.extensions, _normal(language))  # type: ignore[arg-type] # every object has a hash


def localized(rules: RuleSet, language: str) -> RuleSet:
    """The rule set with its texts in a language. Raises LanguageError for one without a catalogue."""
    return translator_for(rules, language).rules(rules)


def missing(rules: RuleSet, language: str) -> dict[str, str]:
    """The texts of a rule set that have no translation, each with the rule, cause or remedy that says it.

    Raises LanguageError for a language without a catalogue.
    """
    translator = translator_for(rules, language)
    return {text: where for text, where in rule_texts(rules) if translator.whole(text) is None}


def rule_texts(rules: RuleSet) -> Iterator[tuple[str, str]]:
    """Every text of a rule set that a person reads, and the rule, cause or remedy that says it."""
    for rule in rules.rules:
        yield from ((text, f"rule {rule.id}") for text in (rule.title, rule.why) if text)
    for cause in rules.causes.values():
        yield from ((text, f"cause {cause.id}") for text in (cause.title, cause.about) if text)
    for template in rules.remedies.values():
        wordings = (*(wording.text for wording in template.texts), template.risk)
        yield from ((text, f"remedy {template.action}") for text in wordings if text)


@lru_cache(maxsize=8)
def _translator(extensions: Extensions, wanted: str) -> Translator:
    if wanted in ("", ENGLISH):
        return Translator(ENGLISH, {})
    brought, notices = extensions.catalogues()
    known = {_normal(name) for _, by_language in brought for name in by_language}
    known |= {path.name for path in FOLDER.iterdir() if path.is_dir()}
    name = next((name for name in (wanted, wanted.partition("-")[0]) if name in known), "")
    if name == ENGLISH:
        return Translator(ENGLISH, {})
    if not name:
        raise LanguageError(wanted, sorted({ENGLISH, *known}))
    problems: list[Problem] = []
    texts = _sound(read_catalogue(FOLDER / name, problems), f"catalogues/{name}", problems)
    for plugin, by_language in brought:
        for its_name, content in by_language.items():
            if _normal(its_name) == name:
                added = read_catalogue(content, problems) if isinstance(content, Path) else content
                texts |= _sound(added, f"the plugin {plugin}", problems)
    notes = (*notices, *(Notice("plugin", str(problem)) for problem in problems))
    return Translator(name, texts, notes)


def _normal(language: str) -> str:
    """`zh_CN.UTF-8` as `zh-cn`."""
    return language.partition(".")[0].partition("@")[0].replace("_", "-").strip().lower()


def read_catalogue(folder: Path, problems: list[Problem]) -> dict[str, str]:
    """All entries of the YAML files in a folder, later files last; what can't be used is added to `problems`."""
    from strata_diag.yamlfile import read_yaml  # noqa: PLC0415 - English must not pay for it

    texts: dict[str, str] = {}
    if not folder.is_dir():
        return texts
    for path in sorted(folder.iterdir()):
        if path.suffix not in (".yaml", ".yml"):
            continue
        shown = os.path.join(folder.parent.name, folder.name, path.name)
        for english, translation in (read_yaml(path, shown, problems) or {}).items():
            texts[english] = translation
    return texts


def _sound(texts: Mapping[str, object], origin: str, problems: list[Problem]) -> dict[str, str]:
    """The entries that can be used: texts on both sides, with the same holes."""
    sound: dict[str, str] = {}
    for english, translation in texts.items():
        wrong = flaw(english, translation)
        if wrong:
            problems.append(
                Problem(origin, 0, f"the translation of {english!r:.80} {wrong}", "the English text is used")
            )
        elif isinstance(translation, str):
            sound[english] = translation
    return sound


def flaw(english: object, translation: object) -> str:
    """What is wrong with an entry of a catalogue, or nothing."""
    if not isinstance(english, str) or not isinstance(translation, str) or not translation.strip():
        return "is no text"
    holes, values = ([sorted(sign.findall(text)) for text in (english, translation)] for sign in (_HOLE, _VALUE))
    if set(holes[0]) != set(holes[1]):
        return "has other holes"
    return "has other $values" if set(values[0]) != set(values[1]) else ""


def _template(english: str, translation: str) -> Template | None:
    """A key with holes that have text around them, ready to be compared; None for a plain key."""
    holes = list(_HOLE.finditer(english))
    if not holes:
        return None
    starts, ends = [hole.start() for hole in holes], [hole.end() for hole in holes]
    pieces = tuple(english[end:start] for end, start in zip([0, *ends], [*starts, len(english)], strict=True))
    names = tuple(hole.group(1) or hole.group(2) for hole in holes)
    if not any(pieces) or not all(pieces[1:-1]):
        return None  # nothing would tell where a hole ends
    return Template(pieces, names, frozenset(hole.group(2) for hole in holes if hole.group(2)), translation)


def _filled(template: Template, values: Mapping[str, str]) -> str:
    return _HOLE.sub(lambda hole: values[hole.group(1) or hole.group(2)], template.translation)


def _cause(cause: Cause, words: _Remembered) -> Cause:
    return cause._replace(title=words[cause.title], about=words[cause.about])


def _remedy(template: RemedyTemplate, words: _Remembered) -> RemedyTemplate:
    texts = tuple(wording._replace(text=words[wording.text]) for wording in template.texts)
    return template._replace(texts=texts, risk=words[template.risk])
