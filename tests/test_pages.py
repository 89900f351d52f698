"""Pages about rules, causes and remedies: there is one for whatever an output can name, and every link leads somewhere."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import CORPUS
from hostile_packs import HOSTILE, hostile_rules
from markdown_it import MarkdownIt
from packs import load, load_rules_text, pack_text, write_packs

from strata_diag import RuleSet, diagnose
from strata_diag.cli import main
from strata_diag.errors import StrataDiagError
from strata_diag.model import cause_page, remedy_page, rule_page
from strata_diag.render.layout import plain
from strata_diag.workshop.errors import WorkshopError
from strata_diag.workshop.listing import describe, relations
from strata_diag.workshop.lookup import Asked, asked_for, pages_of, to_dict
from strata_diag.workshop.pagefiles import Subjects, files_of, subjects, write
from strata_diag.workshop.pagemarkdown import MADE_BY, prose
from strata_diag.workshop.pages import Page, Verbatim, Words, page_of_rule
from strata_diag.workshop.pagetext import MOST_NAMED, page_lines

RULES = """\
- id: full
  role: failure
  cause: card-full
  priority: 600
  title: The card is full
  why: Nothing is left.
  applies: engine >= 0.1.40
  any: [{regex: 'card is full'}]
  yields_to: [busy]
  remedies: [close-it]
  references: ['#12', 'https://example.org/a']
  samples: {match: ['engine: card is full'], no_match: ['engine: card is fine']}
- id: busy
  role: failure
  cause: card-busy
  priority: 700
  title: The card is busy
  lifecycle: deprecated
  replaced_by: full
  all: [{count: 'card is busy', at_least: 2}]
  when: ['held > 2']
- id: again
  role: recovery
  title: It tries again
  cancels: [full]
  any: [{sequence: ['tries', 'again'], within: 4}]
"""
REMEDIES = """\
remedies:
  close-it:
    texts: ['Close ${program}, which costs $$5.', Close the other program.]
    commands: {linux: 'kill ${pid}'}
    risk: It is closed.
"""
LINK = re.compile(r"\]\(([^)]*\.md)\)")


@pytest.fixture
def some(tmp_path: Path) -> RuleSet:
    """Three rules and a remedy."""
    return load_rules_text(tmp_path / "packs", RULES, more=REMEDIES)


@pytest.fixture(scope="module")
def all_files(all_rules: RuleSet) -> Mapping[str, str]:
    """The files of all rules that a user has."""
    return files_of(all_rules, subjects(all_rules))


def broken_links(files: Mapping[str, str]) -> list[tuple[str, str]]:
    """Links of pages to each other that lead nowhere."""
    return [
        (path, link)
        for path, text in files.items()
        for link in LINK.findall(text)
        if posixpath.normpath(posixpath.join(posixpath.dirname(path), link)) not in files
    ]


# Our own rules


def test_there_is_a_page_for_whatever_an_output_can_name(all_rules: RuleSet, all_files: Mapping[str, str]) -> None:
    """Each rule, each cause and each remedy of the rule set."""
    pages = [rule_page(rule.id) for rule in all_rules.rules]
    pages += [cause_page(cause) for cause in all_rules.causes]
    pages += [remedy_page(action) for action in all_rules.remedies]
    assert {f"{page}.md" for page in pages} <= all_files.keys()


@pytest.mark.parametrize("name", ["v100-busy-engine-log", "cpu-encoder-healthy", "args-four-attempts"])
def test_every_page_that_a_diagnosis_names_is_there(
    all_rules: RuleSet, all_files: Mapping[str, str], name: str
) -> None:
    """The ids in the JSON are paths of files."""
    found = json.dumps(diagnose(CORPUS / "strata" / f"{name}.log", rules=all_rules).to_dict())
    pages = re.findall(r'"page": "([^"]+)"', found)
    assert pages
    assert {f"{page}.md" for page in pages} <= all_files.keys()


def test_every_link_of_our_pages_leads_somewhere(all_files: Mapping[str, str]) -> None:
    """No page names another one that isn't there."""
    assert broken_links(all_files) == []


def test_every_page_can_be_reached_from_the_index(all_files: Mapping[str, str]) -> None:
    """Whoever follows links from the index gets everywhere."""
    seen, ahead = set(), ["index.md"]
    while ahead:
        path = ahead.pop()
        seen.add(path)
        links = {
            posixpath.normpath(posixpath.join(posixpath.dirname(path), one)) for one in LINK.findall(all_files[path])
        }
        ahead += links - seen - set(ahead)
    assert seen == set(all_files)


# What a page says


def texts_of(page: Page) -> list[str]:
    """The sentences and the verbatim lines of a page."""
    items = [*page.lead, *(item for section in page.sections for item in section.items)]
    said = [item.text for item in items if isinstance(item, Words)]
    return said + [line for item in items if isinstance(item, Verbatim) for line in item.lines]


def test_page_of_a_rule_says_everything_about_it(some: RuleSet) -> None:
    """Meaning, steps, sample, patterns, both ends of every edge, age, versions, origin and references."""
    page = page_of_rule(some.by_id["sample/full"], some)
    shown = "\n".join(plain(line) for line in page_lines(page))
    for words in (
        "sample/full  failure, priority 600",
        "The card is full",
        "Nothing is left.",
        "Only for engine >= 0.1.40",
        "OOM / card-full",
        "yes, once the card is free",
        "may be remembered as bad",
        "1. Close the other program.",
        "$ kill ${pid}  (linux)",
        "Costs: It is closed.",
        "| engine: card is full",
        "| engine: card is fine",
        "One of these must be there:",
        "Yields to\n  sample/busy  The card is busy",
        "Taken back by\n  sample/again  It tries again",
        "sample.yaml:",
        "#12",
    ):
        assert words in shown
    assert "Takes back" not in shown


def test_pages_of_other_kinds_of_rules(some: RuleSet) -> None:
    """A deprecated rule names what replaces it, clauses and conditions are told in words."""
    shown = "\n".join(plain(line) for rule in some.rules for line in page_lines(page_of_rule(rule, some)))
    for words in (
        "Deprecated; use this one instead:\n  sample/full",
        "at least 2 lines with:",
        "Only where all of this is so:\n    held > 2",
        "These yield to it\n  sample/full",
        "Takes back\n  sample/full",
        "lines one after another, each at most 4 lines below the one before:",
    ):
        assert words in shown


def test_what_a_local_file_changed_comes_first(tmp_path: Path) -> None:
    """A silenced rule says so and why, in front of everything else."""
    override = "overrides:\n  - {rule: sample/full, silence: a test of ours fills it}\n"
    rules = load_rules_text(tmp_path, RULES, more=REMEDIES, local=override)
    lead = page_of_rule(rules.by_id["sample/full"], rules).lead
    assert Words("Silenced by a local file: a test of ours fills it", warning=True) in lead


def test_terminal_and_markdown_say_the_same(some: RuleSet) -> None:
    """Every sentence and every line stands in both."""
    files = files_of(some, subjects(some))
    for page in pages_of(Asked(tuple(some.rules), tuple(some.causes), tuple(some.remedies)), some):
        shown = "\n".join(plain(line) for line in page_lines(page))
        written = files[f"{page.id}.md"]
        for text in texts_of(page):
            assert text in shown
            assert text in written or prose(text) in written


def test_remedy_shows_every_wording(some: RuleSet) -> None:
    """Holes stay, a doubled dollar sign is one, and causes and rules that ask for it are named."""
    asked = asked_for(["remedies/close-it"], some)
    shown = "\n".join(plain(line) for page in pages_of(asked, some) for line in page_lines(page))
    assert "Close ${program}, which costs $5." in shown
    assert "Rules that ask for it\n  sample/full  The card is full" in shown


def test_long_lists_are_cut_on_a_terminal_and_told_by_pack_in_a_file(all_rules: RuleSet) -> None:
    """Hundreds of titles would hide the page, and a search would find it for words of others."""
    known = relations(all_rules)
    count, rule = max((len(describe(rule, all_rules, known).yields_to), rule) for rule in all_rules.rules)
    page = page_of_rule(rule, all_rules)
    shown = "\n".join(plain(line) for line in page_lines(page))
    assert f"and {count - MOST_NAMED} more (--format json lists all)" in shown
    written = files_of(all_rules, subjects(all_rules, [rule]))[f"{page.id}.md"]
    part = written.split("## Yields to\n\n")[1].split("\n## ")[0]
    assert sum(line.count(", ") + 1 for line in part.splitlines() if line.startswith("- ")) == count


# Hostile packs


@pytest.mark.parametrize("text", HOSTILE)
def test_no_word_of_a_pack_does_anything(tmp_path: Path, text: str) -> None:
    """No HTML, no picture, no heading or rule of its own, and no link but those between pages."""
    rules = hostile_rules(tmp_path, text)
    files = files_of(rules, subjects(rules, list(rules.rules)))
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    for path, written in files.items():
        assert not re.search(r"[^\n\x20-\x7e›]", written)
        tokens = parser.parse(written.split("---\n", 2)[2])
        flat = [one for token in tokens for one in (token, *(token.children or ()))]
        kinds = {token.type for token in flat}
        assert not kinds & {"html_block", "html_inline", "image", "hr", "s_open", "em_open"}
        own_page = path in {"rules/sample/odd.md", "remedies/odd-step.md"}
        assert {token.info for token in flat if token.type == "fence"} <= {"text", "{toctree}"}
        assert not own_page or sum(token.tag == "h1" for token in flat if token.type == "heading_open") == 1
        links = [str(token.attrs["href"]) for token in flat if token.type == "link_open"]
        assert {posixpath.normpath(posixpath.join(posixpath.dirname(path), link)) for link in links} <= files.keys()


def test_only_plain_https_links_of_a_pack_are_links(tmp_path: Path) -> None:
    """A reference that could hide where it leads is text."""
    rules = load_rules_text(tmp_path, RULES, more=REMEDIES)
    written = files_of(rules, subjects(rules))["rules/sample/full.md"]
    assert "<https://example.org/a>" in written
    assert "\\#12" in written


# Files


def test_same_rules_make_the_same_files_wherever_they_are(tmp_path: Path) -> None:
    """No path of the machine and no date is in them."""
    here, there = (load_rules_text(tmp_path / name, RULES, more=REMEDIES) for name in ("here", "there"))
    files = files_of(here, subjects(here))
    assert files == files_of(there, subjects(there))
    assert not any(str(tmp_path) in text for text in files.values())


def test_some_rules_bring_what_they_name_and_nothing_else(some: RuleSet) -> None:
    """Their packs, causes and remedies; a rule that is not among them is named without a link."""
    chosen = subjects(some, [some.by_id["sample/full"]])
    assert chosen == Subjects(chosen.rules, chosen.packs, ("card-full",), ("close-it",))
    files = files_of(some, chosen)
    assert "- `sample/busy`: The card is busy" in files["rules/sample/full.md"]
    assert broken_links(files) == []


def test_second_call_writes_only_what_changed(some: RuleSet, tmp_path: Path) -> None:
    """What is the same keeps its time, what has no subject any more is removed."""
    files = files_of(some, subjects(some))
    assert write(files, tmp_path / "out") == (len(files), len(files), 0)
    assert write(files, tmp_path / "out") == (len(files), 0, 0)
    fewer = files_of(some, subjects(some, [some.by_id["sample/full"]]))
    assert write(fewer, tmp_path / "out").removed == len(files) - len(fewer)
    left = {file.relative_to(tmp_path / "out").as_posix() for file in (tmp_path / "out").rglob("*.md")}
    assert left == set(fewer)


def test_files_of_others_stay_as_they_are(some: RuleSet, tmp_path: Path) -> None:
    """A folder's own index and pages are kept; one that is in the way is an error, and nothing is written."""
    files = files_of(some, subjects(some))
    (tmp_path / "rules").mkdir()
    own = {"index.md": "# Ours\n", "rules/notes.md": "# Notes\n"}
    for path, text in own.items():
        (tmp_path / path).write_text(text, "utf-8")
    write(files, tmp_path)
    assert {path: (tmp_path / path).read_text("utf-8") for path in own} == own
    (tmp_path / "causes.md").write_text("# Our causes\n", "utf-8")
    (tmp_path / "rules.md").unlink()
    with pytest.raises(WorkshopError, match=r"causes\.md: was not made by `rules docs`"):
        write(files, tmp_path)
    assert not (tmp_path / "rules.md").exists()


def test_folder_that_can_not_be_written_is_an_error(some: RuleSet, tmp_path: Path) -> None:
    """The message names it and says what to do."""
    (tmp_path / "out").write_text("a file", "utf-8")
    with pytest.raises(WorkshopError, match="name another folder"):
        write(files_of(some, subjects(some)), tmp_path / "out")


# The commands


def shown(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """What `rules ...` prints without whatever plugins this machine has."""
    part, *rest = map(str, arguments)
    assert main(["rules", part, "--no-plugin", "*", "--no-settings", *rest]) == 0
    return capsys.readouterr().out


def test_pages_are_shown_by_their_ids(capsys: pytest.CaptureFixture[str]) -> None:
    """A rule with and without what its page's id begins with, a cause and a remedy."""
    short = shown(capsys, "show", "cuda-malloc/device-busy")
    assert shown(capsys, "show", "rules/cuda-malloc/device-busy") == short
    both = shown(capsys, "show", "causes/device-busy", "remedies/restart-pc")
    assert "device-busy  a cause of CUDA_UNAVAILABLE" in both
    assert "restart-pc  a remedy" in both


def test_json_has_every_kind(some: RuleSet) -> None:
    """Plain types, with the id of the page."""
    found = to_dict(asked_for(["sample/*", "causes/card-full", "remedies/close-it"], some), some)
    assert json.loads(json.dumps(found)) == found
    assert [one["page"] for one in found["rules"]] == [rule_page(rule.id) for rule in some.rules]
    assert found["causes"][0]["rules"] == ["sample/full"]
    assert (found["remedies"][0]["page"], found["remedies"][0]["rules"]) == ("remedies/close-it", ["sample/full"])


@pytest.mark.parametrize(
    ("name", "offered"),
    [
        ("causes/card-ful", "`causes/card-full`"),
        ("remedies/close", "`remedies/close-it`"),
        ("causes/0123456789", "`strata-diag rules docs`"),
    ],
)
def test_unknown_page_offers_the_nearest(some: RuleSet, name: str, offered: str) -> None:
    """A slip of the pen is answered with what was meant."""
    with pytest.raises(StrataDiagError, match=re.escape(offered)):
        asked_for([name], some)


def test_pack_by_the_name_of_a_kind_is_a_pack(tmp_path: Path) -> None:
    """A rule `causes/full` is shown, not the cause `full`."""
    rules = load(write_packs(tmp_path, causes_=pack_text(RULES, name="causes-", more=REMEDIES)))
    assert asked_for(["causes-/full"], rules).rules[0].id == "causes-/full"


def test_docs_of_named_packs_and_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pack of ours by name with wildcards, somebody's own by its folder, in one set of pages."""
    own = tmp_path / "own"
    own.mkdir()
    text = pack_text(RULES.replace("card-full", "vram-exhausted").replace("card-busy", "device-busy"), name="own")
    (own / "own.yaml").write_text(text.replace("remedies: [close-it]", ""), "utf-8")
    out = tmp_path / "out"
    assert "pages, " in shown(capsys, "docs", "--into", out, own, "cuda-m*")
    assert {path.name for path in (out / "rules").iterdir()} == {"own", "cuda-malloc"}
    assert (out / "rules" / "own" / "full.md").read_text("utf-8").startswith(MADE_BY)
    assert broken_links({file.relative_to(out).as_posix(): file.read_text("utf-8") for file in out.rglob("*.md")}) == []


def test_docs_of_a_pack_that_there_is_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is an error, and nothing is written."""
    assert main(["rules", "docs", "--no-plugin", "*", "--into", str(tmp_path / "out"), "no-such-pack"]) == 2
    assert "no-such-pack" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
