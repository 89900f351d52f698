"""The diagnosis of a log that is still being written.

The log is read as `diagnose` reads it, a block behind. An answer for now is that of a copy which reads the lines that are
complete and ends there, so it is exactly what `diagnose` would say of the log so far. It is asked for only when a fresh line
could change it: scan is never wrong about "no".
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from strata_diag import source, text
from strata_diag.api import Session, Trace, default_rules
from strata_diag.live.feed import Feed
from strata_diag.model import Diagnosis, Notice, Role, Status
from strata_diag.ruleset import RuleSet

MOST_RUNS = 100  # last starts of a stream that are kept; an endless one may hold any number
STREAM_NAME = "<stream>"


class _Told(NamedTuple):
    """What a verdict says, by which the next one is news or not. certain: whether a rule decided it that later lines can only
    outrank or take back; run: the first line of its run.
    """

    certain: bool
    run: int
    what: tuple[object, ...] = ()


class LiveDiagnosis:
    """The diagnosis of one log as its bytes come: `feed` them, then `finish`.

    name: of the log in answers; facts: what is known beside it, as for `diagnose`.
    """

    def __init__(
        self, rules: RuleSet | None = None, *, name: str = STREAM_NAME, facts: Mapping[str, Any] | None = None
    ) -> None:
        self.name = name
        self.rules = rules or default_rules()
        self._facts = dict(facts or {})
        self._session = Session(self.rules, self._facts)
        self._feed = Feed()
        self._told: _Told | None = None
        self._trace: Trace | None = None
        self._asks_for_end = False  # whether a finding of the last answer must stand among the last lines
        self._left_out = 0

    @property
    def is_certain(self) -> bool:
        """Whether the last answer rests on a rule that later lines can only outrank or take back."""
        return self._told is not None and self._told.certain

    @property
    def is_ready(self) -> bool:
        """Whether the last answer is that the engine got ready, in the start that is under way."""
        trace = self._trace
        return trace is not None and trace.diagnosis.verdict.status is Status.PASS and _holds(trace, Role.READY)

    def feed(self, data: bytes) -> Diagnosis | None:
        """Take the next bytes. An answer where it is certain and differs from the last one, or takes the last one back."""
        for window in self._feed.add(data):
            self._session.take(window)
            self._forget_old_runs()
        fresh = self._feed.fresh_lines()
        if not fresh or not self._could_change(fresh):
            return None
        found = self.so_far()
        return found if self._is_news() else None

    def so_far(self) -> Diagnosis:
        """The answer for the lines that are complete: what `diagnose` would say if the log ended with them."""
        session, feed = self._session.copy(), self._feed.copy()
        return self._ended(session, feed, whole=False)

    def finish(self, *, exit_code: int | None = None, timed_out: bool | None = None) -> Diagnosis:
        """The answer for the whole log, its last line included. exit_code, timed_out: as for `diagnose`."""
        given = {"exit_code": exit_code, "timed_out": timed_out}
        self._session.splitter.facts = self._facts | {name: value for name, value in given.items() if value is not None}
        return self._ended(self._session, self._feed, whole=True)

    def _ended(self, session: Session, feed: Feed, *, whole: bool) -> Diagnosis:
        window: text.Window | None = None
        for window in feed.finish(whole=whole):
            session.take(window)
        if self._left_out:
            what = f"{self._left_out} earlier starts of this stream are left out; the last {MOST_RUNS} are kept"
            session.notices.append(Notice("evidence-cap", what))
        found = session.finish(self.name, feed, window)
        self._trace = session.traces[-1] if session.traces else None
        present = {finding.rule for finding in self._trace.findings} if self._trace else set()
        self._asks_for_end = any(_at_the_end(rule, self.rules) for rule in present)
        return found

    def _forget_old_runs(self) -> None:
        traces = self._session.traces
        if len(traces) > MOST_RUNS:
            self._left_out += len(traces) - MOST_RUNS
            del traces[:-MOST_RUNS]
            self._session.notices = list(dict.fromkeys(self._session.notices))

    def _could_change(self, fresh: bytes) -> bool:
        """Whether fresh lines could hold anything that a rule matches, or move one away that must be among the last."""
        if self._asks_for_end:
            return True
        block = text.Block(None, fresh, len(fresh))
        return bool(self._session.scanner.scan(block.data, block.end))

    def _is_news(self) -> bool:
        told = _told(self._trace, self.rules)
        news = told != self._told and (told.certain or self.is_certain)
        if news or told.certain:
            self._told = told
        return news


def _told(trace: Trace | None, rules: RuleSet) -> _Told:
    """What is told by the verdict of the run that is under way."""
    if trace is None:
        return _Told(certain=False, run=1)
    verdict, first = trace.diagnosis.verdict, trace.run.first_line
    deciding = verdict.deciding
    if deciding is None:
        passes = _holds(trace, Role.READY) or _holds(trace, Role.RUN_END)
        return _Told(passes, first, (verdict.status,) if passes else ())
    sure = deciding.role is Role.FAILURE and deciding.lines and not _at_the_end(deciding.rule, rules)
    what = (verdict.rule, verdict.cause, verdict.line, verdict.contested, verdict.degraded)
    return _Told(bool(sure), first, what if sure else ())


def _holds(trace: Trace, role: Role) -> bool:
    return any(finding.role is role for finding in trace.findings)


def _at_the_end(rule: str, rules: RuleSet) -> bool:
    """Whether a rule rests on a line that is among the last ones only for now."""
    return any(clause.kind == "last" for clause in rules.by_id[rule].clauses)


def diagnose_stream(
    stream: Iterable[bytes] | source.Target,
    *,
    rules: RuleSet | None = None,
    exit_code: int | Callable[[], int | None] | None = None,
    timed_out: bool | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Iterator[Diagnosis]:
    """Diagnose a log while it is being written.

    stream: chunks of bytes, cut anywhere, or a binary stream such as a pipe. exit_code: of the process; one that is known
    only when the stream has ended may be given as what to call for it then (`process.wait`). The rest as for `diagnose`.

    Yields an answer as soon as it is certain, a corrected one when later lines outrank it, take it back or begin a new
    start, and in the end that of `diagnose` for the whole log, whatever came before. Memory stays bounded without an end.

    Raises SourceError for a stream that can't be read, RuleSetError for broken rules; never because of a log's content.
    """
    live = LiveDiagnosis(rules, name=str(getattr(stream, "name", STREAM_NAME)), facts=facts)
    for chunk in _chunks(stream):
        found = live.feed(chunk)
        if found is not None:
            yield found
    yield live.finish(exit_code=exit_code() if callable(exit_code) else exit_code, timed_out=timed_out)


def _chunks(stream: Any) -> Iterable[bytes]:
    if isinstance(stream, bytes | str | os.PathLike) or hasattr(stream, "read"):
        return source.open_source(stream).chunks
    found: Iterable[bytes] = stream
    return found
