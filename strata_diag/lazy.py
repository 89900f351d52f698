"""Sequences and mappings that make an item when somebody asks for it: a start uses thirty of a thousand rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from strata_diag.record import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Generic, TypeVar, overload

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

    def overload(method: object) -> object:
        return method


class LazyList(_SequenceOf[Item]):
    """A sequence of `count` items; `make(number)` gives one, which is kept."""

    def __init__(self, count: int, make: Callable[[int], Item]) -> None:
        self._make = make
        self._items: list[Item | None] = [None] * count

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
