"""Links to pages: the command offline, an address where a site is named, and nothing that is no address."""

from __future__ import annotations

import pytest
from conftest import CORPUS

from strata_diag import RuleSet, diagnose
from strata_diag.cli import main
from strata_diag.errors import SettingsError
from strata_diag.model import Status, Verdict, cause_page, remedy_page, rule_page
from strata_diag.render import markdown, pagelinks
from strata_diag.render.layout import diagnosis_lines, plain

BUSY = CORPUS / "strata" / "v100-busy-engine-log.log"
HEALTHY = CORPUS / "strata" / "cpu-encoder-healthy.log"
SITE = "https://example.org/strata-diag"
PAGE = "rules/cuda-malloc/device-busy"


@pytest.mark.parametrize(
    ("page", "command"),
    [
        (rule_page("vram/session-state"), "strata-diag rules show vram/session-state"),
        (cause_page("unknown"), "strata-diag rules show causes/unknown"),
        (remedy_page("restart-pc"), "strata-diag rules show remedies/restart-pc"),
    ],
)
def test_link_is_the_command_where_no_site_is_known(page: str, command: str) -> None:
    """It works offline, and on a machine that has never seen the site."""
    assert pagelinks.link(page, "") == command


def test_link_is_an_address_where_a_site_is_known() -> None:
    """The id is the path, and letters beyond ASCII are encoded."""
    assert pagelinks.link(PAGE, SITE) == f"{SITE}/{PAGE}.html"
    assert pagelinks.link("rules/größe/zu-klein", SITE) == f"{SITE}/rules/gr%C3%B6%C3%9Fe/zu-klein.html"


@pytest.mark.parametrize(
    ("value", "site"),
    [("", pagelinks.SITE), (SITE, SITE), (f"{SITE}/", SITE), ("file:///srv/pages", "file:///srv/pages")],
)
def test_site_is_that_of_the_variable(value: str, site: str) -> None:
    """A slash at its end makes no difference, an empty variable is none."""
    assert pagelinks.site({pagelinks.VARIABLE: value}) == site


@pytest.mark.parametrize(
    "value",
    [
        "example.org",
        "javascript:alert(1)",
        f"{SITE} x",
        f'{SITE}"><b>',
        f"{SITE}?a",
        f"{SITE}#a",
        f"{SITE}\x1b",
        "file://x",
    ],
)
def test_what_is_no_address_is_an_error(value: str) -> None:
    """A link that leads nowhere, or could do something, is refused with the variable's name."""
    with pytest.raises(SettingsError, match=f"{pagelinks.VARIABLE}: is no address"):
        pagelinks.site({pagelinks.VARIABLE: value})


def test_wrong_site_is_exit_code_two(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The command says what is wrong instead of printing a broken link."""
    monkeypatch.setenv(pagelinks.VARIABLE, "nowhere")
    assert main(["classify", "--no-plugin", "*", str(BUSY)]) == 2
    assert pagelinks.VARIABLE in capsys.readouterr().err


def test_page_of_a_verdict_is_that_of_its_rule_else_of_its_cause() -> None:
    """An unknown end has a page too."""
    unknown = Verdict(Status.UNKNOWN, "unknown", "", None, None, "", lasting=False, retry="now", attribution="engine")
    assert unknown.page == "causes/unknown"
    assert unknown._replace(rule="vram/session-state").page == "rules/vram/session-state"


def test_text_ends_with_the_link(rules: RuleSet) -> None:
    """The command where no site is known, else the address; a healthy log needs neither."""
    found = diagnose(BUSY, rules=rules)
    assert plain(diagnosis_lines(found, "linux")[-1]) == "More about it: strata-diag rules show cuda-malloc/device-busy"
    assert plain(diagnosis_lines(found, "linux", SITE)[-1]) == f"More about it: {SITE}/{PAGE}.html"
    healthy = diagnosis_lines(diagnose(HEALTHY, rules=rules), "linux")
    assert not any("More about it" in plain(line) for line in healthy)


@pytest.mark.parametrize(
    ("site", "words"),
    [
        ("", "`strata-diag rules show cuda-malloc/device-busy`"),
        (SITE, f"<{SITE}/{PAGE}.html>"),
        ("http://localhost:8000", "`strata-diag rules show cuda-malloc/device-busy`"),
    ],
)
def test_reply_links_only_what_everyone_can_follow(rules: RuleSet, site: str, words: str) -> None:
    """A reply goes to other people: a site without https is no link in it."""
    assert f"*More about it:* {words}" in markdown.reply(diagnose(BUSY, rules=rules), "linux", site=site)


def test_json_has_the_ids_and_no_address(rules: RuleSet, monkeypatch: pytest.MonkeyPatch) -> None:
    """The id is the same on every machine: a program makes the address itself."""
    monkeypatch.setenv(pagelinks.VARIABLE, SITE)
    found = diagnose(BUSY, rules=rules).to_dict()
    assert found["verdict"]["page"] == PAGE
    assert [step["page"] for step in found["remedies"]] == [remedy_page(step["action"]) for step in found["remedies"]]


def test_step_that_a_plugin_made_up_has_no_page() -> None:
    """There is nothing to be read about it."""
    from strata_diag.model import Remedy

    assert Remedy("wait-for-storage", "Wait.").page == ""
