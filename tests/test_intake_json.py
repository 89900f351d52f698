"""Logs stored as JSON: journals, containers, histories, run records and issues; broken, deep and of wrong types."""

from __future__ import annotations

import json
from typing import Any

import pytest
from attachments import LOG, Read, read_bytes

from strata_diag import RuleSet, diagnose
from strata_diag.intake import limits

LINES = LOG.decode()


def lines_of(*records: Any) -> bytes:
    """JSON lines."""
    return "".join(record if isinstance(record, str) else json.dumps(record) + "\n" for record in records).encode()


def entry(message: Any, second: int = 0, **fields: Any) -> dict[str, Any]:
    """An entry of the journal."""
    stamp = str((1_792_553_532 + second) * 1_000_000)
    known = {"__REALTIME_TIMESTAMP": stamp, "_HOSTNAME": "box", "SYSLOG_IDENTIFIER": "strata", "_PID": "4242"}
    return {**known, "MESSAGE": message, **fields}


def one(data: bytes) -> Read:
    (found,) = read_bytes(data)
    return found


def text(data: bytes) -> list[str]:
    return one(data).data.decode().splitlines()


def test_a_journal_becomes_the_lines_that_people_know() -> None:
    """One entry a line, times in UTC, order kept, each line of a message with its prefix."""
    data = lines_of(entry("cudaMalloc failed: out of memory"), entry("first\nsecond\n", 9, _PID="7"), entry("third", 3))
    assert text(data) == [
        "Oct 21 03:32:12 box strata[4242]: cudaMalloc failed: out of memory",
        "Oct 21 03:32:21 box strata[7]: first",
        "Oct 21 03:32:21 box strata[7]: second",
        "Oct 21 03:32:15 box strata[4242]: third",
    ]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_journal_in_an_array_is_read_too(indent: int | None) -> None:
    """However it is laid out."""
    data = json.dumps([entry("one"), entry("two", 1)], indent=indent).encode()
    assert [line.rsplit(": ", 1)[1] for line in text(data)] == ["one", "two"]


def test_entries_spread_over_lines_are_read_too() -> None:
    """As `-o json-pretty` writes them."""
    data = "\n".join(json.dumps(entry(word), indent=8) for word in ("one", "two")).encode()
    assert [line.rsplit(": ", 1)[1] for line in text(data)] == ["one", "two"]


def test_a_journal_with_the_newest_entry_first_is_turned_round() -> None:
    """`journalctl -r` would make the first start the last."""
    data = lines_of(*(entry(f"line {n}", n) for n in range(99, -1, -1)))
    assert [line.rsplit(" ", 1)[1] for line in text(data)] == [str(n) for n in range(100)]


def test_messages_may_be_bytes_lists_or_missing() -> None:
    """The journal stores what is no UTF-8 as numbers, several values as a list, and leaves out what is too long."""
    data = lines_of(
        entry([229, 136, 157, 27]),
        entry(["one", "two"]),
        entry(None),
        entry(17),
        entry([]),
        entry([999]),
        entry([[104, 105]]),
    )
    found = one(data)
    assert [line.split(b": ", 1)[1] for line in found.data.splitlines()] == [
        "初".encode() + b"\x1b",
        b"one",
        b"two",
        b"hi",
    ]
    assert found.kinds == ["left-out"] * 4


def test_wrong_types_in_an_entry_never_raise() -> None:
    """Times beyond all clocks, names that are objects."""
    times: list[Any] = ["x", "9" * 30, None, [], {}, 1.5, True, -1]
    processes: list[Any] = [[], {}, None, 3, ["4"]]
    odd = [entry("a", __REALTIME_TIMESTAMP=time) for time in times]
    odd += [{"MESSAGE": "a", "_PID": process} for process in processes]
    assert len(text(lines_of(*odd))) == len(odd)


def test_a_line_that_is_no_entry_stays_where_it_was() -> None:
    """Nothing is lost of a journal that was cut or edited."""
    found = one(lines_of(entry("one"), "-- Boot 4711 --\n", entry("two"), '{"MESSAGE": "three'))
    assert [line.rsplit(b": ", 1)[-1] for line in found.data.splitlines()] == [
        b"one",
        b"-- Boot 4711 --",
        b"two",
        b'"three',
    ]
    assert found.kinds == ["damaged", "damaged"]


def test_rules_fit_a_journal(rules: RuleSet) -> None:
    """The rendered lines are lines of a log."""
    found = one(lines_of(*(entry(line, n) for n, line in enumerate(LINES.splitlines()))))
    assert diagnose(found.data, rules=rules).verdict.cause == "no-device"


def test_a_container_log_is_put_together() -> None:
    """Long lines come in pieces, colours stay."""
    pieces = [LINES[:20], LINES[20:90], LINES[90:]]
    records = [{"log": piece, "stream": "stderr", "time": "2026-10-21T03:32:12.1Z"} for piece in pieces]
    assert one(lines_of(*records)).data == LOG
    found = one(lines_of(records[0], {"log": 7, "stream": "stdout", "time": ""}, "rubbish\n", *records[1:]))
    assert len(found.notices) == 1 or found.kinds == ["damaged", "damaged"]
    assert found.data.startswith(LOG[:20])


def test_a_journal_inside_a_container_log_is_read() -> None:
    """What a reader finds is looked into again."""
    inner = lines_of(entry("one"), entry("two", 1)).decode().splitlines(keepends=True)
    data = lines_of(*({"log": line, "stream": "stdout", "time": "x"} for line in inner))
    assert [line.rsplit(": ", 1)[1] for line in text(data)] == ["one", "two"]


ROW = {
    "status": "OOM",
    "label": "base",
    "decode_tok_s": None,
    "reason": "ggml_cuda_init: failed | strata generate: memory guard",
    "sig": "--kv",
}


def test_each_row_of_a_history_is_a_log() -> None:
    """Its reason is the text, the rest are facts."""
    passed = {"status": "PASS", "label": "base", "decode_tok_s": 66.2, "reason": ""}
    found = read_bytes(lines_of(passed, {**ROW, "exit_code": 6, "error": "startup_wait_expired"}), "history.jsonl")
    assert [(row.name, row.data, row.first_line) for row in found] == [
        ("history.jsonl, row 1", b"", 1),
        ("history.jsonl, row 2", ROW["reason"].encode(), 2),  # type: ignore[union-attr]
    ]
    assert found[0].facts == {"row": passed}
    assert (found[1].facts["exit_code"], found[1].facts["timed_out"]) == (6, True)


def test_a_broken_row_is_read_as_text() -> None:
    """A row that was cut while it was written, first or last, still tells what it holds."""
    cut = '{"status": "OOM", "label": "base", "reason": "cudaMalloc failed: out of'
    found = read_bytes(lines_of(cut + "\n", ROW, cut))
    assert [row.kinds for row in found] == [["damaged"], [], ["damaged"]]
    assert found[2].data == cut.encode()
    assert [row.first_line for row in found] == [1, 2, 3]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le"])
def test_a_history_in_the_encoding_of_powershell_is_read(encoding: str) -> None:
    """Windows writes marks and wide characters."""
    (found,) = read_bytes(lines_of(ROW).decode().replace("\n", "\r\n").encode(encoding))
    assert found.data.startswith(b"ggml_cuda_init")


def test_a_row_is_no_issue_and_is_not_looked_into() -> None:
    """A reason may hold anything."""
    (found,) = read_bytes(lines_of({**ROW, "reason": "## Hi\n```\nx\n```"}))
    assert found.data == b"## Hi\n```\nx\n```"


def test_many_rows_are_bounded() -> None:
    """The first are read, the rest is one notice."""
    found = read_bytes(lines_of(ROW) * (limits.MOST_LOGS + 10))
    assert len(found) == limits.MOST_LOGS + 1
    assert found[-1].kinds == ["limit"]


def test_a_run_record_gives_its_facts() -> None:
    """Also where it keeps no output."""
    found = one(b'{\n  "error": "server_exited",\n  "exit_code": 6\n}\n')
    assert (found.data, found.facts) == (b"\n", {"exit_code": 6, "error": "server_exited"})
    found = one(json.dumps({"exit_code": 1, "output": LINES.splitlines(), "error": 5}).encode())
    assert (found.data, found.facts) == (LOG.rstrip(b"\n"), {"exit_code": 1})


BODY = f"### Log\r\n\r\n```\r\n{LINES}```\r\nThanks!"


@pytest.mark.parametrize("indent", [None, 2])
def test_an_issue_of_the_api_is_read(indent: int | None) -> None:
    """REST counts comments, and knows much else."""
    issue = {
        "url": "https://api.github.com/x",
        "number": 3502,
        "title": "It fails",
        "user": {"login": "x"},
        "comments": 3,
        "body": BODY,
    }
    found = one(json.dumps(issue, indent=indent).encode())
    assert (found.name, found.data, found.first_line) == ("-, #3502 body, log 1 at line 4", LOG, 4)


def test_an_issue_of_gh_has_comments() -> None:
    """Those without a log are no logs."""
    comments = [{"author": {"login": "secret-name"}, "body": "+1"}, {"author": {"login": "secret-name"}, "body": BODY}]
    found = read_bytes(json.dumps({"body": BODY, "comments": comments, "number": 7}).encode(), "issue.json")
    assert [one.name for one in found] == [
        "issue.json, #7 body, log 1 at line 4",
        "issue.json, #7 comment 2, log 1 at line 4",
    ]
    assert not any("secret-name" in one.name for one in found)


@pytest.mark.parametrize(
    "answer",
    [
        [{"number": 1, "title": "a", "body": BODY}, {"number": 2, "title": "b", "body": BODY}],
        {
            "total_count": 2,
            "items": [{"number": 1, "title": "a", "body": BODY}, {"number": 2, "title": "b", "body": BODY}],
        },
        {"data": {"repository": {"issues": {"nodes": [{"number": 1, "body": BODY}, {"number": 2, "body": BODY}]}}}},
        {"data": {"issue": {"number": 1, "body": BODY, "comments": {"nodes": [{"body": BODY}]}}}},
        [{"id": 5, "user": {}, "body": BODY}, {"id": 6, "user": {}, "body": BODY}],
    ],
)
def test_lists_searches_graphql_and_comments_are_read(answer: Any) -> None:
    """Whatever stands around the issues."""
    found = read_bytes(json.dumps(answer).encode())
    assert [one.data for one in found] == [LOG, LOG]
    assert found[0].name != found[1].name


def test_pages_after_each_other_are_read() -> None:
    """`gh api --paginate` writes one array behind the other."""
    page = json.dumps([{"number": 1, "title": "a", "body": BODY}])
    assert [one.data for one in read_bytes((page + page).encode())] == [LOG, LOG]


@pytest.mark.parametrize("body", [None, "", "+1", "please fix `cudaMalloc failed: out of memory`"])
def test_an_issue_without_a_log_says_so(body: str | None) -> None:
    """One attachment that is no log."""
    found = one(json.dumps({"number": 1, "title": "a", "body": body, "comments": [{"body": "+1"}]}).encode())
    assert found.skipped
    assert found.words == "no log was found in the body or in the 1 comments"


@pytest.mark.parametrize(
    "data",
    [
        b'{"level": "info", "msg": "started"}\n{"level": "error", "msg": "cudaMalloc failed: out of memory"}\n',
        b'{"error": {"message": "CUDA out of memory"}}',
        b'{"request": {"body": "## Hi", "title": "x"}, "status": 500}\n' * 3,
        b'{"kv": "k8v4", "gpu": 0}',
        b"[1, 2, 3]",
        b"[strata] starting {",
        b"{}",
        b"[]",
        b"{ this is no JSON\n",
        b'{"body": 5, "title": []}',
        b'"text"',
        b'{"a": ' * 5000,
        b"[" * 5000,
        b"[" * 100_000,
        b'{"MESSAGE": "' + b"x" * 100_000,
        b'{"status": "OOM", "sig": ' + b"[" * 20_000,
    ],
)
def test_any_other_json_is_a_log_as_it_stands(data: bytes) -> None:
    """Programs log in JSON too; deep and broken JSON never raises."""
    found = one(data)
    assert (found.data, found.skipped) == (data, False)


@pytest.mark.parametrize(
    "value",
    [
        {"body": "x", "comments": [1, None, [], {"body": {}}, {"body": None}], "number": True},
        {"body": None, "comments": {"nodes": 7}, "title": 3},
        [{"number": "1", "title": "a", "body": "b"}, 5, None, [[[[[[[{"title": "a", "body": "b"}]]]]]]]],
        {"status": "OOM", "sig": {}, "reason": {"a": 1}, "exit_code": "six", "error": [], "time": 5},
        {"exit_code": None, "error": None, "output": [1, None, "a"]},
        {"log": None, "time": 3, "stream": {}},
    ],
)
def test_wrong_types_never_raise(value: Any) -> None:
    """Fields of any kind."""
    assert read_bytes(json.dumps(value).encode())
    assert read_bytes(json.dumps(value, indent=1).encode())


def test_json_that_is_too_large_to_be_read_as_a_whole_is_one_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it is lost, and a notice says so."""
    monkeypatch.setattr(limits, "LARGEST_JSON", 30_000)
    data = json.dumps({"number": 1, "title": "a", "body": "x" * 50_000}, indent=1).encode()
    found = one(data)
    assert (found.data, found.kinds) == (data, ["limit"])


def test_a_record_of_megabytes_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line without an end is handed on in parts."""
    monkeypatch.setattr(limits, "LONGEST_RECORD", 10_000)
    found = one(lines_of(entry("one")) + b"y" * 35_000 + b"\n" + lines_of(entry("two")))
    assert found.data.count(b"y") == 35_000
    assert found.data.endswith(b"two\n")
