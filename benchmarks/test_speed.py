"""Benchmarks for `pytest-benchmark`: `./dev test benchmarks --benchmark-only`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import material
import pytest

from strata_diag import RuleSet, diagnose, load_rules

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

CORPUS = Path(__file__).parent.parent / "corpus"


@pytest.fixture(scope="module")
def rules() -> RuleSet:
    """The rules that a user has."""
    return load_rules()


@pytest.mark.parametrize("size", [20_000, 5_000_000])
def test_a_clean_log(benchmark: BenchmarkFixture, rules: RuleSet, size: int) -> None:
    """A healthy log in a warm process."""
    pieces = material.log_lines(rules, 10**9)
    log = (next(pieces) + next(pieces))[:size]
    found = benchmark(lambda: diagnose(log, rules=rules))
    assert found.verdict.line is None


@pytest.mark.parametrize("name", ["v100-busy-engine-log", "no-vram-for-expert-cache"])
def test_a_failure(benchmark: BenchmarkFixture, rules: RuleSet, name: str) -> None:
    """A short log with a failure in a warm process."""
    log = (CORPUS / "strata" / f"{name}.log").read_bytes()
    found = benchmark(lambda: diagnose(log, rules=rules))
    assert found.verdict.line


def test_a_start_that_remembers(benchmark: BenchmarkFixture) -> None:
    """Opening the rules in a process that has done it before."""
    load_rules()
    assert benchmark(load_rules).rules
