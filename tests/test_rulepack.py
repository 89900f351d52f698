"""Pack files: what a good one becomes, and how each broken thing in one is reported."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packs import CAUSES, load, load_rules_text, pack_text, problems_of, rule, write_packs

from strata_diag.errors import NoRulesError, Problem, RulePackError
from strata_diag.model import Role, Status
from strata_diag.rulepack import PackSource, keys, load_packs
from strata_diag.rulepack.link import REFERENCES
from strata_diag.ruleset import Clause, PackInfo
from strata_diag.yamlfile import LARGEST_FILE

# Good packs

WHOLE = """\
pack: whole
version: 7
about: a pack with every key
engines: [strata]
phases:
  log: [start, loaded]
remedies:
  wait-a-little: {text: Wait a little.}
rules:
  - id: full
    role: failure
    cause: card-full
    priority: 810
    title: The card is full
    why: It says so
    any:
      - regex: 'full (?P<mib>\\d+)'
      - sequence: [first, second]
        within: 9
    all:
      - count: often
        at_least: 4
    none:
      - last: calm
        within: 3
      - near: [one, two, three]
      - facts: exit_code == 0
    when: ['mib > 0']
    unless: [loaded]
    yields_to: [whole/aborted]
    survives_ready: true
    lasting: false
    retry: never
    remedies: [wait-a-little]
    cause_remedies: false
    references: ['#1']
    samples:
      match: [full 12]
      no_match: [empty]
  - {id: aborted, role: symptom, cause: card-busy, title: Aborted, any: [{regex: aborted, needs: [ABORT, bort]}]}
  - {id: loaded, role: ready, phase: log/loaded, title: Loaded, any: [{regex: loaded}]}
  - {id: start, role: run-start, phase: log/start, repeats: true, title: Start, any: [{regex: start}]}
  - {id: back, role: recovery, title: Back, cancels: [full, 'abort*'], any: [{regex: '(?i)back', needs: [BACK]}]}
  - {id: seen, role: failure, cause: card-full, title: Seen, found_by: a plugin, explains: ['whole/*']}
  - {id: hint, role: info, title: Hint, any: [{regex: hint}]}
"""


def test_a_pack_becomes_rules(tmp_path: Path) -> None:
    """Every key of a pack arrives in the rule set, with references as full ids and patterns as numbers."""
    rules = load(write_packs(tmp_path, whole=WHOLE.replace("explains: ['whole/*']", "explains: [hint]")))
    full = rules.by_id["whole/full"]
    assert full._replace(any=(), all=(), none=(), file="") == full._replace(
        number=0, id="whole/full", pack="whole", pack_version=7, file="", line=10, role=Role.FAILURE, cause="card-full",
        priority=810, title="The card is full", why="It says so", any=(), all=(), none=(), when=("mib > 0",),
        unless=("whole/loaded",), yields_to=("whole/aborted",), explains=(), cancels=(), survives_ready=True, track="",
        phase=0, repeats=False, found_by="", lasting=False, retry="never", remedies=("wait-a-little",), cause_remedies=False,
        references=("#1",), sample_match=("full 12",), sample_no_match=("empty",),
    )  # fmt: skip
    assert Path(full.file) == tmp_path / "whole.yaml"
    assert full.any == (Clause("regex", (0,)), Clause("sequence", (1, 2), within=9))
    assert full.all == (Clause("count", (3,), at_least=4),)
    assert full.none == (
        Clause("last", (4,), within=3),
        Clause("near", (5, 6, 7), within=5),
        Clause("facts", expression="exit_code == 0"),
    )
    assert rules.packs == (PackInfo("whole", 7, "a pack with every key", full.file, "test", 7, ("strata",)),)
    assert rules.tracks == {"log": ("start", "loaded")}
    assert set(rules.remedies) == {"wait-a-little"}


def test_what_a_rule_does_not_say_is_not_so(tmp_path: Path) -> None:
    """A rule of nothing but its required keys vetoes, explains, cancels and survives nothing, and asks no condition."""
    rules = load_rules_text(tmp_path, GOOD)
    plain = rule("sample/good", title="t", why="", pack_version=1, line=5, file=str(tmp_path / "sample.yaml"))
    assert rules.rules == (plain._replace(any=(Clause("regex", (0,)),)),)


def test_names_become_full_ids(tmp_path: Path) -> None:
    """A name without a pack means the same pack; wildcards stand for every rule but the one that names them."""
    rules = load(write_packs(tmp_path, whole=WHOLE.replace("    yields_to: [whole/aborted]\n", "")))
    assert rules.by_id["whole/back"].cancels == ("whole/full", "whole/aborted")
    assert rules.by_id["whole/seen"].explains == (
        "whole/full", "whole/aborted", "whole/loaded", "whole/start", "whole/back", "whole/hint",
    )  # fmt: skip


def test_phases_become_numbers(tmp_path: Path) -> None:
    """A phase is a place on its track."""
    rules = load(write_packs(tmp_path, whole=WHOLE))
    assert [(one.track, one.phase, one.repeats) for one in rules.rules if one.track] == [
        ("log", 1, False),
        ("log", 0, True),
    ]


def test_priorities_have_a_default_by_role(tmp_path: Path) -> None:
    """Information claims, a failure comes before a symptom, and what never decides has none."""
    rules = load(write_packs(tmp_path, whole=WHOLE))
    given = {one.id.partition("/")[2]: one.priority for one in rules.rules}
    assert given["hint"] > given["full"] > given["seen"] > given["aborted"] > given["loaded"] == given["start"] == 0


def test_needs_are_literals_that_win_over_derived_ones(tmp_path: Path) -> None:
    """An author who knows better names the words by which a line is nominated."""
    rules = load(write_packs(tmp_path, whole=WHOLE))
    literals = {pattern.source: (pattern.literals, pattern.caseless) for pattern in rules.patterns}
    assert literals["aborted"] == ((b"ABORT", b"bort"), False)
    assert literals["(?i)back"] == ((b"back",), True)
    assert literals["loaded"] == ((b"loaded",), False)


def test_causes_and_remedies_come_from_any_file(tmp_path: Path) -> None:
    """A pack beside others may bring causes and remedies of its own; catalogues are read before packs."""
    more = cause(status="CRASH", remedies="[cool]").replace("hot", "too-hot")
    steps = step("{text: Cool it., commands: {any: cool}}").replace("wait", "cool")
    rule = "  - {id: hot, role: failure, cause: too-hot, title: Hot, any: [{regex: too hot}], remedies: [cool]}\n"
    rules = load(write_packs(tmp_path, zz_more=more, remedies=steps, aa=pack_text(rule, name="aa")))
    assert rules.causes["too-hot"].status is Status.CRASH
    assert rules.remedies["cool"].commands == {"any": "cool"}
    assert rules.by_id["aa/hot"].cause == "too-hot"


def test_packs_of_several_sources_know_each_other(tmp_path: Path) -> None:
    """A folder, a single file and a mapping make one rule set, and its packs tell who brought them."""
    own = write_packs(
        tmp_path / "own", own=pack_text("  - {id: one, role: ready, title: t, any: [{regex: abcd}]}\n", name="own")
    )
    single = tmp_path / "single.yaml"
    single.write_text(
        pack_text(
            "  - {id: two, role: failure, cause: card-full, title: t, yields_to: [mapped/three], any: [{regex: efgh}]}\n",
            name="single",
        ),
        "utf-8",
    )
    three = {"id": "three", "role": "failure", "cause": "card-busy", "title": "t", "any": [{"regex": "ijkl"}]}
    mapped: Mapping[str, Any] = MappingProxyType(
        {"pack": "mapped", "version": 1, "about": "a mapping", "rules": [three]}
    )
    rules = load_packs([PackSource("builtin", own), PackSource("--rules", single), PackSource("a-plugin", mapped)])
    assert [(pack.name, pack.plugin) for pack in rules.packs] == [
        ("own", "builtin"),
        ("single", "--rules"),
        ("mapped", "a-plugin"),
    ]
    assert rules.by_id["single/two"].yields_to == ("mapped/three",)
    assert "a-plugin" in rules.by_id["mapped/three"].file


# Vocabularies

VOCABULARIES = """\
vocabularies:
  words:
    - {id: full, text: 'out of (?:memory|space)', sample: out of memory, cause: card-full, title: it is full}
    - {id: busy, text: 'in use', sample: in use, cause: card-busy, title: it is in use}
    - {id: busy-too, text: 'in use again', sample: in use again, cause: card-busy, title: it is in use again}
"""
EXPANDED = """\
  - id: call-<<words>>
    role: failure
    expand: words
    title: "The call failed: <<words>>"
    why: Because <<words>>
    any: [{regex: 'call failed: <<words>>'}]
    samples:
      match: ['call failed: <<words>>', call failed]
      no_match: ['call went well, not <<words>>']
"""


def expanded(folder: Path, **changes: str) -> dict[str, Any]:
    """The rules that EXPANDED becomes, by the last part of their ids; `changes`: keys that are added to it."""
    added = "".join(f"    {key}: {value}\n" for key, value in changes.items())
    rules = load_rules_text(folder, EXPANDED + added, vocabularies=VOCABULARIES)
    return {rule.id.partition("-")[2]: (rule, rules.patterns[rule.any[0].patterns[0]].source) for rule in rules.rules}


def test_a_vocabulary_makes_a_rule_of_each_entry(tmp_path: Path) -> None:
    """Patterns get an entry's pattern, titles its words, samples its sample; the cause is the entry's."""
    made = expanded(tmp_path)
    assert list(made) == ["full", "busy", "busy-too"]
    rule, source = made["full"]
    assert (rule.cause, source) == ("card-full", "call failed: out of (?:memory|space)")
    assert (rule.title, rule.why) == ("The call failed: it is full", "Because it is full")
    assert rule.sample_match == ("call failed: out of memory", "call failed")


def test_what_an_entry_says_nothing_about_stays(tmp_path: Path) -> None:
    """Numbers and truth values of a rule are those of each of its expansions."""
    made = expanded(tmp_path, priority="710", survives_ready="true", references="['#<<words>>']")
    assert {(rule.priority, rule.survives_ready) for rule, _ in made.values()} == {(710, True)}
    assert [rule.references for rule, _ in made.values()] == [("#full",), ("#busy",), ("#busy-too",)]


def test_an_expanded_rule_must_not_match_another_entry(tmp_path: Path) -> None:
    """What must match for one entry must not for another; an entry that contains this one is no counterexample."""
    made = expanded(tmp_path)
    assert made["full"][0].sample_no_match == ("call went well, not in use", "call failed: in use")
    assert made["busy-too"][0].sample_no_match == ("call went well, not out of memory", "call failed: out of memory")


def test_a_vocabulary_of_one_entry_has_no_counterexample(tmp_path: Path) -> None:
    """With nothing to compare to, the entry itself fills what is written."""
    alone = "\n".join(VOCABULARIES.splitlines()[:3]) + "\n"
    rules = load_rules_text(tmp_path, EXPANDED, vocabularies=alone)
    assert rules.rules[0].sample_no_match == ("call went well, not out of memory",)


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        pytest.param({"only": "[busy]"}, ["busy"], id="only"),
        pytest.param({"except": "[busy, busy-too]"}, ["full"], id="except"),
        pytest.param({"only": "[busy, full]", "except": "[busy]"}, ["full"], id="both"),
    ],
)
def test_a_rule_may_use_a_part_of_a_vocabulary(changes: dict[str, str], names: list[str], tmp_path: Path) -> None:
    """`only` and `except` choose among the entries."""
    assert list(expanded(tmp_path, **changes)) == names


@pytest.mark.parametrize(
    ("changes", "causes"),
    [
        pytest.param({"cause": "wrong-option"}, ["wrong-option"] * 3, id="one for all"),
        pytest.param(
            {"causes": "{busy: wrong-option}"}, ["card-full", "wrong-option", "card-busy"], id="one of its own"
        ),
        pytest.param(
            {"cause": "card-busy", "causes": "{busy: wrong-option}"},
            ["card-busy", "wrong-option", "card-busy"],
            id="both",
        ),
    ],
)
def test_a_rule_may_name_other_causes_than_its_vocabulary(
    changes: dict[str, str], causes: list[str], tmp_path: Path
) -> None:
    """The same words may mean something else where another call prints them."""
    assert [rule.cause for rule, _ in expanded(tmp_path, **changes).values()] == causes


# Broken packs: one thing at a time. `@` marks the line that the complaint must name.

GOOD = "  - {id: good, role: failure, cause: card-full, title: t, any: [{regex: good}]}\n"


def one(**changes: str) -> str:
    """A rule `one` in block style; an empty change takes its key out."""
    keys_of_rule = {
        "id": "one", "role": "failure", "cause": "card-full", "title": "One", "any": "[{regex: abcd}]",
    } | changes  # fmt: skip
    lines = [f"    {key}: {value}\n" for key, value in keys_of_rule.items() if value]
    return GOOD + "  -" + lines[0][3:] + "".join(lines[1:])


def assert_one_problem(folder: Path, file: Path, line: int, what: str, advice: str) -> None:
    """A folder is refused for one problem, in this line of this file, and it says this."""
    (problem, *others) = problems_of(folder)
    assert others == []
    assert (problem.file, problem.line) == (str(file), line)
    assert what in problem.what
    assert advice in problem.advice


def marked(text: str) -> tuple[str, int]:
    """A text without its mark `@`, and the 1-based line in which the mark stood."""
    before, _, after = text.partition("@")
    return before + after, before.count("\n") + 1


@pytest.mark.parametrize(
    ("rule", "what", "advice"),
    [
        pytest.param(
            one(piority="@800"),
            "unknown key `piority` in the rule `one`",
            "did you mean `priority`?",
            id="misspelt key",
        ),
        pytest.param(one(colour="@red"), "unknown key `colour`", "the rule `one` knows: id, role, ", id="unknown key"),
        pytest.param(
            one(any="[{regexp: abcd}]@"),
            "unknown key `regexp` in a clause",
            "did you mean `regex`?",
            id="misspelt clause",
        ),
        pytest.param(
            one(samples="{match: [abcd], nomatch: [x]}@"),
            "unknown key `nomatch` in the samples of the rule `one`",
            "did you mean `no_match`?",
            id="misspelt sample",
        ),
        pytest.param(
            one(samples="{match: abcd}@"),
            "`match` of the samples",
            "write a list of texts",
            id="sample that is no list",
        ),
        pytest.param(
            one(title="One\n    title: @Two"),
            "the key `title` stands twice (first in line 9)",
            "keep one",
            id="duplicate key",
        ),
        pytest.param(
            one(id="@good"), "the id `sample/good` stands twice (first in ", "rename one of them", id="duplicate id"
        ),
        pytest.param(one(id="@Not Good"), "`id` of the rule `Not Good`", "lower case with hyphens", id="bad id"),
        pytest.param(
            one(id="@of-<<words>>"), "expands nothing", "write `expand:", id="a vocabulary in an id without expand"
        ),
        pytest.param(
            one(any="[{regex: 'abcd <<words>>'}]@"), "<<words>>", "write `expand:", id="a vocabulary in a pattern"
        ),
        pytest.param(one(only="[full]@"), "has `only` without `expand`", "`expand:", id="only without expand"),
        pytest.param(one(id="@one", title=""), "the rule `one` lacks `title`", "add `title:`", id="missing key"),
        pytest.param(one(role="@failed"), "`role` of the rule `one`", "did you mean `failure`?", id="unknown role"),
        pytest.param(one(role="@x"), "`role` of the rule `one`", "write one of: failure, symptom", id="absurd role"),
        pytest.param(one(title="@5"), "`title` of the rule `one`", "write a text, in quotes", id="number for a text"),
        pytest.param(one(title="@no"), "`title` of the rule `one`", "write a text, in quotes", id="truth for a text"),
        pytest.param(one(title="@' '"), "`title` of the rule `one`", "write a text", id="blank text"),
        pytest.param(one(title="@null"), "`title` of the rule `one`", "write a text", id="no text"),
        pytest.param(
            one(priority="@high"),
            "`priority` of the rule `one`",
            "a whole number from 0 to 999",
            id="word for a number",
        ),
        pytest.param(one(priority="@1000"), "`priority` of the rule `one`", "from 0 to 999", id="priority too high"),
        pytest.param(one(priority="@-1"), "`priority` of the rule `one`", "from 0 to 999", id="priority too low"),
        pytest.param(one(priority="@true"), "`priority` of the rule `one`", "a whole number", id="truth for a number"),
        pytest.param(one(priority="@5.5"), "`priority` of the rule `one`", "a whole number", id="broken number"),
        pytest.param(
            one(lasting="@'yes'"), "`lasting` of the rule `one`", "write true or false", id="text for a truth"
        ),
        pytest.param(one(retry="@later"), "`retry` of the rule `one`", "write one of: now, never", id="unknown retry"),
        pytest.param(
            one(retry="@after:card-fre"), "`retry` of the rule", "did you mean `after:card-free`?", id="misspelt retry"
        ),
        pytest.param(
            one(remedies="@wait"), "`remedies` of the rule `one`", "write a list of texts", id="text for a list"
        ),
        pytest.param(one(unless="@[5]"), "`unless` of the rule `one`", "write a list of texts", id="list of numbers"),
        pytest.param(
            one(any="@{regex: abcd}"), "`any` of the rule `one`", "a list of mappings", id="mapping for a list"
        ),
        pytest.param(one(any="@[abcd]"), "`any` of the rule `one`", "a list of mappings", id="texts for clauses"),
        pytest.param(one(samples="@[abcd]"), "`samples` of the rule `one`", "write a mapping", id="list for a mapping"),
        pytest.param(one(when="@[slots ==]"), "`when` of the rule `one`", "mend `slots ==`", id="broken condition"),
        pytest.param(
            one(when="@slots == 0"), "`when` of the rule `one`", "list of comparisons", id="condition outside a list"
        ),
        pytest.param(one(any="[{facts: 'import os'}]@"), "`facts` of a clause", "mend `import os`", id="broken facts"),
        pytest.param(
            one(any="[{regex: '(abcd'}]@"), "pattern that can't be compiled", "mend the pattern", id="bad pattern"
        ),
        pytest.param(
            one(any="[{sequence: [abcd, '*x']}]@"), "pattern that can't be compiled", "mend the", id="bad in a sequence"
        ),
        pytest.param(one(any="[{}]@"), "has no kinds", "exactly one of regex, sequence", id="empty clause"),
        pytest.param(
            one(any="[{regex: a, count: b}]@"), "has 2 kinds", "exactly one of regex", id="two kinds in a clause"
        ),
        pytest.param(
            one(any="[{sequence: [abcd]}]@"), "`sequence` needs two patterns", "use `regex`", id="short sequence"
        ),
        pytest.param(one(any="[{near: [abcd]}]@"), "`near` needs two patterns", "use `regex`", id="short near"),
        pytest.param(
            one(any="[{near: [a, b], within: 0}]@"), "`within` of a clause", "from 1 to 1000", id="within nothing"
        ),
        pytest.param(one(any="[{count: a, at_least: 1}]@"), "`at_least` of a clause", "from 2", id="count of one"),
        pytest.param(
            one(any="[{regex: abcd, at_least: 5}]@"),
            "has `at_least` beside `regex`",
            "goes with count",
            id="at_least elsewhere",
        ),
        pytest.param(
            one(any="[{regex: abcd, within: 5}]@"),
            "has `within` beside `regex`",
            "sequence, near, last",
            id="within elsewhere",
        ),
        pytest.param(
            one(cause="@card-ful"),
            "names the unknown cause `card-ful`",
            "did you mean `card-full`?",
            id="misspelt cause",
        ),
        pytest.param(
            one(cause="@moon"), "names the unknown cause `moon`", "declare it in causes.yaml", id="unknown cause"
        ),
        pytest.param(
            one(cause="@none"), "the cause `none`, which means PASS", "information", id="a failure that passes"
        ),
        pytest.param(
            one(remedies="@[wait]"),
            "names the unknown remedy `wait`",
            "declare it in remedies.yaml",
            id="unknown remedy",
        ),
        pytest.param(
            one(unless="@[goood]"), "names `goood` in `unless`", "did you mean `sample/good`?", id="misspelt in unless"
        ),
        pytest.param(
            one(yields_to="@[moon/sun]"), "names `moon/sun` in `yields_to`", "name a rule", id="unknown in yields_to"
        ),
        pytest.param(
            one(explains="@['moon/*']"), "names `moon/*` in `explains`", "name a rule", id="unknown in explains"
        ),
        pytest.param(
            one(role="recovery", cause="", cancels="@[thunder]"),
            "names `thunder` in `cancels`",
            "name a rule",
            id="unknown in cancels",
        ),
        pytest.param(
            one(yields_to="@[one]"), "names itself in `yields_to`", "take it out", id="a rule that names itself"
        ),
        pytest.param(
            one(phase="@log/start"), "names the unknown phase `log/start`", "declare it under", id="unknown phase"
        ),
        pytest.param(one(id="@one", cause=""), "has no cause", "name one of causes.yaml", id="failure without a cause"),
        pytest.param(
            one(id="@one", role="symptom", cause=""), "has no cause", "name one of", id="symptom without a cause"
        ),
        pytest.param(
            one(id="@one", role="info"), "has a cause but the role info", "only failures", id="information with a cause"
        ),
        pytest.param(
            one(id="@one", role="ready"), "has a cause but the role ready", "only failures", id="readiness with a cause"
        ),
        pytest.param(
            one(id="@one", role="recovery", cause=""), "cancels nothing", "name in `cancels`", id="recovery of nothing"
        ),
        pytest.param(
            one(id="@one", cancels="[good]"),
            "has `cancels` without being a recovery",
            "role recovery",
            id="failure that cancels",
        ),
        pytest.param(
            one(id="@one", role="run-start", cause=""),
            "starts a run without a phase",
            "phase: track/name",
            id="start without phase",
        ),
        pytest.param(one(id="@one", any=""), "has nothing to match", "give it `any` or `all`", id="nothing to match"),
        pytest.param(
            one(id="@one", any="", none="[{regex: a}]"),
            "has nothing to match",
            "`any` or",
            id="only what must be absent",
        ),
        pytest.param(
            one(id="@one", found_by="a plugin"), "has clauses and `found_by`", "not both", id="two ways to be found"
        ),
        pytest.param(
            one(expand="@words"), "expands the unknown vocabulary `words`", "there are: none", id="unknown vocabulary"
        ),
    ],
)
def test_a_broken_rule_is_reported_with_its_line(rule: str, what: str, advice: str, tmp_path: Path) -> None:
    """Each broken thing is an error that names the file, the line, what is wrong and what to do."""
    text, line = marked(pack_text(rule))
    folder = write_packs(tmp_path, sample=text)
    assert_one_problem(folder, folder / "sample.yaml", line, what, advice)


@pytest.mark.parametrize(
    ("changes", "what", "nearest"),
    [
        pytest.param({"phase": "@log/laoded"}, "names the unknown phase `log/laoded`", "log/loaded", id="phase"),
        pytest.param({"remedies": "@[wiat]"}, "names the unknown remedy `wiat`", "wait", id="remedy"),
    ],
)
def test_the_nearest_name_is_proposed(changes: dict[str, str], what: str, nearest: str, tmp_path: Path) -> None:
    """A misspelt phase or remedy is answered with the one that was probably meant."""
    more = "phases: {log: [start, loaded]}\nremedies: {wait: {text: Wait., compute: {half: x / 2}}}\n"
    text, line = marked(pack_text(one(**changes), more=more))
    folder = write_packs(tmp_path, sample=text)
    assert_one_problem(folder, folder / "sample.yaml", line, what, f"did you mean `{nearest}`?")


@pytest.mark.parametrize("key", REFERENCES)
def test_every_kind_of_reference_is_checked(key: str, tmp_path: Path) -> None:
    """No rule may name another that isn't there, whatever it names it for."""
    role = {"role": "recovery", "cause": ""} if key == "cancels" else {}
    (problem,) = problems_of(write_packs(tmp_path, sample=pack_text(one(**role, **{key: "[sample/goood]"}))))
    assert f"in `{key}`" in problem.what
    assert problem.advice == "did you mean `sample/good`?"


@pytest.mark.parametrize(
    ("changes", "what", "advice"),
    [
        pytest.param({"id": "@one"}, "its id lacks <<words>>", "an id of its own", id="no place for a name"),
        pytest.param(
            {"expand": "@word"}, "the unknown vocabulary `word`", "there are: words", id="misspelt vocabulary"
        ),
        pytest.param(
            {"only": "@[ful]"}, "names `ful`, which the vocabulary `words` lacks", "busy-too, full", id="only"
        ),
        pytest.param({"except": "@[moon]"}, "names `moon`", "there are: busy", id="except"),
        pytest.param({"causes": "@{moon: card-full}"}, "names `moon`", "there are: busy", id="causes"),
        pytest.param({"causes": "@[busy]"}, "`causes` of the rule", "write a mapping of texts", id="causes as a list"),
    ],
)
def test_a_broken_expansion_is_reported(changes: dict[str, str], what: str, advice: str, tmp_path: Path) -> None:
    """A rule that misuses a vocabulary is an error, never a rule less."""
    fields = {"id": "of-<<words>>", "expand": "words", "any": "[{regex: 'of <<words>>'}]"} | changes
    text, line = marked(pack_text(one(**fields)))
    folder = write_packs(tmp_path, sample=text, vocabularies=VOCABULARIES)
    assert_one_problem(folder, folder / "sample.yaml", line, what, advice)


def test_a_cause_that_only_a_vocabulary_names_is_checked(tmp_path: Path) -> None:
    """An entry with an unknown cause is reported where its rule stands."""
    text, line = marked(pack_text(GOOD + EXPANDED.replace("  - id:", "  - @id:")))
    folder = write_packs(tmp_path, sample=text, vocabularies=VOCABULARIES.replace("cause: card-full", "cause: moon"))
    assert_one_problem(
        folder, folder / "sample.yaml", line, "the rule `sample/call-full` names the unknown cause `moon`", "declare"
    )


# Broken files


def header(**changes: str) -> str:
    """A pack with one good rule and these keys of its header."""
    lines = {"pack": "sample", "version": "1", "about": "a pack"} | changes
    return "".join(f"{key}: {value}\n" for key, value in lines.items() if value) + "rules:\n" + GOOD


OF_HEADERS = [
    pytest.param(header(pack="@other"), "the pack calls itself `other`", "name the file other.yaml", id="wrong name"),
    pytest.param(header(pack="@'1'"), "the pack calls itself `1`", "name the file 1.yaml", id="number as a name"),
    pytest.param(header(verson="@2"), "unknown key `verson` in the pack", "did you mean `version`?", id="misspelt key"),
    pytest.param(header(version="@0"), "`version` of the pack", "a whole number from 1", id="version zero"),
    pytest.param(header(version="@1.5"), "`version` of the pack", "a whole number", id="version with a point"),
    pytest.param("@" + header(about=""), "the pack lacks `about`", "add `about:`", id="missing key"),
    pytest.param(header(engines="@strata"), "`engines` of the pack", "a list of texts", id="text for a list"),
    pytest.param(header(phases="@[a, b]"), "`phases` of the pack", "write a mapping", id="list for a mapping"),
    pytest.param(header(phases="{log: @start}"), "the track `log`", "in the order", id="a track that is no list"),
    pytest.param(header(remedies="@[wait]"), "`remedies` of the pack", "write a mapping", id="remedies as a list"),
    pytest.param(header(causes="@{}"), "unknown key `causes` in the pack", "did you mean", id="causes in a pack"),
    pytest.param(
        "pack: sample\nversion: 1\nabout: a\nrules: @[a]\n", "`rules` of the pack", "mappings", id="a word as a rule"
    ),
    pytest.param("@", "is no mapping", "a pack starts with `pack: name`", id="empty file"),
    pytest.param("@# nothing\n", "is no mapping", "a pack starts with `pack: name`", id="only a remark"),
    pytest.param("@{}\n", "holds nothing", "a file holds a pack", id="empty mapping"),
    pytest.param("@- a\n- b\n", "is no mapping", "`pack: name`", id="a list"),
    pytest.param("pack: sample\nabout: @a: b\n", "is not valid YAML", "mend the indentation", id="not YAML"),
    pytest.param("pakc@: sample\n", "unknown key `pakc` at the top", "did you mean `pack`?", id="misspelt pack"),
]


@pytest.mark.parametrize(("text", "what", "advice"), OF_HEADERS)
def test_a_broken_pack_is_reported_with_its_line(text: str, what: str, advice: str, tmp_path: Path) -> None:
    """The header of a pack is checked like its rules."""
    content, line = marked(text)
    folder = write_packs(tmp_path, sample=content, good=header(pack="good"))
    assert_one_problem(folder, folder / "sample.yaml", line, what, advice)


def entry(**changes: str) -> str:
    """A vocabulary of one entry."""
    made = {"id": "full", "text": "full", "sample": "full", "cause": "card-full", "title": "full"} | changes
    return "vocabularies:\n  words:\n    - {" + ", ".join(f"{key}: {value}" for key, value in made.items()) + "}\n"


def cause(**changes: str) -> str:
    """A catalogue of one cause, in block style; an empty change takes its key out."""
    made = {"status": "OOM", "title": "Hot", "lasting": "true", "retry": "now", "attribution": "user"} | changes
    return "causes:\n  hot:\n" + "".join(f"    {key}: {value}\n" for key, value in made.items() if value)


def step(value: str) -> str:
    """A catalogue of one remedy with this value."""
    return f"remedies:\n  wait: {value}\n"


TRACK = "pack: {}\nversion: 1\nabout: a\nphases: @{{log: [a]}}\n"
OF_CATALOGUES = [
    pytest.param("casues@: {}\n", "unknown key `casues` at the top", "did you mean `causes`?", id="misspelt"),
    pytest.param("colours@: {}\n", "unknown key `colours` at the top", "`causes:`, `remedies:`", id="unknown"),
    pytest.param("remedies@: [a]\n", "`remedies` at the top is no mapping", "indented", id="a list"),
    pytest.param("causes:\n  hot: @word\n", "the cause `hot` is no mapping", "give it status", id="cause: a word"),
    pytest.param(cause(status="@BROKEN"), "`status` of the cause `hot`", "write one of: PASS", id="cause: new status"),
    pytest.param(cause(retry="@soon"), "`retry` of the cause `hot`", "write one of: now", id="cause: new retry"),
    pytest.param(cause(status="@OOM", retry=""), "the cause `hot` lacks `retry`", "add `retry:`", id="cause: no retry"),
    pytest.param(cause(titel="@Hot"), "unknown key `titel`", "did you mean `title`?", id="cause: misspelt"),
    pytest.param(
        cause(remedies="[wait]").replace("hot:", "hot@:"),
        "the cause `hot` names the unknown remedy `wait`",
        "declare it in remedies.yaml",
        id="cause: unknown remedy",
    ),
    pytest.param(
        CAUSES.partition("  unknown")[0].replace("none:", "none@:"),
        "the cause `none` exists already",
        "may add causes, not change them",
        id="cause: twice",
    ),
    pytest.param(step("@word"), "the remedy `wait` is no mapping", "give it `text:`", id="remedy: a word"),
    pytest.param(step("@{risk: all}"), "the remedy `wait` has no text", "give it `text:`", id="remedy: no text"),
    pytest.param(step("@{text: 5}"), "`text` of the remedy `wait`", "write a text", id="remedy: a number"),
    pytest.param(step("@{texts: ['${a} s']}"), "no wording without a hole", "may be cut", id="remedy: holes only"),
    pytest.param(step("@{text: 'costs 5 $'}"), "has a broken hole", "$$ for a dollar sign", id="remedy: broken hole"),
    pytest.param(
        step("@{text: t, commands: {amiga: x}}"), "a command for `amiga`", "systems are: any", id="remedy: system"
    ),
    pytest.param(step("@{text: t, compute: {half: 'x /'}}"), "computes `half` from", "mend `x /`", id="remedy: sum"),
    pytest.param(step("@{text: t, when: ['x ~ 1']}"), "`when` of the remedy", "mend `x ~ 1`", id="remedy: condition"),
    pytest.param(step("@{text: t, txet: u}"), "unknown key `txet`", "did you mean `text`?", id="remedy: misspelt"),
    pytest.param(
        step("@{text: t}").replace("wait", "known"), "`known` exists already", "another id", id="remedy: twice"
    ),
    pytest.param("vocabularies:\n  words: @text\n", "`words` has no usable entry", "a list of", id="vocabulary: text"),
    pytest.param("vocabularies:\n  words: @[]\n", "`words` has no usable entry", "a list of", id="vocabulary: empty"),
    pytest.param(entry() + "    - @word\n", "is no mapping ('word')", "id, text, sample", id="vocabulary: a word"),
    pytest.param(entry(titel="@x"), "unknown key `titel`", "did you mean `title`?", id="vocabulary: misspelt"),
    pytest.param(
        entry().replace("words:", "known@:"),
        "the vocabulary `known` exists already",
        "another name",
        id="vocabulary: twice",
    ),
    pytest.param(TRACK.format("zz"), "the track `log` exists already", "choose another name", id="track: twice"),
]


@pytest.mark.parametrize(("text", "what", "advice"), OF_CATALOGUES)
def test_a_broken_catalogue_is_reported_with_its_line(text: str, what: str, advice: str, tmp_path: Path) -> None:
    """Causes, remedies, vocabularies and tracks are checked like rules; a broken part is never left out in silence."""
    content, line = marked(text)
    folder = write_packs(
        tmp_path,
        sample=header(phases="{log: [a]}"),
        remedies=step("{text: t}").replace("wait", "known"),
        vocabularies=entry().replace("words", "known"),
        zz=content,
    )
    assert_one_problem(folder, folder / "zz.yaml", line, what, advice)


def test_a_file_that_ends_in_yml_is_not_left_out(tmp_path: Path) -> None:
    """A pack with another ending would be overlooked, so it is an error."""
    folder = write_packs(tmp_path, sample=header())
    (folder / "more.yml").write_text(header(pack="more"), "utf-8")
    assert problems_of(folder) == (
        Problem(str(folder / "more.yml"), 0, "ends in .yml and would be left out", "rename it to .yaml", code="SD108"),
    )


def test_a_file_that_is_not_utf_8_is_reported(tmp_path: Path) -> None:
    """The line of the first wrong byte is named."""
    folder = write_packs(tmp_path, sample=header())
    (folder / "sample.yaml").write_bytes(header(about="gr\xf6\xdfer").encode("latin-1"))
    problem = Problem(str(folder / "sample.yaml"), 3, "is not UTF-8", "save the file as UTF-8", code="SD101")
    assert problems_of(folder) == (problem,)


def test_a_pack_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    """Editors of Windows write one."""
    folder = write_packs(tmp_path)
    (folder / "sample.yaml").write_bytes(b"\xef\xbb\xbf" + header().replace("\n", "\r\n").encode())
    assert [rule.id for rule in load(folder).rules] == ["sample/good"]


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    """A path that leads nowhere is an error, not an empty rule set."""
    (problem,) = problems_of(tmp_path / "nowhere")
    assert (problem.file, problem.line) == (str(tmp_path / "nowhere"), 0)
    assert "can't be read" in problem.what
    assert "check the path" in problem.advice


def test_a_folder_named_like_a_pack_is_reported(tmp_path: Path) -> None:
    """What can't be read is an error even among files that can."""
    folder = write_packs(tmp_path, sample=header())
    (folder / "more.yaml").mkdir()
    (problem,) = problems_of(folder)
    assert problem.file == str(folder / "more.yaml")
    assert "can't be read" in problem.what


def test_a_huge_file_is_refused(tmp_path: Path) -> None:
    """A pack of more than a megabyte is not read at all."""
    folder = write_packs(tmp_path, sample=header() + "# " + "x" * LARGEST_FILE)
    (problem,) = problems_of(folder)
    assert "bytes long" in problem.what
    assert "split it" in problem.advice


@pytest.mark.parametrize(
    "causes", [pytest.param(CAUSES, id="causes alone"), pytest.param("causes: {}\n", id="nothing")]
)
def test_no_rules_at_all_are_an_error(causes: str, tmp_path: Path) -> None:
    """An empty rule set would call every log healthy; the error names what was searched."""
    with pytest.raises(NoRulesError) as caught:
        load(write_packs(tmp_path, causes=causes))
    assert caught.value.searched == (str(tmp_path),)
    assert str(tmp_path) in str(caught.value)


def test_no_sources_at_all_are_an_error() -> None:
    """Where nobody brings a pack, the error says so."""
    with pytest.raises(NoRulesError, match="no rules were loaded"):
        load_packs([])


def test_a_pack_without_rules_brings_none(tmp_path: Path) -> None:
    """A pack that only declares phases is no error beside one with rules."""
    rules = load(
        write_packs(tmp_path, sample=header(), tracks="pack: tracks\nversion: 1\nabout: a\nphases: {log: [a, b]}\n")
    )
    assert [(pack.name, pack.rules) for pack in rules.packs] == [("sample", 1), ("tracks", 0)]


@pytest.mark.parametrize("missing", ["none", "unknown"])
def test_the_causes_that_resolution_needs_must_be_there(missing: str, tmp_path: Path) -> None:
    """Rules without a cause for PASS or UNKNOWN are refused at once, not at the first log that passes."""
    causes = "".join(line for line in CAUSES.splitlines(keepends=True) if not line.strip().startswith(missing))
    (problem,) = problems_of(write_packs(tmp_path, causes=causes, sample=header()))
    assert f"the cause `{missing}`" in problem.what
    assert "causes.yaml" in problem.advice


def test_a_pack_name_stands_once(tmp_path: Path) -> None:
    """Two packs of one name would mix up their rules' ids; the second is refused with the place of the first."""
    first = write_packs(tmp_path / "first", sample=header())
    second = tmp_path / "second"
    second.mkdir()
    (second / "sample.yaml").write_text(header().replace("id: good", "id: better"), "utf-8")
    (problem,) = problems_of(first, second)
    assert (problem.file, problem.line) == (str(second / "sample.yaml"), 1)
    assert problem.what == f"the pack `sample` exists already ({first / 'sample.yaml'})"


# Circles


@pytest.mark.parametrize(
    ("relations", "circle"),
    [
        pytest.param({"a": "yields_to: [b]", "b": "yields_to: [a]"}, "sample/a -> sample/b -> sample/a", id="two"),
        pytest.param(
            {"a": "explains: [b]", "b": "explains: [a]"}, "sample/a -> sample/b -> sample/a", id="two that explain"
        ),
        pytest.param({"a": "yields_to: [b], explains: [b]"}, "sample/a -> sample/b -> sample/a", id="one says both"),
        pytest.param(
            {"a": "yields_to: [b]", "b": "yields_to: [c]", "c": "explains: [d]", "d": "explains: [a]"},
            None,
            id="no circle",
        ),
        pytest.param(
            {"a": "yields_to: [b]", "b": "yields_to: [c]", "c": "yields_to: [a]", "d": "yields_to: [a]"},
            "sample/a -> sample/b -> sample/c -> sample/a",
            id="three and one outside",
        ),
        pytest.param(
            {"a": "unless: [b]", "b": "unless: [a]"}, "sample/a -> sample/b -> sample/a", id="two that veto each other"
        ),
        pytest.param({"a": "unless: [b]", "b": "yields_to: [a]"}, None, id="a veto and a yield"),
        pytest.param({"a": "yields_to: [b, c]", "b": "yields_to: [d]", "c": "yields_to: [d]"}, None, id="a diamond"),
    ],
)
def test_rules_that_take_each_other_out_are_refused(
    relations: dict[str, str], circle: str | None, tmp_path: Path
) -> None:
    """Rules that yield to, or veto, each other in a circle would leave no verdict; the circle is named."""
    rules = "".join(
        f"  - {{id: {name}, {relations.get(name, 'unless: []')}, role: ready, title: t, any: [{{regex: abcd}}]}}\n"
        for name in "abcd"
    )
    folder = write_packs(tmp_path, sample=pack_text(rules))
    if circle is None:
        assert len(load(folder).rules) == 4
    else:
        (problem,) = problems_of(folder)
        assert circle in problem.what
        assert "remove one" in problem.advice
        assert problem.line > 0


def test_a_long_chain_of_rules_is_no_circle(tmp_path: Path) -> None:
    """Rules that yield to each other a thousand deep, as only a hostile pack has them, are followed without trouble."""
    rules = "".join(
        f"  - {{id: r{number}, role: ready, title: t, any: [{{regex: abcd}}], yields_to: [r{number + 1}]}}\n"
        for number in range(1100)
    )
    last = "  - {id: r1100, role: ready, title: t, any: [{regex: abcd}]}\n"
    assert len(load_rules_text(tmp_path / "straight", rules + last).rules) == 1101
    closed = last.replace("}]}", "}], yields_to: [r0]}")
    (problem,) = problems_of(write_packs(tmp_path / "closed", sample=pack_text(rules + closed)))
    assert "in a circle" in problem.what
    assert len(problem.what) < 500


# All at once


def test_all_problems_of_all_files_come_at_once(tmp_path: Path) -> None:
    """A person mends everything in one go: every problem is listed, in the order of files and lines."""
    folder = write_packs(
        tmp_path,
        causes=CAUSES + "  hot: {status: OOM, title: t, lasting: maybe, retry: now, attribution: user}\n",
        alpha=pack_text(one(piority="800", cause="moon"), name="alpha"),
        beta=pack_text(
            one(cause="moon", remedies="[wait]", any="[{regex: '('}, {regex: ')'}]", unless="[sun]"), name="beta"
        ),
        gamma="",
    )
    (folder / "delta.yml").write_text("", "utf-8")
    with pytest.raises(RulePackError) as caught:
        load(folder)
    problems = caught.value.problems
    assert list(problems) == sorted(problems)
    assert [Path(problem.file).name for problem in problems] == [
        "alpha.yaml", *["beta.yaml"] * 5, "causes.yaml", "delta.yml", "gamma.yaml",
    ]  # fmt: skip
    text = str(caught.value)
    assert text.startswith("9 problems in the rule packs:")
    for problem in problems:
        assert str(problem) in text
        assert problem.advice


def test_a_single_problem_is_counted_as_one(tmp_path: Path) -> None:
    """The head of the error is a sentence."""
    with pytest.raises(RulePackError, match=r"^1 problem in the rule packs:"):
        load(write_packs(tmp_path, sample=pack_text(one(cause="moon"))))


# Whatever a file holds


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose pack is written anew by each example."""
    return write_packs(tmp_path_factory.mktemp("damaged"), vocabularies=VOCABULARIES)


@given(
    text=st.sampled_from([WHOLE, pack_text(EXPANDED, name="whole")]),
    edits=st.lists(
        st.tuples(st.floats(0, 1), st.integers(0, 12), st.text("[]{}:,-'\"\n #&*!x0<>$%@|\\", max_size=3)), max_size=4
    ),
)
def test_damage_is_an_error_or_a_rule_set(text: str, edits: list[tuple[float, int, str]], damaged: Path) -> None:
    """A pack that was cut, doubled or scribbled on is loaded or refused with problems of its file; nothing else happens."""
    for place, length, put_in in edits:
        start = int(place * len(text))
        text = text[:start] + put_in + text[start + length :]
    (damaged / "whole.yaml").write_text(text, "utf-8", newline="\n")
    problems: tuple[Problem, ...] = ()
    loaded = empty = False
    try:
        loaded = bool(load(damaged).rules)
    except RulePackError as error:
        problems = error.problems
    except NoRulesError:
        empty = True
    assert loaded or problems or empty
    assert {Path(problem.file).name for problem in problems} <= {"whole.yaml"}
    assert all(problem.what and problem.advice and problem.line >= 0 for problem in problems)


# Packs of plugins


@pytest.mark.parametrize(
    "content",
    [
        pytest.param({"pack": "bad", "version": 1, "about": "a", "rules": [{"id": object()}]}, id="an object inside"),
        pytest.param({"pack": "bad", "version": 1, "about": "a", "rules": [{1: 2}]}, id="a number as a key"),
        pytest.param({}, id="an empty mapping"),
        pytest.param("rules", id="a text"),
        pytest.param(None, id="nothing"),
        pytest.param(["pack"], id="a list"),
    ],
)
def test_a_plugin_that_hands_over_anything_else_is_named(content: Any, tmp_path: Path) -> None:
    """What a plugin brings is checked like a file, and the complaint names the plugin."""
    good = PackSource("builtin", write_packs(tmp_path, sample=header()))
    with pytest.raises(RulePackError) as caught:
        load_packs([good, PackSource("a-plugin", content)])
    assert all("a-plugin" in problem.file for problem in caught.value.problems)


def test_a_mapping_may_be_frozen_through_and_through() -> None:
    """A plugin may hand over tuples and read-only mappings."""
    rule = MappingProxyType({"id": "one", "role": "ready", "title": "t", "any": (MappingProxyType({"regex": "abcd"}),)})
    pack = MappingProxyType({"pack": "frozen", "version": 1, "about": "a", "rules": (rule,)})
    causes = {
        "causes": {
            name: {"status": status, "title": "t", "lasting": False, "retry": "now", "attribution": "user"}
            for name, status in (("none", "PASS"), ("unknown", "UNKNOWN"))
        }
    }
    rules = load_packs([PackSource("a-plugin", causes), PackSource("a-plugin", pack)])
    assert [one.id for one in rules.rules] == ["frozen/one"]


# Keys


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        pytest.param(keys.text, ["a", "a b"], ["", " ", 5, None, True, ["a"]], id="text"),
        pytest.param(
            keys.name, ["a", "a-b", "a_b", "a.b", "a-<<b>>", "iq3"], ["", "-", "A", "a b", "a/b", 5, None], id="name"
        ),
        pytest.param(keys.flag, [True, False], ["true", 0, None], id="flag"),
        pytest.param(keys.number(2, 4), [2, 3, 4], [1, 5, "3", 3.0, True, None], id="number"),
        pytest.param(keys.one_of("now", "never"), ["now", "never"], ["nowadays", "", None, 5], id="one of"),
        pytest.param(keys.texts, [[], ["a"]], ["a", [""], [5], None, {"a": "b"}], id="texts"),
        pytest.param(keys.table, [{}, {"a": 1}], [[], "a", None], id="table"),
        pytest.param(keys.tables, [[], [{}]], [{}, ["a"], "a", None], id="tables"),
        pytest.param(keys.words, [{}, {"a": "b"}], [{"a": ""}, {"a": 5}, [], None], id="words"),
        pytest.param(keys.conditions, [[], ["a == 1"]], ["a == 1", ["a ="], [5], None], id="conditions"),
        pytest.param(keys.condition, ["a == 1", "a"], ["a =", "", 5, None, ["a"]], id="condition"),
    ],
)
def test_values_are_checked_with_advice(check: keys.Check, good: list[Any], bad: list[Any]) -> None:
    """A check lets good values through and says about every other what to write."""
    assert [check(value) for value in good] == [None] * len(good)
    assert all(check(value) for value in bad)
