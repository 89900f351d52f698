"""What lint looks for: every code with its severity and its name. Each has a page in `docs/lint` and keeps its number for ever.

SD1 files, keys and references; SD2 patterns; SD3 literals and their reach; SD4 samples; SD5 which rule wins; SD6 names and
options in texts, and what is unfinished; SD7 the healthy logs of a corpus.
"""

from __future__ import annotations

from typing import NamedTuple

from strata_diag.errors import ProblemCode

ERROR, WARNING, NOTE = "error", "warning", "note"  # notes inform; they never make the exit code 1
SEVERITIES = (ERROR, WARNING, NOTE)
PAGES = "docs/lint"  # where the page of each code stands, in the project's documentation


class Code(NamedTuple):
    """One kind of violation. severity: error | warning | note; name: what it is called, in words with hyphens; loads: found
    while the packs are read, so that it can't be switched off.
    """

    id: str
    severity: str
    name: str
    loads: bool = False

    @property
    def page(self) -> str:
        """The page that says what it is, why it matters and how to switch it off."""
        return f"{PAGES}/{self.id}.md"


OTHER_PROBLEM = "SD100"  # the packs can't be used for a reason without a code of its own
YAML_TRUTH, YAML_NUMBER, YAML_OCTAL, YAML_SEXAGESIMAL, YAML_OTHER = "SD121", "SD122", "SD123", "SD124", "SD125"
UNKNOWN_SWITCH, USELESS_SWITCH = "SD131", "SD132"
ACCIDENTAL_ANCHOR, MATCHES_EMPTY, BACKTRACKS = "SD202", "SD203", "SD204"
BARE_WORD, BARE_NUMBER, LETTER_CASE = "SD205", "SD206", "SD207"
NO_LITERAL, COMMON_LITERAL, NOT_REACHED = "SD301", "SD302", "SD303"
CLAUSE_WITHOUT_SAMPLE, NO_OTHER_SAMPLE, SAMPLE_MISSED, SAMPLE_CAUGHT = "SD401", "SD402", "SD403", "SD404"
NEVER_WINS, EQUAL_PRIORITY = "SD501", "SD502"
UNBOUND_NAME, UNFILLED_HOLE, UNKNOWN_FLAG, UNFINISHED = "SD601", "SD602", "SD603", "SD604"
FIRES_ON_HEALTHY = "SD701"

CODES = {
    code.id: code
    for code in (
        Code(OTHER_PROBLEM, ERROR, "unusable-pack", loads=True),
        Code(ProblemCode.UNREADABLE, ERROR, "unreadable-file", loads=True),
        Code(ProblemCode.NOT_YAML, ERROR, "invalid-yaml", loads=True),
        Code(ProblemCode.UNKNOWN_KEY, ERROR, "unknown-key", loads=True),
        Code(ProblemCode.DUPLICATE_KEY, ERROR, "duplicate-key", loads=True),
        Code(ProblemCode.MISSING_KEY, ERROR, "missing-key", loads=True),
        Code(ProblemCode.UNUSABLE_VALUE, ERROR, "unusable-value", loads=True),
        Code(ProblemCode.DUPLICATE_ID, ERROR, "duplicate-id", loads=True),
        Code(ProblemCode.FILE_NAME, ERROR, "wrong-file-name", loads=True),
        Code(ProblemCode.CONTRADICTION, ERROR, "contradictory-keys", loads=True),
        Code(ProblemCode.UNKNOWN_RULE, ERROR, "unknown-rule", loads=True),
        Code(ProblemCode.UNKNOWN_CAUSE, ERROR, "unknown-cause", loads=True),
        Code(ProblemCode.UNKNOWN_REMEDY, ERROR, "unknown-remedy", loads=True),
        Code(ProblemCode.UNKNOWN_PHASE, ERROR, "unknown-phase", loads=True),
        Code(ProblemCode.VOCABULARY, ERROR, "wrong-vocabulary", loads=True),
        Code(ProblemCode.CIRCLE, ERROR, "circle-of-rules", loads=True),
        Code(ProblemCode.WORDING, ERROR, "broken-wording", loads=True),
        Code(YAML_TRUTH, WARNING, "yaml-truth-value", loads=True),
        Code(YAML_NUMBER, WARNING, "yaml-number", loads=True),
        Code(YAML_OCTAL, WARNING, "yaml-octal-number", loads=True),
        Code(YAML_SEXAGESIMAL, WARNING, "yaml-sexagesimal-number", loads=True),
        Code(YAML_OTHER, WARNING, "yaml-null-or-date", loads=True),
        Code(UNKNOWN_SWITCH, ERROR, "unknown-switch", loads=True),
        Code(USELESS_SWITCH, WARNING, "useless-switch", loads=True),
        Code(ProblemCode.PATTERN, ERROR, "broken-pattern", loads=True),
        Code(ACCIDENTAL_ANCHOR, WARNING, "accidental-anchor"),
        Code(MATCHES_EMPTY, ERROR, "matches-empty-line"),
        Code(BACKTRACKS, WARNING, "backtracking"),
        Code(BARE_WORD, WARNING, "bare-word"),
        Code(BARE_NUMBER, WARNING, "bare-number"),
        Code(LETTER_CASE, ERROR, "letter-case"),
        Code(NO_LITERAL, WARNING, "no-literal"),
        Code(COMMON_LITERAL, WARNING, "common-literal"),
        Code(NOT_REACHED, NOTE, "silence-proves-nothing"),
        Code(CLAUSE_WITHOUT_SAMPLE, WARNING, "pattern-without-sample"),
        Code(NO_OTHER_SAMPLE, WARNING, "no-other-sample"),
        Code(SAMPLE_MISSED, ERROR, "sample-missed"),
        Code(SAMPLE_CAUGHT, ERROR, "sample-caught"),
        Code(NEVER_WINS, WARNING, "never-wins"),
        Code(EQUAL_PRIORITY, WARNING, "equal-priority"),
        Code(UNBOUND_NAME, WARNING, "unbound-name"),
        Code(UNFILLED_HOLE, WARNING, "unfilled-hole"),
        Code(UNKNOWN_FLAG, WARNING, "unknown-flag"),
        Code(UNFINISHED, WARNING, "unfinished"),
        Code(FIRES_ON_HEALTHY, ERROR, "fires-on-healthy-log"),
    )
}
BY_NAME = {code.name: code for code in CODES.values()}


def chosen(words: list[str]) -> frozenset[str]:
    """The ids of the codes that these words mean: an id, its beginning (`SD2`), a name. Raises KeyError with an unknown word."""
    found: set[str] = set()
    for word in words:
        named = BY_NAME.get(word)
        matching = {named.id} if named else {one for one in CODES if word.startswith("SD") and one.startswith(word)}
        if not matching:
            raise KeyError(word)
        found |= matching
    return frozenset(found)
