"""The JSON Schema of packs: it says what the loader says, describes every key, and editors complete and complain by it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from conftest import ROOT, shipped_folders
from language_server import NAME, LanguageServer, command

from strata_diag import RuleSet
from strata_diag.cli import main
from strata_diag.rulepack import keys
from strata_diag.workshop.schema import MODELINE, catalogue_schema, pack_schema, plain_schema

FILES = sorted(path for folder in (ROOT / "rules", *shipped_folders()) for path in folder.glob("*.yaml"))
TABLES = {
    "rule": keys.RULE, "clause": keys.CLAUSE, "samples": keys.SAMPLES, "cause": keys.CAUSE, "remedy": keys.REMEDY,
    "entry": keys.ENTRY, "override": keys.OVERRIDE,
}  # fmt: skip
PACK = """\
pack: my
version: 1
about: what my engine prints
rules:
  - id: no-room
    role: failure
    cause: vram-exhausted
    title: There is no room
    any:
      - regex: 'my engine has no room'
    samples:
      match: ['my engine has no room']
      no_match: ['my engine has room']
"""


def complaints(content: Any, schema: Mapping[str, Any]) -> list[str]:
    """What jsonschema has against a content."""
    return [error.message for error in jsonschema.Draft7Validator(schema).iter_errors(content)]


def changed(**changes: Any) -> dict[str, Any]:
    """PACK with other values in its rule; `...` takes a key out."""
    content: dict[str, Any] = yaml.safe_load(PACK)
    rule = content["rules"][0] | changes
    content["rules"] = [{key: value for key, value in rule.items() if value is not ...}]
    return content


def described_keys(schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(table and key, description) of every key, a reference standing for what it leads to."""
    definitions = schema["definitions"]
    for table, one in {"pack": schema, **definitions}.items():
        for key, its_schema in one.get("properties", {}).items():
            target = definitions[its_schema["$ref"].rpartition("/")[2]] if "$ref" in its_schema else its_schema
            yield f"{table}/{key}", str(target.get("description", ""))


def test_the_schema_is_a_schema() -> None:
    """Draft 7, which editors understand whole, in all three shapes."""
    jsonschema.Draft7Validator.check_schema(plain_schema())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_shipped_file_fits(path: Path, all_rules: RuleSet) -> None:
    """Packs fit the schema of packs, catalogues that of catalogues, plain and with the names of all rules."""
    content = yaml.safe_load(path.read_text("utf-8"))
    schema = pack_schema(all_rules) if "pack" in content else catalogue_schema(all_rules)
    assert complaints(content, schema) == []


@pytest.mark.parametrize("table", TABLES)
def test_every_key_of_a_table_is_in_the_schema(table: str) -> None:
    """The schema knows exactly the keys that the loader knows, and the same ones are required."""
    described = plain_schema()["definitions"][table]
    known = TABLES[table]
    assert set(described["properties"]) == set(known)
    assert set(described.get("required", ())) == {name for name, key in known.items() if key.required}
    assert described["additionalProperties"] is False


def test_every_key_of_a_pack_is_in_the_schema() -> None:
    """The same of the pack's own header."""
    schema = plain_schema()
    assert set(schema["properties"]) == set(keys.PACK)
    assert {name for name, key in keys.PACK.items() if key.required} <= set(schema["required"])


def test_every_key_has_a_description() -> None:
    """An editor has a sentence to show for each key, not only a type."""
    found = dict(described_keys(plain_schema()))
    assert len(found) > len(keys.RULE)
    assert [key for key, said in found.items() if not said.endswith((".", ")"))] == []


def test_the_lists_of_words_are_those_of_the_loader() -> None:
    """Roles, retries, lifecycles, attributions and systems: no word is missing, none is invented."""
    definitions = plain_schema()["definitions"]
    rule, cause = definitions["rule"]["properties"], definitions["cause"]["properties"]
    assert set(rule["retry"]["enum"]) == set(cause["retry"]["enum"]) == set(keys.RETRIES)
    assert set(rule["lifecycle"]["enum"]) == set(keys.LIFECYCLES)
    assert set(cause["attribution"]["enum"]) == set(keys.ATTRIBUTIONS)
    for word in rule["role"]["enum"]:
        assert keys.RULE["role"].check(word) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"tilte": "x"},
        {"title": ...},
        {"id": ...},
        {"role": "failur"},
        {"priority": 1000},
        {"priority": "high"},
        {"any": [{"regx": "x"}]},
        {"samples": {"mach": ["x"]}},
        {"retry": "later"},
        {"lifecycle": "old"},
        {"lint": {"SD205": 1}},
        {"remedies": "close-gpu-programs"},
        {"settles": "yes"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_the_loader_refuses_is_refused(changes: dict[str, Any], all_rules: RuleSet) -> None:
    """A misspelt, missing or unusable key is a complaint in an editor too."""
    assert complaints(changed(), plain_schema()) == []
    assert complaints(changed(**changes), plain_schema())
    assert complaints(changed(**changes), pack_schema(all_rules))


def test_words_of_an_author_s_own_are_allowed(all_rules: RuleSet) -> None:
    """Causes, remedies and rules that another file may bring are offered from what there is, and not required to be of it."""
    own = changed(cause="my-cause", remedies=["my-step"], replaced_by="my/other")
    assert complaints(own, pack_schema(all_rules)) == []


def test_the_command_prints_what_an_editor_reads(capsys: pytest.CaptureFixture[str]) -> None:
    """`rules schema` has the causes that are loaded, `--catalogue` describes the files beside packs."""
    assert main(["rules", "schema", "--no-plugin", "*"]) == 0
    schema = json.loads(capsys.readouterr().out)
    offered = schema["definitions"]["rule"]["properties"]["cause"]["anyOf"][0]["enum"]
    assert "vram-exhausted" in offered
    assert "none" not in offered
    assert main(["rules", "schema", "--catalogue", "--no-plugin", "*"]) == 0
    catalogue = json.loads(capsys.readouterr().out)
    assert complaints({"causes": {}}, catalogue) == []
    assert complaints({"pack": "my"}, catalogue)


@pytest.mark.skipif(command() is None, reason=f"there is no {NAME} here (npm install --prefix .tools {NAME})")
def test_an_editor_completes_describes_and_complains(tmp_path: Path, all_rules: RuleSet) -> None:
    """With the modeline in its first line, a pack in an editor gets errors at their lines, keys, values and explanations."""
    server = command()
    assert server
    (tmp_path / "pack.schema.json").write_text(json.dumps(pack_schema(all_rules)), "utf-8")
    right, wrong = tmp_path / "my.yaml", tmp_path / "wrong.yaml"
    head = f"{MODELINE}pack.schema.json\n"
    right.write_text(head + PACK, "utf-8")
    wrong.write_text(head + PACK.replace("title:", "tilte:").replace("failure", "failur") + "    \n", "utf-8")
    with LanguageServer(server, tmp_path) as editor:
        assert editor.complaints(right) == []
        found = dict(editor.complaints(wrong))
        assert "tilte is not allowed" in found[9]
        assert '"failure", "symptom"' in found[7]
        assert 'Missing property "title"' in found[6]
        offered = editor.completions(wrong, 15, 5)
        assert {"title", "priority", "yields_to", "remedies"} <= set(offered)
        assert "role" not in offered
        assert "sentence" in offered["title"]
        assert {"vram-exhausted", "device-busy"} <= set(editor.completions(right, 8, 12))
        assert "decides a verdict" in editor.hint(right, 7, 6)
