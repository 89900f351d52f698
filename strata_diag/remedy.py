"""From a verdict to steps: the remedies of the deciding rule, then those of its cause, with the log's numbers filled in.

Comes in: a verdict, the run's details and facts. Goes out: remedies in order of cost, as the packs list them. A wording
whose numbers the log doesn't have is passed over for the next; a step whose condition doesn't hold is left out. Captured
text is data: nothing but a plain word gets into a command.
"""

from __future__ import annotations

from collections.abc import Mapping

from strata_diag.lazy import later_regex
from strata_diag.model import Remedy, Run, Verdict, remedy_page
from strata_diag.record import TYPE_CHECKING
from strata_diag.ruleset import RemedyTemplate, RuleSet

if TYPE_CHECKING:
    from typing import Any

# no blank, quote or operator of any shell, and no hyphen in front, which would make it an option
_PLAIN_WORD = later_regex(r"(?!-)[A-Za-z0-9_.:/\\+@-]+\Z")
LONGEST_VALUE = 200  # characters of a captured value in a text


def advise(verdict: Verdict, run: Run, rules: RuleSet) -> tuple[Remedy, ...]:
    """The steps for a verdict; empty for PASS."""
    cause = rules.causes[verdict.cause]
    rule = rules.by_id[verdict.rule] if verdict.rule else None
    own = rule.remedies if rule else ()
    captures = verdict.deciding.captures if verdict.deciding else {}
    values: dict[str, Any] = {**run.details, **_chain_values(verdict), **captures, **run.facts}
    wanted = dict.fromkeys((*own, *(cause.remedies if rule is None or rule.cause_remedies else ())))
    made = (fill(rules.remedies[action], values) for action in wanted)
    return tuple(remedy for remedy in made if remedy is not None)


def _chain_values(verdict: Verdict) -> dict[str, str]:
    """Values of what the cause led to and of what lies beside it; the nearer to the cause, the stronger."""
    values: dict[str, str] = {}
    for finding in (*reversed(verdict.harmless), *reversed(verdict.chain)):
        values.update(finding.captures)
    return values


def fill(template: RemedyTemplate, values: Mapping[str, Any]) -> Remedy | None:
    """A step with its values; None where its condition doesn't hold."""
    import string  # noqa: PLC0415 - 10 ms, for a log with a finding

    if not _conditions_hold(template, values):
        return None
    known = {name: value for name, value in values.items() if value is not None}
    known |= _computed(template, known)
    text = next(wording.text for wording in template.texts if wording.names <= known.keys())
    shown = {name: str(value)[:LONGEST_VALUE] for name, value in known.items()}
    commands = {
        system: string.Template(command).safe_substitute(shown)
        for system, command in template.commands.items()
        if all(_PLAIN_WORD.match(shown.get(name, "")) for name in string.Template(command).get_identifiers())
    }
    wording = string.Template(text).safe_substitute(shown)
    return Remedy(template.action, wording, commands, template.risk, template.link, remedy_page(template.action))


def _conditions_hold(template: RemedyTemplate, values: Mapping[str, Any]) -> bool:
    if not template.when:
        return True
    from strata_diag import expression  # noqa: PLC0415 - 20 ms, for a step with a condition

    return all(expression.holds(condition, values) for condition in template.when)


def _computed(template: RemedyTemplate, known: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a step works out of others, as far as these are known."""
    if not template.compute:
        return {}
    from strata_diag import expression  # noqa: PLC0415 - as above

    made: dict[str, Any] = {}
    for name, formula in template.compute:
        try:
            made[name] = expression.evaluate(formula, {**known, **made})
        except expression.MissingNameError:
            continue
    return made
