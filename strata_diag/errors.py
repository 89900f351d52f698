"""The errors that strata-diag raises, and the one shape in which it reports a problem in a file.

    StrataDiagError
    ├── SourceError        a log can't be read
    └── RuleSetError       the rules can't be used
        ├── RulePackError  one or more problems in pack files, all of them at once
        └── NoRulesError   nothing was loaded: an empty rule set would call every log healthy

What goes wrong inside a run of `diagnose` (a plugin that raises, a pattern out of time) is no error but a `Notice`.
"""

from __future__ import annotations

from typing import NamedTuple


class StrataDiagError(Exception):
    """The root of everything that strata-diag raises on purpose; its text is meant for a person."""


class SourceError(StrataDiagError):
    """A log can't be read.

    name: the path or a word for the stream; reason: what the system said; advice: what to do about it.
    """

    def __init__(self, name: str, reason: str, advice: str) -> None:
        super().__init__(f"{name}: {reason}; {advice}")
        self.name = name
        self.reason = reason
        self.advice = advice


class Problem(NamedTuple):
    """One thing wrong in one file, with its place (1-based; 0 where the whole file is meant) and what to do."""

    file: str
    line: int
    what: str
    advice: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.what}; {self.advice}"


class RuleSetError(StrataDiagError):
    """The rules can't be used, so no verdict of theirs could be trusted."""


class RulePackError(RuleSetError):
    """Pack files are broken. `problems` holds every one that was found, in the order of files and lines."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = tuple(sorted(problems))
        count = len(self.problems)
        head = f"{count} problem{'s' if count != 1 else ''} in the rule packs:"
        super().__init__("\n".join([head, *(f"  {problem}" for problem in self.problems)]))


class NoRulesError(RuleSetError):
    """No rule was loaded at all."""

    def __init__(self, searched: list[str]) -> None:
        places = ", ".join(searched) if searched else "nothing: the built-in packs were left out and no other was named"
        super().__init__(
            f"no rules were loaded (searched: {places}); without rules every log would look healthy - "
            "name a folder of packs with --rules, or leave out --no-builtin-rules and --no-plugin builtin"
        )
        self.searched = tuple(searched)
