"""The page of a triage in a real browser, with logs that try to break out of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from strata_diag import RuleSet, diagnose
from strata_diag.render import htmlpage
from strata_diag.triage.groups import groups_of
from strata_diag.triage.records import Result, Triage, Unreadable

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
HOSTILE = (
    "<script>document.title = 'owned'</script>",
    "<img src=x onerror=\"document.title='owned'\"><img src=https://example.com/pixel.png>",
    "</style></script></td></table><h1>broken out</h1><!-- -->",
    "\x1b]0;owned\x07\u202e[31m <a href=\"javascript:document.title='owned'\">here</a> \x00",
    "x" * 10_000,
    "cudaMalloc failed: out of memory <b onmouseover=alert(1)>",
)
NAMES = ("<svg onload=\"document.title='owned'\">.log", "plain.log", "\u202egol.exe.log")


def hostile_triage(rules: RuleSet) -> Triage:
    """Three logs full of markup, one of them with a failure, and a file that could not be read."""
    texts = (
        "\n".join(HOSTILE),
        "strata serve: 405 MiB of VRAM free with everything loaded",
        "fatal error: " + HOSTILE[1],
    )
    results = tuple(
        Result(name, diagnose(text.encode("utf-8", "replace"), rules=rules))
        for name, text in zip(NAMES, texts, strict=True)
    )
    return Triage(results, (Unreadable("<i>gone</i>.log", "no <such> file"),), groups_of(results, rules.causes))


@pytest.fixture(scope="module")
def file(all_rules: RuleSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page on the disk."""
    path = tmp_path_factory.mktemp("page") / "triage.html"
    path.write_text(htmlpage.page(hostile_triage(all_rules)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium."""
    if not CHROMIUM:
        pytest.skip("there is no chromium here; on Debian and Ubuntu: apt-get install chromium")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


def opened(
    browser: Browser, file: Path, *, script: bool = True, width: int = 1000
) -> tuple[Page, list[str], list[str]]:
    """The page as shown, the addresses that it asked for, and what the console said."""
    page = browser.new_context(java_script_enabled=script, viewport={"width": width, "height": 800}).new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(file.as_uri())
    return page, asked, said


def test_no_log_runs_anything_or_reaches_the_network(browser: Browser, file: Path) -> None:
    """Nothing of a log becomes an element, runs, or is fetched; the policy has nothing to refuse."""
    page, asked, said = opened(browser, file)
    assert [address for address in asked if not address.startswith("data:")] == [file.as_uri()]
    assert said == []
    assert page.title() == "What failed in 3 logs"
    assert page.locator("img, iframe, object, h1:has-text('broken out'), [onerror], [onload]").count() == 0
    assert page.locator("main").get_by_text("broken out").count() > 0


def test_the_page_can_be_read_without_a_script(browser: Browser, file: Path) -> None:
    """Each log has its section, with verdict and steps, where scripts are off."""
    page, _, _ = opened(browser, file, script=False)
    assert page.locator("article.log").count() == 3
    assert page.locator("#filter-by-words").is_hidden()
    assert page.get_by_text("OOM / vram-exhausted").count() > 0


def test_the_filter_leaves_what_was_asked_for(browser: Browser, file: Path) -> None:
    """Words filter the table and the sections; a status can be hidden without a script."""
    page, _, _ = opened(browser, file)
    page.fill("#filter-words", "everything loaded")
    assert page.locator("article.log:visible").count() <= 1
    page.fill("#filter-words", "")
    assert page.locator("article.log:visible").count() == 3
    page.locator("#show-status-oom").uncheck()
    assert page.locator("article.log:visible").count() == 2


def test_a_phone_scrolls_in_one_direction_only(browser: Browser, file: Path) -> None:
    """Long lines wrap: the page is no wider than the screen."""
    page, _, _ = opened(browser, file, width=375)
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
