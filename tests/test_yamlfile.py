"""Reading YAML: values with the lines they stand on, and everything that is refused, by file and line."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from strata_diag import yamlfile
from strata_diag.errors import Problem
from strata_diag.yamlfile import DEEPEST, LARGEST_FILE, Items, Table, parse_yaml, read_yaml

FILE = "rules/sample.yaml"


def parsed(text: str) -> Table:
    """The table of a text in which nothing is wrong."""
    problems: list[Problem] = []
    found = parse_yaml(text, FILE, problems)
    assert problems == []
    assert found is not None
    return found


def complaints(text: str) -> list[tuple[int, str]]:
    """Line and wording of each problem of a text; every one names the file and says what to do."""
    problems: list[Problem] = []
    parse_yaml(text, FILE, problems)
    assert all(problem.file == FILE and problem.advice for problem in problems)
    return [(problem.line, problem.what) for problem in problems]


def problems_of(path: Path) -> list[Problem]:
    """The problems of a file that can't be used."""
    problems: list[Problem] = []
    assert read_yaml(path, FILE, problems) is None
    return problems


# Values and their lines


def test_keys_and_items_know_their_lines() -> None:
    """Every later complaint can name the line: of a table, of each of its keys, of each item of a list."""
    found = parsed("# a remark\npack: sample\n\nrules:\n  - id: one\n    title: x\n  -\n    id: two\nlast: [a,\n  b]\n")
    assert (found.line, found.lines) == (2, {"pack": 2, "rules": 4, "last": 9})
    rules = found["rules"]
    assert isinstance(rules, Items)
    assert rules.lines == [5, 8]
    assert [(rule.line, rule.lines) for rule in rules] == [(5, {"id": 5, "title": 6}), (8, {"id": 8})]
    assert found["last"].lines == [9, 10]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        pytest.param("words and more", "words and more", id="words"),
        pytest.param("'it''s'", "it's", id="single quotes"),
        pytest.param(r'"a\tb"', "a\tb", id="double quotes"),
        pytest.param(r"'cudaMalloc failed: \(\w+\)'", r"cudaMalloc failed: \(\w+\)", id="a pattern"),
        pytest.param("42", 42, id="a number"),
        pytest.param("-1", -1, id="a negative number"),
        pytest.param("1.5", 1.5, id="a fraction"),
        pytest.param("true", True, id="true"),
        pytest.param("Off", False, id="off"),
        pytest.param("", None, id="nothing"),
        pytest.param("~", None, id="tilde"),
        pytest.param("null", None, id="null"),
        pytest.param("|\n  one\n  two\n", "one\ntwo\n", id="a block of text"),
        pytest.param("显存不足", "显存不足", id="Chinese"),
        pytest.param("<<", "<<", id="the sign of a merge"),
        pytest.param("=", "=", id="an equals sign"),
    ],
)
def test_plain_values_are_read_as_written(written: str, value: object) -> None:
    """Texts, numbers, truth values and nothing come out as plain Python values of the same type."""
    found = parsed(f"key: {written}")["key"]
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("written", "value"),
    [
        pytest.param("010", 10, id="not octal 8"),
        pytest.param("0x1F", "0x1F", id="not hexadecimal 31"),
        pytest.param("0b11", "0b11", id="not binary 3"),
        pytest.param("12:30", "12:30", id="not 750 in base 60"),
        pytest.param("1:30.5", "1:30.5", id="not 90.5 in base 60"),
        pytest.param("2026-11-30", "2026-11-30", id="not a date"),
        pytest.param(".inf", ".inf", id="not infinity"),
        pytest.param(".nan", ".nan", id="not a number"),
        pytest.param("9" * 5000, "9" * 5000, id="a number too long for Python"),
    ],
)
def test_what_yaml_would_turn_into_something_else_stays_itself(written: str, value: object) -> None:
    """Numbers are read in base 10 only, and times and dates stay what the author wrote."""
    assert parsed(f"key: {written}")["key"] == value


@pytest.mark.parametrize(
    ("written", "value"), [("no", False), ("on", True), ("1.10", 1.1), ("'no'", "no"), ("'1.10'", "1.10")]
)
def test_what_yaml_has_turned_is_no_text(written: str, value: object) -> None:
    """An unquoted `no` or `1.10` has lost its text: it comes out as no text, so that whoever wants one can complain."""
    found = parsed(f"key: {written}")["key"]
    assert (found, isinstance(found, str)) == (value, written.startswith("'"))


def test_keys_are_always_texts() -> None:
    """A key such as `on` or `010` stays the word that was written."""
    assert set(parsed("on: 1\n010: 2\nno: 3\n~: 4\n1.10: 5\n=: 6\n")) == {"on", "010", "no", "~", "1.10", "="}


PLAIN = st.recursive(
    st.text("abc ä显:#-'\"{}[]&*!|>%@`\n", max_size=8) | st.booleans() | st.integers(-(10**9), 10**9) | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abcä: #", min_size=1, max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["pack", "rules", "title"]), PLAIN))
def test_what_was_written_comes_back(content: dict[str, Any]) -> None:
    """Any plain values that are written as YAML are read back as they were."""

    class Writer(yaml.SafeDumper):
        def ignore_aliases(self, data: object) -> bool:
            return True

    text = yaml.dump(content, Dumper=Writer, allow_unicode=True, sort_keys=False)
    assert parsed(text if content else "{}") == content


# What is refused


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a: 1\nb: 2\na: 3\n", [(3, "the key `a` stands twice (first in line 1)")], id="duplicate key"),
        pytest.param(
            "rules:\n  - id: x\n    title: y\n    id: z\n",
            [(4, "the key `id` stands twice (first in line 2)")],
            id="duplicate key inside",
        ),
        pytest.param(
            "a: 1\n'a': 2\n\"a\": 3\n",
            [
                (2, "the key `a` stands twice (first in line 1)"),
                (3, "the key `a` stands twice (first in line 2)"),
            ],
            id="duplicate key in other quotes",
        ),
        pytest.param("a: 1\n? [b]\n: 2\n", [(2, "a key is not a word")], id="a list as a key"),
        pytest.param("a: 1\n? {b: c}\n: 2\n", [(2, "a key is not a word")], id="a mapping as a key"),
        pytest.param("a: &x [1]\n\nb: *x\n", [(3, "an alias (*x) is used")], id="alias of a list"),
        pytest.param("a: &x 1\n\nb: *x\n", [(3, "an alias (*x) is used")], id="alias of a number"),
        pytest.param("a: &x word\n*x : 2\n", [(2, "an alias (*x) is used")], id="alias as a key"),
        pytest.param("a: &x\n  b: *x\n", [(2, "an alias (*x) is used")], id="alias of what it stands in"),
        pytest.param("a: &x {b: 1}\nc:\n  <<: *x\n", [(3, "an alias (*x) is used")], id="merge"),
        pytest.param(
            "a: !!python/object/apply:os.system [true]\n",
            [(1, "the tag tag:yaml.org,2002:python/object/apply:os.system is not allowed")],
            id="tag that would run a program",
        ),
        pytest.param(
            "a: 1\nb: !!python/name:os.system\n",
            [(2, "the tag tag:yaml.org,2002:python/name:os.system is not allowed")],
            id="tag of a Python name",
        ),
        pytest.param("a: 1\nb: !own word\n", [(2, "the tag !own is not allowed")], id="own tag"),
        pytest.param("a: 1\nb: !own {c: 1}\n", [(2, "the tag !own is not allowed")], id="own tag of a mapping"),
        pytest.param("b: !own [1]\n", [(1, "the tag !own is not allowed")], id="own tag of a list"),
        pytest.param("!own\na: 1\n", [(1, "the tag !own is not allowed")], id="own tag of the whole"),
        pytest.param("a: !own:str 1\n", [(1, "the tag !own:str is not allowed")], id="own tag that looks like text"),
        pytest.param("a: !!set {b}\n", [(1, "the tag tag:yaml.org,2002:set is not allowed")], id="set"),
        pytest.param("a: !!binary YQ==\n", [(1, "the tag tag:yaml.org,2002:binary is not allowed")], id="binary"),
        pytest.param(
            "a: !!bool maybe\n", [(1, "the tag tag:yaml.org,2002:bool is not allowed")], id="no truth value"
        ),
        pytest.param("", [(1, "is no mapping")], id="empty"),
        pytest.param("# only a remark\n", [(1, "is no mapping")], id="only a remark"),
        pytest.param("- a\n- b\n", [(1, "is no mapping")], id="a list"),
        pytest.param("word\n", [(1, "is no mapping")], id="a word"),
    ],
)  # fmt: skip
def test_what_a_pack_must_not_hold_is_named_with_its_line(text: str, expected: list[tuple[int, str]]) -> None:
    """Duplicate keys, aliases, tags and the like are problems with file, line and advice."""
    assert complaints(text) == expected


def test_all_problems_of_a_file_come_at_once() -> None:
    """An author sees everything that is wrong in one go."""
    text = "a: &x [1]\na: 2\nb: *x\nc: *x\nd: !own 1\n? [e]\n: 1\n"
    assert sorted(line for line, _ in complaints(text)) == [2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("a: [1\n", 2, id="a bracket that is never closed"),
        pytest.param("a: 1\n\tb: 2\n", 2, id="a tabulator as indentation"),
        pytest.param("a: 1\nb: 'x\n", 3, id="a quote that is never closed"),
        pytest.param("a: 1\nb: c: d\n", 2, id="two colons"),
        pytest.param('a: 1\n\nb: "\\w"\n', 3, id="a pattern in double quotes"),
        pytest.param("a: 1\nb: *unknown\n", 2, id="an unknown alias"),
        pytest.param("a: 1\n---\nb: 2\n", 2, id="a second document"),
        pytest.param("a: 1\nb: @x\n", 2, id="a reserved sign"),
        pytest.param("a: 1\nb: x\x1b[31m\n", 2, id="a control character"),
        pytest.param("a: 1\n\nb: x\x00\n", 3, id="a NUL"),
        pytest.param("a: \ud83d\n", 1, id="half a character"),
    ],
)
@pytest.mark.parametrize("loader", ["with libyaml", "without libyaml"])
def test_broken_yaml_is_one_problem_with_its_line(
    text: str, line: int, loader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text that is no YAML gives one problem, with the line, whichever parser reads it."""
    if loader == "without libyaml":
        monkeypatch.setattr(yamlfile, "Loader", yaml.SafeLoader)
    ((found, what),) = complaints(text)
    assert found == line
    assert what.startswith("is not valid YAML: ")


def bomb(levels: int) -> str:
    """A text of some lines that stands for ten to the power of `levels` words."""
    lines = ["l0: &l0 [" + ", ".join(["lol"] * 10) + "]"]
    lines += [f"l{n}: &l{n} [" + ", ".join([f"*l{n - 1}"] * 10) + "]" for n in range(1, levels)]
    return "\n".join(lines)


def test_an_alias_bomb_costs_nothing() -> None:
    """A billion laughs are refused at once, with the lines, and without memory for a billion anything."""
    begun = time.process_time()
    tracemalloc.start()
    try:
        found = complaints(bomb(30))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == [(line, f"an alias (*l{line - 2}) is used") for line in range(2, 31)]
    assert peak < 5_000_000
    assert time.process_time() - begun < 2


DEEP = {
    "just too deep": "a: " + "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1),
    "lists": "a: " + "[" * 450 + "]" * 450,
    "mappings": "a: " + "{b: " * 450 + "}" * 450,
    "indentation": "\n".join(" " * depth + "a:" for depth in range(1100)),
}
ENDLESS = {
    "very many lists": "a: " + "[" * 100_000 + "]" * 100_000,
    "very many lists that never end": "a: " + "[" * 400_000,
}  # the parser in Python would take a minute for each


@pytest.mark.parametrize(
    ("text", "loader"),
    [
        *[pytest.param(text, None, id=name) for name, text in {**DEEP, **ENDLESS}.items()],
        *[pytest.param(text, yaml.SafeLoader, id=f"{name}, without libyaml") for name, text in DEEP.items()],
    ],
)
def test_deep_nesting_is_a_problem_and_no_crash(text: str, loader: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """However deep a hostile pack is nested, it is refused with a message instead of ending the interpreter."""
    if loader is not None:
        monkeypatch.setattr(yamlfile, "Loader", loader)
    found = complaints(text)
    assert found
    assert all("nest" in what for _, what in found)


def test_nesting_up_to_the_limit_is_allowed() -> None:
    """A pack may use as many levels as the limit says."""
    assert parsed("a: " + "[" * (DEEPEST - 1) + "]" * (DEEPEST - 1))


# Files


def write(folder: Path, data: bytes) -> Path:
    path = folder / "sample.yaml"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "with a byte order mark"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["line feeds", "Windows' line ends"])
def test_a_file_is_read_as_editors_write_it(mark: bytes, end: bytes, tmp_path: Path) -> None:
    """A byte order mark and Windows' line ends change neither keys nor lines."""
    problems: list[Problem] = []
    path = write(tmp_path, mark + end.join([b"pack: sample", b"", "title: 显存".encode(), b""]))
    found = read_yaml(path, FILE, problems)
    assert problems == []
    assert found == {"pack": "sample", "title": "显存"}
    assert found.lines == {"pack": 1, "title": 3}


@pytest.mark.parametrize(
    ("data", "line"),
    [
        pytest.param("a: 1\n\nb: für\n".encode("cp1252"), 3, id="cp1252"),
        pytest.param("a: 显存\n".encode("gbk"), 1, id="GBK"),
        pytest.param("a: 1\n".encode("utf-16"), 1, id="UTF-16"),
        pytest.param("a: 1\nb: 显".encode()[:-1], 2, id="cut inside a character"),
    ],
)
def test_a_file_that_is_not_utf_8_is_named_with_the_line(data: bytes, line: int, tmp_path: Path) -> None:
    """The first byte that is no UTF-8 is found, so that an author sees where another encoding came in."""
    (problem,) = problems_of(write(tmp_path, data))
    assert (problem.file, problem.line, problem.what) == (FILE, line, "is not UTF-8")


def test_a_file_of_just_the_largest_size_is_read(tmp_path: Path) -> None:
    """The limit itself is allowed, one byte more is not."""
    head = b"a: 1\n#"
    problems: list[Problem] = []
    assert read_yaml(write(tmp_path, head + b"x" * (LARGEST_FILE - len(head))), FILE, problems) == {"a": 1}
    assert problems == []
    (problem,) = problems_of(write(tmp_path, head + b"x" * (LARGEST_FILE - len(head) + 1)))
    assert (problem.file, problem.line) == (FILE, 0)
    assert f"{LARGEST_FILE} bytes" in problem.what


def test_a_huge_file_is_refused_without_reading_it(tmp_path: Path) -> None:
    """A file of 200 MB, handed over by mistake, is refused with the memory of the limit."""
    path = tmp_path / "model.yaml"
    with path.open("wb") as file:
        file.truncate(200_000_000)
    tracemalloc.start()
    try:
        problems_of(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * LARGEST_FILE


@pytest.mark.parametrize("name", ["none.yaml", "folder", "x" * 5000])
def test_a_file_that_cannot_be_read_is_a_problem(name: str, tmp_path: Path) -> None:
    """A missing file, a folder and an impossible name are problems of that file, not exceptions."""
    (tmp_path / "folder").mkdir()
    (problem,) = problems_of(tmp_path / name)
    assert (problem.file, problem.line) == (FILE, 0)
    assert problem.what.startswith("can't be read (")
    assert str(problem) == f"{FILE}: {problem.what}; {problem.advice}"


# Columns and spots


def test_keys_and_values_know_their_columns() -> None:
    """A finding points at a key or a value, and a change of the text replaces exactly what stands there."""
    text = "# \u00e9\npack: sample\nrules:\n  - {id: 'on e', why: \"t\\no\"}\n  - plain\n"
    found = parsed(text)
    rule = found["rules"][0]
    assert (found.columns, rule.column, rule.columns) == ({"pack": 1, "rules": 1}, 5, {"id": 6, "why": 18})
    spots = [found.spots["pack"], rule.spots["id"], rule.spots["why"], found["rules"].spots[1]]
    assert [(spot.line, spot.column, spot.style) for spot in spots] == [
        (2, 7, ""),
        (4, 10, "'"),
        (4, 23, '"'),
        (5, 5, ""),
    ]
    assert [text[spot.start : spot.end] for spot in spots] == ["sample", "'on e'", '"t\\no"', "plain"]


@pytest.mark.parametrize(
    ("written", "value", "column"),
    [("abc", "abc", 6), ("'abc'", "abc", 7), ("'a''c'", "a'c", 4), ('"a\\tc"', "a\tc", 4), ("|-\n  abc", "abc", 4)],
)
def test_a_place_inside_a_value_is_told_where_it_is_written_letter_by_letter(
    written: str, value: str, column: int
) -> None:
    """Behind an escape or in a block the place of the value itself has to do."""
    found = parsed(f"a: {written}\n")
    assert found["a"] == value
    assert found.spots["a"].column_in(value, 2) == column


def test_a_problem_stands_at_its_key() -> None:
    """At the mapping itself where it lacks the key; the text names line and column."""
    table = parsed("a: {b: 1}\n")["a"]
    there, missing = (table.problem(FILE, key, "is wrong", "mend it", "SD106") for key in ("b", "c"))
    assert (there.line, there.column, missing.line, missing.column) == (1, 5, 1, 4)
    assert str(there) == f"{FILE}:1:5: is wrong; mend it"
