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
MODELINE = "# yaml-language-server: $schema="  # what editors with yaml-language-server look for in a file


def plain_schema() -> dict[str, Any]:
    """The schema as it ships: draft 7, which yaml-language-server understands whole."""
    found: dict[str, Any] = json.loads(SCHEMA_FILE.read_text("utf-8"))
    return found


def pack_schema(rules: RuleSet) -> dict[str, Any]:
    """The schema of a pack, with the names that a rule set knows."""
    schema = plain_schema()
    rule = schema["definitions"]["rule"]["properties"]
    _offer(rule["cause"], (cause.id for cause in rules.causes.values() if cause.id not in ("none", "unknown")))
    _offer(rule["remedies"]["items"], rules.remedies)
    _offer(schema["definitions"]["cause"]["properties"]["remedies"]["items"], rules.remedies)
    _offer(rule["phase"], (f"{track}/{name}" for track, names in rules.tracks.items() for name in names))
    return schema


def catalogue_schema(rules: RuleSet) -> dict[str, Any]:
    """The schema of causes.yaml, remedies.yaml and vocabularies.yaml."""
    schema = pack_schema(rules)
    catalogue = schema["definitions"].pop("catalogue")
    kept = {name: schema["definitions"][name] for name in ("cause", "remedy", "entry")}
    title = "What packs of strata-diag share: causes, remedies, vocabularies"
    return {"$schema": schema["$schema"], "title": title, **catalogue, "definitions": kept}


def _offer(place: dict[str, Any], names: Iterable[str]) -> None:
    """Have an editor offer these names where any text is allowed."""
    offered = sorted(names)
    if offered:
        free = {key: place.pop(key) for key in ("type", "minLength", "pattern") if key in place}
        place["anyOf"] = [{"enum": offered}, free]
