"""A rule set, a diagnosis and sentences in one language."""

from __future__ import annotations

import copy
from collections.abc import Iterable

from strata_diag.language.catalogue import Catalogue, catalogue_of
from strata_diag.language.template import Template, template_of
from strata_diag.lazy import ByName, LazyList
from strata_diag.model import Beaten, Diagnosis, Finding, Remedy, Status, Verdict
from strata_diag.record import TYPE_CHECKING
from strata_diag.ruleset import Cause, RemedyTemplate, Rule, RuleSet

if TYPE_CHECKING:
    from strata_diag.ruleset import Extensions

DEEPEST_PART = 4  # parts within parts that are looked up
LONGEST_SENTENCE = 4000  # characters of a text that is compared with keys that have holes


class Translator:
    """The texts of one language. Make one with `translator_for`; it never changes, and costs nothing for English.

    language: its name as the catalogue has it; notices: what is wrong with the catalogues of plugins.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self.language = catalogue.name
        self.notices = catalogue.notices
        self._texts = catalogue.texts
        made = (template_of(english, translation) for english, translation in catalogue.texts.items())
        holey = [template for template in made if template is not None]
        # the key that says most about a text wins
        self._templates = sorted(holey, key=lambda template: -sum(map(len, template.pieces)))
        self._of_packs = [template for template in self._templates if not template.is_sentence]

    def text(self, english: str) -> str:
        """The translation of a sentence, as far as it is known; the sentence itself where nothing is."""
        return self._said(english, self._templates)[0] if self._texts else english

    def pack_text(self, english: str) -> str | None:
        """The translation of a text of a pack; None where it, or a part of it, has none."""
        if not self._texts:
            return english
        said, complete = self._said(english, self._of_packs)
        return said if complete else None

    def _said(self, english: str, templates: Iterable[Template], depth: int = 0) -> tuple[str, bool]:
        """The translation, and whether all of it is known."""
        exact = self._texts.get(english)
        if exact is not None or depth > DEEPEST_PART or len(english) > LONGEST_SENTENCE:
            return exact or english, exact is not None
        partly = ""
        for template in templates:
            values = template.values_in(english)
            if values is None:
                continue
            parts = {name: self._said(values[name], templates, depth + 1) for name in template.parts}
            filled = template.filled({**values, **{name: said for name, (said, _) in parts.items()}})
            if all(complete for _, complete in parts.values()):
                return filled, True
            partly = partly or (filled if template.has_words else "")
        return partly or english, False

    def rules(self, rules: RuleSet) -> RuleSet:
        """The rule set in this language; its patterns and everything that was made from them are shared."""
        if not self._texts:
            return rules
        made = copy.copy(rules)
        made.rules = LazyList(len(rules.rules), lambda number: self._rule(rules.rules[number]))
        made.by_id = ByName({name: number for number, name in enumerate(rules.summary.rule_ids)}, made.rules)
        made.causes = {name: self._cause(cause) for name, cause in rules.causes.items()}
        names = list(rules.remedies)
        remedies = LazyList(len(names), lambda number: self._template(rules.remedies[names[number]]))
        made.remedies = ByName({name: number for number, name in enumerate(names)}, remedies)
        made.notices = (*rules.notices, *self.notices)
        return made

    def _known(self, english: str) -> str:
        return self.pack_text(english) or english

    def _rule(self, rule: Rule) -> Rule:
        return rule._replace(title=self._known(rule.title), why=self._known(rule.why))

    def _cause(self, cause: Cause) -> Cause:
        return cause._replace(title=self._known(cause.title), about=self._known(cause.about))

    def _template(self, template: RemedyTemplate) -> RemedyTemplate:
        texts = tuple(wording._replace(text=self._known(wording.text)) for wording in template.texts)
        return template._replace(texts=texts, risk=self._known(template.risk))

    def diagnosis(self, found: Diagnosis) -> Diagnosis:
        """The diagnosis with the sentences that the program itself puts into it; lines of the log stay as they are."""
        if not self._texts:
            return found
        runs = tuple(
            run._replace(verdict=self.verdict(run.verdict), remedies=self.steps(run.remedies)) for run in found.runs
        )
        notices = tuple(notice._replace(text=self.text(notice.text)) for notice in found.notices)
        return found._replace(
            verdict=self.verdict(found.verdict), remedies=self.steps(found.remedies), runs=runs, notices=notices
        )

    def verdict(self, found: Verdict) -> Verdict:
        """The verdict with its titles, its reason where that is no line of the log, and why each other candidate lost."""
        undecided = found.deciding is None and not found.suspects and found.status in (Status.PASS, Status.UNKNOWN)
        lineless = found.deciding is not None and not found.deciding.lines
        return found._replace(
            title=self.text(found.title),
            reason=self.text(found.reason) if undecided or lineless else found.reason,
            deciding=found.deciding and self._finding(found.deciding),
            chain=tuple(map(self._finding, found.chain)),
            beaten=tuple(Beaten(self._finding(one.finding), self.text(one.why), one.kind) for one in found.beaten),
            harmless=tuple(map(self._finding, found.harmless)),
        )

    def _finding(self, finding: Finding) -> Finding:
        """What the program puts behind the title of a rule."""
        return finding._replace(title=self.text(finding.title))

    def steps(self, remedies: tuple[Remedy, ...]) -> tuple[Remedy, ...]:
        """Steps that a plugin made in code; those of packs are in this language already."""
        return tuple(step._replace(text=self.text(step.text), risk=self.text(step.risk)) for step in remedies)


def translator_for(rules: RuleSet | Extensions, language: str) -> Translator:
    """The translator for a language such as `zh`, `zh_CN` or `zh-CN.UTF-8`: our texts, then what plugins add.

    rules: a rule set, or only its extensions. Raises LanguageError for a language without a catalogue.
    """
    extensions = rules.extensions if isinstance(rules, RuleSet) else rules
    return Translator(catalogue_of(language, extensions))


def localized(rules: RuleSet, language: str) -> RuleSet:
    """The rule set with its texts in a language. Raises LanguageError for one without a catalogue."""
    return translator_for(rules, language).rules(rules)
