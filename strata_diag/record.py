"""Named tuples in the syntax of `typing.NamedTuple`, without what importing `typing` costs the command's start.

A type checker sees `typing.NamedTuple` itself. At run time a class made here has the same fields, defaults and methods; only
its constructor is code that all share instead of code generated for it, which saves forty classes a compilation each.

`from strata_diag.record import TYPE_CHECKING` stands for the same name of `typing`.
"""

from __future__ import annotations

from _collections import _tuplegetter  # type: ignore[import-not-found] # what `collections.namedtuple` makes its fields of

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414 - given on
else:

    class _Methods:
        """What every record can do beside being a tuple."""

        __slots__ = ()

        def __new__(cls, *values: Any, **named: Any) -> Any:
            absent = len(cls._fields) - len(values)
            if named or absent < 0 or absent > len(cls._last):
                values = cls._completed(values, named)
            elif absent:
                values += cls._last[-absent:]
            return tuple.__new__(cls, values)

        @classmethod
        def _completed(cls, values: tuple, named: dict[str, Any]) -> list:
            missing, made = [], list(values)
            for name in cls._fields[len(values) :]:
                if name in named:
                    made.append(named.pop(name))
                elif name in cls._field_defaults:
                    made.append(cls._field_defaults[name])
                else:
                    missing.append(name)
            if missing or named or len(made) > len(cls._fields):
                problem = f"missing {missing}, unknown {sorted(named)}, {len(values)} values by position"
                raise TypeError(f"{cls.__name__} takes {', '.join(cls._fields)}: {problem}")
            return made

        _make = classmethod(tuple.__new__)  # for the hot path: no Python code runs, so nothing counts the values

        def _replace(self, **named: Any) -> Any:
            kept = [named.pop(name, value) for name, value in zip(self._fields, self, strict=True)]
            if named:
                raise ValueError(f"{type(self).__name__} has no field {', '.join(sorted(named))}")
            return tuple.__new__(type(self), kept)

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __getnewargs__(self) -> tuple:
            return tuple(self)

        def __repr__(self) -> str:
            shown = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
            return f"{type(self).__name__}({shown})"

    class _Maker(type):
        """Turns a class body with annotations into a tuple with names."""

        def __new__(meta, name: str, bases: tuple, body: dict) -> type:
            if not bases:
                return super().__new__(meta, name, bases, body)
            fields = tuple(body.get("__annotations__", ()))
            defaults = {field: body.pop(field) for field in fields if field in body}
            for place, field in enumerate(fields):
                body[field] = _tuplegetter(place, f"field {place}")
            last = tuple(defaults[field] for field in fields if field in defaults)
            body |= {
                "__slots__": (),
                "_fields": fields,
                "_field_defaults": defaults,
                "__match_args__": fields,
                "_last": last,
            }
            return type(name, (_Methods, tuple), body)

    class NamedTuple(metaclass=_Maker):
        """Derive from it and annotate the fields."""
