"""Logs generated from the message templates keep their verdict, whatever stands around the message."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from generated import Template, alone, cut, fill, harmless, healthy_until, joined, quoted, surrounded, templates

from strata_diag import RuleSet, Status, diagnose
from strata_diag.testing import fast_matches, slow_matches

DECIDING = [template for template in templates() if template.decides]
CALM = [template for template in templates() if template.severity in ("info", "degraded")]
# Alone a message has its meaning; a session that ends well after it must not turn it into a failure
SEEDS = 3


def template_name(template: Template) -> str:
    return f"{template.row} {template.text[:48]}"


@pytest.mark.parametrize("build", [alone, surrounded, cut, quoted])
@pytest.mark.parametrize("template", DECIDING, ids=template_name)
def test_message_keeps_its_verdict(
    template: Template, build: Callable[[Template, Random], str], rules: RuleSet
) -> None:
    """A run that ends with a deciding message has its status and cause, with other values and other surroundings."""
    for seed in range(SEEDS):
        log = build(template, Random(f"{template.row} {template.text} {seed}"))
        verdict = diagnose(log, rules=rules).verdict
        assert (str(verdict.status), verdict.cause) in template.accepted, (
            f"{verdict.rule} at line {verdict.line} of:\n{log}"
        )


@pytest.mark.parametrize("template", CALM, ids=template_name)
def test_information_in_a_session_that_goes_on_stays_a_pass(template: Template, rules: RuleSet) -> None:
    """A harmless or degraded message in a start that gets ready and serves is no failure."""
    for seed in range(SEEDS):
        random = Random(f"{template.row} {template.text} {seed}")
        lines = healthy_until(random, None)
        lines.insert(random.randrange(8, len(lines) - 2), fill(template.text, random))
        verdict = diagnose(joined(lines), rules=rules).verdict
        assert verdict.status is Status.PASS, f"{verdict.rule}: {verdict.reason}"


@pytest.mark.parametrize("template", [one for one in CALM if one.severity == "info"], ids=template_name)
def test_information_alone_is_never_a_failure(template: Template, rules: RuleSet) -> None:
    """A harmless message that is all there is proves nothing bad."""
    ends_here = {pair for one in DECIDING if one.text == template.text for pair in one.accepted}
    verdict = diagnose(fill(template.text, Random(template.text)), rules=rules).verdict
    assert verdict.status in (Status.PASS, Status.UNKNOWN) or (str(verdict.status), verdict.cause) in ends_here


@pytest.mark.parametrize("seed", range(60))
def test_two_causes_never_make_a_third(seed: int, rules: RuleSet) -> None:
    """Where two starts' worth of trouble stand in one run, the verdict is that of one of them, and the other is shown."""
    random = Random(seed)
    first, second = random.sample([one for one in DECIDING if one.stage == "boot" and one.severity == "fatal"], 2)
    lines = [
        *healthy_until(random, ("probe", "weights")),
        fill(first.text, random),
        harmless(random),
        fill(second.text, random),
    ]
    found = diagnose(joined(lines), rules=rules)
    verdict = found.verdict
    assert (str(verdict.status), verdict.cause) in {*first.accepted, *second.accepted}, (
        f"{verdict.rule}:\n{joined(lines)}"
    )
    if verdict.contested:
        assert verdict.lasting is False


@pytest.mark.parametrize("seed", range(20))
def test_fast_way_finds_what_the_slow_one_finds(seed: int, rules: RuleSet) -> None:
    """On generated logs too, scan and match together find every match and nothing else."""
    random = Random(seed)
    log = joined([fill(template.text, random) for template in random.sample(templates(), 40)]).encode()
    assert fast_matches(log, rules) == slow_matches(log, rules)
