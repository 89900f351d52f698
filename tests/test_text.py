"""Lines of a log as a person reads them: encodings, line ends, redraws, colours, long lines, blocks, evidence."""

from __future__ import annotations

import codecs
import io
import itertools
import tracemalloc
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_diag.linetext import (
    HEAD_BYTES,
    KEPT_HALF,
    LONGEST_LINE,
    WIDEST_GAP,
    clean,
    decode_line,
    detect_encoding,
    looks_binary,
    redraws,
    shorten,
)
from strata_diag.model import Evidence, Notice
from strata_diag.text import (
    BLOCK_BYTES,
    CONTEXT_LINES,
    LONG_LINES_NAMED,
    PENDING_LIMIT,
    SHOWN_CHARACTERS,
    Reader,
    Window,
    evidence,
    tail_before,
)

CHUNK = 256 * 1024  # as `source` cuts them
LINES = ("strata serve: 正在启动", "cudaMalloc failed: 显存不足", "", "模型 Größe: 42 GiB")


def pieces(data: bytes, size: int) -> list[bytes]:
    """The data in chunks of this size."""
    return [data[start : start + size] for start in range(0, len(data), size)]


def read(*chunks: bytes) -> tuple[list[Window], Reader]:
    """All windows of a log, and the reader that has seen its end."""
    reader = Reader(chunks)
    return [_kept(window) for window in reader], reader


def _kept(window: Window) -> Window:
    """A window whose blocks are copies, which outlive the reader's buffers."""
    for block in (window.previous, window.block, window.following):
        if block is not None:
            assert len(block.raw.splitlines()) >= 0
    return window


def clean_lines(windows: Iterable[Window]) -> list[tuple[int, bytes]]:
    """Every line of the blocks with its number."""
    found = []
    for window in windows:
        lines = window.block.clean.split(b"\n")
        for offset, line in enumerate(lines[:-1] if window.block.raw.endswith(b"\n") else lines):
            found.append((window.block.first_line + offset, line))
    return found


def shown_lines(data: bytes) -> list[str]:
    """The lines of a log as a person reads them."""
    return [redraws(line)[0] for _, line in clean_lines(read(*pieces(data, CHUNK))[0])]


def evidence_of(data: bytes, words: str, size: int = CHUNK) -> Evidence:
    """The evidence for the first line that shows these words in one of its redraws."""
    for window in read(*pieces(data, size))[0]:
        block, position = window.block.clean, 0
        for line in block.split(b"\n"):
            for text in redraws(line):
                if words in text:
                    return evidence(window, position, position + len(line), text, text.index(words))
            position += len(line) + 1
    raise LookupError(words)


# Encodings


@pytest.mark.parametrize(
    ("codec", "mark", "encoding"),
    [
        pytest.param("utf-8", b"", "utf-8", id="UTF-8"),
        pytest.param("utf-8", codecs.BOM_UTF8, "utf-8-sig", id="UTF-8 with a mark"),
        pytest.param("utf-16-le", codecs.BOM_UTF16_LE, "utf-16-le", id="UTF-16 LE with a mark (PowerShell)"),
        pytest.param("utf-16-be", codecs.BOM_UTF16_BE, "utf-16-be", id="UTF-16 BE with a mark"),
        pytest.param("utf-16-le", b"", "utf-16-le", id="UTF-16 LE"),
        pytest.param("utf-16-be", b"", "utf-16-be", id="UTF-16 BE"),
        pytest.param("utf-32-le", codecs.BOM_UTF32_LE, "utf-32-le", id="UTF-32 LE with a mark"),
        pytest.param("utf-32-be", codecs.BOM_UTF32_BE, "utf-32-be", id="UTF-32 BE with a mark"),
        pytest.param("gb18030", b"", "gb18030", id="GB 18030 (a Chinese Windows)"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["line feeds", "Windows' line ends"])
def test_a_log_reads_the_same_in_every_encoding(codec: str, mark: bytes, encoding: str, end: str) -> None:
    """The same lines come out of every encoding, with the same numbers, and the encoding is named."""
    data = mark + end.join([*LINES, ""]).encode(codec)
    windows, reader = read(data)
    assert [(line, redraws(content)[0]) for line, content in clean_lines(windows)] == list(enumerate(LINES, 1))
    assert (reader.encoding, reader.line_count, reader.notices) == (encoding, len(LINES), [])


@pytest.mark.parametrize(
    "text",
    [
        "内存不足",
        "设备不可用: busy",
        "错误 1455:页面文件太小，无法完成操作。",
        "無法開啟裝置",
        "GPU设备和CPU内存",
        "打不开 D:\\模型\\qwen.gguf",
    ],
)
def test_chinese_lines_are_read_as_gbk(text: str) -> None:
    """Lines that a Chinese Windows writes in its own code page are readable, short ones too."""
    assert decode_line(text.encode("gbk")) == text
    assert detect_encoding(text.encode("gbk"))[0] == "gb18030"


@pytest.mark.parametrize(
    "text",
    [
        "Gerät ungültig",
        "für Speicher",
        "Größe",
        "mémoire insuffisante",
        "Erreur lors de l’allocation",
        "périphérique occupé",
        "“CUDA” error",
        "año: 80 €",
        "memória não disponível",
    ],
)
def test_western_lines_are_read_as_cp1252(text: str) -> None:
    """Accents of a Western Windows aren't taken for Chinese, which would swallow the letter behind each."""
    assert decode_line(text.encode("cp1252")) == text
    assert detect_encoding(text.encode("cp1252"))[0] == "cp1252"


def test_each_line_of_a_mixed_log_has_its_own_encoding() -> None:
    """A log that several programs write to is read line by line."""
    data = b"\n".join([
        "UTF-8: 显存不足 für alle".encode(),
        "GBK: 显存不足".encode("gbk"),
        "cp1252: für alle".encode("cp1252"),
        b"ASCII: out of memory",
        b"none: \x81\x8d\xff end",
    ])  # fmt: skip
    shown = shown_lines(data)
    assert shown[:4] == ["UTF-8: 显存不足 für alle", "GBK: 显存不足", "cp1252: für alle", "ASCII: out of memory"]
    assert shown[4].startswith("none: ")
    assert shown[4].endswith(" end")


@pytest.mark.parametrize("before", ["größe\nready", "größe\nready."], ids=["an odd number of bytes", "an even one"])
@pytest.mark.parametrize("size", [1, 300], ids=["short log", "long log"])
def test_words_stay_readable_where_utf_16_was_appended(before: str, size: int) -> None:
    """A restart that PowerShell appends as UTF-16 to a UTF-8 log is found, on the right lines, and so is what was before."""
    data = (f"{before}\n" * size).encode() + "cudaMalloc failed\r\nout of memory\r\n".encode("utf-16-le")
    expected = [*before.split("\n") * size, "cudaMalloc failed", "out of memory"]
    assert shown_lines(data)[: len(expected)] == expected
    assert not looks_binary(data)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_line_feeds_hidden_in_other_characters_end_no_line(codec: str) -> None:
    """U+0A0A and U+0D0A hold the byte of a line feed in UTF-16 and are characters all the same."""
    lines = ["a plain line in front", "ਊ਍ഊ", "a plain line behind it"]
    assert shown_lines("\n".join(lines).encode(codec)) == lines


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_half_a_character_at_the_end_of_a_cut_log_is_no_error(codec: str) -> None:
    """A UTF-16 log that breaks off inside a character is read up to there, and shows that something is missing."""
    assert shown_lines("ready\nout of memory".encode(codec)[:-1]) == ["ready", "out of memor\ufffd"]


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        pytest.param(b"", "utf-8", id="empty"),
        pytest.param(b"A\x00B\x00C\x00", "utf-8", id="too short to be sure of UTF-16"),
        pytest.param(b"A\x00B\x00C\x00D\x00", "utf-16-le", id="four characters are enough"),
        pytest.param(b"\x00A\x00B\x00C\x00D", "utf-16-be", id="the same in the other order"),
        pytest.param(b"ready\n" + b"\x00" * 400, "utf-8", id="NULs of a crash"),
        pytest.param(b"\x00" * 400, "utf-8", id="nothing but NULs"),
        pytest.param("显存".encode()[:-1], "utf-8", id="a character that the end of the head splits"),
        pytest.param("显存不足".encode("gbk")[:-1], "gb18030", id="the same in GBK"),
        pytest.param(b"f\xfcr \x81 alle \xff", "latin-1", id="bytes that no code page has"),
    ],
)
def test_the_encoding_is_guessed_from_the_head(head: bytes, encoding: str) -> None:
    """Marks, the share of NULs, strict UTF-8 and code pages, in this order."""
    assert detect_encoding(head) == (encoding, 0)


@given(st.binary(max_size=300))
def test_no_bytes_are_too_odd_to_be_read(data: bytes) -> None:
    """Whatever the bytes, every line becomes a text that can be shown, and nothing is raised."""
    detect_encoding(data)
    windows, reader = read(data)
    for _, line in clean_lines(windows):
        for text in redraws(line):
            assert "\n" not in text
            text.encode("utf-8")
    assert len(clean_lines(windows)) == reader.line_count


@given(st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=80))
def test_valid_utf_8_is_never_taken_for_anything_else(text: str) -> None:
    """A line in UTF-8 is read as UTF-8."""
    assert decode_line(text.encode()) == text


@pytest.mark.parametrize("size", [1, 7, HEAD_BYTES, HEAD_BYTES + 1, CHUNK])
def test_the_head_is_kept_untouched_and_short(size: int) -> None:
    """The first bytes stay as they were, for those who look for archives, and no more of them than needed."""
    data = codecs.BOM_UTF16_LE + ("line\r\n" * 2000).encode("utf-16-le")
    _, reader = read(*pieces(data, size))
    assert reader.head == data[:HEAD_BYTES]


@pytest.mark.parametrize(
    ("head", "binary"),
    [
        pytest.param(b"", False, id="empty"),
        pytest.param(b"strata serve: ready\r\n\tindented\x0c\n", False, id="a log"),
        pytest.param(b"\x1b[31mred\x1b[0m\x08\x08 50%\r" * 9, False, id="colours and redraws"),
        pytest.param("显存不足\n".encode("gbk"), False, id="GBK"),
        pytest.param(bytes(range(256)), True, id="every byte"),
        pytest.param(b"\x00\x01\x02\x03" * 9, True, id="numbers"),
        pytest.param(b"ready" + b"\x00" * 500, False, id="NULs of a crash"),
        pytest.param(b"\x00" * 500, True, id="nothing but NULs"),
        pytest.param("\ufeffready\n".encode("utf-32"), False, id="UTF-32"),
    ],
)
def test_what_is_no_text_is_recognised(head: bytes, binary: bool) -> None:
    """A file with many control bytes that no console writes is no log."""
    assert looks_binary(head) is binary


# Lines


@pytest.mark.parametrize(
    ("data", "count"),
    [
        pytest.param(b"", 0, id="empty"),
        pytest.param(b"one", 1, id="without an end"),
        pytest.param(b"one\n", 1, id="with an end"),
        pytest.param(b"\n", 1, id="one blank line"),
        pytest.param(b"one\n\ntwo", 3, id="blank line between"),
        pytest.param(b"one\n\n", 2, id="blank line at the end"),
        pytest.param(b"one\r\ntwo\r\n", 2, id="Windows' line ends"),
        pytest.param(b" 1%\r 2%\r 3%\ndone\n", 2, id="redraws of a progress bar"),
        pytest.param(b"one\x0b\x0c\x1c\x1d\x1etwo\n", 1, id="control characters that Python's splitlines would cut at"),
        pytest.param("one\x85two\u2028three\u2029four\n".encode(), 1, id="Unicode's line separators"),
        pytest.param(b"one\x00\n\x00two\n", 2, id="NULs"),
        pytest.param(b"\x1b[2J\n\x1b]0;title\n", 2, id="escape sequences without a text"),
    ],
)
def test_lines_are_counted_as_an_editor_counts_them(data: bytes, count: int) -> None:
    """Lines end at line feeds and nowhere else; an end without a line behind it starts none."""
    windows, reader = read(data)
    assert reader.line_count == count
    assert [line for line, _ in clean_lines(windows)] == list(range(1, count + 1))


@given(
    st.lists(st.sampled_from([b"a", b"\n", b"\r", b"\r\n", b"\x1b[1m", b"\x0b", "é".encode(), b"\xff"]), max_size=40),
    st.integers(1, 9),
)
def test_line_numbers_agree_with_a_plain_reading(parts: list[bytes], size: int) -> None:
    """Numbers and untouched lines are those that reading the file line by line gives."""
    data = b"".join(parts)
    windows, reader = read(*pieces(data, size))
    expected = io.BytesIO(data).readlines()
    assert b"".join(window.block.raw for window in windows) == data
    assert reader.line_count == len(expected)
    assert [line for line, _ in clean_lines(windows)] == list(range(1, len(expected) + 1))


@pytest.mark.parametrize(
    ("line", "texts"),
    [
        pytest.param(b"plain", ["plain"], id="no redraw"),
        pytest.param(b"plain\r", ["plain"], id="Windows' line end"),
        pytest.param(b"plain\r\r", ["plain"], id="two carriage returns at the end"),
        pytest.param(b" 1%\r 2%\r done", [" done", " 2%", " 1%"], id="progress"),
        pytest.param(b" 1%\r\r 2%\r", [" 2%", " 1%"], id="empty redraws"),
        pytest.param(b"\r\r", [""], id="nothing but carriage returns"),
        pytest.param(b"", [""], id="empty"),
    ],
)
def test_redraws_come_newest_first(line: bytes, texts: list[str]) -> None:
    """A lone carriage return draws the line anew: the last drawing is what a person saw, the others are still there."""
    assert redraws(line) == texts


# Escape sequences


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        pytest.param(b"cuda\x1b[31mMalloc\x1b[0m failed", b"cudaMalloc failed", id="a colour inside a word"),
        pytest.param(b"cuda\x1b[38;5;196mMalloc", b"cudaMalloc", id="256 colours"),
        pytest.param(b"cuda\x1b[38:2::255:0:0mMalloc", b"cudaMalloc", id="true colour with colons"),
        pytest.param(b"cuda\x1b[mMalloc", b"cudaMalloc", id="reset without a number"),
        pytest.param(b"cuda\x1b[?25lMalloc\x1b[?25h", b"cudaMalloc", id="hidden cursor"),
        pytest.param(b"cuda\x1b[KMalloc\x1b[2K", b"cudaMalloc", id="erase"),
        pytest.param(b"cuda\x1b[2 qMalloc", b"cudaMalloc", id="shape of the cursor"),
        pytest.param(b"out\x1b[1Cof\x1b[Cmemory", b"out of memory", id="cursor right for one blank"),
        pytest.param(b"free:\x1b[6C42", b"free:      42", id="cursor right for several blanks"),
        pytest.param(b"\x1b[999Cx", b" " * WIDEST_GAP + b"x", id="cursor right beyond every window"),
        pytest.param(b"\x1b]0;strata.exe - cudaMalloc\x07ready", b"ready", id="title that ends with BEL"),
        pytest.param(b"\x1b]2;cmd.exe\x1b\\ready", b"ready", id="title that ends with ST"),
        pytest.param(b"ready\x1b]0;cmd.exe", b"ready", id="title that never ends"),
        pytest.param(b"\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x1b\\ text", b"link text", id="link"),
        pytest.param(b"\x1bPq#0;2\x1b\\ready", b"ready", id="picture"),
        pytest.param(b"\x1b(Bready\x1b=\x1b7\x1bc", b"ready", id="short sequences"),
        pytest.param(b"ready\x1b", b"ready", id="a lone escape at the end"),
        pytest.param(b"ready\x1b[3", b"ready3", id="a sequence that breaks off"),
        pytest.param(b"re\x08re\x08ady", b"reready", id="backspaces"),
        pytest.param(b"\x00\x00ready\x00", b"ready", id="NULs"),
        pytest.param(b"array[31m] of [0m", b"array[31m] of [0m", id="brackets without an escape"),
    ],
)
def test_what_steers_a_terminal_is_taken_out(raw: bytes, text: bytes) -> None:
    """Colours, titles, cursor movements and NULs vanish, so that words they stood in can be found."""
    assert clean(raw) == text


ODD = st.lists(
    st.sampled_from([b"\x1b", b"[", b"]", b"0;", b"m", b"C", b"9", b"\x07", b"\\", b"\n", b"\r", b"P", b"\x00", b"a", b" "])
    | st.binary(max_size=2),
    max_size=30,
).map(b"".join)  # fmt: skip


@settings(max_examples=300)
@given(ODD)
def test_cleaning_keeps_every_line_feed(raw: bytes) -> None:
    """No escape sequence, however broken, swallows a line end, and nothing that steers a terminal remains."""
    assert clean(raw).count(b"\n") == raw.count(b"\n")
    assert not any(mark in clean(raw) for mark in (b"\x1b", b"\x00", b"\x08"))


@settings(max_examples=300)
@given(ODD, ODD)
def test_lines_are_cleaned_one_by_one(first: bytes, second: bytes) -> None:
    """What stands on a line never changes how the next one reads."""
    assert clean(first + b"\n" + second) == clean(first) + b"\n" + clean(second)


def test_a_clean_block_is_not_copied() -> None:
    """Where nothing has to be taken out, the block is the same object, so that healthy logs cost no memory."""
    raw = b"strata serve: ready\r\n" * 9
    assert clean(raw) is raw


def test_cursor_movements_do_not_fill_the_memory() -> None:
    """A hostile log of nothing but wide cursor movements grows by a bounded factor."""
    raw = b"\x1b[999C" * 50_000
    assert len(clean(raw)) <= len(raw) * WIDEST_GAP // 5


def test_nuls_of_a_crash_hide_no_line() -> None:
    """After a power cut a file may hold a row of NULs; the lines around it keep their words and numbers."""
    data = b"starting\n" + b"cuda" + b"\x00" * 5000 + b"Malloc failed\n" + b"\x00" * 5000 + b"\nrestarted\n"
    assert shown_lines(data) == ["starting", "cudaMalloc failed", "", "restarted"]


# Long lines


def test_of_a_long_line_both_ends_are_read() -> None:
    """Of a line of 3 MB the first and last 32 KiB are read, a notice names it, and the lines behind it keep their numbers."""
    long = b"FIRST" + b"x" * 1_500_000 + b"MIDDLE" + b"y" * 1_500_000 + b"LAST"
    windows, reader = read(*pieces(b"one\n" + long + b"\r\nthree\n", CHUNK))
    lines = dict(clean_lines(windows))
    assert lines[1] == b"one"
    assert lines[3] == b"three"
    assert [text[:1] + text[-1:] for text in redraws(lines[2])] == ["yT", "Fx"]
    assert reader.line_count == 3
    assert [notice.kind for notice in reader.notices] == ["truncated-line"]
    assert "line 2 is longer than 64 KiB" in reader.notices[0].text


@pytest.mark.parametrize("codec", ["utf-8", "utf-16-le"])
def test_one_line_without_an_end_needs_bounded_memory(codec: str) -> None:
    """A log of 30 MB that is one line without an end is read with a few blocks of memory, and a notice says so."""
    chunk = ("progress 50% " * 9999).encode(codec)

    def endless() -> Iterator[bytes]:
        for _ in range(30_000_000 // len(chunk)):
            yield chunk

    tracemalloc.start()
    try:
        reader = Reader(endless())
        windows = list(reader)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 12 * PENDING_LIMIT
    assert len(windows) == 1
    assert len(windows[0].block.raw) <= PENDING_LIMIT + CHUNK
    assert (reader.line_count, len(reader.notices)) == (1, 1)
    assert reader.notices[0].text.startswith("line 1 is longer")


@pytest.mark.parametrize("end", [b"", b"\n", b"\nready\n"], ids=["no end", "an end", "a line behind"])
@pytest.mark.parametrize("size", [1000, LONGEST_LINE, CHUNK])
@pytest.mark.parametrize(
    ("length", "noticed"),
    [(LONGEST_LINE, False), (LONGEST_LINE + 1, True), (2 * LONGEST_LINE, True), (PENDING_LIMIT, True)],
)
def test_whatever_is_not_read_is_noticed(length: int, noticed: bool, size: int, end: bytes) -> None:
    """A line beyond the limit is reported, just as one far beyond it, and a line within it is not."""
    _, reader = read(*pieces(b"one\n" + b"x" * length + end, size))
    assert [notice.text.partition(" is")[0] for notice in reader.notices] == (["line 2"] if noticed else [])


def test_many_long_lines_make_few_notices() -> None:
    """Each long line is named, up to a limit; the rest is counted, so that a hostile log can't flood the report."""
    count = LONG_LINES_NAMED + 12
    _, reader = read(*pieces((b"x" * (LONGEST_LINE + 9) + b"\n") * count, CHUNK))
    assert len(reader.notices) == LONG_LINES_NAMED + 1
    assert [notice.text.split()[1] for notice in reader.notices[:-1]] == [
        str(line) for line in range(1, LONG_LINES_NAMED + 1)
    ]
    assert "12 more lines" in reader.notices[-1].text


@settings(max_examples=30)
@given(st.integers(LONGEST_LINE - 3, 4 * LONGEST_LINE))
def test_a_shortened_line_is_its_two_ends(length: int) -> None:
    """A short line stays as it is; of a longer one both ends remain, as two redraws, so that nothing matches across."""
    line = b"".join(b"%07d" % number for number in range(length // 7 + 1))[:length]
    kept = shorten(line)
    if length <= LONGEST_LINE:
        assert kept is line
    else:
        assert kept == line[:KEPT_HALF] + b"\r" + line[-KEPT_HALF:]
        assert shorten(kept)[:KEPT_HALF] == line[:KEPT_HALF]


def test_a_cut_inside_a_character_does_not_spoil_the_line() -> None:
    """Where the cut splits a character of UTF-8, only that character is lost."""
    line = "a" + "显" * LONGEST_LINE
    texts = redraws(line.encode())
    assert len(texts) == 2
    assert all(text.strip("\ufffd").strip("显") in ("", "a") for text in texts)


# Blocks


MIXED_LOG = b"".join([
    "strata 启动\r\n".encode(),
    "显存 OOM\n".encode("gbk"),
    b"\n",
    b"cuda\x1b[31mMalloc\x1b[0m\n",
    b" 1%\r 2%\r\n",
    b"\x00\x00\n",
    "für\n".encode("cp1252"),
    b"end",
])  # fmt: skip
LOGS = {
    "UTF-8": "strata 启动\r\n\r\ncuda\x1b[31mMalloc\x1b[0m\n 1%\r 2%\n显存".encode(),
    "UTF-8 with a mark": codecs.BOM_UTF8 + "启动\nready\n".encode(),
    "UTF-16 LE with a mark": "\ufeffstrata 启动\r\n\r\nਊ 😀 ready\n".encode("utf-16-le"),
    "UTF-16 BE": "strata 启动\r\n\r\nready for requests\n😀".encode("utf-16-be"),
    "UTF-32 LE with a mark": "\ufeff启动\r\nready\n".encode("utf-32-le"),
    "mixed": MIXED_LOG,
}
logs = pytest.mark.parametrize("data", LOGS.values(), ids=LOGS.keys())


def told(*chunks: bytes) -> tuple[list[list[tuple[int, bytes, bytes]]], str, int, list[Notice], bytes]:
    """Everything that a reader says of a log."""
    found, reader = read(*chunks)
    windows = [[(one.first_line, one.raw, one.clean) for one in window if one is not None] for window in found]
    return windows, reader.encoding, reader.line_count, reader.notices, reader.head


@logs
def test_a_border_between_chunks_is_never_seen(data: bytes) -> None:
    """A log that arrives in two pieces, cut anywhere, or byte by byte, reads as it does in one."""
    whole = told(data)
    assert all(told(data[:cut], data[cut:]) == whole for cut in range(len(data) + 1))
    assert told(*pieces(data, 1)) == whole


@given(st.sampled_from(sorted(LOGS)), st.lists(st.integers(0, 120)))
def test_no_way_of_cutting_changes_what_is_read(name: str, cuts: list[int]) -> None:
    """However a log is cut into chunks, empty ones included, windows, numbers, encoding and notices are the same."""
    data = LOGS[name]
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    chunks = [data[start:end] for start, end in itertools.pairwise(places)]
    assert told(*chunks) == told(data)


@pytest.mark.parametrize("size", [1000, 4096, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, CHUNK])
@pytest.mark.parametrize("length", [5, 90, 5000, 50_000])
def test_blocks_are_whole_lines_in_a_chain(size: int, length: int) -> None:
    """Blocks together are the log; each ends with a line, and knows the one before and the one behind it."""
    data = b"".join(b"%06d %s\n" % (line, b"x" * length) for line in range(1, 800_000 // length)) + b"end"
    windows, reader = read(*pieces(data, size))
    assert b"".join(window.block.raw for window in windows) == data
    assert all(window.block.raw.endswith(b"\n") for window in windows[:-1])
    assert [window.block.first_line for window in windows[:-1]] == [
        int(window.block.raw[:6]) for window in windows[:-1]
    ]
    assert [window.previous for window in windows[1:]] == [window.block for window in windows[:-1]]
    assert [window.following for window in windows[:-1]] == [window.block for window in windows[1:]]
    assert (windows[0].previous, windows[-1].following) == (None, None)
    assert reader.line_count == data.count(b"\n") + 1


def test_blocks_stay_small() -> None:
    """No block is much larger than the chunks that came in, and few of them are alive at a time."""
    data = pieces(b"a line of a log that goes on and on\n" * 300_000, CHUNK)
    tracemalloc.start()
    try:
        reader = Reader(data)
        largest = max(len(window.block.raw) for window in reader)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert largest <= BLOCK_BYTES + CHUNK
    assert peak < 9 * CHUNK


# Evidence


def test_evidence_keeps_the_untouched_line() -> None:
    """Evidence shows a clean text, and beside it the line exactly as it was written, colours and blanks included."""
    raw = "  \x1b[31mcudaMalloc\x1b[0m failed:\x1b[1Cout of memory \x00 显存  "
    found = evidence_of(f"one\n{raw}\r\nthree\n".encode(), "out of memory")
    assert found.line == 2
    assert found.raw == raw
    assert found.text == "cudaMalloc failed: out of memory  显存"
    assert found.text[found.column - 1 :].startswith("out of memory")


@pytest.mark.parametrize("codec", ["utf-8", "utf-16-le", "gbk"])
def test_evidence_is_untouched_in_every_encoding(codec: str) -> None:
    """The raw line holds the characters of the log, whatever they were encoded in."""
    raw = "设备 \x1b[1mcudaMalloc failed\x1b[0m: 显存不足"
    data = f"正在启动的引擎 one two three\n{raw}\n".encode(codec)
    assert evidence_of(data, "cudaMalloc").raw == raw


def test_evidence_is_the_redraw_that_matched() -> None:
    """A match in an older redraw shows that drawing, its column counted in it, and the whole line as raw."""
    data = b"start\n 1%\r  loading: lost device\r 99%\r\nend\n"
    found = evidence_of(data, "lost")
    assert (found.line, found.text, found.column) == (2, "loading: lost device", 10)
    assert found.raw == " 1%\r  loading: lost device\r 99%"


def test_lines_around_a_redraw_show_its_newest_drawing() -> None:
    """A progress bar beside a finding is shown as it looked last."""
    found = evidence_of(b" 1%\r 50%\r 100%\nlost device\n 1%\r 2%\r\n", "lost")
    assert (found.before, found.after) == ((" 100%",), (" 2%",))


@pytest.mark.parametrize("place", [0, 100, 2999, 3000, 3999, 4000, 5000, 20_000, 31_000, 60_000])
def test_the_column_lies_in_the_text(place: int) -> None:
    """However long a line is, its evidence is short and shows the place of the match at the column that it names."""
    line = b" " + b"x" * place + b"LOST" + b"y" * 200
    found = evidence_of(b"one\n" + line + b"\n", "LOST")
    assert found.text[found.column - 1 :].startswith("LOST")
    assert len(found.text) <= SHOWN_CHARACTERS
    assert len(found.raw) <= SHOWN_CHARACTERS


def test_evidence_may_be_told_its_line_and_spared_its_neighbours() -> None:
    """Whoever knows the number of a line need not have it counted, and lines that nobody shows aren't looked for."""
    raw = b"one\n\x1b[1mtwo\x1b[0m\r\nthree lost\nfour\n"
    window = read(raw)[0][0]
    start = window.block.clean.index(b"three")
    whole = evidence(window, start, start + 10, "three lost", 6)
    assert evidence(window, start, start + 10, "three lost", 6, line=3) == whole
    bare = evidence(window, start, start + 10, "three lost", 6, context=False)
    assert bare == whole._replace(before=(), after=())
    assert (whole.line, whole.before, whole.after) == (3, ("one", "two"), ("four",))


@pytest.mark.parametrize("size", [40, CHUNK])
def test_lines_are_numbered_in_one_go(size: int) -> None:
    """A block that is asked for one line after the other gives the number of each, skipped ones included."""
    for window in read(*pieces(b"line\n\n" * 9 + b"end", size))[0]:
        starts = [0, *(place + 1 for place, byte in enumerate(window.block.clean) if byte == ord("\n"))]
        expected = list(range(window.block.first_line, window.block.first_line + len(starts)))
        assert [window.block.line_at(start) for start in starts[: len(starts) // 2]] == expected[: len(starts) // 2]
        assert window.block.last_line == window.block.first_line + len(window.block.clean.splitlines()) - 1
        assert [window.block.line_at(start) for start in starts[::3]] == expected[::3]
        assert [window.block.line_at(start) for start in reversed(starts)] == expected[::-1]


def test_a_match_of_leading_blanks_starts_at_the_first_column() -> None:
    """Blanks in front of a line aren't shown, so a match that begins in them begins with the text."""
    window = read(b"   lost\n")[0][0]
    assert evidence(window, 0, 7, "   lost", 1).column == 1


CONTEXT_LOG = [f"line {number}" if number % 5 and number % 7 else "" for number in range(1, 3000)]


@pytest.mark.parametrize("size", [997, 20_000, BLOCK_BYTES, CHUNK], ids=lambda size: f"chunks of {size}")
@pytest.mark.parametrize("width", [40, 700], ids=["short lines", "long lines"])
def test_context_crosses_the_borders_of_blocks(size: int, width: int) -> None:
    """Each line is shown between the three before and the three behind it, blank ones included, wherever blocks end."""
    shown = [text and text.ljust(width, ".") for text in CONTEXT_LOG]
    windows, _ = read(*pieces("\n".join(shown).encode(), size))
    assert len(windows) > 1 or width * len(shown) < size
    for window in windows:
        block, position = window.block, 0
        lines = block.clean.removesuffix(b"\n").split(b"\n")
        for offset, line in enumerate(lines):
            if offset < 5 or offset >= len(lines) - 5:
                number = block.first_line + offset
                found = evidence(window, position, position + len(line), line.decode(), 0)
                assert found.line == number
                assert found.text == shown[number - 1]
                assert found.before == tuple(shown[max(number - 1 - CONTEXT_LINES, 0) : number - 1])
                assert found.after == tuple(shown[number : number + CONTEXT_LINES])
            position += len(line) + 1


def test_line_numbers_are_right_behind_long_neighbours() -> None:
    """Lines around a finding that are long themselves are shown shortened, in their places."""
    long = "z" * (LONGEST_LINE + 9)
    found = evidence_of(f"{long}\n\nlost device\n{long}\n\nlast\n".encode(), "lost")
    assert [len(line) for line in found.before] == [SHOWN_CHARACTERS, 0]
    assert [len(line) for line in found.after] == [SHOWN_CHARACTERS, 0, 4]


# The tail


def expected_tail(shown: list[str], line: int, count: int) -> tuple[tuple[int, str], ...]:
    """The last non-blank lines before a line, found by looking at all of them."""
    numbered = [(number, text) for number, text in enumerate(shown, 1) if number < line and text.strip()]
    return tuple(numbered[max(len(numbered) - count, 0) :])


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from(["", " ", "one", "two words", "\t"]), max_size=12),
    st.integers(1, 16),
    st.integers(1, 5),
    st.booleans(),
)
def test_the_tail_is_the_last_lines_that_say_something(texts: list[str], line: int, count: int, ended: bool) -> None:
    """The lines before a place come in order, with their numbers, without the blank ones, and no more than wanted."""
    data = "\n".join(texts).encode() + (b"\n" if ended else b"")
    for window in read(data)[0]:
        assert tail_before(window, line, count) == expected_tail(texts, line, count)


@pytest.mark.parametrize("size", [997, 20_000, BLOCK_BYTES, CHUNK], ids=lambda size: f"chunks of {size}")
def test_the_tail_crosses_the_borders_of_blocks(size: int) -> None:
    """The lines before a start are found in the block before, where its own block has too few of them."""
    shown = [text and text.ljust(100, ".") for text in CONTEXT_LOG]
    windows, _ = read(*pieces("\n".join(shown).encode(), size))
    assert len(windows) > 1 or size == CHUNK
    for window in windows:
        first = window.block.first_line
        for line in (first, first + 1, first + 3, first + 39, first + 60):
            assert tail_before(window, line, 40) == expected_tail(shown, line, 40)


def test_the_tail_of_a_whole_log_needs_no_small_chunks() -> None:
    """A log from a pipe, a line at a time, has the same tail as the same log from a file."""
    data = "\n".join(CONTEXT_LOG[:200]).encode()
    by_line, _ = read(*data.splitlines(keepends=True))
    assert tail_before(by_line[-1], 201, 40) == expected_tail(CONTEXT_LOG[:200], 201, 40)
    assert len(tail_before(by_line[-1], 201, 40)) == 40


def test_the_tail_shows_what_a_person_saw() -> None:
    """The lines of a tail are clean and show their newest drawing."""
    window = read(b"\x1b[31m 1%\r 99%\x1b[0m\r\n\x00\nlost\n")[0][0]
    assert tail_before(window, 4, 9) == ((1, " 99%"), (3, "lost"))
