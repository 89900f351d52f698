"""Redaction: what is replaced, what stays, and that nothing else changes."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import CORPUS
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_diag import Diagnosis, RuleSet, SourceError, diagnose
from strata_diag.cli import main
from strata_diag.redact import Place, Redactor, places, redact_chunks, redact_path, redact_stream, standins, words_of
from strata_diag.redact.stream import BLOCK

LOGS = sorted(CORPUS.rglob("*.log"))


def redacted(data: bytes, redactor: Redactor | None = None) -> bytes:
    """What a pipe gives out for these bytes."""
    return redact_stream(io.BytesIO(data), redactor or Redactor()).read()


HOME_PATHS = {
    "linux": ("/home/jdoe/x", "/home/user-1/x"),
    "a compiler's option": ("-I/home/jdoe/include", "-I/home/user-1/include"),
    "the end of a sentence": ("see /home/jdoe.", "see /home/user-1."),
    "nfs": ("/export/home2/jdoe/x", "/export/home2/user-1/x"),
    "macos": ("/Users/jdoe/Library", "/Users/user-1/Library"),
    "windows": (r"C:\Users\jdoe\x", r"C:\Users\user-1\x"),
    "windows, lower case": (r"c:\users\jdoe\x", r"c:\users\user-1\x"),
    "windows, other slashes": ("C:/Users/jdoe/x", "C:/Users/user-1/x"),
    "json": (r'{"path": "C:\\Users\\jdoe\\x"}', r'{"path": "C:\\Users\\user-1\\x"}'),
    "json in json": (r'"{\"p\": \"C:\\\\Users\\\\jdoe\\\\x\"}"', r'"{\"p\": \"C:\\\\Users\\\\user-1\\\\x\"}"'),
    "unicode escapes in json": (r'"C:\\Users\\\u5f20\u4e09\\x"', r'"C:\\Users\\user-1\\x"'),
    "verbatim": (r"\\?\C:\Users\jdoe\x", r"\\?\C:\Users\user-1\x"),
    "encoded": ("file:///C%3A%5CUsers%5Cjdoe%5Cx", "file:///C%3A%5CUsers%5Cuser-1%5Cx"),
    "encoded, linux": ("?file=%2Fhome%2Fjdoe%2Fx", "?file=%2Fhome%2Fuser-1%2Fx"),
    "wsl": ("/mnt/c/Users/jdoe/x", "/mnt/c/Users/user-1/x"),
    "git bash": ("/c/Users/jdoe/x", "/c/Users/user-1/x"),
    "short name": (r"C:\Users\JDOEXX~1\x", r"C:\Users\user-1\x"),
    "name with blanks": (r"C:\Users\Jane Mary Doe\x", r"C:\Users\user-1\x"),
    "name with a blank, other slashes": ('"C:/Users/Jane Doe/x"', '"C:/Users/user-1/x"'),
    "command line": ("x --model '/home/jdoe/m.gguf' --n 5", "x --model '/home/user-1/m.gguf' --n 5"),
    "windows prompt": (r"C:\Users\jdoe>strata.exe", r"C:\Users\user-1>strata.exe"),
    "chinese": ("C:\\Users\\张三\\x", "C:\\Users\\user-1\\x"),
}


@pytest.mark.parametrize(("line", "expected"), HOME_PATHS.values(), ids=HOME_PATHS)
def test_user_of_a_home_path_is_replaced_in_every_spelling(line: str, expected: str) -> None:
    """Only the name goes; separators, quotes and the rest of the path stay."""
    assert Redactor().line(line) == expected


NAMES = {
    "prompt": ("jdoe@tower:~/x$ ls", "user-1@host-1:~/x$ ls"),
    "coloured prompt": (
        "\x1b[01;32mjdoe@tower\x1b[00m:\x1b[01;34m~\x1b[00m$ ls",
        "\x1b[01;32muser-1@host-1\x1b[00m:\x1b[01;34m~\x1b[00m$ ls",
    ),
    "fedora's prompt": ("[jdoe@tower x]$ ls", "[user-1@host-1 x]$ ls"),
    "zsh": ("jdoe@Janes-MacBook-Pro ~ % ls", "user-1@host-1 ~ % ls"),
    "root's prompt": ("root@3f2a1b4c5d6e:/workspace# ls", "root@host-1:/workspace# ls"),
    "ssh": ("ssh -p 22 jdoe@tower ls", "ssh -p 22 user-1@host-1 ls"),
    "journal": ("Mar 04 05:06:07 tower engine[12]: up", "Mar 04 05:06:07 host-1 engine[12]: up"),
    "journal, iso": ("2026-03-04T05:06:07+00:00 tower kernel: up", "2026-03-04T05:06:07+00:00 host-1 kernel: up"),
    "journal, json": ('{"_HOSTNAME":"tower","MESSAGE":"x"}', '{"_HOSTNAME":"host-1","MESSAGE":"x"}'),
    "nccl": ("tower:31:31 [0] NCCL INFO x", "host-1:31:31 [0] NCCL INFO x"),
    "uname": ("Linux tower 6.8.0-45-generic #45-Ubuntu SMP", "Linux host-1 6.8.0-45-generic #45-Ubuntu SMP"),
    "variable": ("USER=jdoe COMPUTERNAME=TOWER", "USER=user-1 COMPUTERNAME=host-1"),
    "ls": ("-rw-r--r-- 1 jdoe jdoe 4096 May  1 x.gguf", "-rw-r--r-- 1 user-1 user-1 4096 May  1 x.gguf"),
    "ps": (
        "jdoe  4242 99.0  1.5 123456 7890 pts/0 R 10:00 0:01 x",
        "user-1  4242 99.0  1.5 123456 7890 pts/0 R 10:00 0:01 x",
    ),
    "id": ("uid=1000(jdoe) gid=1000(jdoe)", "uid=1000(user-1) gid=1000(user-1)"),
    "unc": (r"\\tower\models\x", r"\\host-1\models\x"),
    "domain": (r"DESKTOP-AB12CD3\jdoe", r"host-1\user-1"),
    "house": ("http://tower.local:8080/x", "http://host-1:8080/x"),
    "aws": ("node ip-10-1-2-3.ec2.internal is down", "node host-1 is down"),
}


@pytest.mark.parametrize(("line", "expected"), NAMES.values(), ids=NAMES)
def test_names_are_replaced_where_a_log_shows_them_as_names(line: str, expected: str) -> None:
    """Prompts, prefixes, variables, lists: the users and hosts in them get stand-ins."""
    assert Redactor().line(line) == expected


SECRETS = {
    "huggingface": "hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345",
    "openai": "sk-proj-AbCdEfGhIjKlMnOpQrStUvWxYz012345",
    "anthropic": "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWx_12-x",
    "github": "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
    "github, fine": "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz",
    "github, app": "gho_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
    "gitlab": "glpat-AbCdEfGhIjKlMnOpQrSt",
    "slack": "xoxb-123456789012-AbCdEfGhIjKl",
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "google": "AIzaSyA-AbCdEfGhIjKlMnOpQrStUvWxYz01234",
    "npm": "npm_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize("around", ["%s", "token %s was refused", '{"x":"%s"}', "--x=%s,", "\x1b[31m%s\x1b[0m"])
def test_token_is_known_by_its_prefix_wherever_it_stands(secret: str, around: str) -> None:
    """A token of a known maker needs no word in front of it."""
    assert Redactor().line(around % secret) == around % "token-1"


NAMED_SECRETS = {
    "Authorization: Bearer abc": "Authorization: Bearer token-1",
    '"Authorization": "Basic YWJj"': '"Authorization": "Basic token-1"',
    "curl -H 'X-Api-Key: a1b2c3'": "curl -H 'X-Api-Key: token-1'",
    "Cookie: sid=abc; b=c": "Cookie: token-1",
    "https://bob:pa55@git.example.org/x": "https://token-1@git.example.org/x",
    "GET /x?token=abc&n=1": "GET /x?token=token-1&n=1",
    "https://s3.aws.com/x?X-Amz-Signature=abc0&X-Amz-Date=2": "https://s3.aws.com/x?X-Amz-Signature=token-1&X-Amz-Date=2",
    "api_key=abc": "api_key=token-1",
    "--api-key abc --port 8080": "--api-key token-1 --port 8080",
    "['--api-key', 'abc']": "['--api-key', 'token-1']",
    '{"api_key": "a b,c"}': '{"api_key": "token-1"}',
    r'"{\"password\": \"abc\"}"': r'"{\"password\": \"token-1\"}"',
    "HF_TOKEN=abc strata": "HF_TOKEN=token-1 strata",
    "export MY_CLIENT_SECRET='abc'": "export MY_CLIENT_SECRET='token-1'",
    "password: hunter2": "password: token-1",
    "mail to jane.doe@corp.org, please": "mail to mail-1@example.com, please",
    "Serial Number                : 1320221012345": "Serial Number                : serial-1",
    "root=UUID=0b1c2d3e-0000-4000-8000-00000000c0de": "root=UUID=00000001-0000-0000-0000-000000000000",
    "GPU 0: (UUID: GPU-7c1de0a4-1111-4000-8000-00000000c0de)": "GPU 0: (UUID: GPU-00000001-0000-0000-0000-000000000000)",
    "link/ether 3c:7c:3f:aa:bb:cc brd ff:ff:ff:ff:ff:ff": "link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff",
    "Physical Address: 3C-7C-3F-AA-BB-CC": "Physical Address: 02-00-00-00-00-01",
}


@pytest.mark.parametrize(("line", "expected"), NAMED_SECRETS.items())
def test_secret_is_known_by_its_name_or_place(line: str, expected: str) -> None:
    """The word in front of it, or its place in an address, says that it is one."""
    assert Redactor().line(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("from 10.1.2.3 port 22", "from 192.0.2.1 port 22"),
        ("(192.168.7.20:8080)", "(192.0.2.1:8080)"),
        ("upstream 93.184.216.34 timed out", "upstream 192.0.2.1 timed out"),
        ("peer 8.8.8.8", "peer 192.0.2.1"),
        ("eno1:10.20.0.4<0>", "eno1:192.0.2.1<0>"),
        ("[2a01:4f8:c0c::1]:8080", "[2001:db8::1]:8080"),
        ("inet6 fd12:3456::1/64", "inet6 2001:db8::1/64"),
    ],
)
def test_address_is_replaced(line: str, expected: str) -> None:
    """Private addresses, and public ones that their neighbours or numbers show to be some."""
    assert Redactor().line(line) == expected


STAYS = [
    "127.0.0.1:8080 0.0.0.0 ::1 169.254.169.254 fe80::1%eth0 255.255.255.0 224.0.0.1",
    "CUDA 12.4.1.0, driver version 10.0.1.6, cuDNN v8.9.7.29",
    "libcudnn.so.8.9.7.29 nvidia-cublas-cu12==12.4.5.8 TensorRT-10.0.1.6 engine 0.1.45.3 vbios 94.02.59.00",
    "1.23.120.220 I srv load_model: loading",
    "std::vector<c10::Error> at::native c10d::ProcessGroup 12:34:56 0000:01:00.0",
    "tokens: 128, eos_token=2, max_token = 5, bos_token='<s>', n_tokens=32768, token: 128247",
    "HF_TOKEN=<secret> --api-key KEY api_key=None password=$PASSWORD password: authentication failed, api_key=***",
    "root /root/x /home/user/x C:\\Users\\Public\\x",
    "user@1000.service git@github.com:ggml-org/llama.cpp pthread_once@GLIBC_2.34",
    "threading.local() /root/.local/share settings.local.json _thread._local",
    "24-01-02-03-04-05 00:00:00:00:00:00 2026-03-04 05:06:07,123",
    "Serial Number : N/A serial = 1",
    "VRAM 24564 MiB, 0x7f12ab34cd56, hf_transfer, sk-learn, commit 0b1c2d3e4f5a",
    "2026-03-04T05:06:07Z INFO engine: loading",
    "https://huggingface.co/Qwen/Qwen3/resolve/main/x.gguf?download=true",
]


@pytest.mark.parametrize("line", STAYS)
def test_what_only_looks_private_stays(line: str) -> None:
    """Versions, times, sizes, C++ names, placeholders and addresses that say nothing are left as they are."""
    assert Redactor().line(line) == line


def test_same_secret_has_the_same_stand_in() -> None:
    """A name is one name in any case, a host with its domain, a card by its first digits; another gets another number."""
    redactor = Redactor()
    assert redactor.line("/home/jdoe /Users/JDOE /home/mary") == "/home/user-1 /Users/user-1 /home/user-2"
    assert (
        redactor.line("http://tower.local http://tower.lan http://other.lan")
        == "http://host-1 http://host-1 http://host-2"
    )
    assert redactor.line("10.0.0.1:1 10.0.0.2:1 10.0.0.1:2") == "192.0.2.1:1 192.0.2.2:1 192.0.2.1:2"
    card = "GPU-7c1de0a4-1111-4000-8000-00000000c0de"
    assert redactor.line(f"{card} {card[:12]}") == "GPU-00000001-0000-0000-0000-000000000000 GPU-00000001"


def test_learnt_name_is_replaced_as_a_whole_word() -> None:
    """A name from a path is a name elsewhere too, between other signs than letters and digits."""
    shown = Redactor().line("/home/marvin/x marvin Marvin_models marvinist")
    assert shown == "/home/user-1/x user-1 user-1_models marvinist"


@pytest.mark.parametrize("name", ["bob", "server", "cuda", "0001"])
def test_short_or_common_name_is_replaced_only_in_its_place(name: str) -> None:
    """Such a word in a message may be no name."""
    assert Redactor().line(f"/home/{name}x/a /home/{name}/x {name} failed").endswith(f" {name} failed")


def test_name_never_takes_a_word_of_a_rule_out_of_a_message(all_rules: RuleSet) -> None:
    """Whoever is called like a word that rules look for is replaced in paths, and the message keeps its word."""
    words = words_of(all_rules)
    assert "capable" in words
    shown = Redactor(words).line("/home/capable/x: no CUDA-capable device is detected")
    assert shown == "/home/user-1/x: no CUDA-capable device is detected"


def test_private_key_is_replaced_line_by_line() -> None:
    """Every line of it goes, the lines around it stay, and so does their number."""
    body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ" * 1
    text = f"a\n-----BEGIN PRIVATE KEY-----\n{body}\n{body}\nabcd==\n-----END PRIVATE KEY-----\nafter {body}\n"
    shown = Redactor().line(text)
    assert "MIIE" not in shown.split("after")[0]
    assert shown.splitlines()[0] == "a"
    assert shown.count("\n") == text.count("\n")
    assert shown.endswith(f"after {body}\n")


def test_private_key_that_never_ends_takes_no_log_with_it() -> None:
    """The first line that is no key is read as a log again."""
    shown = Redactor().line("-----BEGIN RSA PRIVATE KEY-----\nCUDA error: out of memory\nall is lost\n")
    assert shown == "-----BEGIN RSA PRIVATE KEY-----\nCUDA error: out of memory\nall is lost\n"


def test_private_key_goes_on_in_the_next_text() -> None:
    """Lines handed over one by one are still one key."""
    redactor, body = Redactor(), "A1b2" * 16
    assert [
        redactor.line(one) for one in ("-----BEGIN PRIVATE KEY-----", body, body, "-----END PRIVATE KEY-----", body)
    ] == [
        "-----BEGIN PRIVATE KEY-----",
        "key-1",
        "key-1",
        "-----END PRIVATE KEY-----",
        body,
    ]


def test_summary_tells_the_stand_ins_and_never_the_secret() -> None:
    """What a supporter may see: kind, stand-in, how often."""
    redactor = Redactor()
    redactor.line("/home/marvin/x marvin --api-key s3cret 10.0.0.1:1")
    assert [(one.kind, one.stand_in, one.times) for one in redactor.summary()] == [
        ("user", "user-1", 2),
        ("token", "token-1", 1),
        ("address", "192.0.2.1", 1),
    ]
    assert "marvin" not in str(redactor.summary())


def test_stand_in_of_the_log_is_given_to_nobody_else() -> None:
    """A log that was redacted in part keeps its stand-ins, and a new name gets a new one."""
    assert Redactor().line("/home/user-1/x /home/marvin/x") == "/home/user-1/x /home/user-2/x"


def test_many_secrets_share_a_stand_in_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory stays bounded whatever a log holds."""
    redactor = Redactor()
    monkeypatch.setattr(standins, "MOST_STAND_INS", 300)
    shown = redacted(b"\n".join(b"/home/u%d/x" % number for number in range(400)), redactor)
    assert shown.splitlines()[298:302] == [b"/home/user-%d/x" % number for number in (299, 300, 301, 301)]
    assert [notice.kind for notice in redactor.notices] == ["redact", "redact"]


def outcome(found: Diagnosis) -> list[tuple[object, ...]]:
    """What must not change: of each run its lines, status, cause, deciding line, rule and chain."""
    return [
        (
            run.first_line,
            run.last_line,
            run.verdict.status,
            run.verdict.cause,
            run.verdict.line,
            run.verdict.rule,
            [one.line for one in run.verdict.chain],
        )
        for run in found.runs
    ]


def test_every_log_of_the_corpus_gets_the_same_verdict_and_redacting_twice_changes_nothing(all_rules: RuleSet) -> None:
    """Status, cause, rule and line are those of the untouched log; names that were in it are not."""
    words = words_of(all_rules)
    different, unstable = [], []
    for log in LOGS:
        data = log.read_bytes()
        shown = redact_path(log, Redactor(words)).read()
        assert b"alex/" not in shown
        assert shown.count(b"\n") == data.count(b"\n")
        if shown == data:
            continue
        if outcome(diagnose(data, rules=all_rules)) != outcome(diagnose(shown, rules=all_rules)):
            different.append(log.stem)
        if redacted(shown, Redactor(words)) != shown:
            unstable.append(log.stem)
    assert (different, unstable) == ([], [])


PIECES = st.sampled_from(
    [
        *("/home/", "marvin", "C:\\Users\\", "C:\\\\Users\\\\", "jane", "user-1", "host-1", "张三"),
        *(" ", "/", "\n", ":", "=", '"', "'", "@", ".", "-", "~$ ", "--", "1", "\\", "%2F", "\x1b[0m"),
        *("api_key", "token", "password", "Bearer ", "Authorization: ", "://", "?token=", "&", "A1b2" * 8),
        *("10.0.0.1", "8.8.4.4", "::", "2a01:", "aa:bb:cc:dd:ee:ff", ".local", "Mar 04 05:06:07 tower x: "),
        *("GPU-7c1de0a4", "hf_", "sk-", "eyJ", "serial: ", "UUID="),
        *("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"),
    ]
)


@settings(max_examples=400, derandomize=True)
@given(st.lists(PIECES, max_size=14).map("".join))
def test_redacting_twice_changes_nothing(text: str) -> None:
    """Whatever stands in a log, its stand-ins are taken for what they are, and its lines keep their number."""
    once = redacted(text.encode())
    assert redacted(once) == once
    assert once.count(b"\n") == text.count("\n")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "gb18030", "cp1252"])
def test_log_keeps_its_encoding(encoding: str) -> None:
    """Names are found in every encoding that readers know, and the output is in the same."""
    line = "模型 /home/marvin/模型 出错\n" if encoding != "cp1252" else "größe: /home/marvin/modèle, échec là\n"
    data = (line * 40).encode(encoding)
    assert redacted(data) == (line.replace("marvin", "user-1") * 40).encode(encoding)


@pytest.mark.parametrize(
    "first", [b"\xff\xfe\x00", b"caf\xe9 \x81\x20 \xc3\x28\n", b"ok \xe4\xb8\xad\n" * 900 + b"\xb4\xed\xce\xf3\n"]
)
def test_bytes_that_are_no_text_pass_through(first: bytes) -> None:
    """What can't be decoded comes back as it was, beside what was replaced."""
    shown = redacted(first * 3 + b"\n/home/marvin/x\n")
    if first.startswith(b"\xff"):
        assert shown.startswith(b"\xff\xfe")
    else:
        assert shown == first * 3 + b"\n/home/user-1/x\n"


def test_nul_hides_no_name() -> None:
    """A crash leaves NULs in a log; readers leave them out, and so does the redacted log."""
    assert redacted(b"fine\n" * 20 + b"/home/mar\x00vin/x\n") == b"fine\n" * 20 + b"/home/user-1/x\n"


def test_every_two_byte_character_of_gbk_survives() -> None:
    """Redacting a Chinese log changes no character of it."""
    pairs = [bytes((high, low)) for high in range(0x81, 0xFF) for low in (*range(0x40, 0x7F), *range(0x80, 0xFF))]
    data = "中文日志，编码检测\n".encode("gb18030") * 500 + b"\n".join(pairs)
    assert redacted(data) == data


def chunked(data: bytes, size: int) -> Iterator[bytes]:
    """The data in chunks."""
    for start in range(0, len(data), size):
        yield data[start : start + size]


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_chunks_of_any_size_give_the_same(size: int) -> None:
    """Where a pipe cuts its chunks says nothing, not even inside a character."""
    data = "模型 /home/marvin/x from 10.0.0.1:80\r\n".encode() * 40
    assert b"".join(redact_chunks(chunked(data, size), Redactor())) == redacted(data)


def test_secret_in_a_long_line_is_found_wherever_it_stands() -> None:
    """Pieces of a long line overlap, so none of their seams hides a secret."""
    line = "".join("x" * (997 + number % 13) + " /home/marvin/x " for number in range(600)) + "\n"
    shown = redacted((line * 2).encode()).decode()
    assert "marvin" not in shown
    assert shown == line.replace("marvin", "user-1") * 2


def test_endless_line_is_read_in_bounded_memory() -> None:
    """What was searched is handed out before the next piece is read."""
    read = 0

    def endless() -> Iterator[bytes]:
        nonlocal read
        for _ in range(60):
            read += 1
            yield b"x" * 65536

    chunks = redact_chunks(endless(), Redactor())
    largest = 0
    for number, chunk in enumerate(chunks):
        largest = max(largest, len(chunk))
        assert read * 65536 <= (number + 1) * BLOCK + 4 * BLOCK
    assert largest <= 2 * BLOCK


FRAGMENTS = [
    *(
        "/home/",
        "/home/a",
        "C:\\Users\\a b\\",
        "%2Fhome%2F",
        "\\",
        "\\\\a\\",
        "a@b:",
        "ssh a ",
        "a.a.local",
        "-macbook",
    ),
    *("://a", "token=", "--api-key ", "bearer ", "eyJaaaaaaaa.", "AAAA", "a_", "\x1b[0"),
    *("1.1.1.1.", "aa:", "2001::", "ip-1-1-1-1-", "serial: a1"),
]


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_hostile_line_takes_time_in_step_with_its_length(fragment: str) -> None:
    """No pattern goes back over what it has read: eight times the length takes about eight times as long."""

    def seconds(length: int) -> float:
        text = (fragment * (length // len(fragment) + 1))[:length] + ":@ token= key= passw= home users ://"
        started = time.process_time()
        Redactor().line(text)
        return time.process_time() - started

    seconds(1000)
    assert seconds(40_000) < 60 * max(seconds(5_000), 0.002)


def test_file_is_read_twice_and_a_pipe_once(tmp_path: Path) -> None:
    """A name that shows itself late is replaced from the beginning of a file, in a pipe from its block on."""
    early = b"marvin started it\n" + b"nothing to see\n" * (2 * BLOCK // 15)
    log = tmp_path / "x.log"
    log.write_bytes(early + b"/home/marvin/x\nmarvin\n")
    assert redact_path(log, Redactor()).read().startswith(b"user-1 started it\n")
    shown = redacted(log.read_bytes())
    assert shown.startswith(b"marvin started it\n")
    assert shown.endswith(b"/home/user-1/x\nuser-1\n")


def test_redacted_stream_has_a_redacted_name(tmp_path: Path) -> None:
    """The path of a log tells as much as the log."""
    log = tmp_path / "home" / "marvin" / "x.log"
    log.parent.mkdir(parents=True)
    log.write_text("fine\n")
    assert "marvin" not in str(redact_path(log, Redactor()).name)
    with log.open("rb") as stream:
        assert "marvin" not in str(redact_stream(stream, Redactor()).name)


def test_log_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    """A missing file is said before anything is given out."""
    with pytest.raises(SourceError, match="no such file"):
        redact_path(tmp_path / "missing.log", Redactor())


def test_places_are_line_and_kind() -> None:
    """Where something would be replaced, for CI."""
    data = b"fine\n/home/marvin/x\n\nfrom 10.0.0.1 to 10.0.0.2\n"
    assert list(places(chunked(data, 5), Redactor())) == [Place(2, "user"), Place(4, "address"), Place(4, "address")]


def command(*arguments: object) -> int:
    """The exit code of `redact` with the built-in rules only."""
    return main(["redact", "--no-plugin", "*", "--no-settings", *map(str, arguments)])


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log with a user and an address."""
    path = tmp_path / "x.log"
    path.write_text("/home/marvin/x\nfrom 10.0.0.1 port 22\n")
    return path


def test_command_writes_to_standard_output_and_sums_up_on_standard_error(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The log goes on, the summary and what can't be promised to the person."""
    assert command(log) == 0
    shown = capsys.readouterr()
    assert shown.out == "/home/user-1/x\nfrom 192.0.2.1 port 22\n"
    assert "user         1 different,      1 places" in shown.err
    assert "read the result before you publish it" in shown.err
    assert "marvin" not in shown.err


def test_command_never_writes_over_the_log(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not even when it is forced, or named by another path."""
    before = log.read_bytes()
    link = log.with_name("link.log")
    link.symlink_to(log)
    for output in (log, link):
        assert command(log, "-o", output, "--force") == 2
    assert log.read_bytes() == before
    assert "never written over" in capsys.readouterr().err


def test_command_writes_over_another_file_only_when_forced(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What exists is kept unless --force says otherwise, and nothing is left beside it."""
    output = log.with_name("out.log")
    output.write_text("old")
    assert command(log, "-o", output) == 2
    assert output.read_text() == "old"
    assert "--force" in capsys.readouterr().err
    assert command(log, "-o", output, "--force") == 0
    assert "user-1" in output.read_text()
    assert sorted(path.name for path in log.parent.iterdir()) == ["out.log", "x.log"]


@pytest.mark.parametrize(
    ("head", "kind"),
    [(b"\x1f\x8b\x08\x00", "gzip archive"), (b"PK\x03\x04", "zip archive"), (b"\x01\x02\x03\x04" * 50, "binary file")],
)
def test_command_refuses_what_it_cannot_look_into(
    tmp_path: Path, head: bytes, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """An archive handed through would look redacted and be not."""
    path = tmp_path / "x.log"
    path.write_bytes(head * 20)
    assert command(path) == 2
    shown = capsys.readouterr()
    assert (shown.out, kind in shown.err) == ("", True)


def test_check_lists_places_without_the_secret(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """CI fails on a log with something private in it, and passes on its redacted copy."""
    output = log.with_name("out.log")
    assert command("--check", log) == 1
    shown = capsys.readouterr().out
    assert [line.rpartition(".log")[2] for line in shown.splitlines()] == [":1: user", ":2: address"]
    assert "marvin" not in shown
    assert command(log, "-o", output) == 0
    assert command("--check", output) == 0
    assert command("--check", output, log.parent) == 1
    assert command("--check", output, "missing.log") == 2


def test_folder_becomes_a_folder_with_the_same_stand_ins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names learnt in one log are replaced in all, in their paths too; what is no log is left out and said."""
    folder = tmp_path / "logs"
    (folder / "marvin").mkdir(parents=True)
    (folder / "a.log").write_text("marvin did it\n")
    (folder / "marvin" / "b.log").write_text("/home/marvin/x\n")
    (folder / "c.gz").write_bytes(b"\x1f\x8b\x08\x00")
    assert command(folder) == 2
    assert command(folder, "-o", tmp_path / "out") == 2
    assert (tmp_path / "out" / "a.log").read_text() == "user-1 did it\n"
    assert (tmp_path / "out" / "user-1" / "b.log").read_text() == "/home/user-1/x\n"
    assert not (tmp_path / "out" / "c.gz").exists()
    assert "left out" in capsys.readouterr().err


def test_classify_prints_nothing_private_with_redact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The name of the file, the lines, what was captured and the errors are redacted; the verdict is the same."""
    log = tmp_path / "home" / "marvin" / "strata.log"
    log.parent.mkdir(parents=True)
    source = CORPUS / "strata" / "v100-busy-engine-log.log"
    log.write_bytes(b"/home/marvin/x 10.0.0.1:80\n" + source.read_bytes())
    missing = tmp_path / "home" / "marvin" / "missing.log"
    for form in ("text", "json", "jsonl", "markdown"):
        given = ["classify", "--no-plugin", "*", "--no-settings", "--redact", "--format", form]
        assert main([*given, str(log), str(missing)]) == 2
        shown = capsys.readouterr()
        assert "marvin" not in shown.out + shown.err
        assert "device-busy" in shown.out
