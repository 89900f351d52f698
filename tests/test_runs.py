"""From lines to runs: where a start of an engine begins and ends inside one log."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packs import evidence, load_rules_text, matches_by_line, rule, rule_set

from strata_diag import RuleSet, diagnose
from strata_diag.model import Match, Role, Run
from strata_diag.ruleset import PHASED
from strata_diag.runs import EVIDENCE_CAP, Later, RunSplitter

PHASES = """\
phases:
  log: [encoder-init, encoder, header, probe, loaded]
  window: [command, launch, ready]
"""
RULES = """\
  - {id: encoder-init, role: run-start, phase: log/encoder-init, repeats: true, title: t, any: [{regex: ^encoder-init}]}
  - {id: encoder, role: run-start, phase: log/encoder, title: t, any: [{regex: ^encoder$}]}
  - {id: header, role: run-start, phase: log/header, title: t, any: [{regex: '^header( at (?P<started>\\S+))?'}]}
  - {id: probe, role: run-start, phase: log/probe, title: t, any: [{regex: ^probe}]}
  - {id: kernels, role: run-start, phase: log/probe, repeats: true, title: t, any: [{regex: ^kernels}]}
  - {id: probe-works, role: recovery, phase: log/probe, title: t, cancels: [failed], any: [{regex: '^gpu(?: (?P<gpu>\\S+))?'}]}
  - {id: loaded, role: ready, phase: log/loaded, title: t, any: [{regex: ^loaded}]}
  - {id: command, role: run-start, phase: window/command, title: t, any: [{regex: ^command}]}
  - {id: launch, role: run-start, phase: window/launch, title: t, any: [{regex: ^launch}]}
  - {id: ready, role: ready, phase: window/ready, title: t, any: [{regex: ^ready}]}
  - {id: stopped, role: run-end, title: t, any: [{regex: ^stopped}]}
  - {id: failed, role: failure, cause: card-full, title: t, any: [{regex: ^failed}]}
  - {id: hint, role: info, title: t, any: [{regex: ^hint}]}
"""


@pytest.fixture(scope="module")
def starts(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """Rules of a made-up engine that logs on two tracks."""
    return load_rules_text(tmp_path_factory.mktemp("starts"), RULES, more=PHASES)


def split(text: str, rules: RuleSet, facts: dict[str, object] | None = None) -> list[Run]:
    """The runs of a log, with one word a line where that is enough: `header x failed` has three lines."""
    lines = text.split("\n") if "\n" in text else text.split()
    found = matches_by_line("\n".join(lines), rules)
    splitter = RunSplitter(rules, facts or {})
    runs = []
    for number, matches in found.items():
        if splitter.starts_run(match.pattern for match in matches):
            runs.append(splitter.close(number - 1, _tail(lines, number - 1)))
        splitter.add(matches)
    runs.append(splitter.finish(len(lines), _tail(lines, len(lines))))
    return [one for one in runs if one is not None]


def _tail(lines: list[str], last: int) -> tuple[tuple[int, str], ...]:
    return tuple(enumerate(lines[:last], 1))[-4:]


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        pytest.param("x", [(1, 1)], id="no start at all"),
        pytest.param("header x loaded", [(1, 3)], id="one start"),
        pytest.param("x header x", [(1, 3)], id="text in front of a start belongs to it"),
        pytest.param("header loaded header loaded", [(1, 2), (3, 4)], id="a restart"),
        pytest.param("header header header", [(1, 1), (2, 2), (3, 3)], id="restarts that come no further"),
        pytest.param("encoder-init encoder header probe loaded", [(1, 5)], id="the encoder in front of its header"),
        pytest.param(
            "encoder-init encoder header loaded encoder-init encoder header",
            [(1, 4), (5, 7)],
            id="encoders and restarts",
        ),
        pytest.param("encoder-init encoder-init encoder header", [(1, 4)], id="a line that may stand twice in a start"),
        pytest.param("encoder encoder header", [(1, 1), (2, 3)], id="an encoder that died, then the next start"),
        pytest.param(
            "header encoder-init encoder", [(1, 1), (2, 3)], id="an encoder behind a header is the next start"
        ),
        pytest.param("probe loaded probe loaded", [(1, 2), (3, 4)], id="logs without headers"),
        pytest.param("probe kernels header", [(1, 2), (3, 3)], id="a header after headerless phases"),
        pytest.param("kernels probe kernels loaded", [(1, 4)], id="two rules of one phase in either order"),
        pytest.param("header gpu probe", [(1, 3)], id="proof of a phase ahead of its first line"),
        pytest.param("header gpu header", [(1, 2), (3, 3)], id="a phase that another role proved is left behind"),
        pytest.param("header hint x hint header", [(1, 4), (5, 5)], id="information never cuts"),
        pytest.param("header failed failed x", [(1, 4)], id="failures never cut"),
        pytest.param("header loaded loaded loaded", [(1, 4)], id="readiness never cuts"),
        pytest.param("header stopped x header", [(1, 3), (4, 4)], id="a stop, then a start"),
        pytest.param("encoder stopped header", [(1, 2), (3, 3)], id="after a stop even a later phase is a new start"),
        pytest.param("header stopped x failed", [(1, 4)], id="after a stop, but no start"),
        pytest.param("stopped header", [(1, 1), (2, 2)], id="the cut end of a run, then a start"),
        pytest.param("failed x header", [(1, 2), (3, 3)], id="a cut head with a failure is a run of its own"),
        pytest.param("hint loaded header", [(1, 2), (3, 3)], id="a cut head that had got ready"),
        pytest.param("hint x header", [(1, 3)], id="a cut head with nothing but information"),
        pytest.param("command launch header probe loaded ready", [(1, 6)], id="a window that quotes the log"),
        pytest.param("header command probe launch loaded", [(1, 5)], id="two tracks of one start, mixed"),
        pytest.param("command launch header command launch", [(1, 3), (4, 5)], id="a restart by the window"),
        pytest.param("command header ready header", [(1, 3), (4, 4)], id="a restart by the log under one window"),
        pytest.param(
            "command header loaded ready command header loaded ready", [(1, 4), (5, 8)], id="restarts on both tracks"
        ),
    ],
)
def test_runs_begin_where_a_start_does(text: str, spans: list[tuple[int, int]], starts: RuleSet) -> None:
    """A log is cut before each line that can't belong to the start before it, and nowhere else."""
    assert [(one.first_line, one.last_line) for one in split(text, starts)] == spans


def test_a_line_with_several_starts_is_cut_once(starts: RuleSet) -> None:
    """Two rules that begin a run on the same line begin one run."""
    both = [Match(evidence(2, "both"), number, {}) for number in (1, 2)]
    splitter = RunSplitter(starts)
    splitter.add([Match(evidence(1, "header"), 2, {})])
    assert splitter.starts_run(match.pattern for match in both)
    first = splitter.close(1, ())
    assert first is not None
    assert not splitter.starts_run(match.pattern for match in both)
    splitter.add(both)
    second = splitter.finish(2, ())
    assert second is not None
    assert [(one.first_line, one.last_line) for one in (first, second)] == [(1, 1), (2, 2)]


def test_phases_are_named_by_track(starts: RuleSet) -> None:
    """A run says how far it came on each track, and going on about an earlier phase does not turn it back."""
    first, second = split("command launch header probe gpu loaded gpu command", starts)
    assert first.phases == {"window": "launch", "log": "loaded"}
    assert second.phases == {"window": "command"}


def test_a_run_without_a_start_has_no_phase(starts: RuleSet) -> None:
    """Text that no rule of a phase knows reaches none."""
    assert [one.phases for one in split("x failed", starts)] == [{}]


def test_details_are_what_the_lines_of_phases_captured_first(starts: RuleSet) -> None:
    """A run is described by the values of its own start; a later line does not change them."""
    first, second = split("header at 20:46\ngpu one\ngpu two\nheader at 20:51", starts)
    assert first.details == {"started": "20:46", "gpu": "one"}
    assert second.details == {"started": "20:51"}


def test_facts_speak_of_the_last_run(starts: RuleSet) -> None:
    """What the caller knows about how it ended says nothing about earlier starts."""
    assert [one.facts for one in split("header header", starts, {"exit_code": 6})] == [{}, {"exit_code": 6}]


def test_the_tail_stays_inside_its_run(starts: RuleSet) -> None:
    """The last lines of a run never reach back into the one before."""
    first, second = split("a b header x y header z", starts)
    assert first.tail == ((2, "b"), (3, "header"), (4, "x"), (5, "y"))
    assert second.tail == ((6, "header"), (7, "z"))


def test_an_empty_log_has_no_run(starts: RuleSet) -> None:
    """Where there is no line there is nothing to judge."""
    assert RunSplitter(starts).finish(0, ()) is None


def test_closing_what_holds_nothing_gives_no_run(starts: RuleSet) -> None:
    """Lines in which nothing was found are no run of their own; the next one begins behind them."""
    splitter = RunSplitter(starts)
    assert splitter.close(3, ()) is None
    last = splitter.finish(5, ())
    assert last is not None
    assert (last.first_line, last.last_line) == (4, 5)


@pytest.mark.parametrize("count", [1, EVIDENCE_CAP, EVIDENCE_CAP + 1, 2 * EVIDENCE_CAP, 2 * EVIDENCE_CAP + 1, 5000])
def test_evidence_is_capped_and_the_rest_counted(count: int, starts: RuleSet) -> None:
    """Of each pattern the first and the last matches of a run are kept, in order of lines; all of them are counted."""
    splitter = RunSplitter(starts)
    failed, hint = 11, 12
    for line in range(1, count + 1):
        splitter.add([Match(evidence(line, "failed"), failed, {})])
    splitter.add([Match(evidence(count + 1, "hint"), hint, {})])
    whole = splitter.finish(count + 1, ())
    assert whole is not None
    every = range(1, count + 1)
    kept = sorted({*every[:EVIDENCE_CAP], *every[-EVIDENCE_CAP:]})
    assert [match.evidence.line for match in whole.matches] == [*kept, count + 1]
    assert whole.counts == {failed: count, hint: 1}


def test_the_evidence_cap_begins_anew_with_each_run(starts: RuleSet) -> None:
    """One run full of failures takes no evidence from the next."""
    first, second = split(f"header {'failed ' * 100} header failed", starts)
    assert len(first.matches) == 1 + 2 * EVIDENCE_CAP
    assert [match.evidence.line for match in second.matches] == [102, 103]
    assert second.counts[11] == 1


@given(
    words=st.lists(
        st.sampled_from(
            [
                "encoder-init",
                "encoder",
                "header",
                "probe",
                "kernels",
                "gpu",
                "loaded",
                "command",
                "launch",
                "ready",
                "stopped",
                "failed",
                "hint",
                "x",
            ]
        ),
        min_size=1,
        max_size=25,
    )
)
def test_runs_share_no_line_and_leave_none_out(words: list[str], starts: RuleSet) -> None:
    """Whatever a log holds, its runs follow each other without a gap, and each match lies in the run of its line."""
    runs = split("\n".join([*words, "x"]), starts)
    assert [one.first_line for one in runs] == [1, *(one.last_line + 1 for one in runs[:-1])]
    assert runs[-1].last_line == len(words) + 1
    for one in runs:
        assert all(one.first_line <= match.evidence.line <= one.last_line for match in one.matches)
        assert [match.evidence.line for match in one.matches] == sorted(match.evidence.line for match in one.matches)
    assert sum(len(one.matches) for one in runs) == len([word for word in words if word != "x"])


@given(
    words=st.lists(
        st.sampled_from(["encoder-init", "encoder", "header", "probe", "kernels", "loaded", "failed", "x"]), max_size=12
    )
)
def test_a_log_written_twice_has_its_runs_twice(words: list[str], starts: RuleSet) -> None:
    """A restart that repeats a whole log, header and all, is told from the log before it."""
    once = [(one.first_line, one.last_line) for one in split("\n".join(["header", *words, "stopped"]), starts)]
    length = len(words) + 2
    twice = split("\n".join(["header", *words, "stopped"] * 2), starts)
    assert [(one.first_line, one.last_line) for one in twice] == [
        *once,
        *((first + length, last + length) for first, last in once),
    ]


# The engine's own logs

NO_DEVICE = "ggml_cuda_init: failed to initialize CUDA: no CUDA-capable device is detected"
QWEN = "load_hparams: Qwen-VL models require at minimum 1024 image tokens to function correctly on grounding tasks"
STARTED = "[strata] 2026-10-07 20:4{}:45 engine started: /opt/strata/engine/strata --serve --pack /data/packs/iq3_s"
PROBE = "strata generate: PCIe probe: 25.1 GB/s host->device (best of 25.1 24.8) -> pcie_frac 0.55 (default 0.55)"
LOADED = "strata serve: 405 MiB of VRAM free with everything loaded"


def test_an_encoder_block_belongs_to_the_header_behind_it(rules: RuleSet, tmp_path: Path) -> None:
    """In Strata's log the encoder starts first; its lines and the header behind them are one start, restarts included."""
    one = [NO_DEVICE, QWEN, "{header}", PROBE, LOADED]
    log = tmp_path / "strata.log"
    log.write_text(
        "\n".join(line.format(header=STARTED.format(number)) for number in range(3) for line in one), "utf-8"
    )
    found = diagnose(log, rules=rules)
    assert [(part.first_line, part.last_line) for part in found.runs] == [(1, 5), (6, 10), (11, 15)]
    assert [part.details["started"][-5:] for part in found.runs] == ["40:45", "41:45", "42:45"]
    assert {part.verdict.tuner_status for part in found.runs} == {"PASS"}


def test_the_last_run_is_the_headline(rules: RuleSet) -> None:
    """A restart that worked answers for a log whose first start failed, and the other way round."""
    failed, worked = f"{STARTED.format(1)}\n{NO_DEVICE}\n", f"{STARTED.format(2)}\n{PROBE}\n{LOADED}\n"
    assert diagnose(failed + worked, rules=rules).verdict.tuner_status == "PASS"
    assert diagnose(worked + failed, rules=rules).verdict.cause == "no-device"


def test_a_line_kept_unseen_counts_only_if_it_matches(starts: RuleSet) -> None:
    """What held a literal of a settled pattern is looked at when the run ends, and let go where it does not match."""
    failed = 11
    splitter = RunSplitter(starts)
    for line in range(1, EVIDENCE_CAP + 2):
        splitter.add([Match(evidence(line, "failed"), failed, {})])
    assert failed in splitter.saturated
    splitter.add_unseen(Later(50, failed, lambda: Match(evidence(50, "failed"), failed, {}), ()))
    splitter.add_unseen(Later(51, failed, lambda: None, ()))
    whole = splitter.finish(51, ())
    assert whole is not None
    assert whole.counts[failed] == EVIDENCE_CAP + 2
    assert whole.matches[-1].evidence.line == 50


def test_a_later_line_may_tell_what_an_earlier_one_left_out(starts: RuleSet) -> None:
    """Details of a start are taken from each line that tells of a phase, the first value of each counts."""
    phased = next(number for number, marks in enumerate(starts.marks) if marks & PHASED)  # the first of RULES
    splitter = RunSplitter(starts)
    for line in range(1, EVIDENCE_CAP + 1):
        splitter.add([Match(evidence(line, "x"), phased, {"device": "0"})])
    told = Match(evidence(40, "x"), phased, {"device": "1", "version": "7"})
    splitter.add_later(Later(40, phased, lambda: told, ()))
    whole = splitter.finish(40, ())
    assert whole is not None
    assert {name: whole.details[name] for name in ("device", "version")} == {"device": "0", "version": "7"}


def test_a_copy_goes_its_own_way(starts: RuleSet) -> None:
    """What is added to a copy of a splitter is not in the other, and both know what came before."""
    failed = 11
    splitter = RunSplitter(starts)
    for line in range(1, EVIDENCE_CAP + 3):
        splitter.add([Match(evidence(line, "failed"), failed, {})])
    other = splitter.copy()
    other.add([Match(evidence(60, "failed"), failed, {})])
    first, second = splitter.finish(60, ()), other.finish(60, ())
    assert first is not None
    assert second is not None
    assert (first.counts[failed], second.counts[failed]) == (EVIDENCE_CAP + 2, EVIDENCE_CAP + 3)


def test_a_start_without_a_phase_is_only_noted() -> None:
    """A rule made by hand that names no phase can't say how far a start has come."""
    splitter = RunSplitter(rule_set(rule("some/begin", role=Role.RUN_START)))
    splitter.add([Match(evidence(1, "begin"), 0, {})])
    whole = splitter.finish(1, ())
    assert whole is not None
    assert (whole.phases, whole.details) == ({}, {})
