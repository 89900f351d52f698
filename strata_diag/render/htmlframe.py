"""The frame of a page that needs nothing but itself: head, content policy, style sheet and script.

The policy allows our style sheet and our script by their hashes and nothing else: no network, no other script, no style
attribute, no form. Were a piece of a log ever to slip through unescaped, the browser would still not run it. Policies that
name a hash don't depend on how the page is served, so the page is as safe from a disk as from a server.
"""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from importlib.resources import files

from strata_diag import __version__
from strata_diag.render.htmltext import text


def frame(title: str, body: str, language: str) -> str:
    """A whole page. title: bare text; body: HTML, whose every foreign word went through `htmltext.text`."""
    style, script = _part("page.css"), _part("page.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="{text(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="strata-diag {text(__version__)}">
<link rel="icon" href="data:,">
<title>{text(title)}</title>
<style>{style}</style>
</head>
<body>
{body}
<script>{script}</script>
</body>
</html>
"""


@lru_cache(maxsize=4)
def _part(name: str) -> str:
    return files("strata_diag.render").joinpath("html", name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    """The name by which a content policy knows an inline style or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode("ascii")
