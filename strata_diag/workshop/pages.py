"""What the page about a rule, a cause or a remedy says, before it is known where it is read.

Comes in: a rule set. Goes out: pages, each with its id, a title and sections of items. `pagetext` shows them on a terminal
(`rules show`), `pagemarkdown` writes them as Markdown (`rules docs`), so that both say the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from strata_diag.model import Role, cause_page, remedy_page, rule_page
from strata_diag.render.layout import RETRY_WORDS
from strata_diag.ruleset import Cause, Rule, RuleSet
from strata_diag.workshop.listing import ClauseText, Description, Relations, Step, describe, steps, unescaped

ROLE_WORDS = {
    Role.FAILURE: "a failure: it can decide a verdict",
    Role.SYMPTOM: "a symptom: it decides only where no failure stands",
    Role.INFO: "information: it claims its line and never decides",
    Role.RECOVERY: "a recovery: it takes back what stood earlier in the run",
    Role.READY: "readiness: it takes back failures of the start",
    Role.RUN_START: "the start of a run",
    Role.RUN_END: "an orderly end of a run",
}
CLAUSE_WORDS = {
    "sequence": "lines one after another, each at most {within} lines below the one before",
    "near": "lines at most {within} lines away from the first",
    "count": "at least {at_least} lines with",
    "last": "one of the run's last {within} lines with",
    "facts": "what the caller knows",
}
GROUP_WORDS = {"any": "One of these must be there", "all": "All of these must be there", "none": "None of these may be"}
ATTRIBUTION_WORDS = {
    "user": "how the program was started or set up",
    "environment": "the machine, and what else runs on it",
    "engine": "the program itself",
    "hardware": "the hardware",
}
PATTERN, SAMPLE, COMMAND = "pattern", "sample", "command"


class Words(NamedTuple):
    """A sentence or a few. warning: whoever reads on must know it first."""

    text: str
    warning: bool = False


class Verbatim(NamedTuple):
    """Lines that are shown as they are. kind: pattern | sample | command."""

    lines: tuple[str, ...]
    kind: str


class Reference(NamedTuple):
    """Another page: its id, the words that stand for it, and its title."""

    page: str
    name: str
    remark: str = ""


class References(NamedTuple):
    """A list of other pages."""

    pages: tuple[Reference, ...]


class Steps(NamedTuple):
    """What to do, in this order."""

    steps: tuple[Step, ...]


class Place(NamedTuple):
    """A line (1-based) of a file."""

    file: str
    line: int


Item: TypeAlias = Words | Verbatim | References | Steps | Place


class Section(NamedTuple):
    """A part of a page; one without items is left out."""

    title: str
    items: tuple[Item, ...]


class Page(NamedTuple):
    """One page. id: as `model.rule_page` and its like make it; name: of its subject; kind: what the subject is."""

    id: str
    name: str
    kind: str
    title: str
    lead: tuple[Item, ...]
    sections: tuple[Section, ...]


def _page(identity: str, name: str, kind: str, title: str, lead: Iterable[Item], *sections: Section) -> Page:
    return Page(identity, name, kind, title, tuple(lead), tuple(one for one in sections if one.items))


def page_of_rule(rule: Rule, rules: RuleSet, known: Relations | None = None) -> Page:
    """What it means, what to do, what prints it, how it is found, and whom it yields to. known: as in `describe`."""
    found = describe(rule, rules, known)

    def others(title: str, ids: Iterable[str]) -> Section:
        return Section(title, _listed(_rule_reference(identity, rules) for identity in ids))

    return _page(
        rule_page(rule.id),
        rule.id,
        f"{rule.role}, priority {rule.priority}",
        rule.title,
        _lead(rule, rules),
        Section("What it means", tuple(_meaning(found))),
        Section("What to do", _numbered(found.remedies)),
        Section("What prints it", tuple(_printed(found))),
        Section("Lines that it must not match", _samples(rule.sample_no_match)),
        Section("How it is found", tuple(_conditions(found))),
        others("Not where one of these rules holds", rule.unless),
        others("Yields to", found.yields_to),
        others("These yield to it", found.yielded_by),
        others("Takes back", rule.cancels),
        others("Taken back by", found.cancelled_by),
        Section("Where it stands", tuple(_origin(found))),
        Section("References", tuple(Words(text) for text in rule.references)),
    )


def _listed(pages: Iterable[Reference]) -> tuple[Item, ...]:
    found = tuple(pages)
    return (References(found),) if found else ()


def _numbered(found: tuple[Step, ...]) -> tuple[Item, ...]:
    return (Steps(found),) if found else ()


def _rule_reference(identity: str, rules: RuleSet) -> Reference:
    return Reference(rule_page(identity), identity, rules.by_id[identity].title)


def _cause_reference(cause: Cause) -> Reference:
    return Reference(cause_page(cause.id), f"{cause.status} / {cause.id}", cause.title)


def _lead(rule: Rule, rules: RuleSet) -> Iterator[Item]:
    """Why it matters, what a local file made of it, its age and the versions that it is for."""
    if rule.why:
        yield Words(rule.why)
    if rule.silenced:
        yield Words(f"Silenced by a local file: {rule.silenced}", warning=True)
    elif rule.override_place:
        yield Words(f"Changed by a local file: {rule.overridden}", warning=True)
    if rule.override_place:
        file, _, line = rule.override_place.rpartition(":")
        yield Place(file, int(line))
    if rule.lifecycle == "experimental":
        yield Words("Experimental: it decides, and its verdict is never lasting.", warning=True)
    elif rule.lifecycle == "deprecated":
        yield Words("Deprecated; use this one instead:" if rule.replaced_by else "Deprecated.", warning=True)
        if rule.replaced_by:
            yield from _listed([_rule_reference(rule.replaced_by, rules)])
    if rule.applies:
        yield Words(f"Only for {rule.applies}; where the version is not known, it holds.")


def _meaning(found: Description) -> Iterator[Item]:
    rule, cause = found.rule, found.cause
    yield Words(f"It is {ROLE_WORDS[rule.role]}.")
    if cause:
        lasting = cause.lasting if rule.lasting is None else rule.lasting
        yield from _listed([_cause_reference(cause)])
        yield from _outlook(rule.retry or cause.retry, lasting=lasting)
    if rule.survives_ready:
        yield Words("It stands although the program got ready.")
    if rule.settles:
        yield Words("A log that ends with it is healthy.")
    if rule.track:
        yield Words(f"It is a step on the track {rule.track}.")


def _outlook(retry: str, *, lasting: bool) -> Iterator[Item]:
    yield Words(f"Try again? {RETRY_WORDS.get(retry, retry)}.")
    yield Words(f"A command line may {'be' if lasting else 'not be'} remembered as bad because of it.")


def _printed(found: Description) -> Iterator[Item]:
    if found.pack.engines:
        yield Words(f"Printed by: {', '.join(found.pack.engines)}.")
    if found.rule.found_by:
        yield Words(f"No line alone: the plugin {found.rule.found_by} sees it.")
    yield from _samples(found.rule.sample_match)


def _samples(samples: tuple[str, ...]) -> tuple[Item, ...]:
    return tuple(Verbatim(tuple(sample.split("\n")), SAMPLE) for sample in samples)


def _conditions(found: Description) -> Iterator[Item]:
    for group, words in GROUP_WORDS.items():
        clauses = [clause for clause in found.clauses if clause.group == group]
        if clauses:
            yield Words(f"{words}:")
        for clause in clauses:
            yield from _clause(clause)
    if found.rule.when:
        yield Words("Only where all of this is so:")
        yield Verbatim(found.rule.when, PATTERN)


def _clause(clause: ClauseText) -> Iterator[Item]:
    words = CLAUSE_WORDS.get(clause.kind)
    if words:
        yield Words(f"{words.format(within=clause.within, at_least=clause.at_least)}:")
    yield Verbatim(clause.patterns or (clause.expression,), PATTERN)


def _origin(found: Description) -> Iterator[Item]:
    pack = found.pack
    yield Words(f"Version {pack.version} of the pack {pack.name} of {pack.plugin}: {pack.about}")
    yield Place(found.rule.file, found.rule.line)


def page_of_cause(cause: Cause, rules: RuleSet) -> Page:
    """What it means, what to do, and the rules that can find it."""
    status = f"Its status is {cause.status}; the next step lies with {ATTRIBUTION_WORDS[cause.attribution]}."
    finders = (_rule_reference(rule.id, rules) for rule in rules.rules if rule.cause == cause.id)
    return _page(
        cause_page(cause.id),
        cause.id,
        f"a cause of {cause.status}",
        cause.title,
        [Words(cause.about)] if cause.about else [],
        Section("What it means", (Words(status), *_outlook(cause.retry, lasting=cause.lasting))),
        Section("What to do", _numbered(steps(cause.remedies, rules))),
        Section("Rules that find it", _listed(finders)),
    )


def page_of_remedy(action: str, rules: RuleSet) -> Page:
    """How it is worded, what it costs, and which causes and rules ask for it. Raises KeyError for an unknown action."""
    template = rules.remedies[action]
    sharper = tuple(Words(unescaped(text.text)) for text in template.texts if text.names)
    causes = (_cause_reference(cause) for cause in rules.causes.values() if action in cause.remedies)
    asking = (_rule_reference(rule.id, rules) for rule in rules.rules if action in rule.remedies)
    return _page(
        remedy_page(action),
        action,
        "a remedy",
        action.replace("-", " ").capitalize(),
        [],
        Section("How it is done", _numbered(steps((action,), rules))),
        Section("How it reads where the log has the values", sharper),
        Section("Only where all of this is so", (Verbatim(template.when, PATTERN),) if template.when else ()),
        Section("Causes that ask for it", _listed(causes)),
        Section("Rules that ask for it", _listed(asking)),
    )
