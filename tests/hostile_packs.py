"""Packs whose free text tries to be Markdown, HTML, MyST or a command for a terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path

from packs import load, pack_text, write_packs

from strata_diag.ruleset import RuleSet

HOSTILE = (
    "`tick` | pipe <b>bold</b> <script>alert(1)</script>",
    "![x](javascript:alert(1)) [a](b.md) <https://evil.example>",
    "{doc}`index` {{ name }} $x$ $$y$$ *a* _b_ ~~c~~ [^1] [x][y]",
    "``` {eval-rst}",
    "::: {warning}",
    "1. one",
    "+++",
    "% comment",
    "(target)=",
    "---",
    "# heading",
    "&lt; &amp; \\\\ \\`",
    "\x1b[31mred\x1b[0m \u202eevil",
)


def hostile_rules(folder: Path, text: str) -> RuleSet:
    """A rule and a remedy in which everything that is free text is this text."""
    said = json.dumps(text)
    rule = f"""\
- id: odd
  role: failure
  cause: card-full
  title: {said}
  why: {said}
  any: [{{regex: {json.dumps(re.escape(text))}}}]
  remedies: [odd-step]
  references: [{said}]
  samples: {{match: [{said}], no_match: [{json.dumps(text.upper() + " x")}]}}
"""
    wording = json.dumps(text.replace("$", "$$"))
    remedy = f"remedies:\n  odd-step: {{text: {wording}, commands: {{any: {wording}}}, risk: {said}, link: {said}}}\n"
    return load(write_packs(folder, sample=pack_text(rule, more=f"engines: [{said}]\n{remedy}")))
