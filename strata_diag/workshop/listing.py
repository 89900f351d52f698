"""Which rules there are, and everything about one: the records behind `rules list` and `rules show`.

Comes in: a rule set. Goes out: rules that a filter lets through, and descriptions in which every reference has both of its
ends: a rule that yields to another one is named by that one too.
"""

from __future__ import annotations

import difflib
import fnmatch
import string
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from strata_diag.model import Role, remedy_page, rule_page
from strata_diag.ruleset import Cause, Clause, PackInfo, RemedyTemplate, Rule, RuleSet, expand_ids
from strata_diag.workshop.errors import WorkshopError

LISTING_SCHEMA = 1  # of the JSON of `rules list` and `rules show`
NEAR_IDS = 3  # ids that a message about an unknown one offers


class RuleFilter(NamedTuple):
    """Which rules are wanted: names, with wildcards, for each property; an empty one lets everything through."""

    packs: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()


class ClauseText(NamedTuple):
    """A clause as its author wrote it. group: any | all | none; kind, within, at_least, expression: as in `Clause`."""

    group: str
    kind: str
    patterns: tuple[str, ...]
    within: int
    at_least: int
    expression: str


class Step(NamedTuple):
    """A remedy as it reads without the values of a log."""

    action: str
    text: str
    commands: Mapping[str, str]
    risk: str
    link: str

    @property
    def page(self) -> str:
        """The id of its page."""
        return remedy_page(self.action)

    def to_dict(self) -> dict[str, Any]:
        """The step in plain types."""
        return {**self._asdict(), "commands": dict(self.commands), "page": self.page}


class Description(NamedTuple):
    """Everything about one rule.

    cause: None where the role has none; yields_to, yielded_by: both ends of `yields_to` and `explains`; cancelled_by: the
    recoveries that take it back; vetoed_by: rules whose presence keeps it out; remedies: its own, then those of its cause.
    """

    rule: Rule
    pack: PackInfo
    cause: Cause | None
    clauses: tuple[ClauseText, ...]
    yields_to: tuple[str, ...]
    yielded_by: tuple[str, ...]
    cancelled_by: tuple[str, ...]
    remedies: tuple[Step, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `rules show`: plain types only."""
        rule = self.rule
        return {
            **summary(rule, self.pack),
            "why": rule.why,
            "applies": rule.applies or None,
            "replaced_by": rule.replaced_by or None,
            "overridden": rule.overridden or None,
            "override_place": rule.override_place or None,
            "status": str(self.cause.status) if self.cause else None,
            "cause_title": self.cause.title if self.cause else None,
            "retry": rule.retry or (self.cause.retry if self.cause else None),
            "lasting": self._lasting(),
            "clauses": [{**clause._asdict(), "patterns": list(clause.patterns)} for clause in self.clauses],
            "when": list(rule.when),
            "unless": list(rule.unless),
            "found_by": rule.found_by,
            "yields_to": list(self.yields_to),
            "yielded_by": list(self.yielded_by),
            "cancels": list(rule.cancels),
            "cancelled_by": list(self.cancelled_by),
            "survives_ready": rule.survives_ready,
            "settles": rule.settles,
            "remedies": [step.to_dict() for step in self.remedies],
            "references": list(rule.references),
            "samples": {"match": list(rule.sample_match), "no_match": list(rule.sample_no_match)},
        }

    def _lasting(self) -> bool | None:
        if self.rule.lasting is not None:
            return self.rule.lasting
        return self.cause.lasting if self.cause else None


class Relations(NamedTuple):
    """Rules by the id of a rule that they name: under `explains`, under `yields_to`, under `cancels`."""

    explained_by: Mapping[str, list[str]]
    yielding: Mapping[str, list[str]]
    cancelled_by: Mapping[str, list[str]]


def summary(rule: Rule, pack: PackInfo) -> dict[str, Any]:
    """What `rules list` says about a rule, in plain types."""
    return {
        "id": rule.id,
        "page": rule_page(rule.id),
        "role": str(rule.role),
        "cause": rule.cause or None,
        "priority": rule.priority,
        "title": rule.title,
        "pack": rule.pack,
        "pack_version": rule.pack_version,
        "plugin": pack.plugin,
        "engines": list(pack.engines),
        "file": rule.file,
        "line": rule.line,
        "lifecycle": rule.lifecycle,
        "silenced": rule.silenced or None,
    }


def packs_by_name(rules: RuleSet) -> Mapping[str, PackInfo]:
    """The packs of a rule set by their names."""
    return {pack.name: pack for pack in rules.packs}


def select(rules: RuleSet, wanted: RuleFilter) -> list[Rule]:
    """The rules that a filter lets through, in the order of their packs."""
    packs = packs_by_name(rules)
    return [
        rule
        for rule in rules.rules
        if _fits((rule.pack,), wanted.packs)
        and _fits((rule.cause,), wanted.causes)
        and _fits((str(rule.role),), wanted.roles)
        and _fits(packs[rule.pack].engines, wanted.engines)
        and _fits((packs[rule.pack].plugin,), wanted.plugins)
    ]


def check_filter(rules: RuleSet, wanted: RuleFilter) -> None:
    """Raises WorkshopError for a name that fits nothing, with the nearest one: it is misspelt, and would hide every rule."""
    packs = packs_by_name(rules).values()
    known = {
        "pack": [pack.name for pack in packs],
        "cause": list(rules.causes),
        "role": [str(role) for role in Role],
        "engine": sorted({engine for pack in packs for engine in pack.engines}),
        "plugin": list(dict.fromkeys([*(pack.plugin for pack in packs), *(one.name for one in rules.plugins)])),
    }
    for (what, names), asked in zip(known.items(), wanted, strict=True):
        for name in asked:
            if not _fits(names, (name,)):
                near = difflib.get_close_matches(name, names, 1)
                advice = f"did you mean `{near[0]}`?" if near else f"there are: {', '.join(names)}"
                raise WorkshopError(f"there is no {what} `{name}`; {advice}")


def _fits(values: Iterable[str], wanted: tuple[str, ...]) -> bool:
    return not wanted or any(fnmatch.fnmatchcase(value, name) for value in values for name in wanted)


def find(rules: RuleSet, wanted: Iterable[str]) -> list[Rule]:
    """The rules with these ids, wildcards allowed, in the order asked for. Raises WorkshopError with the nearest ids."""
    known = [rule.id for rule in rules.rules]
    found: dict[str, Rule] = {}
    for name in wanted:
        ids = expand_ids(name, known)
        if not ids:
            near = difflib.get_close_matches(name, known, NEAR_IDS, 0.6)
            ends = [identity for identity in known if identity.partition("/")[2] == name][:NEAR_IDS]
            offered = " or ".join(f"`{identity}`" for identity in dict.fromkeys([*ends, *near]))
            advice = f"did you mean {offered}?" if offered else "`strata-diag rules list` shows all of them"
            raise WorkshopError(f"there is no rule `{name}`; {advice}")
        found |= {identity: rules.by_id[identity] for identity in ids}
    return list(found.values())


def relations(rules: RuleSet) -> Relations:
    """Who names whom in a rule set; worth making once for many descriptions."""
    found: tuple[dict[str, list[str]], ...] = ({}, {}, {})
    for rule in rules.rules:
        for named, ids in zip(found, (rule.explains, rule.yields_to, rule.cancels), strict=True):
            for identity in ids:
                named.setdefault(identity, []).append(rule.id)
    return Relations(*found)


def describe(rule: Rule, rules: RuleSet, known: Relations | None = None) -> Description:
    """Everything about a rule of a rule set. known: what `relations` says of it."""
    explained_by, yielding, cancelled_by = known or relations(rules)
    return Description(
        rule,
        packs_by_name(rules)[rule.pack],
        rules.causes.get(rule.cause),
        tuple(_clause_texts(rule, rules)),
        tuple(dict.fromkeys([*rule.yields_to, *explained_by.get(rule.id, ())])),
        tuple(dict.fromkeys([*rule.explains, *yielding.get(rule.id, ())])),
        tuple(cancelled_by.get(rule.id, ())),
        steps(_actions(rule, rules), rules),
    )


def _clause_texts(rule: Rule, rules: RuleSet) -> list[ClauseText]:
    def text(group: str, clause: Clause) -> ClauseText:
        patterns = tuple(rules.patterns[number].source for number in clause.patterns)
        return ClauseText(group, clause.kind, patterns, clause.within, clause.at_least, clause.expression)

    groups = {"any": rule.any, "all": rule.all, "none": rule.none}
    return [text(group, clause) for group, clauses in groups.items() for clause in clauses]


def _actions(rule: Rule, rules: RuleSet) -> list[str]:
    cause = rules.causes.get(rule.cause)
    of_cause = cause.remedies if cause and rule.cause_remedies else ()
    return list(dict.fromkeys([*rule.remedies, *of_cause]))


def steps(actions: Iterable[str], rules: RuleSet) -> tuple[Step, ...]:
    """These remedies as they read without the values of a log. Raises KeyError for an unknown action."""
    return tuple(_step(rules.remedies[action]) for action in actions)


def _step(template: RemedyTemplate) -> Step:
    """A remedy in the wording that needs no value of a log; commands keep their holes."""
    wording = next(text.text for text in reversed(template.texts) if not text.names)
    commands = {system: unescaped(command) for system, command in template.commands.items()}
    return Step(template.action, unescaped(wording), commands, template.risk, template.link)


def unescaped(text: str) -> str:
    """A wording with its holes, and a dollar sign where it means one."""
    return string.Template(text).safe_substitute()
