"""A new plugin package: entry point, a pack with samples, a corpus, tests and CI, ready to install and to test.

The texts lie in `templates/`; `@name@`, `@package@`, `@distribution@` and `@version@` in them are replaced.
"""

from __future__ import annotations

import re
from pathlib import Path

from strata_diag import __version__
from strata_diag.workshop.errors import WorkshopError

_TEMPLATES = Path(__file__).parent / "templates"
_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
LONGEST_NAME = 40  # characters; it becomes part of file names and of every rule's id
TAKEN = ("builtin", "settings", "llama-family", "python-engines", "system")  # names of plugins that ship with us
YAML_WORDS = ("null", "true", "false", "yes", "no", "on", "off")  # that a pack file would not read as a name

# the file of the package that each template becomes
FILES = {
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    "gitignore": ".gitignore",
    "workflow.yml": ".github/workflows/test.yml",
    "package.py": "@package@/__init__.py",
    "py.typed": "@package@/py.typed",
    "pack.yaml": "@package@/rules/@name@.yaml",
    "failing.log": "corpus/@name@/model-missing.log",
    "failing.yaml": "corpus/@name@/model-missing.yaml",
    "healthy.log": "corpus/@name@/healthy.log",
    "healthy.yaml": "corpus/@name@/healthy.yaml",
    "test_rules.py": "tests/test_rules.py",
}


def new_plugin(name: str, into: Path) -> list[Path]:
    """Write the package of a new plugin into a folder of its own below `into`; the files, in the order of writing.

    Raises WorkshopError for a name that can't be one, or where the folder exists already.
    """
    words = _words(name)
    folder = into / words["@distribution@"]
    if folder.exists():
        raise WorkshopError(f"{folder} exists already; name another plugin, or another folder with --into")
    written = []
    try:
        for template, place in FILES.items():
            path = folder / _filled(place, words)
            path.parent.mkdir(parents=True, exist_ok=True)
            text = (_TEMPLATES / f"{template}.template").read_text("utf-8")
            path.write_text(_filled(text, words), "utf-8", newline="\n")
            written.append(path)
    except OSError as error:
        where = error.filename or folder
        raise WorkshopError(
            f"{where}: can't be written ({error.strerror or error}); check the folder's rights"
        ) from None
    return written


def _words(name: str) -> dict[str, str]:
    """What the marks in the templates stand for."""
    if not _NAME.fullmatch(name) or len(name) > LONGEST_NAME or name in YAML_WORDS:
        advice = f"use lower-case letters, digits and single hyphens, up to {LONGEST_NAME}, such as my-engine"
        raise WorkshopError(f"`{name:.80}` can't be the name of a plugin; {advice}")
    if name in TAKEN:
        raise WorkshopError(f"`{name}` is the name of a plugin that ships with strata-diag; choose another")
    return {
        "@name@": name,
        "@package@": f"strata_diag_{name.replace('-', '_')}",
        "@distribution@": f"strata-diag-{name}",
        "@version@": __version__,
    }


def _filled(text: str, words: dict[str, str]) -> str:
    for mark, word in words.items():
        text = text.replace(mark, word)
    return text
