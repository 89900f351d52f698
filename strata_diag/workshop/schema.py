"""The JSON Schema of pack files, for editors: what each key means, and which values it takes.

`schema/pack-1.json` describes every pack. What a person may name beside their own words (causes, remedies, vocabularies,
rules) is filled in from a rule set, so that an editor offers it; words that no loaded pack has stay allowed, since another
file may bring them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from strata_diag.ruleset import RuleSet

SCHEMA_FILE = Path(__file__).parent.parent / "schema" / "pack-1.json"
NO_FAILURES = ("none", "unknown")  # causes that no rule should name
MODELINE = "# yaml-language-server: $schema="  # what editors with yaml-language-server look for in a file


def plain_schema() -> dict[str, Any]:
    """The schema as it ships: draft 7, which yaml-language-server understands whole."""
    found: dict[str, Any] = json.loads(SCHEMA_FILE.read_text("utf-8"))
    return found


def pack_schema(rules: RuleSet) -> dict[str, Any]:
    """The schema of a pack, with the names that a rule set knows."""
    schema = plain_schema()
    rule = schema["definitions"]["rule"]["properties"]
    causes = [cause for cause in rules.causes if cause not in NO_FAILURES]
    _offer(rule["cause"], causes)
    override = schema["definitions"]["override"]["properties"]
    _offer(override["cause"], causes)
    _offer(override["rule"], rules.by_id)
    _offer(rule["replaced_by"], rules.by_id)
    for table in (rule, override, schema["definitions"]["cause"]["properties"]):
        _offer(table["remedies"]["items"], rules.remedies)
    _offer(rule["phase"], (f"{track}/{name}" for track, names in rules.tracks.items() for name in names))
    return schema


def catalogue_schema(rules: RuleSet) -> dict[str, Any]:
    """The schema of the files that are no packs: causes.yaml, remedies.yaml, vocabularies.yaml, flags and overrides."""
    schema = pack_schema(rules)
    catalogue = schema["definitions"].pop("catalogue")
    kept = {name: schema["definitions"][name] for name in ("cause", "remedy", "entry", "override")}
    title = "What packs of strata-diag share"
    return {"$schema": schema["$schema"], "title": title, **catalogue, "definitions": kept}


def _offer(place: dict[str, Any], names: Iterable[str]) -> None:
    """Have an editor offer these names where any text is allowed."""
    offered = sorted(names)
    if offered:
        free = {key: place.pop(key) for key in ("type", "minLength", "pattern") if key in place}
        place["anyOf"] = [{"enum": offered}, free]
