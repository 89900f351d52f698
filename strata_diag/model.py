"""The records that the stages hand to each other, and the diagnosis that comes out.

All of them are named tuples: frozen, comparable, free to share between threads, and without the 36 ms that importing
`dataclasses` costs a command that a person waits for. Lines are numbered from 1, sizes are MiB or GiB as their names
say, times are the log's own text.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from strata_diag.record import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

SCHEMA_VERSION = (
    1  # of `Diagnosis.to_dict`; a key may be added without raising it, never removed or given another meaning
)

NO_CAPTURES: Mapping[str, str] = MappingProxyType({})


class Status(StrEnum):
    """What became of a run. The list is closed: packs and plugins add causes, never statuses."""

    PASS = "PASS"  # noqa: S105 - a verdict, not a secret
    CUDA_UNAVAILABLE = "CUDA_UNAVAILABLE"
    OOM = "OOM"
    UNSUPPORTED = "UNSUPPORTED"
    FAIL_BOOT = "FAIL_BOOT"
    CRASH = "CRASH"
    TIMEOUT = "TIMEOUT"
    KILLED = "KILLED"
    UNKNOWN = "UNKNOWN"


class Role(StrEnum):
    """What a rule's finding does in resolution."""

    FAILURE = "failure"
    SYMPTOM = "symptom"
    INFO = "info"
    RECOVERY = "recovery"
    READY = "ready"
    RUN_START = "run-start"
    RUN_END = "run-end"


DECIDING_ROLES = frozenset({Role.FAILURE, Role.SYMPTOM})

# A consumer that knows only the tuner's four words: everything that is none of the first three failed to start.
TUNER_STATUSES: Mapping[Status, str] = MappingProxyType(
    dict.fromkeys(Status, "FAIL_BOOT") | {Status.PASS: "PASS", Status.OOM: "OOM", Status.UNSUPPORTED: "UNSUPPORTED"}
)


def rule_page(rule: str) -> str:
    """The id of the page about a rule (`pack/name`), the same for ever; `render/pagelinks.py` makes a link of it."""
    return f"rules/{rule}"


def cause_page(cause: str) -> str:
    """The id of the page about a cause."""
    return f"causes/{cause}"


def remedy_page(action: str) -> str:
    """The id of the page about a remedy."""
    return f"remedies/{action}"


class Notice(NamedTuple):
    """Something that went wrong, or was left out, inside strata-diag itself while it worked on this log.

    kind is one of: plugin, pattern-timeout, truncated-line, encoding, binary, compressed, evidence-cap, remedy,
    override (a local file changes or silences rules), settings (a settings file was not read), stream (what ties the lines of
    another file to a run, or why they were left out).
    """

    kind: str
    text: str


class Evidence(NamedTuple):
    """One line of the log. `raw` is the untouched line, `text` what a person reads (no colours, the redraw that matched).

    column: 1-based place in `text` where the pattern begins to match; before, after: the lines around it.
    file: the other file that the line stands in, empty for the log itself; place: the line of the log that it comes after, as
    far as that is known, 0 for the log's own lines.
    """

    line: int
    text: str
    raw: str
    column: int = 1
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    file: str = ""
    place: int = 0


class Match(NamedTuple):
    """A pattern of a rule that fits a line; `pattern` is its number in the rule set."""

    evidence: Evidence
    pattern: int
    captures: Mapping[str, str]


class Sighting(NamedTuple):
    """What a plugin found by other means than a pattern: the rule of a pack that it stands for, and where.

    line: 1-based, inside the run; captures: values for `when`, remedies and titles.
    """

    rule: str
    line: int
    captures: Mapping[str, str] = NO_CAPTURES


class Finding(NamedTuple):
    """A rule that matched in a run. `evidence` is the line that speaks for it, `lines` every line it rests on."""

    rule: str
    role: Role
    cause: str
    priority: int
    title: str
    evidence: Evidence
    lines: tuple[int, ...]
    captures: Mapping[str, str]
    times: int = 1
    why: str = ""

    @property
    def line(self) -> int:
        """The 1-based number of the line that speaks for this finding."""
        return self.evidence.line

    @property
    def order(self) -> int:
        """Where it stands among the lines of its run; for a line of another file the line of the log that it comes after."""
        return self.evidence.place or self.evidence.line


class Beaten(NamedTuple):
    """A candidate that did not decide, and why.

    kind: claimed (its line is information) | recovered | ready | explained | symptom | outranked |
    silenced (by a local file).
    """

    finding: Finding
    why: str
    kind: str = "outranked"


class Suspect(NamedTuple):
    """A line that looks like an error though no rule knows it, and the rule whose words it comes nearest to, if any."""

    line: int
    text: str
    nearest: str = ""


class Verdict(NamedTuple):
    """What resolution made of a run's findings.

    line: 1-based number of the deciding line; None for PASS, and for an UNKNOWN that points at nothing.
    reason: one line of the log or one sentence, ready for a history row. lasting: may a command line be remembered as bad?
    retry: now | never | after:<what must change>. attribution: user | environment | engine | hardware.
    degraded: the program carries on, worse than asked. deciding: None where no rule decided (PASS, UNKNOWN).
    """

    status: Status
    cause: str
    title: str
    line: int | None
    rule: str | None
    reason: str
    lasting: bool
    retry: str
    attribution: str
    contested: bool = False
    degraded: bool = False
    deciding: Finding | None = None
    chain: tuple[Finding, ...] = ()
    beaten: tuple[Beaten, ...] = ()
    harmless: tuple[Finding, ...] = ()
    suspects: tuple[Suspect, ...] = ()
    pack_version: int | None = None

    @property
    def tuner_status(self) -> str:
        """One of the tuner's four words: PASS, OOM, UNSUPPORTED, FAIL_BOOT."""
        return TUNER_STATUSES[self.status]

    @property
    def file(self) -> str:
        """The other file that the deciding line stands in; empty where it is the log's own, or where no rule decided."""
        return self.deciding.evidence.file if self.deciding else ""

    @property
    def page(self) -> str:
        """The id of the page that says more: about the rule that decided, or the cause where none did."""
        return rule_page(self.rule) if self.rule else cause_page(self.cause)


class Remedy(NamedTuple):
    """One step that a person or a program can take.

    action: typed id; text: what to do, with the log's numbers filled in; commands: by system (`linux`, `windows`, `any`);
    risk: what is lost by it, empty when nothing is; link: where its pack says that more stands, or empty; page: the id of our
    own page about it, empty for a step that a plugin made up.
    """

    action: str
    text: str
    commands: Mapping[str, str] = NO_CAPTURES
    risk: str = ""
    link: str = ""
    page: str = ""


class Run(NamedTuple):
    """One start of an engine inside a log, as the `runs` stage cuts it.

    matches: by line; counts: how often each pattern matched in all, where the evidence cap kept fewer; tail: the run's
    last non-blank lines as (line, text), oldest first; phases: the phase reached on each track, by track name.
    """

    first_line: int
    last_line: int
    matches: tuple[Match, ...]
    counts: Mapping[int, int]
    phases: Mapping[str, str]
    details: Mapping[str, str]
    tail: tuple[tuple[int, str], ...]
    facts: Mapping[str, Any] = NO_CAPTURES


class RunDiagnosis(NamedTuple):
    """One run and what became of it.

    details: captured values that describe the start, such as `started` or `command`; engine: whose log it is, as far as its
    lines show it, else empty.
    """

    first_line: int
    last_line: int
    phase: str
    details: Mapping[str, str]
    verdict: Verdict
    remedies: tuple[Remedy, ...] = ()
    engine: str = ""


class Diagnosis(NamedTuple):
    """The answer for one log. `verdict` and `remedies` are those of the last run that holds anything."""

    name: str
    verdict: Verdict
    remedies: tuple[Remedy, ...]
    runs: tuple[RunDiagnosis, ...]
    notices: tuple[Notice, ...]
    line_count: int
    encoding: str

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `--format json`: plain types only, as `schema/diagnosis-1.json` describes."""
        return {
            "schema": SCHEMA_VERSION,
            "name": self.name,
            "lines": self.line_count,
            "encoding": self.encoding,
            "verdict": _verdict_dict(self.verdict),
            "remedies": [_remedy_dict(remedy) for remedy in self.remedies],
            "runs": [_run_dict(run) for run in self.runs],
            "notices": [notice._asdict() for notice in self.notices],
        }


def _remedy_dict(remedy: Remedy) -> dict[str, Any]:
    return {**remedy._asdict(), "commands": dict(remedy.commands)}


def _run_dict(run: RunDiagnosis) -> dict[str, Any]:
    return {
        "first_line": run.first_line,
        "last_line": run.last_line,
        "engine": run.engine,
        "phase": run.phase,
        "details": dict(run.details),
        "verdict": _verdict_dict(run.verdict),
        "remedies": [_remedy_dict(remedy) for remedy in run.remedies],
    }


def _verdict_dict(verdict: Verdict) -> dict[str, Any]:
    return {
        "status": str(verdict.status),
        "cause": verdict.cause,
        "title": verdict.title,
        "line": verdict.line,
        **({"file": verdict.file} if verdict.file else {}),
        "rule": verdict.rule,
        "pack_version": verdict.pack_version,
        "page": verdict.page,
        "reason": verdict.reason,
        "lasting": verdict.lasting,
        "retry": verdict.retry,
        "attribution": verdict.attribution,
        "contested": verdict.contested,
        "degraded": verdict.degraded,
        "tuner_status": verdict.tuner_status,
        "chain": [_finding_dict(finding) for finding in verdict.chain],
        "beaten": [
            {**_finding_dict(loser.finding), "lost_because": loser.why, "kind": loser.kind} for loser in verdict.beaten
        ],
        "harmless": [_finding_dict(finding) for finding in verdict.harmless],
        "suspects": [suspect._asdict() for suspect in verdict.suspects],
    }


def _finding_dict(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "role": str(finding.role),
        "cause": finding.cause,
        "priority": finding.priority,
        "title": finding.title,
        "why": finding.why,
        "line": finding.line,
        **({"file": finding.evidence.file} if finding.evidence.file else {}),
        "lines": list(finding.lines),
        "column": finding.evidence.column,
        "text": finding.evidence.text,
        "before": list(finding.evidence.before),
        "after": list(finding.evidence.after),
        "times": finding.times,
        "captures": dict(finding.captures),
    }
