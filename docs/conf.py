"""Settings of the documentation's site: `./dev docs` builds it into docs/_build.

The pages about rules, causes and remedies are made here at the beginning of each build, and are in no repository.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from strata_diag import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "strata-diag"
author = "the authors of strata-diag"
release = version = __version__
html_title = f"{project} {release}"

extensions = ["myst_parser"]
root_doc = "index"
exclude_patterns = ["_build", "man"]  # what is built, and what `man` reads
nitpicky = True
smartquotes = False  # options begin with two hyphens, and lines of logs are as they are
myst_heading_anchors = 3
# an example of a broken pack is no YAML on purpose
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "alabaster"
html_theme_options = {
    "description": "Says what failed in a log, why, and what to do",
    "fixed_sidebar": True,
    "page_width": "1200px",
    "sidebar_width": "280px",
}
templates_path = ["_templates"]
html_search_scorer = str(
    Path(__file__).parent / "_static" / "logsearch.js"
)  # loaded after Sphinx's own search, which it changes
html_copy_source = False
html_show_sphinx = False


def make_pages(app: Sphinx) -> None:
    """Write the pages of our own rules and of the plugins that ship with them."""
    from strata_diag import load_rules  # noqa: PLC0415 - only a build needs the rules
    from strata_diag.workshop.pagefiles import files_of, subjects, write  # noqa: PLC0415

    rules = load_rules()
    chosen = [rule for rule in rules.rules if rule.pack in app.config.packs]
    write(files_of(rules, subjects(rules, chosen or None)), Path(app.srcdir))


def setup(app: Sphinx) -> None:
    """Called by Sphinx when a build begins."""
    app.add_config_value(
        "packs", [], "env", list
    )  # names of packs, for a quick look: -D packs=vram,server; none for all
    app.connect("builder-inited", make_pages)
