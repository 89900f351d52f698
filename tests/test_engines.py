"""Whose log it is: recognised by lines and names, and left open where they don't tell."""

from __future__ import annotations

import pytest

from strata_diag import RuleSet, diagnose


@pytest.mark.parametrize(
    ("log", "engine"),
    [
        pytest.param("strata serve: 405 MiB of VRAM free with everything loaded", "strata", id="a line of its own"),
        pytest.param("cudaMalloc failed: out of memory", "", id="a text that many programs share"),
        pytest.param("anything at all", "", id="nothing known"),
        pytest.param(
            "llama_model_load: error loading model: unknown model architecture: 'quux'\n"
            "llama_model_load_from_file_impl: failed to load model",
            "llama.cpp",
            id="another engine",
        ),
    ],
)
def test_engine_is_recognised_or_left_open(log: str, engine: str, all_rules: RuleSet) -> None:
    """A run names the engine that its lines speak for, and none where they speak for several."""
    assert diagnose(log, rules=all_rules).runs[-1].engine == engine


def test_engine_is_in_the_json(all_rules: RuleSet) -> None:
    """A program reads the engine of each run."""
    found = diagnose("strata serve: 405 MiB of VRAM free with everything loaded", rules=all_rules)
    assert found.to_dict()["runs"][0]["engine"] == "strata"
