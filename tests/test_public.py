"""The public surface: names, types of results, the JSON Schema, and what importing the library costs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from conftest import CORPUS, ROOT

import strata_diag
from strata_diag import RuleSet, Status, diagnose

SCHEMA = json.loads((ROOT / "strata_diag" / "schema" / "diagnosis-1.json").read_text("utf-8"))


def test_all_names_exist_and_nothing_public_is_left_out() -> None:
    """`__all__` is sorted, and is exactly what the package defines without an underscore."""
    assert [getattr(strata_diag, name) for name in strata_diag.__all__]
    assert set(strata_diag.__all__) == {*dir(strata_diag)} == {*strata_diag._MODULE_OF, "__version__"}
    assert len(strata_diag.__all__) == len(set(strata_diag.__all__))


def test_status_is_its_own_word() -> None:
    """A status prints as its word, so that a history row can store it."""
    assert str(Status.CUDA_UNAVAILABLE) == "CUDA_UNAVAILABLE"
    assert f"{Status.OOM}" == "OOM"


@pytest.mark.parametrize("label", sorted(CORPUS.rglob("*.yaml"))[::4], ids=lambda path: path.stem)
def test_json_fits_the_schema(label: Path, rules: RuleSet) -> None:
    """The JSON of a diagnosis is what the shipped schema describes."""
    found = diagnose(label.with_suffix(".log"), rules=rules)
    jsonschema.validate(json.loads(json.dumps(found.to_dict())), SCHEMA)


def test_schema_refuses_what_is_no_diagnosis() -> None:
    """The schema is strict enough to notice a missing and a misspelt key."""
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"schema": 1}, SCHEMA)


def test_results_are_frozen(rules: RuleSet) -> None:
    """Nobody can change a diagnosis behind another reader's back."""
    found = diagnose("anything", rules=rules)
    with pytest.raises(AttributeError):
        found.verdict.status = Status.PASS  # type: ignore[misc]


def test_library_loads_neither_rich_nor_argparse() -> None:
    """A tuner that imports the library pays for no terminal."""
    code = (
        "import sys, strata_diag; print([name for name in ('rich', 'argparse', 'jsonschema') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
