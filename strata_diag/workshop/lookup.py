"""What `rules show` is asked for: rules by their ids, and rules, causes and remedies by the ids of their pages."""

from __future__ import annotations

import difflib
from collections.abc import Container, Iterable
from typing import Any, NamedTuple

from strata_diag.model import cause_page, remedy_page
from strata_diag.ruleset import Cause, Rule, RuleSet
from strata_diag.workshop.errors import WorkshopError
from strata_diag.workshop.listing import LISTING_SCHEMA, describe, find, steps
from strata_diag.workshop.pages import Page, page_of_cause, page_of_remedy, page_of_rule


class Asked(NamedTuple):
    """The subjects of pages, each kind in the order asked for. remedies: their actions."""

    rules: tuple[Rule, ...]
    causes: tuple[str, ...]
    remedies: tuple[str, ...]


def asked_for(names: Iterable[str], rules: RuleSet) -> Asked:
    """What these names stand for. Raises WorkshopError with the nearest ones for a name that stands for nothing."""
    wanted: dict[str, dict[str, None]] = {"rules": {}, "causes": {}, "remedies": {}}
    known: dict[str, Container[str]] = {"causes": rules.causes, "remedies": rules.remedies}
    packs = {pack.name for pack in rules.packs}
    for name in names:
        kind, _, rest = name.partition("/")
        if kind in packs or kind not in wanted:
            wanted["rules"] |= dict.fromkeys(rule.id for rule in find(rules, [name]))
        elif kind == "rules":
            wanted["rules"] |= dict.fromkeys(rule.id for rule in find(rules, [rest]))
        elif rest in known[kind]:
            wanted[kind][rest] = None
        else:
            raise WorkshopError(_unknown(name, rules))
    found = tuple(rules.by_id[identity] for identity in wanted["rules"])
    return Asked(found, tuple(wanted["causes"]), tuple(wanted["remedies"]))


def _unknown(name: str, rules: RuleSet) -> str:
    pages = [*map(cause_page, rules.causes), *map(remedy_page, rules.remedies)]
    near = difflib.get_close_matches(name, pages, 1)
    advice = f"did you mean `{near[0]}`?" if near else "`strata-diag rules docs` writes a page for each"
    return f"there is nothing by the name of `{name}`; {advice}"


def pages_of(asked: Asked, rules: RuleSet) -> list[Page]:
    """The pages about these subjects."""
    return [
        *(page_of_rule(rule, rules) for rule in asked.rules),
        *(page_of_cause(rules.causes[cause], rules) for cause in asked.causes),
        *(page_of_remedy(action, rules) for action in asked.remedies),
    ]


def to_dict(asked: Asked, rules: RuleSet) -> dict[str, Any]:
    """The JSON of `rules show`: plain types only."""
    return {
        "schema": LISTING_SCHEMA,
        "rules": [describe(rule, rules).to_dict() for rule in asked.rules],
        "causes": [_cause_dict(rules.causes[cause], rules) for cause in asked.causes],
        "remedies": [_remedy_dict(action, rules) for action in asked.remedies],
    }


def _cause_dict(cause: Cause, rules: RuleSet) -> dict[str, Any]:
    finders = [rule.id for rule in rules.rules if rule.cause == cause.id]
    own = {"page": cause_page(cause.id), "status": str(cause.status), "remedies": list(cause.remedies)}
    return {**cause._asdict(), **own, "rules": finders}


def _remedy_dict(action: str, rules: RuleSet) -> dict[str, Any]:
    template = rules.remedies[action]
    (general,) = steps((action,), rules)
    return {
        **general.to_dict(),
        "texts": [wording.text for wording in template.texts],
        "when": list(template.when),
        "causes": [cause.id for cause in rules.causes.values() if action in cause.remedies],
        "rules": [rule.id for rule in rules.rules if action in rule.remedies],
    }
