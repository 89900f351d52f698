"""Where the page about a rule, a cause or a remedy is read: the one place that makes a link of its id.

A page's id is `rules/<pack>/<name>`, `causes/<cause>` or `remedies/<action>`, and stays the same for ever. The pages are also
in the command (`strata-diag rules show`), which works offline; that is the link where no site is known. The variable
STRATA_DIAG_DOCS names a site that was made of `strata-diag rules docs`: there the page has its id as its path.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from strata_diag.errors import Problem, SettingsError

VARIABLE = "STRATA_DIAG_DOCS"
SITE = ""  # where our own pages are published, without a slash at its end; empty while only the command has them
SUFFIX = ".html"
SCHEMES = ("https://", "http://", "file:///")
FORBIDDEN = "<>\"'`\\ ?#"  # signs that no address of a site holds as they are
RULES = "rules/"  # what an id of a rule's page begins with; the command does without


def site(environment: Mapping[str, str] = os.environ) -> str:
    """The site of the pages without a slash at its end, or an empty text. Raises SettingsError for what is no address."""
    value = environment.get(VARIABLE, "")
    if not value:
        return SITE
    plain = value.isascii() and value.isprintable() and not any(sign in value for sign in FORBIDDEN)
    if not (plain and value.startswith(SCHEMES)):
        what = f"is no address of a site: {value!r}"
        advice = "write one such as https://example.org/strata-diag, in which blanks and the like are %-encoded"
        raise SettingsError([Problem(VARIABLE, 0, what, advice)])
    return value.rstrip("/")


def address(page: str, base: str) -> str:
    """The address of a page on a site (`site()`); empty where there is no site."""
    if not base:
        return ""
    if not page.isascii():
        from urllib.parse import quote  # noqa: PLC0415 - 5 ms, for the ids of other alphabets

        page = quote(page)
    return f"{base}/{page}{SUFFIX}"


def command(page: str) -> str:
    """The command that shows a page, on any machine."""
    return f"strata-diag rules show {page.removeprefix(RULES)}"


def link(page: str, base: str) -> str:
    """The address of a page, or the command that shows it where there is no site."""
    return address(page, base) or command(page)
