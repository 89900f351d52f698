"""Records behave as `typing.NamedTuple` does, at a fraction of its import."""

from __future__ import annotations

import pickle
import subprocess
import sys
import typing

import pytest

from strata_diag.record import NamedTuple


class Place(NamedTuple):
    """A record of the tests."""

    line: int
    text: str = "nothing"

    @property
    def shown(self) -> str:
        """A property like any class's."""
        return f"{self.line}: {self.text}"


class Model(typing.NamedTuple):
    """The standard library's own, to compare with."""

    line: int
    text: str = "nothing"


@pytest.mark.parametrize(
    "use",
    [
        lambda kind: kind(1, "a"),
        lambda kind: kind(1),
        lambda kind: kind(text="b", line=2),
        lambda kind: kind(1, "a")._replace(text="c"),
        lambda kind: kind._make((4, "d")),
        lambda kind: kind(1, "a")._asdict(),
        lambda kind: (kind._fields, kind._field_defaults, kind.__match_args__),
        lambda kind: kind(3, "x").line,
        lambda kind: sorted([kind(2, "a"), kind(1, "b")]),
        lambda kind: hash(kind(2, "a")),
        lambda kind: repr(kind(2, "a")).partition("(")[2],
    ],
)
def test_behaves_as_the_standard_one(use: typing.Callable[[typing.Any], object]) -> None:
    """Whatever a caller does with a record gives what the standard named tuple gives."""
    assert use(Place) == use(Model)


@pytest.mark.parametrize(
    "use",
    [
        lambda kind: kind(),
        lambda kind: kind(1, "a", 3),
        lambda kind: kind(1, txt="a"),
        lambda kind: kind(1, "a", text="b"),
        lambda kind: kind(1)._replace(txt="a"),
        lambda kind: setattr(kind(1), "line", 2),
        lambda kind: setattr(kind(1), "other", 2),
    ],
)
def test_refuses_what_the_standard_one_refuses(use: typing.Callable[[typing.Any], object]) -> None:
    """A missing, unknown or surplus value, and any change, is an error of the same kind."""
    with pytest.raises((TypeError, ValueError, AttributeError)) as ours:
        use(Place)
    with pytest.raises(ours.type):
        use(Model)


def test_methods_matching_and_pickling() -> None:
    """A record carries its class's own methods, fits a `match` statement, and survives the way to another process."""
    match Place(5, "here"):
        case Place(line, text):
            assert (line, text) == (5, "here")
    assert Place(5, "here").shown == "5: here"
    copied = pickle.loads(pickle.dumps(Place(5, "here")))  # noqa: S301 - its own
    assert copied == Place(5, "here")
    assert type(copied) is Place


def test_costs_no_typing() -> None:
    """A process that uses records has not imported `typing`."""
    code = "import sys, strata_diag.record; print('typing' in sys.modules)"
    shown = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, cwd=".")
    assert shown.stdout.strip() == "False"
