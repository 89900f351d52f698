"""The compiled rule set: what the packs say, in the shape that scanning, matching and resolving need.

Built by `rulepack` (from YAML), read by every stage, changed by none. A pattern's `regex` object is made when it is first
needed and kept; two threads that make the same one at the same time waste a millisecond and nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from strata_diag.lazy import ByName
from strata_diag.model import DECIDING_ROLES, Notice, Remedy, Role, Run, Sighting, Status, Verdict
from strata_diag.patterns import compile_pattern as compile_pattern  # noqa: PLC0414 - given on
from strata_diag.patterns import unpack
from strata_diag.record import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any, Protocol

    import regex

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

        def readers(self) -> tuple[list[tuple[str, Any]], list[Notice]]:
            """Readers of attachments, each with its plugin's name."""

        def catalogues(self) -> tuple[list[tuple[str, Any]], list[Notice]]:
            """Catalogues of translated texts, each with its plugin's name."""


UNBOUNDED = 9  # repetitions of a pattern that can't be counted


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

    An empty `literals` means that nothing is known: the pattern is tried on every line. repeats: how many repetitions may
    trade characters with each other (`backtracking`), from which it follows on how long a line a time-out is needed; packed: what
    `patterns.pack` kept of its compiled form.
    """

    number: int
    rule: int
    source: str
    literals: tuple[bytes, ...]
    caseless: bool
    repeats: int = UNBOUNDED
    packed: tuple[Any, ...] = ()


class ScanIndex(NamedTuple):
    """What to search a log for.

    texts: literals, in lower case where `caseless` (a byte each) is 1; each stands for the patterns at its place in
    `patterns` (their numbers, sorted); everywhere: patterns without a literal; windows: where a rare piece of each literal
    begins; telling: the words without which it can't stand in a text (as `needles.telling_words` writes them); words: the
    literals whose rarest telling word it is, those without one under the empty one; pieces: the literals that are a piece of
    a single word, by this piece in lower case.
    """

    texts: tuple[bytes, ...]
    caseless: bytes
    patterns: tuple[tuple[int, ...], ...]
    everywhere: tuple[int, ...]
    windows: tuple[int, ...]
    telling: tuple[tuple[bytes, ...], ...]
    words: Mapping[bytes, tuple[int, ...]]
    pieces: Mapping[bytes, tuple[int, ...]]


class Rule(NamedTuple):
    """One rule of a pack, its references to others resolved to full ids.

    applies: the range of versions for which it holds, empty for all; lifecycle: experimental | stable | deprecated;
    replaced_by: the rule to use instead of a deprecated one. override_place: the file and line that changes or silences it;
    overridden: what was changed and why; silenced: why it is silent; all three are empty for a rule as its pack has it.
    """

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
    applies: str = ""
    lifecycle: str = "stable"
    replaced_by: str = ""
    override_place: str = ""
    overridden: str = ""
    silenced: str = ""

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

    def readers(self) -> tuple[list[tuple[str, Any]], list[Notice]]:
        """Nothing."""
        return [], []

    def catalogues(self) -> tuple[list[tuple[str, Any]], list[Notice]]:
        """Nothing."""
        return [], []


DECIDING, STARTS, ENDS, PHASED, INFORMS = 1, 2, 4, 8, 16  # marks of a pattern: what its rule does


class Summary(NamedTuple):
    """What every diagnosis asks of a rule set, so that most of its rules need not be looked at.

    marks, repeats, rule_numbers: by number of the pattern; rule_ids: by number of the rule; facts_alone: numbers of the
    rules that can hold without a single line; info_literals: the numbers of info patterns by (literal, caseless), the empty
    literal for those without one; overridden: numbers of the rules that a local file changes or silences.
    """

    marks: bytes
    repeats: bytes
    rule_numbers: tuple[int, ...]
    rule_ids: tuple[str, ...]
    facts_alone: tuple[int, ...]
    info_literals: Mapping[tuple[str, bool], tuple[int, ...]]
    overridden: tuple[int, ...]


class RuleSet:
    """All rules of all packs. Make one with `strata_diag.load_rules`; it is safe to share between threads.

    rules, patterns: numbered by position; causes, remedies: by id; tracks: the phases of each track, in order; engines:
    whose lines a pack knows, by pack; scan_index: what to search logs for, or None where nobody has made it yet; key: under
    which the set is cached, empty where it is not.
    """

    scan_index: ScanIndex | None = None
    key = ""

    def __init__(
        self,
        rules: Sequence[Rule],
        patterns: Sequence[Pattern],
        causes: Mapping[str, Cause],
        remedies: Mapping[str, RemedyTemplate],
        tracks: Mapping[str, tuple[str, ...]],
        packs: Sequence[PackInfo] = (),
        plugins: tuple[PluginInfo, ...] = (),
        notices: tuple[Notice, ...] = (),
        extensions: Extensions | None = None,
        summary: Summary | None = None,
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
        self.summary = summary or _summary(rules, patterns)
        self.marks, self.repeats, self.rule_numbers, rule_ids, self.facts_alone, self.info_literals, _ = self.summary
        self.by_id: Mapping[str, Rule] = ByName({name: number for number, name in enumerate(rule_ids)}, rules)
        self.engines: Mapping[str, tuple[str, ...]] = {pack.name: pack.engines for pack in packs}
        self._compiled: list[regex.Pattern[str] | None] = [None] * len(patterns)

    @property
    def info_patterns(self) -> tuple[Pattern, ...]:
        """Those that claim lines; they are tried only where another rule or a person looks."""
        return tuple(one for one in self.patterns if self.marks[one.number] & INFORMS)

    @property
    def scanned_patterns(self) -> tuple[Pattern, ...]:
        """Those that nominate lines."""
        return tuple(one for one in self.patterns if not self.marks[one.number] & INFORMS)

    def compiled(self, number: int) -> regex.Pattern[str]:
        """The `regex` object of a pattern; made at first use. Patterns were checked when the packs were read."""
        made = self._compiled[number]
        if made is None:
            pattern = self.patterns[number]
            made = unpack(pattern.packed) or compile_pattern(pattern.source)
            self._compiled[number] = made
        return made

    def rule_of(self, pattern: int) -> Rule:
        """The rule to which the pattern with this number belongs."""
        return self.rules[self.rule_numbers[pattern]]

    def cause_of(self, finding_cause: str) -> Cause:
        """The cause with this id. Raises KeyError for one that no pack declares."""
        return self.causes[finding_cause]

    def __repr__(self) -> str:
        return f"<RuleSet: {len(self.rules)} rules in {len(self.packs)} packs>"


def expand_ids(wanted: str, known: Collection[str]) -> list[str]:
    """The full rule ids for one that may hold wildcards (`cuda-malloc/*`), in the order of `known`; none for an unknown one."""
    if not any(sign in wanted for sign in "*?["):
        return [wanted] if wanted in known else []
    import fnmatch  # noqa: PLC0415 - for the linker, which reads `*`

    return [name for name in known if fnmatch.fnmatchcase(name, wanted)]


def _summary(rules: Sequence[Rule], patterns: Sequence[Pattern]) -> Summary:
    literals: dict[tuple[str, bool], list[int]] = {}
    for one in patterns:
        if rules[one.rule].role is Role.INFO:
            for literal in one.literals or (b"",):  # the empty text stands in every line
                literals.setdefault((literal.decode("utf-8"), one.caseless), []).append(one.number)
    return Summary(
        bytes(_marks(rules[one.rule]) for one in patterns),
        bytes(one.repeats for one in patterns),
        tuple(one.rule for one in patterns),
        tuple(rule.id for rule in rules),
        tuple(rule.number for rule in rules if _asks_facts_alone(rule)),
        {literal: tuple(numbers) for literal, numbers in literals.items()},
        tuple(rule.number for rule in rules if rule.override_place),
    )


def _marks(rule: Rule) -> int:
    roles = {Role.RUN_START: STARTS, Role.RUN_END: ENDS, Role.INFO: INFORMS}
    return roles.get(rule.role, 0) | (DECIDING if is_deciding(rule) else 0) | (PHASED if rule.track else 0)


def _asks_facts_alone(rule: Rule) -> bool:
    """Whether the caller's facts can be enough for a rule."""
    if rule.found_by:
        return False
    return any(clause.kind == "facts" for clause in rule.any) or (
        not rule.any and all(clause.kind == "facts" for clause in rule.all)
    )


def is_deciding(rule: Rule) -> bool:
    """Whether the rule can decide a verdict, rather than describe, cancel or cut; a silenced one can't."""
    return rule.role in DECIDING_ROLES and not rule.silenced
