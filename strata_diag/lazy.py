"""What is made when somebody asks for it.

Items of sequences and mappings, since a start uses thirty of a thousand rules, and regular expressions of the standard library,
whose import costs half a start of Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from strata_diag.record import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from typing import Any, AnyStr, Generic, TypeVar, overload

    Item = TypeVar("Item")

    class _SequenceOf(Sequence[Item], Generic[Item]): ...

    class _MappingOf(Mapping[str, Item], Generic[Item]): ...
else:
    # `typing` is for the checker; at run time the classes need no parameter
    class _Plain:
        def __class_getitem__(cls, _: object) -> type:
            return cls

    class _SequenceOf(_Plain, Sequence): ...

    class _MappingOf(_Plain, Mapping): ...

    Item = object


class LazyList(_SequenceOf[Item]):
    """A sequence of `count` items; `make(number)` gives one, which is kept."""

    def __init__(self, count: int, make: Callable[[int], Item]) -> None:
        self._make = make
        self._items: list[Item | None] = [None] * count

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, number: int) -> Item: ...

        @overload
        def __getitem__(self, number: slice) -> Sequence[Item]: ...

    def __getitem__(self, number: int | slice) -> Item | Sequence[Item]:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        found = self._items[number]
        if found is None:
            found = self._items[number] = self._make(number if number >= 0 else number + len(self._items))
        return found

    def __iter__(self) -> Iterator[Item]:
        return (self[number] for number in range(len(self._items)))

    def __len__(self) -> int:
        return len(self._items)


class ByName(_MappingOf[Item]):
    """The items of a sequence by name. places: where in the sequence each stands."""

    def __init__(self, places: Mapping[str, int], items: Sequence[Item]) -> None:
        self._places = places
        self._items = items

    def __getitem__(self, name: str) -> Item:
        return self._items[self._places[name]]

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class _LaterRegex:
    """Stands for a compiled regular expression until one of its methods is called."""

    def __init__(self, source: Any, *, ignore_case: bool) -> None:
        self._source = source
        self._ignore_case = ignore_case
        self._made: Any = None

    def __getattr__(self, name: str) -> Any:
        if self._made is None:
            import re  # noqa: PLC0415 - this is what the class is for

            self._made = re.compile(self._source, re.IGNORECASE if self._ignore_case else 0)
        return getattr(self._made, name)


def later_regex(source: AnyStr, *, ignore_case: bool = False) -> re.Pattern[AnyStr]:
    """A regular expression that is compiled at its first use."""
    made: Any = _LaterRegex(source, ignore_case=ignore_case)
    return made  # type: ignore[no-any-return] # it answers as the pattern does
