"""The compiled rule set: what the packs say, in the shape that scanning, matching and resolving need.

Built by `rulepack` (from YAML), read by every stage, changed by none. A pattern's `regex` object is made when it is first
needed and kept; two threads that make the same one at the same time waste a millisecond and nothing else.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from strata_diag.model import DECIDING_ROLES, Notice, Remedy, Role, Run, Sighting, Status, Verdict

if TYPE_CHECKING:
    import regex


class Cause(NamedTuple):
    """A fine-grained reason. It belongs to one status; `lasting` and `retry` say how long a verdict of it holds.

    retry: now | never | after:card-free | after:memory-free | after:config-change | after:engine-change |
    after:driver-change | after:model-change | after:hardware-change. remedies: the advice when the rule has none of its own.
    """

    id: str
    status: Status
    title: str
    lasting: bool
    retry: str
    attribution: str
    about: str
    remedies: tuple[str, ...]


class RemedyText(NamedTuple):
    """One wording of a step, and the names that must have a value for it to be used."""

    text: str
    names: frozenset[str]


class RemedyTemplate(NamedTuple):
    """A step before its numbers are filled in. `texts`: the first whose names all have values is used.

    when: conditions that must all hold; compute: values worked out from captures, in order.
    """

    action: str
    texts: tuple[RemedyText, ...]
    commands: Mapping[str, str]
    risk: str
    link: str
    when: tuple[str, ...]
    compute: tuple[tuple[str, str], ...]


class Clause(NamedTuple):
    """A condition on a run. kind: regex | sequence | near | count | last | facts.

    patterns: numbers of patterns; within: lines (sequence, near, last); at_least: matches (count); expression: facts.
    """

    kind: str
    patterns: tuple[int, ...] = ()
    within: int = 0
    at_least: int = 1
    expression: str = ""


class Pattern(NamedTuple):
    """A regular expression of a rule. Any line that it matches holds one of `literals` (lower case where `caseless`).

    An empty `literals` means that nothing is known: the pattern is tried on every line.
    """

    number: int
    rule: int
    source: str
    literals: tuple[bytes, ...]
    caseless: bool


class Rule(NamedTuple):
    """One rule of a pack, its references to others resolved to full ids."""

    number: int
    id: str
    pack: str
    pack_version: int
    file: str
    line: int
    role: Role
    cause: str
    priority: int
    title: str
    why: str
    any: tuple[Clause, ...]
    all: tuple[Clause, ...]
    none: tuple[Clause, ...]
    when: tuple[str, ...]
    unless: tuple[str, ...]
    yields_to: tuple[str, ...]
    explains: tuple[str, ...]
    cancels: tuple[str, ...]
    survives_ready: bool
    settles: bool
    track: str
    phase: int
    repeats: bool
    found_by: str
    lasting: bool | None
    retry: str
    remedies: tuple[str, ...]
    cause_remedies: bool
    references: tuple[str, ...]
    sample_match: tuple[str, ...]
    sample_no_match: tuple[str, ...]

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """Every clause of the rule, in the order any, all, none."""
        return self.any + self.all + self.none


class PackInfo(NamedTuple):
    """Where a pack came from. plugin: the name of the plugin that brought it, or `--rules`; engines: whose lines it knows."""

    name: str
    version: int
    about: str
    file: str
    plugin: str
    rules: int
    engines: tuple[str, ...] = ()


class PluginInfo(NamedTuple):
    """A plugin as `strata-diag plugins` lists it. state: active | blocked | broken."""

    name: str
    version: str
    hooks: tuple[str, ...]
    packs: tuple[str, ...]
    state: str


class Extensions(Protocol):
    """What loaded plugins add at run time; their exceptions come back as notices, never as exceptions."""

    def findings(self, run: Run, rules: RuleSet) -> tuple[list[Sighting], list[Notice]]:
        """Findings that a pattern can't see."""

    def remedies(self, verdict: Verdict) -> tuple[list[Remedy], list[Notice]]:
        """Further steps for a verdict, put after those of the packs."""

    def probes(self) -> tuple[list[tuple[str, Any]], list[Notice]]:
        """Probes of the live machine for `preflight`, each with its plugin's name."""

    def sources(self, path: str) -> tuple[Any, list[Notice]]:
        """A binary stream with the log inside a container that a plugin can read, or None."""


class NoExtensions:
    """A rule set without plugins."""

    def findings(self, run: Run, rules: RuleSet) -> tuple[list[Sighting], list[Notice]]:
        """Nothing."""
        return [], []

    def remedies(self, verdict: Verdict) -> tuple[list[Remedy], list[Notice]]:
        """Nothing."""
        return [], []

    def probes(self) -> tuple[list[tuple[str, Any]], list[Notice]]:
        """Nothing."""
        return [], []

    def sources(self, path: str) -> tuple[Any, list[Notice]]:
        """Nothing."""
        return None, []


class RuleSet:
    """All rules of all packs. Make one with `strata_diag.load_rules`; it is safe to share between threads.

    rules, patterns: tuples, numbered by position; causes, remedies: by id; tracks: the phases of each track, in order;
    scanned_patterns nominate lines; info_patterns claim them, and are tried only where another rule or a person looks;
    info_literals: the numbers of info patterns by (literal, caseless), the empty literal for those without one;
    facts_alone: numbers of the rules that can hold without a single line; engines: whose lines a pack knows, by pack.
    """

    def __init__(
        self,
        rules: tuple[Rule, ...],
        patterns: tuple[Pattern, ...],
        causes: Mapping[str, Cause],
        remedies: Mapping[str, RemedyTemplate],
        tracks: Mapping[str, tuple[str, ...]],
        packs: tuple[PackInfo, ...] = (),
        plugins: tuple[PluginInfo, ...] = (),
        notices: tuple[Notice, ...] = (),
        extensions: Extensions | None = None,
    ) -> None:
        self.rules = rules
        self.patterns = patterns
        self.causes = causes
        self.remedies = remedies
        self.tracks = tracks
        self.packs = packs
        self.plugins = plugins
        self.notices = notices
        self.extensions: Extensions = extensions or NoExtensions()
        self.by_id: Mapping[str, Rule] = {rule.id: rule for rule in rules}
        self.engines: Mapping[str, tuple[str, ...]] = {pack.name: pack.engines for pack in packs}
        self._compiled: list[regex.Pattern[str] | None] = [None] * len(patterns)
        self.facts_alone = tuple(rule.number for rule in rules if _asks_facts_alone(rule))
        self.info_patterns = tuple(one for one in patterns if rules[one.rule].role is Role.INFO)
        self.info_literals = _by_literal(self.info_patterns)
        self.scanned_patterns = tuple(one for one in patterns if rules[one.rule].role is not Role.INFO)

    def compiled(self, number: int) -> regex.Pattern[str]:
        """The `regex` object of a pattern; made at first use. Patterns were checked when the packs were read."""
        made = self._compiled[number]
        if made is None:
            made = compile_pattern(self.patterns[number].source)
            self._compiled[number] = made
        return made

    def rule_of(self, pattern: int) -> Rule:
        """The rule to which the pattern with this number belongs."""
        return self.rules[self.patterns[pattern].rule]

    def cause_of(self, finding_cause: str) -> Cause:
        """The cause with this id. Raises KeyError for one that no pack declares."""
        return self.causes[finding_cause]

    def __repr__(self) -> str:
        return f"<RuleSet: {len(self.rules)} rules in {len(self.packs)} packs>"


def compile_pattern(source: str) -> regex.Pattern[str]:
    """Compile a pattern as every stage and test must: ASCII classes, searched, not anchored. Raises regex.error.

    Classes and case folding stay ASCII, so that a literal on bytes can never miss a match.
    """
    import regex  # noqa: PLC0415 - 40 ms that a log without a candidate line must not pay

    return regex.compile(source, flags=regex.ASCII | regex.VERSION0)


def expand_ids(wanted: tuple[str, ...], known: list[str]) -> tuple[str, ...]:
    """Full rule ids for names that may hold wildcards (`cuda-malloc/*`), in the order of `known`; unknown ones stay out."""
    wildcards = [one for one in wanted if any(sign in one for sign in "*?[")]
    return tuple(name for name in known if name in wanted or any(fnmatch.fnmatchcase(name, one) for one in wildcards))


def _by_literal(patterns: tuple[Pattern, ...]) -> Mapping[tuple[str, bool], list[int]]:
    found: dict[tuple[str, bool], list[int]] = {}
    for pattern in patterns:
        for literal in pattern.literals or (b"",):  # the empty text stands in every line
            found.setdefault((literal.decode("utf-8"), pattern.caseless), []).append(pattern.number)
    return found


def _asks_facts_alone(rule: Rule) -> bool:
    """Whether the caller's facts can be enough for a rule."""
    if rule.found_by:
        return False
    return any(clause.kind == "facts" for clause in rule.any) or (
        not rule.any and all(clause.kind == "facts" for clause in rule.all)
    )


def is_deciding(rule: Rule) -> bool:
    """Whether the rule can decide a verdict, rather than describe, cancel or cut."""
    return rule.role in DECIDING_ROLES
