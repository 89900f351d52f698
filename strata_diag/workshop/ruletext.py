"""Rules as styled lines: the text of `rules list` and `rules show`. Every word of a pack is harmless for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from strata_diag.model import Role
from strata_diag.render.escape import visible
from strata_diag.render.layout import RETRY_WORDS, Line, Span
from strata_diag.ruleset import PackInfo, Rule, RuleSet
from strata_diag.workshop.listing import ClauseText, Description, Step, packs_by_name

MOST_NAMED = 12  # rules that a list of ids names; --format json has all
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


def list_lines(found: list[Rule], rules: RuleSet) -> Iterator[Line]:
    """The rules by pack, one line each, and their number."""
    packs = packs_by_name(rules)
    width = max((len(rule.id.partition("/")[2]) for rule in found), default=0)
    cause_width = max((len(rule.cause) for rule in found), default=0)
    last = ""
    for rule in found:
        if rule.pack != last:
            yield from _pack_head(packs[rule.pack])
            last = rule.pack
        name = visible(rule.id.partition("/")[2])
        text = f"  {name:<{width}}  {rule.role:<9}  {rule.priority:>3}  {visible(rule.cause or '-'):<{cause_width}}  "
        marks = [word for word in (rule.lifecycle, "silenced" if rule.silenced else "") if word not in ("", "stable")]
        mark = f" ({', '.join(marks)})" if marks else ""
        yield Line((Span(text), Span(visible(rule.title), "dim"), Span(mark, "yellow")), len(text))
    count = len(found)
    yield Line(())
    yield Line((Span(f"{count} rule{'' if count == 1 else 's'}", "bold"),))


def _pack_head(pack: PackInfo) -> Iterator[Line]:
    yield Line(())
    head = Span(visible(pack.name), "bold")
    yield Line((head, Span(f"  {visible(pack.about)} (version {pack.version}, {visible(pack.plugin)})", "dim")), 2)


def rule_lines(found: Description) -> Iterator[Line]:
    """Everything about one rule."""
    rule = found.rule
    yield Line((Span(visible(rule.id), "bold"), Span(f"  {rule.role}, priority {rule.priority}", "dim")))
    yield Line((Span(visible(rule.title), "bold"),))
    if rule.why:
        yield _text(rule.why)
    yield from _changes(rule)
    yield from _meaning(found)
    yield from _origin(found)
    yield from _conditions(found)
    yield from _samples("Lines that it matches", rule.sample_match)
    yield from _samples("Lines that it must not match", rule.sample_no_match)
    yield from _ids("Yields to", found.yields_to)
    yield from _ids("These yield to it", found.yielded_by)
    yield from _ids("Takes back", rule.cancels)
    yield from _ids("Taken back by", found.cancelled_by)
    yield from _steps(found.remedies)
    yield from _listed("References", rule.references)


def _title(text: str) -> Iterator[Line]:
    yield Line(())
    yield Line((Span(text, "bold"),))


def _text(text: str, style: str = "", indent: int = 2) -> Line:
    return Line((Span(" " * indent + visible(text), style),), indent)


def _meaning(found: Description) -> Iterator[Line]:
    rule, cause = found.rule, found.cause
    yield from _title("What it means")
    yield _text(f"It is {ROLE_WORDS[rule.role]}.")
    if cause:
        yield _text(f"{cause.status} / {cause.id}: {cause.title}")
        retry = rule.retry or cause.retry
        yield _text(f"Try again? {RETRY_WORDS.get(retry, retry)}")
        lasting = cause.lasting if rule.lasting is None else rule.lasting
        yield _text(f"A command line may {'be' if lasting else 'not be'} remembered as bad because of it.")
    if rule.survives_ready:
        yield _text("It stands although the program got ready.")
    if rule.settles:
        yield _text("A log that ends with it is healthy.")
    if rule.track:
        yield _text(f"It is a step on the track {rule.track}.")


def _changes(rule: Rule) -> Iterator[Line]:
    """What a local file made of the rule, and its age: whoever reads on must know it first."""
    if rule.silenced:
        yield _text(f"Silenced in {rule.override_place}: {rule.silenced}", "bold yellow")
    elif rule.override_place:
        yield _text(f"Changed in {rule.override_place}: {rule.overridden}", "bold yellow")
    if rule.lifecycle == "experimental":
        yield _text("Experimental: it decides, and its verdict is never lasting.", "yellow")
    elif rule.lifecycle == "deprecated":
        instead = f"; use {rule.replaced_by} instead" if rule.replaced_by else ""
        yield _text(f"Deprecated{instead}.", "yellow")
    if rule.applies:
        yield _text(f"Only for {rule.applies}.")


def _origin(found: Description) -> Iterator[Line]:
    rule, pack = found.rule, found.pack
    yield from _title("Where it stands")
    yield _text(f"{rule.file}:{rule.line}")
    yield _text(f"version {pack.version} of the pack {pack.name} of {pack.plugin}: {pack.about}")
    if pack.engines:
        yield _text(f"printed by: {', '.join(pack.engines)}")


def _conditions(found: Description) -> Iterator[Line]:
    rule = found.rule
    yield from _title("What it matches")
    for group, words in GROUP_WORDS.items():
        clauses = [clause for clause in found.clauses if clause.group == group]
        if clauses:
            yield _text(f"{words}:")
        for clause in clauses:
            yield from _clause(clause)
    if rule.found_by:
        yield _text(f"No pattern: the plugin {rule.found_by} sees it.")
    for condition in rule.when:
        yield _text(f"only where {condition}")
    yield from _ids("Not where one of these rules holds", rule.unless)


def _clause(clause: ClauseText) -> Iterator[Line]:
    words = CLAUSE_WORDS.get(clause.kind)
    if words:
        yield _text(words.format(within=clause.within, at_least=clause.at_least) + ":", indent=4)
    for pattern in clause.patterns or (clause.expression,):
        yield _text(pattern, "cyan", indent=6 if words else 4)


def _samples(title: str, samples: tuple[str, ...]) -> Iterator[Line]:
    if not samples:
        return
    yield from _title(title)
    for sample in samples:
        first, *rest = sample.split("\n")
        yield _text(f"| {first}", "green", indent=2)
        for line in rest:
            yield _text(f"  {line}", "green", indent=2)


def _ids(title: str, ids: tuple[str, ...]) -> Iterator[Line]:
    more = len(ids) - MOST_NAMED
    yield from _listed(
        title, (*ids[:MOST_NAMED], *([f"and {more} more (--format json lists all)"] if more > 0 else []))
    )


def _listed(title: str, items: Iterable[str]) -> Iterator[Line]:
    shown = list(items)
    if not shown:
        return
    yield from _title(title)
    for item in shown:
        yield _text(item)


def _steps(steps: tuple[Step, ...]) -> Iterator[Line]:
    if not steps:
        return
    yield from _title("What to do")
    for number, step in enumerate(steps, 1):
        yield Line((Span(f"  {number}. ", "bold"), Span(visible(step.text))), 5)
        for system, command in step.commands.items():
            where = "" if system == "any" else f"  ({visible(system)})"
            yield Line((Span("     $ ", "dim"), Span(visible(command), "cyan"), Span(where, "dim")), 7)
        if step.risk:
            yield _text(f"Costs: {step.risk}", "dim", indent=5)
        if step.link:
            yield _text(f"See: {step.link}", "dim", indent=5)
