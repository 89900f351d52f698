"""The corpus: every log gets the answer of its label, and says today what it said yesterday.

Labels are written by hand and never taken anew. Snapshots show a change of behaviour; `./dev bless` takes them anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import CORPUS
from pytest_regressions.data_regression import DataRegressionFixture
from pytest_regressions.file_regression import FileRegressionFixture

from strata_diag import Diagnosis, RuleSet, diagnose
from strata_diag.linetext import decode_line
from strata_diag.render.layout import diagnosis_lines, plain
from strata_diag.testing import fast_matches, label_problems, read_label, slow_matches
from strata_diag.text import Reader

LABELS = sorted(CORPUS.rglob("*.yaml"))
REPORTS = (  # the two reports that this project began with
    "tuning-reason-no-device",
    "history-row-no-device",
    "v100-busy-engine-log",
    "v100-busy-console",
    "no-vram-for-expert-cache",
    "cudamalloc-out-of-memory",
    "cpu-encoder-healthy",
)


def case_name(label: Path) -> str:
    return label.stem


@pytest.fixture(scope="module")
def found(all_rules: RuleSet) -> dict[str, Diagnosis]:
    """The diagnosis of every log of the corpus, by case."""
    return {label.stem: diagnose(label.with_suffix(".log"), rules=all_rules) for label in LABELS}


@pytest.mark.parametrize("label", LABELS, ids=case_name)
def test_log_gets_the_answer_of_its_label(label: Path, found: dict[str, Diagnosis]) -> None:
    """Status, cause, deciding line, runs, symptoms and harmless lines are those that a person wrote down."""
    assert label_problems(read_label(label), found[label.stem]) == []


@pytest.mark.parametrize("label", LABELS, ids=case_name)
def test_log_says_what_it_said_before(
    label: Path, found: dict[str, Diagnosis], data_regression: DataRegressionFixture
) -> None:
    """Rule, chain, losers and remedies of a log change only on purpose."""
    data_regression.check(summary(found[label.stem]), basename=label.stem)


@pytest.mark.parametrize("case", REPORTS)
def test_text_of_a_report_says_what_it_said_before(
    case: str, found: dict[str, Diagnosis], file_regression: FileRegressionFixture
) -> None:
    """The text that a person reads for the logs of the first two reports changes only on purpose."""
    lines = diagnosis_lines(found[case]._replace(name=f"{case}.log"), "linux")
    file_regression.check("\n".join(plain(line) for line in lines) + "\n", basename=f"text-{case}")


@pytest.mark.parametrize("label", LABELS, ids=case_name)
def test_fast_way_finds_what_the_slow_one_finds(label: Path, all_rules: RuleSet) -> None:
    """Scan and match together find every match of every pattern, and nothing else."""
    data = label.with_suffix(".log").read_bytes()
    assert fast_matches(data, all_rules) == slow_matches(data, all_rules)


@pytest.mark.parametrize("label", [label for label in LABELS if label.parent.name == "strata"], ids=case_name)
def test_packs_of_other_engines_change_no_verdict_of_strata(
    label: Path, rules: RuleSet, found: dict[str, Diagnosis]
) -> None:
    """A log of Strata has the same status, cause and line with Strata's packs alone as with all that ship."""
    alone = diagnose(label.with_suffix(".log"), rules=rules)
    for one, other in zip(alone.runs, found[label.stem].runs, strict=True):
        assert (one.verdict.status, one.verdict.cause, one.verdict.line) == (
            other.verdict.status,
            other.verdict.cause,
            other.verdict.line,
        )


PREFIXES = {
    "docker": "strata-1  | ",
    "kubernetes": "2026-03-04T05:06:07.123456789Z stdout F ",
    "journal": "Mar 04 05:06:07 box engine[123]: ",
}
PROMPTS = ("engine-start/shell-command", "attempts/shell-setup")


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
def test_a_prefix_before_every_line_changes_no_verdict(
    prefix: str, found: dict[str, Diagnosis], all_rules: RuleSet
) -> None:
    """What a container runtime or the journal puts before each line, and CRLF behind it, leave status and cause alone.

    Logs with a typed command line are left out: a prompt is one only at the beginning of a line.
    """
    clauses = [clause for one in PROMPTS for clause in all_rules.by_id[one].any]
    prompts = [all_rules.compiled(number) for clause in clauses for number in clause.patterns]
    changed = []
    for label in LABELS:
        lines = shown_lines(label.with_suffix(".log").read_bytes())
        if any(prompt.search(line) for prompt in prompts for line in lines):
            continue
        log = "\r\n".join(prefix + line if line else line for line in lines)
        one, other = found[label.stem].verdict, diagnose(log, rules=all_rules).verdict
        if (one.status, one.cause) != (other.status, other.cause):
            changed.append(f"{label.stem}: {one.status}/{one.cause} became {other.status}/{other.cause}")
    assert changed == []


def shown_lines(data: bytes) -> list[str]:
    """The lines of a log as text, without colours."""
    return [decode_line(line) for window in Reader(iter([data])) for line in window.block.clean.split(b"\n")]


def test_every_log_has_a_label_and_every_label_a_log() -> None:
    """No log of the corpus goes untested."""
    assert sorted(path.with_suffix("") for path in CORPUS.rglob("*.log")) == [path.with_suffix("") for path in LABELS]


def test_corpus_is_large_enough_to_mean_something() -> None:
    """Sixty logs and more, twenty of them healthy: silence on healthy logs is measured, not assumed."""
    statuses = [read_label(label).status for label in LABELS]
    assert len(statuses) >= 60
    assert statuses.count("PASS") >= 20


def summary(found: Diagnosis) -> dict[str, Any]:
    """What a snapshot keeps of a diagnosis."""
    verdict = found.verdict
    return {
        "verdict": f"{verdict.status}/{verdict.cause}",
        "line": verdict.line,
        "rule": verdict.rule,
        "lasting": verdict.lasting,
        "retry": verdict.retry,
        "contested": verdict.contested,
        "chain": [f"{finding.line} {finding.rule}" for finding in verdict.chain],
        "beaten": [f"{loser.finding.line} {loser.finding.rule} ({loser.kind})" for loser in verdict.beaten],
        "harmless": [f"{finding.line} {finding.rule}" for finding in verdict.harmless],
        "remedies": [remedy.action for remedy in found.remedies],
        "runs": [f"{run.first_line}-{run.last_line} {run.verdict.status}/{run.verdict.cause}" for run in found.runs],
        "notices": [notice.kind for notice in found.notices],
    }
