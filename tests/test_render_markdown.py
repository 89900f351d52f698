"""The reply to an issue: what it says, and that no word of a log can do anything in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import CORPUS
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from strata_diag import Diagnosis, RuleSet, Status, diagnose
from strata_diag.cli import main
from strata_diag.model import Evidence, Finding, Notice, Remedy, Role, RunDiagnosis, Suspect, Verdict
from strata_diag.render.markdown import (
    LONGEST_REPLY,
    MOST_LINES,
    MOST_STEPS,
    TEXTS,
    block,
    code,
    prose,
    replies,
    reply,
)

BUSY = CORPUS / "strata" / "v100-busy-console.log"
HOSTILE = [
    "@octocat see ggml-org/llama.cpp#12, GH-34 and #56",
    "ping @octocat/team or octocat@0b1c2d3e4f5a6b7c",
    "![x](https://evil.example/x.png) [y](https://evil.example) <https://evil.example>",
    "<img src=x onerror=alert(1)> <script>alert(1)</script> <details open> <!-- x",
    "https://evil.example/x http://evil.example www.evil.example ftp://evil.example jane@evil.example mailto:jane@evil.example",
    "_www.evil.example *https://evil.example*",
    "``` ~~~ ```` ` `` `x` @octocat",
    "# heading",
    "- item",
    "1. item",
    "> quote",
    "+ item",
    "| a | b |",
    "&lt;b&gt; &#64;octocat &commat;octocat",
    "\\@octocat \\\\[x](y) \\`",
    "*bold* _it_ **x** ~~gone~~ $x^2$ ==x== :+1:",
    "line\nbreak\n\n```\n@octocat\n# heading",
    "tab\there \x1b[31mred\x1b[0m \u202e\u200b\u2028 \x00",
    "commit 0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c and 0b1c2d3",
    "[x]: https://evil.example",
    "===",
    "    indented @octocat",
]


def rendered(text: str) -> str:
    """The HTML of Markdown as GitHub reads it: tables, strike-through, addresses with a scheme or `www.` as links."""
    reader = MarkdownIt("commonmark", {"html": True, "linkify": True}).enable(["table", "strikethrough", "linkify"])
    assert reader.linkify is not None
    reader.linkify.set({"fuzzy_link": False, "fuzzy_email": True})
    return str(reader.render(text))


def visible_text(page: str) -> str:
    """What GitHub looks for names, numbers, commits and addresses in: the text of a page outside code and links."""
    without_code = re.sub(r"<(pre|code|a)\b.*?</\1>", " ", page, flags=re.DOTALL)
    plain = re.sub(r"<[^>]*>", " ", without_code)
    for entity, sign in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        plain = plain.replace(entity, sign)
    return plain


REFERENCES = re.compile(
    r"@[a-z0-9]|#\d|gh-\d|https?://|ftp://|www\.|mailto:[a-z]|\b(?=[0-9]*[a-f])[0-9a-f]{7,40}\b", re.IGNORECASE
)
OURS = re.compile(
    r"</?(?:p|pre|code|strong|em|ol|ul|li|h3|table|thead|tbody|tr|th|td)(?: class=\"language-\w+\"| start=\"\d+\")?>|<br>"
)


def assert_harmless(text: str) -> None:
    """No tag but those that our own Markdown makes, no link, no picture, nothing that GitHub would make a link of."""
    page = rendered(text)
    assert re.findall(r"<[a-z!/][^>]*>", OURS.sub("", page)) == []
    assert REFERENCES.findall(visible_text(page)) == []


@pytest.mark.parametrize("text", HOSTILE)
def test_prose_is_plain_text(text: str) -> None:
    """Whatever a log says is read as text in one paragraph."""
    assert_harmless(prose(text))
    page = rendered(prose(text))
    assert page.count("<p>") == 1
    assert re.findall(r"<(?!/?p>)", page) == []


@pytest.mark.parametrize("text", HOSTILE)
def test_code_span_holds_all_of_its_text(text: str) -> None:
    """No backtick inside ends it, not even in a table."""
    page = rendered(code(text))
    assert page.startswith("<p><code>")
    assert page.endswith("</code></p>\n")
    assert page.count("<code>") == 1


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("indent", ["", "   "])
def test_code_block_holds_all_of_its_lines(text: str, indent: str) -> None:
    """No fence in a line ends the block, in a list or outside."""
    lines = block(["before", text, "```", "~~~", "after"], indent=indent)
    page = rendered("\n".join(["1. step", "", *lines] if indent else lines))
    assert page.count("<pre>") == 1
    assert page.index("before") < page.index("after") < page.index("</pre>")


@settings(max_examples=300, derandomize=True)
@given(
    st.lists(
        st.sampled_from([*"`~*_[]()<>!#@&\\|$-+. \n1ax:/", "http://", "www.", "@a", "#1", "GH-1", "<b>", "](x)"])
    ).map("".join)
)
def test_no_text_makes_a_tag_or_a_link(text: str) -> None:
    """Signs of Markdown, HTML and GitHub in any order stay text."""
    assert_harmless(prose(text))
    assert_harmless("\n".join(block([text])))
    assert_harmless(code(text))


def test_numbers_and_words_stay_as_they_can_be_copied() -> None:
    """What is no reference is not broken up."""
    text = "needs 713 MiB, 49692798976 B, --max-context 131072, strata-iq3_s.log, 2026-03-04 05:06:07"
    assert rendered(prose(text)) == f"<p>{text}</p>\n"


def hostile_diagnosis(text: str, status: Status = Status.OOM) -> Diagnosis:
    """A diagnosis in which everything that can come from a log is this text."""
    evidence = Evidence(7, text, text, 1, (text, text), (text,))
    finding = Finding("pack/rule", Role.FAILURE, "vram-exhausted", 1, text, evidence, (7,), {"x": text}, 3, text)
    unknown = status is Status.UNKNOWN
    verdict = Verdict(
        status, "unknown" if unknown else "vram-exhausted", text, 7, None if unknown else "pack/rule", text, True, "now",
        "engine", True, True, None if unknown else finding, (finding, finding), (), (finding,) * 9, (Suspect(7, text),) * 9, 3,
    )  # fmt: skip
    remedies = tuple(Remedy(f"step-{number}", text, {"linux": text}, text, f"javascript:{text}") for number in range(9))
    run = RunDiagnosis(1, 9, text, {"command": text}, verdict, remedies, text)
    return Diagnosis(f"/home/jdoe/{text}", verdict, remedies, (run, run), (Notice("plugin", text),) * 9, 9, "utf-8")


@pytest.mark.parametrize("status", [Status.OOM, Status.UNKNOWN])
@pytest.mark.parametrize("text", HOSTILE)
def test_no_part_of_a_reply_lets_a_log_do_anything(text: str, status: Status) -> None:
    """Titles, lines, steps, commands, names and notices, in one reply and in a table."""
    found = hostile_diagnosis(text, status)
    assert_harmless(reply(found, "linux"))
    several = replies([found, found], [text], lambda _: "linux")
    assert_harmless(several)
    assert rendered(several).count("<tr>") == 4


@pytest.mark.parametrize("status", [Status.OOM, Status.UNKNOWN])
def test_reply_stays_short_whatever_a_log_holds(status: Status) -> None:
    """Lists are cut and counted, long lines and sentences end in an ellipsis."""
    shown = reply(hostile_diagnosis("x" * 50_000, status), "linux")
    assert len(shown.splitlines()) <= MOST_LINES + 5
    assert len(shown) < 20_000
    assert f"and {9 - MOST_STEPS} more" in shown


def long_diagnosis() -> Diagnosis:
    """A diagnosis with long steps, and a symptom on several lines."""
    found = hostile_diagnosis("x", Status.UNKNOWN)
    symptom = found.verdict.chain[1]._replace(lines=(7, 8), times=2)
    steps = tuple(step._replace(commands={"linux": "x\n" * 12}) for step in found.remedies)
    return found._replace(verdict=found.verdict._replace(chain=(symptom, symptom)), remedies=steps)


def test_what_is_least_needed_is_left_out_of_a_long_reply() -> None:
    """The notices go first, and the reply says that there is more."""
    assert TEXTS["left_out"] not in reply(hostile_diagnosis("x", Status.UNKNOWN), "linux")
    shown = reply(long_diagnosis(), "linux")
    assert TEXTS["left_out"] in shown
    assert TEXTS["notices"] not in shown
    assert TEXTS["steps"] in shown


def test_replies_fit_into_one_comment() -> None:
    """Logs that find no room are in the table, and the reply says so."""
    found = [hostile_diagnosis("word " * 60)] * 60
    shown = replies(found, [], lambda _: "linux")
    assert len(shown) < LONGEST_REPLY + 2000
    assert "more logs are only in the table" in shown
    assert rendered(shown).count("<tr>") == 61


def test_reply_says_what_failed_why_where_and_what_to_do(all_rules: RuleSet) -> None:
    """Status and cause, the deciding line with its neighbours, what it explains, the steps, the retry, the rule."""
    shown = reply(diagnose(BUSY, rules=all_rules), "linux")
    page = rendered(shown)
    assert "<code>CUDA_UNAVAILABLE / device-busy</code>" in page
    assert "&gt;     44 | ggml_backend_cuda_device_get_memory: cudaMemGetInfo failed" in page
    assert "      43 |" in page
    assert "line 42: The server gave up because the image encoder did not start" in page
    assert page.count("<ol>") == 1
    assert '<pre><code class="language-sh">nvidia-smi --query-compute-apps' in page
    assert "yes, once the card is free" in page
    assert "<code>cuda-malloc/device-memory-device-busy</code>, version 2 of its pack" in page
    assert str(BUSY.parent) not in shown


@pytest.mark.parametrize(("system", "word"), [("linux", "pgrep"), ("windows", "tasklist")])
def test_commands_are_those_of_the_reporter(all_rules: RuleSet, system: str, word: str) -> None:
    """A person on Windows gets no command of Linux."""
    shown = reply(diagnose(BUSY, rules=all_rules), system)
    assert (word in shown, ("pgrep" in shown) is (system == "linux")) == (True, True)


@pytest.mark.parametrize(
    ("system", "command"),
    [("linux", "journalctl -k -b"), ("windows", "Get-WinEvent"), ("macos", "log show"), ("plan9", "journalctl -k -b")],
)
def test_unknown_failure_asks_for_concrete_files(all_rules: RuleSet, system: str, command: str) -> None:
    """Which files say more, how they are made on this system, and how names are taken out of them."""
    shown = reply(diagnose("all fine\nwidget alignment violated: refusing to go on\n", rules=all_rules), system)
    assert "     2 | widget alignment violated" in shown
    assert TEXTS["attach"] in shown
    assert command in shown
    assert "strata-diag redact" in shown
    assert "strata-<model>" not in shown


@pytest.mark.parametrize(
    ("engine", "wanted"),
    [("Ollama", "journalctl -u ollama"), ("strata", "strata\\-<model>"), ("vllm", "everything that")],
)
def test_file_to_attach_is_that_of_the_engine(engine: str, wanted: str) -> None:
    """Each engine writes its log elsewhere."""
    found = hostile_diagnosis("x", Status.UNKNOWN)
    shown = reply(found._replace(runs=(found.runs[0]._replace(engine=engine),)), "linux")
    assert wanted.replace("\\-<", "-\\<").replace("model>", "model\\>") in shown


def test_link_that_could_hide_something_is_left_out() -> None:
    """Only a plain https address of a rule is a link."""
    found = hostile_diagnosis("x")
    links = [
        "https://example.org/a.md#b",
        "javascript:alert(1)",
        "https://user@example.org/",
        "https://example.org/> <b>",
        "",
    ]
    steps = tuple(Remedy(f"step-{number}", "Do it.", {}, "", link) for number, link in enumerate(links))
    page = rendered(reply(found._replace(remedies=steps), "linux"))
    assert re.findall(r'href="([^"]*)"', page) == ["https://example.org/a.md#b"]


def test_healthy_log_gets_a_short_reply(all_rules: RuleSet) -> None:
    """PASS says what proves it, and gives no advice."""
    shown = reply(diagnose(CORPUS / "strata" / "cpu-encoder-healthy.log", rules=all_rules), "linux")
    assert "`PASS`" in shown
    assert TEXTS["steps"] not in shown
    assert TEXTS["retry"].rstrip("?") not in shown


def test_texts_of_the_program_go_through_the_translator(all_rules: RuleSet) -> None:
    """Every sentence of ours can be put into another language, and is escaped after that."""
    asked: list[str] = []

    def translate(english: str) -> str:
        asked.append(english)
        return f"<{english}>"

    shown = reply(hostile_diagnosis("x", Status.UNKNOWN), "linux", translate)
    shown += replies([hostile_diagnosis("x"), long_diagnosis()], ["y"], lambda _: "linux", translate)
    assert_harmless(shown)
    whole = {text for name, text in TEXTS.items() if "{" not in text}
    assert whole - set(asked) == set()
    assert "\\<What to do\\>" in shown


SYSTEMS: dict[str, Callable[[Diagnosis], str]] = {"linux": lambda _: "linux"}


def test_several_logs_start_with_a_table(all_rules: RuleSet) -> None:
    """A row a log with its result, then a section each; one that could not be read is in the table."""
    logs = [BUSY, CORPUS / "strata" / "cpu-encoder-healthy.log"]
    shown = replies([diagnose(log, rules=all_rules) for log in logs], ["gone|away.log"], SYSTEMS["linux"])
    page = rendered(shown)
    assert page.index("<table>") < page.index("<pre>")
    assert page.count("<tr>") == 4
    assert page.count("<h3>") == 3
    assert "<code>gone|away.log</code>" in page
    assert "could not be read" in page


def test_classify_writes_a_reply(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--format markdown` gives one reply, a table for several files, and the usual exit codes."""
    given = ["classify", "--no-plugin", "*", "--no-settings", "--format", "markdown", str(BUSY)]
    assert main(given) == 1
    one = capsys.readouterr().out
    assert one.startswith("`v100-busy-console.log` (strata)\n")
    assert one.isascii()
    assert main([*given, str(tmp_path / "missing.log")]) == 2
    assert "| `missing.log` | could not be read | |" in capsys.readouterr().out
