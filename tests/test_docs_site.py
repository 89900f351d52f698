"""The site of the documentation: built with warnings as errors, and its search knows lines of logs."""

from __future__ import annotations

import functools
import http.server
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from hostile_packs import HOSTILE, hostile_rules

from strata_diag.workshop.pagefiles import files_of, subjects, write

PACK = "memory-guard"  # a small one; `./dev docs` builds the site with all
MADE = ("_build", "rules", "packs", "causes", "remedies", "rules.md", "causes.md", "remedies.md")
LINE = "2031-02-03 host7 strata: memory guard: 8.25 GiB available, floor_kept (qx77): going on with 3 of 9 zebras"


def build(source: Path, into: Path, *options: str) -> str:
    """What Sphinx had to say about a folder of pages; warnings are errors."""
    words = [sys.executable, "-m", "sphinx", "-W", "-n", "--keep-going", "--quiet", *options, str(source), str(into)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site with the pages of one pack, made from a copy, so that nothing is written into the project."""
    tree, made = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs", tree / "docs", ignore=lambda folder, _: MADE if Path(folder).name == "docs" else ())
    for file in ROOT.glob("*.md"):
        shutil.copy(file, tree)
    assert build(tree / "docs", made, "-D", f"packs={PACK}") == ""
    return made


def test_every_document_is_a_page(site: Path) -> None:
    """Those written by hand, those included from the project's folder, and those made of the rules."""
    written = [file.relative_to(ROOT / "docs") for file in (ROOT / "docs").glob("*.md") if file.name not in MADE]
    written += [file.relative_to(ROOT / "docs") for file in (ROOT / "docs" / "lint").glob("*.md")]
    for path in [*written, Path("rules"), Path("causes"), Path("remedies"), Path(f"packs/{PACK}.md")]:
        assert (site / path).with_suffix(".html").is_file()
    assert [page.name for page in (site / "rules" / PACK).iterdir()] == ["report.html"]


def test_links_of_made_pages_lead_to_pages(site: Path) -> None:
    """A page of a rule links its pack, its cause and its remedies, at the paths that their ids promise."""
    page = site / "rules" / PACK / "report.html"
    links = re.findall(r'href="(\.\.[^"#?]*)"', page.read_text("utf-8"))
    assert "../../rules.html" in links
    assert f"../../packs/{PACK}.html" in links
    assert all((page.parent / link).resolve().is_file() for link in links)


def test_hostile_pages_build_without_a_warning(tmp_path: Path) -> None:
    """Nothing in a pack is a directive, a role or a link that Sphinx would follow or complain of."""
    source = tmp_path / "source"
    for number, text in enumerate(HOSTILE):
        rules = hostile_rules(tmp_path / f"packs-{number}", text)
        write(files_of(rules, subjects(rules, list(rules.rules))), source / f"part-{number}")
    index = ["# Parts", "", "```{toctree}", *(f"part-{number}/index" for number in range(len(HOSTILE))), "```", ""]
    (source / "index.md").write_text("\n".join(index), "utf-8")
    (source / "conf.py").write_text('extensions = ["myst_parser"]\n', "utf-8")
    assert build(source, tmp_path / "site", "-b", "html") == ""
    for number in range(len(HOSTILE)):
        page = (tmp_path / "site" / f"part-{number}" / "rules" / "sample" / "odd.html").read_text("utf-8")
        assert "<script>alert" not in page
        assert 'javascript:alert(1)"' not in page


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server of files that logs nothing."""

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@pytest.fixture
def served(site: Path) -> Iterator[str]:
    """The address of the site on this machine."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_search_finds_the_rule_by_a_line_of_a_log(served: str) -> None:
    """Names and values that no page has don't keep a line from its rule; a short query still needs all its words."""
    sync_api = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"{served}/search.html?q={LINE.replace(' ', '+')}")
        first = page.locator("#search-results li a").first
        assert first.get_attribute("href") == f"rules/{PACK}/report.html"
        assert "A line of a log" in page.locator("body").inner_text()
        page.goto(f"{served}/search.html?q=guard+qx77")
        page.get_by_text("did not match any documents").wait_for()
        browser.close()
