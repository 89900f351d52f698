"""The catalogues themselves: which languages there are, their YAML files, and what plugins add.

Comes in: the name of a language and the extensions of a rule set. Goes out: translations by English text, and a notice for each
entry or file that can't be used. Ours lie in `strata_diag/catalogues/<language>/`; a plugin's entry wins over ours.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from strata_diag.errors import Problem, StrataDiagError
from strata_diag.language.template import flaw as flaw  # noqa: PLC0414 - given on
from strata_diag.model import Notice
from strata_diag.record import TYPE_CHECKING

if TYPE_CHECKING:
    from strata_diag.ruleset import Extensions

ENGLISH = "en"
FOLDER = Path(__file__).parent.parent / "catalogues"  # a folder a language

_Brought = list[tuple[str, Mapping[str, Any]]]  # (plugin, content by language)


class LanguageError(StrataDiagError):
    """There is no catalogue for a language. `known`: those that there are."""

    def __init__(self, wanted: str, known: list[str]) -> None:
        super().__init__(
            f"there is no catalogue for the language {wanted!r}; there are: {', '.join(known)}; "
            "a plugin can bring one (the hook strata_diag_catalogues)"
        )
        self.wanted = wanted
        self.known = tuple(known)


class Catalogue(NamedTuple):
    """The texts of one language. name: as its folder has it; texts: by English text, none for English."""

    name: str
    texts: Mapping[str, str]
    notices: tuple[Notice, ...] = ()


def catalogue_of(language: str, extensions: Extensions) -> Catalogue:
    """The catalogue for a language such as `zh`, `zh_CN` or `zh-CN.UTF-8`. Raises LanguageError for an unknown one."""
    wanted = _normal(language)
    if wanted in ("", ENGLISH):
        return Catalogue(ENGLISH, {})
    brought, notices = _brought(extensions)
    known = {ENGLISH, *(path.name for path in FOLDER.iterdir() if path.is_dir())}
    known |= {name for _, by_language in brought for name in by_language}
    name = next((name for name in (wanted, wanted.partition("-")[0]) if name in known), "")
    if name == ENGLISH:
        return Catalogue(ENGLISH, {})
    if not name:
        raise LanguageError(language, sorted(known))
    problems: list[Problem] = []
    texts = _sound(read_catalogue(FOLDER / name, problems), f"catalogues/{name}", problems)
    for plugin, by_language in brought:
        content = by_language.get(name, {})
        added = read_catalogue(content, problems) if isinstance(content, os.PathLike) else content
        texts |= _sound(added, f"the plugin {plugin}", problems)
    return Catalogue(name, texts, (*notices, *(Notice("plugin", str(problem)) for problem in problems)))


def _brought(extensions: Extensions) -> tuple[_Brought, list[Notice]]:
    """What plugins bring, by the normal names of languages, and a notice for an answer that is no mapping of catalogues."""
    answers, notices = extensions.catalogues()
    brought: _Brought = []
    for plugin, answer in answers:
        if isinstance(answer, Mapping) and all(_is_catalogue(content) for content in answer.values()):
            brought.append((plugin, {_normal(str(name)): content for name, content in answer.items()}))
        else:
            text = f"the plugin {plugin} answers strata_diag_catalogues with something else than catalogues by language"
            notices.append(Notice("plugin", text))
    return brought, notices


def _is_catalogue(content: object) -> bool:
    return isinstance(content, Mapping | os.PathLike)


def _normal(language: str) -> str:
    """`zh_CN.UTF-8` as `zh-cn`."""
    return language.partition(".")[0].partition("@")[0].replace("_", "-").strip().lower()


def read_catalogue(folder: os.PathLike[str], problems: list[Problem]) -> dict[str, Any]:
    """All entries of the YAML files in a folder, later files last; what can't be used is added to `problems`."""
    from strata_diag.yamlfile import read_yaml  # noqa: PLC0415 - a language that only plugins bring may have no file

    texts: dict[str, Any] = {}
    for path in _files(Path(folder)):
        texts |= read_yaml(path, f"{path.parent.parent.name}/{path.parent.name}/{path.name}", problems) or {}
    return texts


def _files(folder: Path) -> Iterable[Path]:
    if not folder.is_dir():
        return ()
    return sorted(path for path in folder.iterdir() if path.suffix in (".yaml", ".yml"))


def _sound(texts: Mapping[str, object], origin: str, problems: list[Problem]) -> dict[str, str]:
    """The entries that can be used: texts on both sides, with the same holes."""
    sound: dict[str, str] = {}
    for english, translation in texts.items():
        wrong = flaw(english, translation)
        if wrong:
            what = f"the translation of {english!r:.80} {wrong}"
            problems.append(Problem(origin, 0, what, "another one or the English text is used"))
        elif isinstance(translation, str):
            sound[english] = translation
    return sound
