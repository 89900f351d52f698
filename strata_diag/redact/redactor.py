"""The redactor: what a text holds that is nobody's business, and what stands for it.

Every detector searches a copy of the text in which colours and what was found before are blanked out, so that no two
findings overlap and a coloured name is still a whole word. What was learnt is looked for last.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from strata_diag.model import Notice
from strata_diag.redact.detector import Detector, Found, Searched
from strata_diag.redact.keys import KeyBlocks
from strata_diag.redact.names import is_name, may_be_learnt, name_detectors
from strata_diag.redact.numbers import number_detectors
from strata_diag.redact.standins import MOST_STAND_INS, Replaced, StandIns, holds_stand_in
from strata_diag.redact.tokens import token_detectors
from strata_diag.ruleset import RuleSet

MOST_LEARNT = (
    200  # names that are replaced wherever they stand; further ones are replaced where they are proved to be names
)
BLANK = "\x00"
_COLOURS = re.compile(r"\x1b\[[0-?]*+[ -/]*+[@-~]")
_WORD = re.compile(r"[A-Za-z0-9]{4,}")
_CLASS = re.compile(r"\\[A-Za-z]")


@functools.cache
def _token_detectors() -> tuple[Detector, ...]:
    return token_detectors()


@functools.cache
def _name_detectors() -> tuple[Detector, ...]:
    return name_detectors()


@functools.cache
def _number_detectors() -> tuple[Detector, ...]:
    return number_detectors()


def words_of(rules: RuleSet) -> frozenset[str]:
    """The words that the patterns of these rules look for, in lower case: no name may take them out of a message."""
    return frozenset(
        word.lower() for pattern in rules.patterns for word in _WORD.findall(_CLASS.sub(" ", pattern.source))
    )


class Redactor:
    """Replaces what is private in the logs of one answer; the same secret has the same stand-in in all of them.

    keep: words that no name may replace outside the places which prove it to be a name (`words_of`). Text that was redacted
    once comes back unchanged. Not for several threads at once.
    """

    def __init__(self, keep: Iterable[str] = ()) -> None:
        self._keep = frozenset(keep)
        self._stand_ins = StandIns()
        self._learnt: dict[str, str] = {}
        self._overflowed = False
        self._keys = KeyBlocks()

    def begin(self) -> None:
        """Forget where the last log ended: the next text is the beginning of another."""
        self._keys = KeyBlocks()

    def line(self, text: str) -> str:
        """One line, or several, of a log, a name or a message, without what is private."""
        return self.replaced(text, self.find(text))

    def learn(self, text: str) -> None:
        """Only remember the names in a text, so that they are replaced in what comes before it too."""
        self._names(_without_colours(text), Searched(text))

    def find(self, text: str) -> list[Found]:
        """What is private in a text, in order of place."""
        searched = Searched(text)
        blanked = _without_colours(text)
        found = self._keys.find(blanked)
        blanked = _blanked(blanked, found)
        for detector in _token_detectors():
            blanked = self._search(detector, blanked, searched, found)
        names = self._names(blanked, searched)
        found += names
        blanked = _blanked(blanked, names)
        for detector in _number_detectors():
            blanked = self._search(detector, blanked, searched, found)
        learnt = self._learnt_names(searched)
        if learnt:
            self._search(learnt, blanked, searched, found)
        return sorted(found)

    def replaced(self, text: str, found: Iterable[Found]) -> str:
        """The text with stand-ins for what was found, each counted."""
        parts, position = [], 0
        for one in found:
            parts += [text[position : one.start], self._stand_ins.replace(one.kind, one.secret)]
            position = one.end
        return "".join([*parts, text[position:]])

    def summary(self) -> tuple[Replaced, ...]:
        """What was replaced so far, by kind: the stand-in and how often. Never the secret itself."""
        return self._stand_ins.summary()

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Which limits were crossed."""
        notices = [
            Notice("redact", f"more than {MOST_STAND_INS:,} secrets of the kind {kind}: the rest share one stand-in")
            for kind in sorted(self._stand_ins.full)
        ]
        if self._overflowed:
            text = f"more than {MOST_LEARNT} names: the rest is replaced only in paths, prompts and prefixes"
            notices.append(Notice("redact", text))
        return tuple(notices)

    def _search(self, detector: Detector, blanked: str, searched: Searched, found: list[Found]) -> str:
        """Add what a detector finds; the text without it."""
        hits = [one for one in detector.find(blanked, searched) if not self._stays(one)]
        found += hits
        return _blanked(blanked, hits)

    def _names(self, blanked: str, searched: Searched) -> list[Found]:
        names: list[Found] = []
        for detector in _name_detectors():
            blanked = self._search(detector, blanked, searched, names)
        for one in names:
            self._remember(one.kind, one.secret)
        return names

    def _remember(self, kind: str, name: str) -> None:
        forms = (name, name.partition(".")[0]) if kind == "host" else (name,)
        for form in map(str.lower, forms):
            if form in self._learnt or not may_be_learnt(form, self._keep):
                continue
            if len(self._learnt) >= MOST_LEARNT:
                self._overflowed = True
                return
            self._learnt[form] = kind

    def _stays(self, one: Found) -> bool:
        """Whether it is a stand-in, holds one (what is around it was looked at before), or is no name."""
        if self._stand_ins.is_stand_in(one.kind, one.secret):
            return True
        if one.kind in ("user", "host"):
            return holds_stand_in(one.secret) or not is_name(one.kind, one.secret)
        return one.kind == "serial" and holds_stand_in(one.secret)

    def _learnt_names(self, searched: Searched) -> Detector | None:
        present = tuple(sorted((name for name in self._learnt if searched.may_hold(name)), key=len, reverse=True))
        if not present:
            return None
        return _learnt_detector(tuple((name, self._learnt[name]) for name in present))


@functools.lru_cache(maxsize=64)
def _learnt_detector(names: tuple[tuple[str, str], ...]) -> Detector:
    """A detector of names as whole words: between other signs than letters and digits. Chinese is written without such."""
    kinds = []
    for kind in ("user", "host"):
        words = [_whole_word(name) for name, its_kind in names if its_kind == kind]
        if words:
            kinds.append(f"(?P<{kind}>{'|'.join(words)})")
    return Detector(re.compile("|".join(kinds), re.IGNORECASE), tuple(name for name, _ in names))


def _whole_word(name: str) -> str:
    escaped = re.escape(name)
    return rf"(?<![A-Za-z0-9]){escaped}(?![A-Za-z0-9])" if name.isascii() else escaped


def _without_colours(text: str) -> str:
    return _COLOURS.sub(lambda code: BLANK * len(code[0]), text) if "\x1b" in text else text


def _blanked(text: str, found: Iterable[Found]) -> str:
    """The text with NULs for what was found, everything else in its place."""
    parts, position = [], 0
    for one in sorted(found):
        parts += [text[position : one.start], BLANK * (one.end - one.start)]
        position = one.end
    return "".join([*parts, text[position:]]) if position else text
