"""A rule for a line of a log, as the text of a pack: everything that can be known filled in, the rest marked TODO.

Comes in: the lines of a log, the number of one, the rules that there are. Goes out: YAML that loads and passes its own
samples as it stands. What a person must decide (is it a cause or a consequence, which cause, what to do) is never guessed in
silence: each guess has its reason beside it.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

import yaml

from strata_diag.model import DECIDING_ROLES, Role
from strata_diag.redact import Redactor, words_of
from strata_diag.ruleset import Rule, RuleSet, compile_pattern, is_deciding
from strata_diag.suspects import ALARMING, alarm, nearest_rule
from strata_diag.testing import fast_matches
from strata_diag.workshop.errors import WorkshopError
from strata_diag.workshop.generalise import escaped, generalise
from strata_diag.workshop.guesses import Guess, guess_priority, guess_role
from strata_diag.workshop.prefixes import Message, message_of
from strata_diag.workshop.schema import MODELINE

NEIGHBOURS = 3  # lines on each side in which other rules are looked for
HEALTHY_REACH = 40  # lines on each side in which a line that must not match is looked for
LONGEST_SAMPLE = 1000  # characters
FEWEST_LETTERS = 8  # that a pattern must keep as they are: with fewer it would match strangers' lines
COMMENT_WIDTH = 118  # columns of a comment
UNDECIDED = "unknown"  # the cause that every rule set has
_WORD = re.compile(r"[A-Za-z]{3,}")
_FRAME = re.compile(r"\[0x[0-9a-fA-F]+\]|\A(?:#\d+ |at |File \")")  # of a stack: no message, and no line like another


class Wishes(NamedTuple):
    """What the author has decided already; empty where it is to be guessed or left open. schema: for editors, a path."""

    pack: str
    name: str
    role: str = ""
    cause: str = ""
    title: str = ""
    schema: str = "pack.schema.json"


class NewRule(NamedTuple):
    """A rule as text: `rule` is one item of a list, not indented, `pack` a whole file with it. pattern: its regex."""

    rule: str
    pack: str
    pattern: str


class Material(NamedTuple):
    """What is known about the line: its message, the sample, the pattern, and rules that match nearby, by line."""

    message: Message
    sample: str
    pattern: str
    number: int
    nearby: dict[int, list[Rule]]


def write_rule(lines: list[str], number: int, rules: RuleSet, wishes: Wishes) -> NewRule:
    """The rule for a 1-based line. Raises WorkshopError for a line that there isn't, or that holds nothing to recognise."""
    identity = f"{wishes.pack}/{wishes.name}"
    if identity in rules.by_id:
        known = rules.by_id[identity]
        raise WorkshopError(f"the rule {identity} exists already ({known.file}:{known.line}); choose another name")
    redactor = Redactor(words_of(rules))
    found = _material(lines, number, rules, redactor)
    healthy = _healthy_line(lines, found, rules, redactor)
    text = "\n".join(_rule_lines(found, healthy, rules, wishes)) + "\n"
    return NewRule(text, _pack_text(text, wishes), found.pattern)


def _material(lines: list[str], number: int, rules: RuleSet, redactor: Redactor) -> Material:
    if not 1 <= number <= len(lines):
        raise WorkshopError(f"there is no line {number}; the log has {len(lines)} lines")
    message = message_of(lines[number - 1])
    redactor.learn("\n".join(lines[max(number - 1 - HEALTHY_REACH, 0) : number + HEALTHY_REACH]))
    sample = redactor.line(message.text)[:LONGEST_SAMPLE]
    pattern = generalise(sample).source
    for replaced in redactor.summary():  # a stand-in is no word of the program
        pattern = pattern.replace(escaped(replaced.stand_in), r"\S+")
    if sum(character.isalpha() for character in _literal_part(pattern)) < FEWEST_LETTERS:
        raise WorkshopError(
            f"line {number} holds no words by which it could be known: {message.text[:80]!r}; take another line"
        )
    first = max(number - NEIGHBOURS, 1)
    window = lines[first - 1 : number + NEIGHBOURS]
    nearby: dict[int, list[Rule]] = {}
    for match in sorted(fast_matches("\n".join(window).encode("utf-8", "replace"), rules)):
        rule = rules.rule_of(match.pattern)
        here = nearby.setdefault(first + match.line - 1, [])
        if rule not in here:
            here.append(rule)
    return Material(message, sample, pattern, number, nearby)


def _literal_part(pattern: str) -> str:
    """A pattern without its groups and classes: the words that it asks for."""
    return re.sub(r"\(\?P<[^>]+>(?:\[[^\]]*\]|\\.|[^()\[\]])*\)|\\.", " ", pattern)


def _healthy_line(lines: list[str], found: Material, rules: RuleSet, redactor: Redactor) -> Guess:
    """A line that must not match: of the calm neighbours the one that reads most alike, else a part of the line itself."""
    compiled = compile_pattern(found.pattern)
    first = max(found.number - HEALTHY_REACH, 1)
    near = lines[first - 1 : found.number + HEALTHY_REACH]
    deciding = {
        match.line
        for match in fast_matches("\n".join(near).encode("utf-8", "replace"), rules)
        if is_deciding(rules.rule_of(match.pattern))
    }
    calm = [
        message_of(line).text for place, line in enumerate(near, 1) if place not in deciding and alarm(line) < ALARMING
    ]
    shown = [redactor.line(text)[:LONGEST_SAMPLE] for text in calm if text and not _FRAME.search(text)]
    usable = [text for text in dict.fromkeys(shown) if not compiled.search(text)]
    if usable:
        best = max(usable, key=lambda text: _likeness(text, found.sample))
        return Guess(best, "a calm line of the same log; better is one that comes nearer and is healthy")
    part = _without_the_end(found.sample)
    return Guess(part, "no calm line stands near, so this is only a part of the line; put a healthy line in its place")


def _likeness(one: str, other: str) -> float:
    """How many words two lines share in the same order, from 0 to 1."""
    return SequenceMatcher(None, _WORD.findall(one.lower()), _WORD.findall(other.lower())).ratio()


def _without_the_end(sample: str) -> str:
    words = sample.split(" ")
    return " ".join(words[: max(len(words) // 2, 1)]) if len(words) > 1 else sample[: len(sample) // 2]


def _rule_lines(found: Material, healthy: Guess, rules: RuleSet, wishes: Wishes) -> Iterator[str]:
    role = Guess(wishes.role, "") if wishes.role else guess_role(found.message)
    here = found.nearby.get(found.number, [])
    yield f"- id: {wishes.name}"
    yield f"  role: {role.value}" + (f"  # TODO guessed: {role.why}" if role.why else "")
    if role.value in DECIDING_ROLES:
        yield from _deciding_lines(found, here, rules, wishes)
    title = wishes.title or f"TODO say what happened ({textwrap.shorten(found.sample, 60, placeholder=' ...')})"
    yield f"  title: {_quoted(title)}"
    yield f"  why: {_quoted('TODO say why it happens' if role.value in DECIDING_ROLES else 'TODO say why it is harmless')}"
    yield from _neighbour_comments(found, here)
    yield "  any:"
    yield f"    - regex: {_quoted(found.pattern)}"
    yield from _role_keys(Role(role.value), found, rules)
    yield "  samples:"
    yield "    match:"
    yield f"      - {_quoted(found.sample)}"
    yield "    no_match:"
    yield f"      # TODO {healthy.why}"
    yield f"      - {_quoted(healthy.value)}"


def _deciding_lines(found: Material, here: list[Rule], rules: RuleSet, wishes: Wishes) -> Iterator[str]:
    if not wishes.cause:
        known = [cause for cause in rules.causes if cause not in ("none", UNDECIDED)]
        yield from _comment(f"TODO the cause is one of: {', '.join(known)}")
        near = nearest_rule(found.sample, rules)
        if near and rules.by_id[near].cause:
            yield from _comment(f"nearest by its words is the rule {near}, whose cause is {rules.by_id[near].cause}")
    yield f"  cause: {wishes.cause or UNDECIDED}"
    priority = guess_priority(found.message, {rule.priority for rule in here})
    yield from _comment(
        f"TODO guessed: {priority.why} (900 refusals with numbers, 800 GPU APIs, 700 system, 600 components, "
        "400 assertions, 300 wrappers, 100 generic)"
    )
    yield f"  priority: {priority.value}"


def _neighbour_comments(found: Material, here: list[Rule]) -> Iterator[str]:
    if here:
        names = ", ".join(f"{rule.id} ({rule.role}, {rule.priority})" for rule in here)
        yield from _comment(
            f"TODO this line is matched already by {names}: is a new rule needed, and which should win?"
        )
    for line, others in found.nearby.items():
        if line == found.number:
            continue
        away = abs(line - found.number)
        where = f"{away} line{'s' if away > 1 else ''} {'above' if line < found.number else 'below'}"
        names = ", ".join(f"{rule.id} ({rule.role})" for rule in others)
        yield from _comment(f"{where}, {names} match{'es' if len(others) == 1 else ''}")
    if any(is_deciding(rule) for line, others in found.nearby.items() if line != found.number for rule in others):
        yield from _comment(
            "TODO if one of these is the cause, name it in `yields_to`; if it follows from this line, in `explains`"
        )


def _role_keys(role: Role, found: Material, rules: RuleSet) -> Iterator[str]:
    """The keys without which a role can't be loaded. Raises WorkshopError where nothing can be put in."""
    if role is Role.RECOVERY:
        above = [
            rule.id
            for line, others in found.nearby.items()
            if line < found.number
            for rule in others
            if is_deciding(rule)
        ]
        if not above:
            raise WorkshopError(
                f"a recovery takes back rules, and none matches the {NEIGHBOURS} lines above; write theirs first"
            )
        yield f"  cancels: [{', '.join(above)}]  # TODO the rules that this line takes back"
    if role is Role.RUN_START:
        phases = [f"{track}/{name}" for track, names in rules.tracks.items() for name in names]
        if not phases:
            raise WorkshopError(
                "a run-start needs a phase, and no pack declares one; write `phases:` into the pack first"
            )
        yield f"  phase: {phases[0]}  # TODO the phase that begins here, one of {', '.join(phases)}"
    if role in DECIDING_ROLES:
        yield "  # TODO remedies: [...], in order of cost; those of the cause follow"


def _comment(text: str) -> list[str]:
    return [
        f"  # {line}" for line in textwrap.wrap(text, COMMENT_WIDTH, break_on_hyphens=False, break_long_words=False)
    ]


def _quoted(text: str) -> str:
    """A text as a scalar of one line, in single quotes where it may stand in them."""
    written: str = yaml.safe_dump(text, default_style="'", allow_unicode=True, width=10 * LONGEST_SAMPLE)
    return written.rstrip("\n")


def _pack_text(rule: str, wishes: Wishes) -> str:
    head = [
        f"{MODELINE}{wishes.schema}",
        f"pack: {wishes.pack}",
        "version: 1",
        "about: TODO what these rules are about",
        "engines: []  # TODO whose lines these are, such as llama.cpp",
        "rules:",
    ]
    return "\n".join(head) + "\n" + textwrap.indent(rule, "  ")
