"""A rule made of a line, as text: what is guessed, what is left open, how it gets into a file."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from packs import load
from workshop_packs import packs_folder

from strata_diag import RuleSet
from strata_diag.errors import RulePackError
from strata_diag.intake import logs_in
from strata_diag.model import Role
from strata_diag.workshop.errors import WorkshopError
from strata_diag.workshop.guesses import guess_priority, guess_role
from strata_diag.workshop.insertion import with_rule, write_whole
from strata_diag.workshop.logs import LARGEST_LOG, file_bytes, lines_of, log_bytes
from strata_diag.workshop.newrule import LONGEST_SAMPLE, Wishes, write_rule
from strata_diag.workshop.prefixes import Message

MINE = Wishes("mine", "x")
RULE = "- id: x\n  title: y\n"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """The rules of the folder of packs."""
    return load(packs_folder(tmp_path_factory.mktemp("packs") / "rules"))


def made(lines: list[str], number: int, rules: RuleSet, wishes: Wishes = MINE) -> dict[str, object]:
    """The rule for a line, read back."""
    (rule,) = yaml.safe_load(write_rule(lines, number, rules, wishes).rule)
    return dict(rule)


def test_a_rule_has_all_that_can_be_known(own: RuleSet) -> None:
    """What was decided is taken over, a calm line of the log that comes nearest must not match."""
    lines = [
        "#3  0x00007f in engine_main () at table shelf",
        "engine: everyday work",
        "engine: shelf 7 of the table is filled",
        "16:40:00 ERROR engine: shelf 7 of the table broke down",
    ]
    wishes = Wishes("mine", "broken-shelf", "failure", "card-full", "A shelf broke")
    found = made(lines, 4, own, wishes)
    assert found["cause"] == "card-full"
    assert found["title"] == "A shelf broke"
    assert found["any"] == [{"regex": r"engine: shelf (?P<shelf>\d+) of the table broke down"}]
    assert found["samples"] == {
        "match": ["engine: shelf 7 of the table broke down"],
        "no_match": ["engine: shelf 7 of the table is filled"],
    }


def test_without_a_calm_line_a_part_of_the_line_must_not_match(own: RuleSet) -> None:
    """It is better than nothing, and says that it is only that."""
    text = write_rule(["engine: the lighthouse is gone"], 1, own, MINE).rule
    assert "no calm line stands near" in text
    assert yaml.safe_load(text)[0]["samples"]["no_match"] == ["engine: the"]
    assert made(["lighthouse-collapsed"], 1, own)["samples"]["no_match"] == ["lighthouse"]  # type: ignore[index]


def test_names_and_secrets_get_into_no_rule(own: RuleSet) -> None:
    """The sample is redacted, and what stands for a name is no word of the pattern."""
    lines = ["home is /home/janedoe", "engine: the session of janedoe at mail jane@firm.org was thrown out"]
    text = write_rule(lines, 2, own, MINE).rule
    assert "janedoe" not in text
    assert "firm" not in text
    found = yaml.safe_load(text)[0]
    assert found["any"] == [{"regex": r"engine: the session of \S+ at mail \S+ was thrown out"}]


def test_information_needs_no_cause(own: RuleSet) -> None:
    """A line that is logged as calm becomes information, with the reason for the guess."""
    found = made(["16:40:00 INFO engine: shelves are dusted twice"], 1, own)
    assert found["role"] == "info"
    assert "cause" not in found
    assert found["why"] == "TODO say why it is harmless"


def test_a_recovery_names_what_it_takes_back(own: RuleSet) -> None:
    """Failures of the lines above are what it may take back."""
    lines = ["engine: no room for the table: it needs 3 MiB", "engine: the second attempt went through"]
    assert made(lines, 2, own, Wishes("mine", "x", "recovery"))["cancels"] == ["sample/no-room"]


def test_a_long_line_becomes_a_bounded_sample(own: RuleSet) -> None:
    """A line of a megabyte is no sample."""
    found = made(["engine: lighthouse " + "flood " * 100_000], 1, own)
    assert len(found["samples"]["match"][0]) <= LONGEST_SAMPLE  # type: ignore[index]


@pytest.mark.parametrize(
    ("text", "band"),
    [
        ("GGML_ASSERT(buffer) failed", 400),
        ("cannot open shared object file: No such file", 700),
        ("cudaMalloc failed: out of memory", 800),
        ("the table needs 274 MiB and has 12", 900),
        ("the engine did not start", 300),
        ("Error", 100),
        ("the lighthouse is gone", 600),
    ],
)
def test_the_band_is_guessed_by_the_words(text: str, band: int) -> None:
    """The words that tell most decide; the reason is said; a number that is taken nearby is left to its owner."""
    guess = guess_priority(Message(text, ""), ())
    assert int(guess.value) == band
    assert guess.why
    moved = guess_priority(Message(text, ""), {band, band + 10})
    assert int(moved.value) == band + 20
    assert f"moved off {band}" in moved.why


@pytest.mark.parametrize(
    ("message", "role"),
    [
        (Message("dusting", "INFO"), Role.INFO),
        (Message("fatal error: it failed", "INFO"), Role.FAILURE),
        (Message("dusting", ""), Role.FAILURE),
    ],
)
def test_the_role_is_guessed_by_level_and_words(message: Message, role: Role) -> None:
    """A calm level means information, unless the line reads like an error."""
    assert guess_role(message).value == role


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pack: a\nrules:\n- id: b\n", "pack: a\nrules:\n- id: b\n- id: x\n  title: y\n"),
        ("pack: a\nrules:\n    - id: b\n", "pack: a\nrules:\n    - id: b\n    - id: x\n      title: y\n"),
        ("pack: a\nrules:\n", "pack: a\nrules:\n  - id: x\n    title: y\n"),
        ("pack: a\nrules: # none yet\n", "pack: a\nrules: # none yet\n  - id: x\n    title: y\n"),
        ("pack: a", "pack: a\nrules:\n  - id: x\n    title: y\n"),
        (
            "pack: a\nrules:\n  - id: b\n    why: |\n      text\n\n# end\nabout: c\n",
            "pack: a\nrules:\n  - id: b\n    why: |\n      text\n\n  - id: x\n    title: y\n# end\nabout: c\n",
        ),
        (
            "pack: a\nrules:\n  - {id: b, any: [\n     1]}  # all\nabout: c\n",
            "pack: a\nrules:\n  - {id: b, any: [\n     1]}  # all\n  - id: x\n    title: y\nabout: c\n",
        ),
    ],
)
def test_a_rule_is_added_without_touching_the_rest(text: str, expected: str) -> None:
    """Indentation, comments and whatever follows stay as they are, and so do the line ends of Windows."""
    assert with_rule(text, RULE, "a.yaml") == expected
    if "\n" in text:
        assert with_rule(text.replace("\n", "\r\n"), RULE, "a.yaml") == expected.replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("causes: {}\n", "is no pack"),
        ("pack: a\nrules: [{id: b}]\n", "stand in brackets"),
        ("pack: a\nrules: []\n", "write `rules:` alone in its line"),
    ],
)
def test_what_can_t_be_added_to_is_said(text: str, words: str) -> None:
    """A person is told where to put the rule by hand."""
    with pytest.raises(WorkshopError, match=words):
        with_rule(text, RULE, "a.yaml")


def test_a_broken_file_is_left_alone() -> None:
    """What is no YAML is said with its line; should an addition ever break a file, it is not made."""
    with pytest.raises(RulePackError):
        with_rule("pack: [\n", RULE, "a.yaml")
    with pytest.raises(WorkshopError, match="put it in by hand"):
        with_rule("pack: a\nrules:\n  - id: b\n", "- [\n", "a.yaml")


def test_files_are_written_whole_with_their_rights(tmp_path: Path) -> None:
    """A file keeps its mode; what the system refuses is an error, and nothing is left behind."""
    path = tmp_path / "a.yaml"
    path.write_text("old", "utf-8")
    path.chmod(0o640)
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640
    with pytest.raises(WorkshopError, match="can't be written"):
        write_whole(tmp_path / "nowhere" / "a.yaml", b"new")
    assert [one.name for one in tmp_path.iterdir()] == ["a.yaml"]


def test_logs_come_out_of_archives(tmp_path: Path, own: RuleSet) -> None:
    """One log of several is named as `bundle.zip!engine.log`; without a name the message lists them."""
    import zipfile

    path = tmp_path / "bundle.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("engine.log", "engine: starting\n")
        archive.writestr("server.log", "server: starting\n")
    assert log_bytes(f"{path}!engine.log", own) == b"engine: starting\n"
    with pytest.raises(WorkshopError, match=r"several logs are in it; name one of .*engine\.log, .*server\.log"):
        log_bytes(str(path), own)
    with pytest.raises(WorkshopError, match=r"several logs are in it"):
        log_bytes(f"{path}!other.log", own)


def test_a_log_inside_a_document_is_named_as_triage_names_it(tmp_path: Path, own: RuleSet) -> None:
    """The command that triage prints for an unknown line finds the log in an issue's text again."""
    path = tmp_path / "issue.md"
    lines = "\n".join(f"[{number}.0] engine: step {number} failed" for number in range(1, 9))
    path.write_text(
        f"It fails, see:\n\n```\n{lines}\n```\n\nand later\n\n```\n{lines}\n[9.0] engine: gone\n```\n", "utf-8"
    )
    names = [attachment.name for attachment in logs_in(str(path), own.extensions)]
    assert len(names) == 2
    assert lines_of(log_bytes(names[1], own))[-1] == "[9.0] engine: gone"


def test_a_log_over_the_limit_is_refused(tmp_path: Path, own: RuleSet, monkeypatch: pytest.MonkeyPatch) -> None:
    """An author's log is held whole, so it is bounded."""
    path = tmp_path / "big.log"
    path.write_bytes(b"engine: idle\n" * 100)
    monkeypatch.setattr("strata_diag.workshop.logs.LARGEST_LOG", 1 << 10)
    assert LARGEST_LOG > 1 << 10
    with pytest.raises(WorkshopError, match="cut out the start that matters first"):
        file_bytes(path)
    with pytest.raises(WorkshopError, match="cut out the start that matters first"):
        log_bytes(str(path), own)


def test_lines_are_those_of_an_editor() -> None:
    """Without colours, the newest drawing of a line that is drawn anew, a last line without its end."""
    assert lines_of(b"\x1b[31ma\x1b[0m\n10%\r20%\r\n\nlast") == ["a", "20%", "", "last"]
