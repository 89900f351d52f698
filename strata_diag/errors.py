"""The errors that strata-diag raises, and the one shape in which it reports a problem in a file.

    StrataDiagError
    ├── SourceError        a log can't be read
    └── RuleSetError       the rules can't be used
        ├── RulePackError  one or more problems in pack files, all of them at once
        ├── SettingsError  one or more problems in the settings that name packs
        └── NoRulesError   nothing was loaded: an empty rule set would call every log healthy

What goes wrong inside a run of `diagnose` (a plugin that raises, a pattern out of time) is no error but a `Notice`.
"""

from __future__ import annotations

from strata_diag.record import NamedTuple


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


class ProblemCode:
    """What kind of problem it is. Each has a page in `docs/lint`, and `rules lint` finds more than these."""

    UNREADABLE = "SD101"  # a file that can't be read, or holds nothing
    NOT_YAML = "SD102"  # or YAML that packs don't use: aliases, tags
    UNKNOWN_KEY = "SD103"
    DUPLICATE_KEY = "SD104"
    MISSING_KEY = "SD105"
    UNUSABLE_VALUE = "SD106"
    DUPLICATE_ID = "SD107"
    FILE_NAME = "SD108"
    CONTRADICTION = "SD109"  # keys that make no sense together
    UNKNOWN_RULE = "SD110"
    UNKNOWN_CAUSE = "SD111"
    UNKNOWN_REMEDY = "SD112"
    UNKNOWN_PHASE = "SD113"
    VOCABULARY = "SD114"
    CIRCLE = "SD115"
    WORDING = "SD116"  # of a remedy
    PATTERN = "SD201"  # that can't be compiled


class Problem(NamedTuple):
    """One thing wrong in one file, with its place (1-based; 0 where the whole file is meant) and what to do.

    column: 1-based, 0 where the whole line is meant; code: one of ProblemCode, or empty; instead: the word that was meant, where
    there is only one that it can be.
    """

    file: str
    line: int
    what: str
    advice: str
    column: int = 0
    code: str = ""
    instead: str = ""

    def __str__(self) -> str:
        parts = [self.file, *(str(number) for number in (self.line, self.column) if number)]
        return f"{':'.join(parts)}: {self.what}; {self.advice}"


class RuleSetError(StrataDiagError):
    """The rules can't be used, so no verdict of theirs could be trusted."""


class RulePackError(RuleSetError):
    """Pack files are broken. `problems` holds every one that was found, in the order of files and lines."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = tuple(sorted(problems))
        count = len(self.problems)
        head = f"{count} problem{'s' if count != 1 else ''} in the rule packs:"
        super().__init__("\n".join([head, *(f"  {problem}" for problem in self.problems)]))


class SettingsError(RuleSetError):
    """A settings file, or the variable beside it, can't be used. `problems` holds every one that was found, by line."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = tuple(sorted(problems))
        super().__init__("\n  ".join(str(problem) for problem in self.problems))


class NoRulesError(RuleSetError):
    """No rule was loaded at all."""

    def __init__(self, searched: list[str]) -> None:
        places = ", ".join(searched) if searched else "nothing: the built-in packs were left out and no other was named"
        super().__init__(
            f"no rules were loaded (searched: {places}); without rules every log would look healthy - "
            "name a folder of packs with --rules, or leave out --no-builtin-rules and --no-plugin builtin"
        )
        self.searched = tuple(searched)
