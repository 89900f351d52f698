"""The library: `load_rules` and `diagnose`. The only place that knows the order of the stages.

    source -> text -> scan -> match -> runs -> clauses -> resolve -> remedy

One pass over the bytes, bounded memory, nothing global but one immutable rule set that `diagnose` makes when it is given none.
"""

from __future__ import annotations

import functools
import os
from collections import Counter
from collections.abc import Iterable, Mapping

from strata_diag import clauses, engines, linetext, recall, remedy, resolve, source, suspects, text
from strata_diag.match import Hit, Matcher
from strata_diag.model import (
    Diagnosis,
    Evidence,
    Finding,
    Match,
    Notice,
    Remedy,
    Run,
    RunDiagnosis,
    Status,
    Verdict,
)
from strata_diag.record import TYPE_CHECKING, NamedTuple
from strata_diag.rulepack.cache import read_kept, write_kept
from strata_diag.ruleset import DECIDING, ENDS, INFORMS, STARTS, RuleSet
from strata_diag.runs import EVIDENCE_CAP, Later, RunSplitter
from strata_diag.scan import Candidate, Scanner

if TYPE_CHECKING:
    from typing import Any

    from strata_diag.plugins import Plugins
    from strata_diag.settings import Settings

EXPECTED_BYTES = 1024 * 1024  # that a log which goes on after its first block is likely to have
SHOWN_AROUND = 4  # first matches of a pattern in a run that are kept with their neighbours
TAIL_LINES = 40  # the non-blank lines of a run's end in which unexplained errors and harmless lines are looked for


def load_rules(
    paths: Iterable[os.PathLike[str] | str] = (),
    *,
    builtin: bool = True,
    discover: bool = True,
    no_plugins: Iterable[str] = (),
    settings: Settings | None = None,
) -> RuleSet:
    """Load rule packs: the built-in ones, those of installed plugins, and those in `paths` (folders or files).

    builtin: with our own packs (without them, `paths` must bring causes.yaml too); discover: with installed plugins;
    no_plugins: names of plugins to leave out; settings: what a project says, from `strata_diag.settings.find_settings`; none
    are looked for here. Raises RulePackError with every problem of every file at once, NoRulesError where no rule was found.
    """
    chosen, blocked = [os.fspath(path) for path in paths], tuple(no_plugins)
    everything = builtin and discover and not (chosen or blocked or any(settings or ()))
    if everything and (known := recall.recall(_plugins)) is not None:
        return known
    from strata_diag import plugins  # noqa: PLC0415 - looking for plugins costs ten times what starting Python does

    return plugins.load_rules_of_all(chosen, blocked, builtin=builtin, discover=discover, settings=settings)


def _plugins() -> Plugins:
    from strata_diag.plugins import Plugins  # noqa: PLC0415 - as above

    return Plugins()


@functools.cache
def default_rules() -> RuleSet:
    """The rules that `diagnose` uses when it is given none, loaded once. Raises as `load_rules` does."""
    return load_rules()


def diagnose(
    target: source.Target,
    *,
    rules: RuleSet | None = None,
    exit_code: int | None = None,
    timed_out: bool | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Diagnosis:
    """Say what failed in a log, why, which line proves it, what to do, and whether trying again makes sense.

    target: a path (PathLike), the log's text (str), bytes, or a binary stream. exit_code: of the process, as Python
    (-9), a shell (137) or Windows (0xC0000135, signed or not) gives it. timed_out: the caller gave up waiting. facts:
    whatever else is known, by name (`passed_before`, `free_vram_mib`, `engine_version`); they sharpen the verdict of the
    last run and are never required.

    Raises SourceError for a path that can't be read, RuleSetError for broken rules; never because of a log's content.
    """
    return examine(target, rules=rules, exit_code=exit_code, timed_out=timed_out, facts=facts)[0]


class Trace(NamedTuple):
    """What resolution was given for one run, and what it made of it: for `explain`, and for whoever tests rules."""

    run: Run
    findings: tuple[Finding, ...]
    diagnosis: RunDiagnosis


def examine(
    target: source.Target,
    *,
    rules: RuleSet | None = None,
    exit_code: int | None = None,
    timed_out: bool | None = None,
    facts: Mapping[str, Any] | None = None,
) -> tuple[Diagnosis, tuple[Trace, ...]]:
    """`diagnose`, with what each of its runs was decided from. Arguments and errors are those of `diagnose`."""
    used = rules or default_rules()
    given = {"exit_code": exit_code, "timed_out": timed_out, **(facts or {})}
    session = Session(used, {name: value for name, value in given.items() if value is not None})
    found = session.read(_opened(target, used))
    return found, tuple(session.traces)


@functools.lru_cache(maxsize=8)
def _scanner(rules: RuleSet) -> Scanner:
    """The scanner of a rule set, made once: it holds nothing of a log."""
    if rules.scan_index is None:
        from strata_diag.needles import build_index  # noqa: PLC0415 - for rule sets that no cache has seen

        rules.scan_index = build_index(rules.scanned_patterns)
    if not rules.key:
        return Scanner(rules.scan_index)
    return Scanner(
        rules.scan_index,
        lambda name: read_kept(f"{rules.key}.{name}", rules.key),
        lambda name, data: write_kept(f"{rules.key}.{name}", rules.key, data),
    )


def _opened(target: source.Target, rules: RuleSet) -> tuple[source.Source, list[Notice]]:
    if isinstance(target, os.PathLike):
        stream, notices = rules.extensions.sources(os.fspath(target))
        if stream is not None:
            opened = source.open_source(stream)
            opened.name = os.fspath(target)
            return opened, notices
        return source.open_source(target), notices
    return source.open_source(target), []


class Session:
    """The diagnosis of one log while it is being read: `take` each window of it in order, then `finish`."""

    def __init__(self, rules: RuleSet, facts: Mapping[str, Any]) -> None:
        self.rules = rules
        self.scanner = _scanner(rules)
        self.matcher = Matcher(rules)
        self.splitter = RunSplitter(rules, facts)
        self.traces: list[Trace] = []
        self.notices: list[Notice] = list(rules.notices)
        self.looked_at: set[int] = set()  # lines of the open run for which the claims of information are known

    def read(self, opened: tuple[source.Source, list[Notice]]) -> Diagnosis:
        """Read a whole log."""
        log, notices = opened
        self.notices += notices
        reader = text.Reader(log)
        window: text.Window | None = None
        for window in reader:
            self.take(window)
        return self.finish(log.name, reader, window)

    def copy(self) -> Session:
        """One that goes on from here by itself; a pattern that ran out of time stays known to both."""
        made = Session(self.rules, {})
        made.matcher, made.splitter = self.matcher, self.splitter.copy()
        made.traces, made.notices, made.looked_at = [*self.traces], [*self.notices], {*self.looked_at}
        return made

    def finish(self, name: str, reader: text.Reader, window: text.Window | None) -> Diagnosis:
        """End the log. reader: where its windows came from; window: the last of them, None where there was none."""
        tail = text.tail_before(window, reader.line_count + 1, TAIL_LINES) if window else ()
        self._close(self.splitter.finish(reader.line_count, tail))
        self.notices += [*self.matcher.notices, *reader.notices, *_notices_on_content(reader)]
        headline = self._headline()
        return Diagnosis(
            name,
            headline.verdict,
            headline.remedies,
            tuple(trace.diagnosis for trace in self.traces),
            tuple(dict.fromkeys(self.notices)),
            reader.line_count,
            reader.encoding,
        )

    def take(self, window: text.Window) -> None:
        """Look at the block of a window."""
        block = window.block
        if window.following is not None:
            self.scanner.expect(EXPECTED_BYTES)
            self.scanner.sharpen(block.data, block.end, self.matcher.vain, self.rules.patterns.__getitem__)
        candidates = self.scanner.scan(block.data, block.end)
        if not candidates:
            return
        settled = self._settled(candidates) if self.splitter.saturated else {}
        for start, end, patterns in self._latest(candidates, settled) if settled else candidates:
            shown = block.data[start:end]
            if patterns in settled:
                line = block.line_at(start)
                written = text.written_line(block, start, end, line)
                for number in patterns:
                    arguments = (line, number, written, shown)
                    self.splitter.add_unseen(Later._make((line, number, self._unseen_match, arguments)))
            elif hits := self.matcher.search(linetext.redraws(shown), patterns):
                self._add(window, start, end, hits, block.line_at(start))

    def _add(self, window: text.Window, start: int, end: int, hits: list[Hit], line: int) -> None:
        """Give the hits of one line to the run that they belong to."""
        marks = self.rules.marks
        if self.splitter.starts_run([hit.pattern for hit in hits]):
            self._close(self.splitter.close(line - 1, text.tail_before(window, line, TAIL_LINES)))
        first = []
        for hit in hits:
            if self.splitter.matches_of(hit.pattern) < EVIDENCE_CAP:
                first.append(hit)
            else:
                raw = text.written_line(window.block, start, end, line)
                self.splitter.add_later(Later._make((line, hit.pattern, _later_match, (line, raw, hit))))
        if not first:
            return
        if any(marks[hit.pattern] & DECIDING for hit in first):
            # what claims a later one is looked for when the run ends, among those that are kept
            self.looked_at.add(line)
            first += self.matcher.info_hits(linetext.redraws(window.block.data[start:end]))
        self.splitter.add([self._match(window, start, end, hit, line) for hit in first])

    def _match(self, window: text.Window, start: int, end: int, hit: Hit, line: int) -> Match:
        """A hit with its line. Nobody looks around a line that only tells how far a start came, nor around one of many."""
        context = self.rules.marks[hit.pattern] & DECIDING and self.splitter.matches_of(hit.pattern) < SHOWN_AROUND
        shown = text.evidence(window, start, end, hit.text, hit.start, line=line, context=bool(context))
        return Match(shown, hit.pattern, hit.captures)

    def _settled(self, candidates: list[Candidate]) -> dict[tuple[int, ...], int]:
        """The sets of patterns in a block that have matched often, and every line that held their literals: how many lines each.

        There is none in a block in which a run may begin or end: the next run counts from nothing.
        """
        marks, known = self.rules.marks, self.splitter.saturated.difference(self.matcher.vain)
        times = Counter(one.patterns for one in candidates)
        if any(marks[number] & (STARTS | ENDS) for patterns in times for number in patterns):
            return {}
        return {patterns: count for patterns, count in times.items() if known.issuperset(patterns)}

    def _latest(self, candidates: list[Candidate], settled: dict[tuple[int, ...], int]) -> list[Candidate]:
        """The candidates without lines of settled patterns that can't be among the last of their run; these are counted."""
        left = dict.fromkeys(settled, EVIDENCE_CAP)
        kept = []
        for one in reversed(candidates):
            if one.patterns in left:
                if not left[one.patterns]:
                    continue
                left[one.patterns] -= 1
            kept.append(one)
        for patterns, count in settled.items():
            for number in patterns:
                self.splitter.count(number, max(count - EVIDENCE_CAP, 0))
        return kept[::-1]

    def _unseen_match(self, line: int, number: int, written: bytes, shown: bytes) -> Match | None:
        """The match of a line that nobody has looked at, with all that it needs kept as bytes."""
        hits = self.matcher.search(linetext.redraws(shown), (number,))
        return _later_match(line, written, hits[0]) if hits else None

    def _close(self, run: Run | None) -> None:
        if run is None:
            return
        run = self._with_information(run)
        sightings, notices = self.rules.extensions.findings(run, self.rules)
        findings = clauses.find(run, self.rules, sightings)
        known = {line for finding in findings for line in finding.lines}
        verdict = resolve.resolve(findings, run, self.rules, ends_alarmingly=suspects.ends_alarmingly(run.tail, known))
        if verdict.status is Status.UNKNOWN:
            verdict = resolve.with_suspects(verdict, suspects.find_suspects(run.tail, known, self.rules))
        self.notices += notices
        self.traces.append(Trace(run, tuple(findings), self._diagnosed(run, verdict)))

    def _with_information(self, run: Run) -> Run:
        """The run with the information on its late failures, which may claim them, and on the lines of its tail.

        Information nominates no line, yet a person wants to see why the last lines are harmless.
        """
        marks = self.rules.marks
        claimed = {match.evidence.line for match in run.matches if marks[match.pattern] & INFORMS} | self.looked_at
        later = {
            match.evidence.line: match.evidence.raw
            for match in run.matches
            if marks[match.pattern] & DECIDING and match.evidence.line not in claimed
        }
        added = [
            Match(text.evidence_again(line, raw, hit.text, hit.start), hit.pattern, hit.captures)
            for line, raw in later.items()
            for hit in self.matcher.info_hits(text.shown_again(raw))
        ]
        tail = [(line, shown) for line, shown in run.tail if line not in claimed and line not in later]
        told = self.matcher.info_hits_of_lines([shown for _, shown in tail])
        added += [
            Match(Evidence(line, shown, shown, hit.start + 1), hit.pattern, hit.captures)
            for (line, shown), hits in zip(tail, told, strict=True)
            for hit in hits
        ]
        self.looked_at = set()
        if not added:
            return run
        return run._replace(matches=tuple(sorted((*run.matches, *added), key=lambda match: match.evidence.line)))

    def _diagnosed(self, run: Run, verdict: Verdict) -> RunDiagnosis:
        steps = remedy.advise(verdict, run, self.rules)
        more, notices = self.rules.extensions.remedies(verdict)
        self.notices += notices
        phase = (
            next(iter(sorted(run.phases.values())), "")
            if len(run.phases) == 1
            else ", ".join(f"{track}: {name}" for track, name in run.phases.items())
        )
        engine = engines.recognise(run, self.rules)
        return RunDiagnosis(run.first_line, run.last_line, phase, run.details, verdict, _unique(steps, more), engine)

    def _headline(self) -> RunDiagnosis:
        if self.traces:
            return self.traces[-1].diagnosis
        empty = Run(1, 0, (), {}, {}, {}, ())
        verdict = resolve.resolve([], empty, self.rules)._replace(reason="the log is empty")
        return RunDiagnosis(1, 0, "", {}, verdict, remedy.advise(verdict, empty, self.rules))


def _later_match(line: int, raw: bytes, hit: Hit) -> Match:
    """A match that is one of many: nobody looks around it."""
    return Match(text.evidence_again(line, text.raw_text(raw), hit.text, hit.start), hit.pattern, hit.captures)


def _unique(steps: tuple[Remedy, ...], more: list[Remedy]) -> tuple[Remedy, ...]:
    return tuple({step.action: step for step in (*more[::-1], *steps[::-1])}.values())[::-1]


def _notices_on_content(reader: text.Reader) -> list[Notice]:
    kind = source.container_kind(reader.head)
    if kind:
        return [
            Notice(
                "compressed" if "archive" in kind else "binary",
                f"this is a {kind}, not a log; unpack it and name the log inside",
            )
        ]
    if reader.line_count == 0:
        return [
            Notice(
                "binary",
                "the log is empty: it proves nothing; start the engine once and attach the log that this start writes",
            )
        ]
    if not reader.encoding.startswith("utf-16") and linetext.looks_binary(reader.head):
        return [
            Notice(
                "binary",
                "this looks like a binary file, not a log; name the text file that the engine writes (strata-<model>.log)",
            )
        ]
    return []
