"""Mending in place: only what can be mended one way, and nothing else in the file changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lint_samples import RULE, lint_folder, write_example
from packs import pack_text, write_packs

from strata_diag.workshop.errors import WorkshopError
from strata_diag.workshop.lint.mend import mend, write
from strata_diag.workshop.lint.runner import Report


def folder_with(folder: Path, rules: str, ending: str = "\n", mark: bytes = b"") -> Path:
    """A folder with one pack of these rules, with its own line ends and byte order mark."""
    write_example(folder, rules)
    path = folder / "sample.yaml"
    path.write_bytes(mark + path.read_text("utf-8").replace("\n", ending).encode())
    return folder


def mended(report: Report) -> dict[str, str]:
    """The files as they would be, by name."""
    return {one.path.name: one.after for one in mend(report.violations)}


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "marked"])
def test_a_misspelt_key_is_written_right(ending: str, mark: bytes, tmp_path: Path) -> None:
    """Comments, other lines, line ends and the byte order mark stay, and afterwards nothing is wrong."""
    wrong = RULE.replace("  title: The table has no room", "  titel: 'The table – no room'  # what it means")
    folder = folder_with(tmp_path / "packs", wrong, ending, mark)
    before = (folder / "sample.yaml").read_bytes()
    changes = mend(lint_folder(folder).violations)
    write(changes)
    assert (folder / "sample.yaml").read_bytes() == before.replace(b"titel", b"title")
    assert lint_folder(folder).failing == ()
    assert [one.changes for one in changes] == [1]
    assert "-    titel: 'The table – no room'  # what it means\n+    title: " in changes[0].difference()


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (
            "references: [no, 1.10, 12:30, 2026-03-04, 0x1F, ~]",
            "references: ['no', '1.10', '12:30', '2026-03-04', '0x1F', '~']",
        ),
        ("references: ['no', plain]", None),
        ("priority: 0600", "priority: 600"),
        ("priority: 000", "priority: 0"),
        ("lasting: no", None),
    ],
)
def test_traps_are_quoted_and_octals_lose_their_zeros(wrong: str, right: str | None, tmp_path: Path) -> None:
    """Plain values that YAML reads as something else; a truth value or number where one is meant stays."""
    rules = RULE.replace("  samples:", f"  {wrong}\n  samples:")
    found = mended(lint_folder(folder_with(tmp_path / "packs", rules)))
    if right is None:
        assert found == {}
    else:
        assert f"    {right}\n" in found["sample.yaml"]
        write(mend(lint_folder(tmp_path / "packs").violations))
        assert lint_folder(tmp_path / "packs").failing == ()


@pytest.mark.parametrize("key", ["xyz", "titl: x\n  titel"])
def test_a_key_that_could_be_several_or_is_there_already_stays(key: str, tmp_path: Path) -> None:
    """A guess is no mending: an unlike key, or one whose right spelling stands beside it."""
    folder = folder_with(tmp_path / "packs", RULE.replace("  samples:", f"  {key}: x\n  samples:"))
    report = lint_folder(folder)
    assert {one.code for one in report.failing} == {"SD103"}
    assert mended(report) == {}


def test_a_quoted_key_stays(tmp_path: Path) -> None:
    """What is not written as a plain word is left to a person."""
    folder = folder_with(tmp_path / "packs", RULE.replace("  title:", "  'titel':"))
    assert mended(lint_folder(folder)) == {}


def test_several_files_and_places_at_once(tmp_path: Path) -> None:
    """Every change of a file is made in one go, the catalogues' too."""
    folder = folder_with(tmp_path / "packs", RULE.replace("  title:", "  titel:").replace("  any:", "  anny:"))
    catalogue = folder / "remedies.yaml"
    catalogue.write_text("remedies:\n  smaller: {txt: Take less., link: no}\n", "utf-8")
    found = mended(lint_folder(folder))
    assert "title:" in found["sample.yaml"]
    assert "any:" in found["sample.yaml"]
    assert "link: 'no'" in found["remedies.yaml"]


def test_packs_that_were_not_named_are_not_changed(tmp_path: Path) -> None:
    """What is wrong with a pack beside the target is said, and left to whoever owns it."""
    more = write_packs(tmp_path / "more", sample=pack_text("  - {id: x, role: failure, titel: y}\n"))
    folder = write_packs(tmp_path / "packs", other=pack_text("  - {id: x, role: failure, titel: y}\n", name="other"))
    (more / "causes.yaml").unlink()
    report = lint_folder(folder / "other.yaml", str(folder / "causes.yaml"))
    assert set(mended(report)) == {"other.yaml"}


def test_a_file_that_changed_meanwhile_is_not_written(tmp_path: Path) -> None:
    """Somebody else's work is never overwritten."""
    folder = folder_with(tmp_path / "packs", RULE.replace("  title:", "  titel:"))
    changes = mend(lint_folder(folder).violations)
    path = folder / "sample.yaml"
    path.write_text(path.read_text("utf-8") + "# a remark\n", "utf-8")
    with pytest.raises(WorkshopError, match="has changed meanwhile"):
        write(changes)
    assert path.read_text("utf-8").endswith("# a remark\n")


@pytest.mark.skipif(os.name == "nt", reason="rights are those of POSIX")
def test_rights_stay(tmp_path: Path) -> None:
    """A file keeps its mode, and no temporary one is left behind."""
    folder = folder_with(tmp_path / "packs", RULE.replace("  title:", "  titel:"))
    (folder / "sample.yaml").chmod(0o640)
    before = sorted(path.name for path in folder.iterdir())
    write(mend(lint_folder(folder).violations))
    assert (folder / "sample.yaml").stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_file_that_is_gone_is_an_error(tmp_path: Path) -> None:
    """The message names it."""
    folder = folder_with(tmp_path / "packs", RULE.replace("  title:", "  titel:"))
    changes = mend(lint_folder(folder).violations)
    (folder / "sample.yaml").unlink()
    with pytest.raises(WorkshopError, match=r"sample\.yaml: can't be read"):
        write(changes)
