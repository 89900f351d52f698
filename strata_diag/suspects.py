"""Lines that look like an error although no rule knows them: what an UNKNOWN verdict points at.

Comes in: the last lines of a run and what is known of them. Goes out: at most five lines, most alarming first. A word never
decides a verdict; here it only says where a person should look.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from strata_diag.lazy import later_regex
from strata_diag.model import Suspect
from strata_diag.ruleset import RuleSet

MOST_SUSPECTS = 5
ALARMING = 3  # weight from which a line at the very end says that something went wrong
NEAREST_SHARE = 0.5  # of the words of a line and a sample together, above which a rule counts as near

_WEIGHTS = (
    (3, r"fatal|panic|abort(?:ed|ing)?\b|segmentation fault|core dumped|terminate called|traceback|unhandled|assert"),
    (3, r"refusing|giving up|\b(?:exiting|leaving|quitting|bailing)\b|can(?:no|')t continue|must stop|shutting down"),
    (3, r"stopping the"),
    (3, r"\berror\b|\b[A-Z]\w*(?:Error|Exception)\b|\bERR\b|\bfailed\b|\bfailure\b"),
    (
        2,
        r"cannot|can't|could not|couldn't|unable to|refused|denied|rejected|not (?:permitted|allowed|supported)|unsupported",
    ),
    (2, r"invalid|corrupt|mismatch|differs?\b|broken|violat|missing|not found|no such|out of range|overflow"),
    (2, r"illegal|unexpected|lost\b|dead\b|inconsistent|invariant|out of sync|disagree"),
    (2, r"\b(?:do|does|did|is|are|was|were)(?: not|n't)\b"),
    (2, r"killed|terminated|timed out|timeout|crash|hang|hung|stall|exhausted|out of memory"),
    (1, r"warn(?:ing)?\b|retry|ignored|disabled|twice|wrong|bad\b"),
)
_PATTERNS = tuple((weight, later_regex(words, ignore_case=True)) for weight, words in _WEIGHTS)
# pieces of all words above: a line without any of them is calm, and needs no regular expression
_STEM_WORDS = (
    "fatal panic abort segmentation dumped terminat traceback unhandled assert refus giving exiting leaving quitting "
    "bailing continue must shutting stopping err exception fail cannot can't could unable denied reject not support "
    "invalid corrupt mismatch differ broken violat missing found such out overflow illegal unexpected lost dead "
    "inconsistent invariant sync disagree n't killed timed timeout crash hang hung stall exhausted warn retry ignored "
    "disabled twice wrong bad"
)
_STEMS = _STEM_WORDS.split()
_CALM = later_regex(r"\bno error\b|\b0 errors?\b|errors?=0|without error|error[-_ ]free", ignore_case=True)
_WORDS = later_regex(r"[A-Za-z_]{3,}")
_PATH = later_regex(r"(?:\b[A-Za-z]:)?(?:[/\\][^\s/\\:]+){2,}")  # a folder named `failed` says nothing
_BACKTRACE = later_regex(
    r"^\s*(?:#\d+\s|\[?0x[0-9a-f]+|.*\(\+0x[0-9a-f]+\)\s*\[0x|File \"|~+\^*|\^+\s*$)", ignore_case=True
)


def alarm(text: str) -> int:
    """How much a line looks like an error: 0 not at all, 3 and more a lot."""
    lowered = text.lower()
    if not any(stem in lowered for stem in _STEMS) or _BACKTRACE.match(text):
        return 0
    plain = _PATH.sub("", _CALM.sub("", text))
    return sum(weight for weight, pattern in _PATTERNS if pattern.search(plain))


def _may_be_backtrace(text: str) -> bool:
    return text.lstrip()[:1] in "#[0~^" or "0x" in text.lower() or 'file "' in text.lower()


def find_suspects(tail: Collection[tuple[int, str]], known: Collection[int], rules: RuleSet) -> tuple[Suspect, ...]:
    """The lines of a run's tail that look most like an error and that no rule explains (`known`: lines that one does)."""
    weighed = [(alarm(text), line, text) for line, text in tail if line not in known]
    worst = sorted((one for one in weighed if one[0]), key=lambda one: (-one[0], -one[1]))[:MOST_SUSPECTS]
    return tuple(Suspect(line, text, nearest_rule(text, rules)) for _, line, text in worst)


def ends_alarmingly(tail: Collection[tuple[int, str]], known: Collection[int]) -> bool:
    """Whether the last line of a run (backtrace and blank lines aside) looks like an error that no rule knows."""
    for line, text in reversed(list(tail)):
        if not text.strip() or (_may_be_backtrace(text) and _BACKTRACE.match(text)):
            continue
        return line not in known and alarm(text) >= ALARMING
    return False


def nearest_rule(text: str, rules: RuleSet) -> str:
    """The id of the rule whose sample shares most words with a line; empty where none shares more than half of both."""
    words = _words(text)
    shares = ((-_share(words, _words(sample)), rule.id) for rule in rules.rules for sample in rule.sample_match)
    share, nearest = min(shares, default=(0.0, ""))
    return nearest if -share > NEAREST_SHARE else ""


def _share(some: frozenset[str], others: frozenset[str]) -> float:
    return len(some & others) / max(len(some | others), 1)


@lru_cache(maxsize=8192)
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORDS.findall(text))
