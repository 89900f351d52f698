"""The everyday call without `argparse`: the same options as with it."""

from __future__ import annotations

import pytest

from strata_diag.cli import make_parser
from strata_diag.cli.plain import plain_options

PLAIN = [
    ["classify", "a.log"],
    ["classify", "a.log", "b.log", "-"],
    ["classify", "--format", "json", "a.log"],
    ["classify", "--format=jsonl", "a.log", "--no-color"],
]
LEFT_TO_THE_PARSER = [
    [],
    ["history", "audit"],
    ["classify"],
    ["classify", "--help"],
    ["classify", "--exit-code", "6", "a.log"],
    ["classify", "--format", "yaml", "a.log"],
    ["classify", "--format", "markdown", "a.log"],
    ["classify", "--redact", "a.log"],
    ["classify", "--with", "b.log", "a.log"],
    ["classify", "--forma", "json", "a.log"],
]


@pytest.mark.parametrize("given", PLAIN, ids=" ".join)
def test_a_plain_call_has_the_options_that_the_parser_gives(given: list[str]) -> None:
    """No option is forgotten, and each has the parser's default."""
    plain = plain_options(given)
    assert plain is not None
    assert vars(plain) == vars(make_parser(given).parse_args(given))


@pytest.mark.parametrize("given", LEFT_TO_THE_PARSER, ids=" ".join)
def test_anything_else_is_left_to_the_parser(given: list[str]) -> None:
    """What is not plain gets the parser's understanding and its messages."""
    assert plain_options(given) is None


def test_an_option_without_a_default_is_named() -> None:
    """Whoever adds an option to the verb and forgets it here is told where it belongs."""
    with pytest.raises(AttributeError, match=r"the option shiny has no default in strata_diag/cli/plain\.py"):
        _ = plain_options(["classify", "a.log"]).shiny
