"""Logs between what people write: fences, quotes, lists, bare runs, and what is none of it."""

from __future__ import annotations

import pytest
from attachments import LOG, Read, read_bytes

from strata_diag.intake import limits
from strata_diag.intake.documents import is_document
from strata_diag.intake.prose import is_code, is_log_line, is_prose

LINES = LOG.decode()
OTHER = (
    "strata generate: no VRAM is left for the expert cache: it needs at least 274 slots (695 MiB)\n"
    "strata generate: the embedding buffer failed\n"
)


def logs(text: str) -> list[Read]:
    """The logs of a document that was attached."""
    return read_bytes(text.encode(), "issue.md")


def texts(text: str) -> list[str]:
    return [one.data.decode() for one in logs(text) if not one.skipped]


def test_each_log_of_an_issue_is_found_with_its_line() -> None:
    """Fenced and unfenced ones, in order."""
    found = logs(
        f"### What happened\n\nIt stopped.\n\n```text\n{LINES}```\n\nLater I saw this:\n\n{OTHER}\nThanks for any help!\n"
    )
    assert [(one.name, one.first_line) for one in found] == [
        ("issue.md, log 1 at line 6", 6),
        ("issue.md, log 2 at line 13", 13),
    ]
    assert [one.data.decode() for one in found] == [LINES, OTHER]
    assert not any(one.notices for one in found)


@pytest.mark.parametrize(
    "document",
    [
        "<details><summary>Log</summary>\n\n```\n{}```\n\n</details>\n",
        "<details>\n<summary>Log</summary>\n```\n{}```\n</details>\n",
        "### Log\n<details>\n\n{}\n</details>\n",
        "### Log\n<pre>\n{}</pre>\n",
        "## Log\n~~~~console\n{}~~~~\n",
        "## Log\n\n{}",
        "title:\tit fails\nstate:\tOPEN\n--\n{}",
        "#3502 it fails\n\nDescription\n\n{}",
        "**Describe the bug**\nIt does not start since yesterday.\n{}",
        "Hi, my engine does not start, this is what I get:\n\n{}\nWhat can I do about that?\n",
        "请问这个怎么解决？\n\n{}\n我的显卡是 RTX 5060 Ti，驱动是最新的，谢谢。\n",
    ],
)
def test_a_log_is_found_wherever_people_put_it(document: str) -> None:
    """Folded, in HTML, under a heading, after an issue's title or a greeting."""
    assert texts(document.format(LINES)) == [LINES]


def test_a_fence_in_a_list_loses_its_indent_and_nothing_else() -> None:
    """Indentation that belongs to the log stays."""
    trace = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nRuntimeError: CUDA error: out of memory\n'
    inside = "".join(f"   {line}\n" for line in ["```", *trace.splitlines(), "```"])
    assert texts(f"## Steps\n\n1. I start it\n\n{inside}\n2. It fails\n") == [trace]


def test_a_quoted_log_is_read_without_its_marks() -> None:
    """Fenced in a quote, or bare in one."""
    quoted = "".join(f"> {line}\n" for line in LINES.splitlines())
    assert texts(f"## Reply\n\n{quoted}\nI see the same on my machine with this version.\n") == [LINES]
    assert texts(f"## Reply\n\n> ```\n{quoted}> ```\n\nI see the same here.\n") == [LINES]


def test_an_indented_log_is_a_log() -> None:
    """The oldest way to show code in Markdown."""
    indented = "".join(f"    {line}\n" for line in LINES.splitlines())
    (found,) = texts(
        f"## Log\n\nThis is what it says when I start it:\n\n{indented}\nThat is all I have at the moment.\n"
    )
    assert found.replace("    ", "") == LINES


def test_a_fence_that_never_ends_is_read_to_the_end() -> None:
    """And said."""
    (found,) = logs(f"## Log\n```\n{LINES}")
    assert found.data.decode().rstrip("\n") == LINES.rstrip("\n")
    assert "the fence at line 2 is never closed" in found.words


@pytest.mark.parametrize(
    "fence",
    [
        "```yaml\nservices:\n  strata:\n    image: strata:latest\n    command: --serve --kv k8v4\n```",
        "```python\nimport torch\ntry:\n    torch.zeros(1)\nexcept RuntimeError as error:\n    raise ValueError(error)\n```",
        "```bash\ncd Strata\n./setup.sh --calibrate\n```",
        "```\n$ pip install strata\n$ ./run-iq3_s.sh --kv k8v4\n```",
        "```powershell\nPS C:\\Strata> .\\run-iq3_s.bat\n```",
        '```json\n{\n  "kv": "k8v4",\n  "gpu": 0\n}\n```',
        "```diff\n- out of memory\n+ error: out of memory\n```",
        "```\n[server]\nport = 8080\nhost = 127.0.0.1\n```",
    ],
)
def test_code_settings_and_commands_are_no_logs(fence: str) -> None:
    """They are left out, and the notice names their line."""
    found = logs(f"## Setup\n\n{fence}\n\n## Log\n```\n{LINES}```\n")
    assert [one.data.decode() for one in found] == [LINES]
    assert "fenced at line 4 " in found[0].words


@pytest.mark.parametrize(
    "fence",
    [
        'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nRuntimeError: CUDA error: out of memory',
        "$ ./run.sh\nKilled",
        "CUDA out of memory. Tried to allocate 2.00 GiB",
        "Out of memory: Killed process 4242 (strata)",
        "cudaMalloc failed: out of memory",
        "+-----+\n| NVIDIA-SMI 580.95 |\n+-----+",
    ],
)
@pytest.mark.parametrize("language", ["", "bash", "text", "console"])
def test_what_a_program_printed_is_a_log_whatever_its_fence_says(fence: str, language: str) -> None:
    """People write any language behind a fence."""
    assert texts(f"## Log\n\n```{language}\n{fence}\n```\n") == [f"{fence}\n"]


def test_a_traceback_in_a_python_fence_is_a_log() -> None:
    """The lines tell, not the language."""
    trace = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nRuntimeError: out of memory\n'
    assert texts(f"## Log\n```python\n{trace}```\n") == [trace]


def test_text_in_backticks_is_no_log() -> None:
    """People quote messages when they talk about them."""
    (found,) = logs(
        "### What I saw\n\n- The engine prints `cudaMalloc failed: out of memory` and exits.\n"
        "- Then `strata generate: memory guard: limit 63.8 GiB` follows.\n\n`ggml_cuda_init: failed to initialize CUDA`\n"
    )
    assert found.skipped
    assert found.data == b""
    assert found.words == "no log was found in this text"


@pytest.mark.parametrize(
    "log",
    [
        LINES + "strata serve: answer: \n```python\nprint(1)\n```\n## Heading\n<details>\n",
        "> ./run.sh\n" + LINES,
        "# Engine output of the two arms\n" + LINES,
        "Windows PowerShell\nCopyright (C) Microsoft Corporation. All rights reserved.\n\n"
        "Install the latest PowerShell for new features and improvements! https://aka.ms/PSWindows\n\n" + LINES,
        "#0  0x00007f15b702a1ca in abort () from /lib/libc.so.6\n#1  0x00 in main ()\n```\n",
        '{"level": "info", "message": "## no issue"}\n```\n',
        "a table | of | things\nnothing here looks like Markdown\n",
    ],
)
def test_a_log_that_quotes_markdown_is_a_log(log: str) -> None:
    """It begins as logs do, and passes as it is."""
    (found,) = logs(log)
    assert (found.name, found.data.decode(), found.notices) == ("issue.md", log, [])


def test_lines_are_kept_as_they_are() -> None:
    """Colours, redraws, NULs and tabs of a log survive the document."""
    log = "\x1b[31m[strata] 2026-10-21 03:32:12 engine started\x1b[0m\n[strata] load 1%\r[strata] load 2%\n\tstrata\0: x y\n"
    (found,) = logs(f"## Log\r\n```\r\n{log}```\r\n")
    assert found.data.decode() == log


def test_rulers_and_brackets_inside_a_bare_log_are_kept() -> None:
    """Markdown would make a heading of one and a link of the other."""
    log = "[strata] starting the engine\n-----\n[strata]: reading the weights\n=====\nstrata generate: out of memory\n"
    assert texts(f"## Log\n\n{log}") == [log]


def test_a_window_with_sentences_stays_one_log() -> None:
    """What a program tells its user is indented, and so no prose."""
    log = (
        "[strata] starting the engine: reading the model's weights ...\n\n"
        "  While it does, YOUR PC CAN BE SLOW OR STOP RESPONDING FOR 1-3 MINUTES (longer the first time).\n"
        "  That is normal: please wait and don't close this window.\n\n"
        "RuntimeError: the vision encoder did not start:\n"
    )
    assert texts(f"### Output\n\n{log}") == [log]


def test_one_accidental_line_in_a_paragraph_is_no_log() -> None:
    """A list of facts may hold a line with a colon."""
    (found,) = logs("### System\n\nWindows 11\nRTX 3060\ncard: bought in 2024\ni5\n64 GB\n")
    assert found.skipped


def test_a_document_that_is_too_large_is_read_as_one_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it is lost, and a notice says so."""
    monkeypatch.setattr(limits, "LARGEST_DOCUMENT", 2000)
    text = f"## Log\n\n{LINES * 100}"
    (found,) = logs(text)
    assert found.data.decode() == text
    assert found.kinds == ["limit"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "gb18030"])
def test_documents_come_in_any_encoding(encoding: str) -> None:
    """PowerShell and Chinese Windows write them too."""
    text = f"### 日志\n\n我的引擎启动失败，请帮忙看看。\n\n```\n{LINES}```\n"
    (found,) = read_bytes(text.encode(encoding))
    assert found.data == LOG


def test_a_history_inside_a_fence_is_read_as_rows() -> None:
    """Rows of a tuner's history, one broken over lines as a page breaks it."""
    found = logs(
        "## History\n\n```text\n"
        '{"status": "PASS", "label": "base", "reason": ""}\n'
        '{"status": "OOM", "label": "base",\n "reason": "ggml_cuda_init: failed to initialize CUDA"}\n```\n'
    )
    assert [(one.data, one.first_line) for one in found] == [
        (b"", 4),
        (b"ggml_cuda_init: failed to initialize CUDA", 5),
    ]


@pytest.mark.parametrize(
    "text", ["> " * 3000, "- " * 3000, "```\n" * 3000, "<details>\n" * 3000, "[" * 9000, "`" * 9000, "##  \n" * 3000]
)
def test_hostile_markdown_never_raises(text: str) -> None:
    """Whatever is nested or left open."""
    assert logs("## a\n" + text)


@pytest.mark.parametrize(
    "line",
    [
        "[strata] 2026-10-21 03:32:12 engine started",
        "  [!]  the tuning did not finish",
        "2026-10-12T03:03:30.420Z stderr F text",
        "Jan 19 07:40:11 box systemd[1]: failed",
        "strata-1  | strata: prompt experts",
        "load_hparams: Qwen-VL models require",
        "ggml_backend_cuda_device_get_memory: cudaMemGetInfo failed",
        "ERROR 09-11 14:21:30 async_llm_engine.py:75] failed",
        "/src/ggml-backend.cpp:188: GGML_ASSERT(buffer) failed",
        "torch.OutOfMemoryError: CUDA out of memory",
        "error: out of memory",
        "1.06.520.077 E graph_reserve: failed",
        '{"level": "info"}',
    ],
)
def test_lines_of_programs(line: str) -> None:
    """How programs begin their lines."""
    assert is_log_line(line)
    assert not is_prose(line)


@pytest.mark.parametrize(
    "line",
    [
        "On this PC the app's model tuning fails every time now, and it fails at the very first measurement.",
        "- The benchmark engine that the tuning starts prints `ggml_cuda_init: failed to initialize CUDA` and exits.",
        "I get the following error when running calibration:",
        "[Other] (the tuning/calibration search in strata-control)",
        "[ ] I have searched the existing issues and found none",
        "[the docs](https://example.org) say that this should work",
        "`strata generate: memory guard` is printed as well",
        "GPU: NVIDIA Tesla V100-SXM2 32 GB",
        "model: Qwen3.8 Flash Next",
        "我的显卡是 RTX 5060 Ti，驱动是最新的，但是启动失败。",
        "",
    ],
)
def test_lines_of_people(line: str) -> None:
    """Sentences, lists, links, quotes and facts."""
    assert not is_log_line(line)


def test_a_failure_is_never_code() -> None:
    """A line that could be a setting and tells of a failure stays a log."""
    assert is_code("port: 8080")
    assert not is_code("Killed: 9")


def test_a_document_shows_itself_before_its_first_bare_log_line() -> None:
    """What comes behind a bare log line is the log's."""
    assert is_document("## Log\n" + LINES)
    assert not is_document(LINES + "## Log\n")
    assert not is_document("")
