"""Small comparisons and sums over captured values, for `when:` in rules and computed values in remedies.

Comes in: text such as `available_gib < floor_gib` or `floor(context / 2, 1024)`, and names with their values. Goes out: a
number, a text or a truth value. Never runs Python: the text is parsed with `ast` and only the node types below are read.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from strata_diag.record import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


class ExpressionError(ValueError):
    """The text is no expression of this language; the message says which part."""


class MissingNameError(LookupError):
    """A name has no value here, so the expression can't be answered (not true, and not false either)."""


def _on_numbers(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The operation for numbers of a sensible size only: `'a' * 999999999` would be a gigabyte."""

    def checked(left: Any, right: Any) -> Any:
        if not (isinstance(left, int | float) and isinstance(right, int | float)):
            raise TypeError("only numbers can be added, subtracted, multiplied or divided")
        result = operation(left, right)
        if abs(result) > LARGEST:
            raise OverflowError(f"larger than {LARGEST:.0e}")
        return result

    return checked


LARGEST = 1e100
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: _on_numbers(operator.add),
    ast.Sub: _on_numbers(operator.sub),
    ast.Mult: _on_numbers(operator.mul),
    ast.Div: _on_numbers(operator.truediv),
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda left, right: left in right,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "min": min,
    "max": max,
    "floor": lambda value, step=1: int(value // step * step),
    "ceil": lambda value, step=1: int(-(-value // step) * step),
}
_NODES = (
    ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.BinOp, ast.Compare, ast.Call, ast.Name,
    ast.Load, ast.Constant, ast.Tuple, *_BINARY, *_COMPARE,
)  # fmt: skip
_GROUPED = re.compile(r"[^,]*|[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")
LONGEST_NUMBER = 40  # characters
LONGEST = 300  # characters; a pack is hostile input, and the parser recurses


@lru_cache(maxsize=4096)
def parse(text: str) -> ast.expr:
    """The tree of an expression. Raises ExpressionError for anything outside the language."""
    if len(text) > LONGEST:
        raise ExpressionError(f"longer than {LONGEST} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(f"not an expression ({error})") from None
    for node in ast.walk(tree):
        if not isinstance(node, _NODES):
            raise ExpressionError(f"{type(node).__name__} is not part of the expression language")
        if isinstance(node, ast.Call) and not (
            isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS and not node.keywords
        ):
            raise ExpressionError(f"unknown function; there are {', '.join(sorted(_FUNCTIONS))}")
    return tree.body


def names(text: str) -> set[str]:
    """The names that an expression reads. Raises ExpressionError."""
    return {node.id for node in ast.walk(parse(text)) if isinstance(node, ast.Name)} - _FUNCTIONS.keys()


def number(value: object) -> object:
    """A captured text as a number where it is one (`1,302` and `0.00`, not `0,5` or `0,1`), else unchanged."""
    if not isinstance(value, str) or len(value) > LONGEST_NUMBER or not _GROUPED.fullmatch(value):
        return value
    plain = value.replace(",", "")
    try:
        return int(plain)
    except ValueError:
        try:
            return float(plain)
        except ValueError:
            return value


def evaluate(text: str, values: Mapping[str, object]) -> object:
    """The value of an expression. Raises MissingNameError, ExpressionError."""
    try:
        return _value(parse(text), values)
    except (TypeError, ZeroDivisionError, OverflowError, ValueError) as error:
        if isinstance(error, ExpressionError):
            raise
        raise MissingNameError(f"{text}: {error}") from None  # a text where a number was meant: not answerable here


def holds(text: str, values: Mapping[str, object]) -> bool:
    """Whether a condition is true; one that can't be answered is not."""
    try:
        return bool(evaluate(text, values))
    except MissingNameError:
        return False


def _value(node: ast.expr, values: Mapping[str, object]) -> Any:
    match node:
        case ast.Constant(value=constant):
            return constant
        case ast.Name(id=name):
            if values.get(name) is None:
                raise MissingNameError(name)
            return number(values[name])
        case ast.Tuple(elts=elements):
            return tuple(_value(element, values) for element in elements)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _value(operand, values)
        case ast.UnaryOp(operand=operand):
            return -_value(operand, values)
        case ast.BinOp(left=left, op=operation, right=right):
            return _BINARY[type(operation)](_value(left, values), _value(right, values))
        case ast.BoolOp(op=ast.And(), values=parts):
            return all(_value(part, values) for part in parts)
        case ast.BoolOp(values=parts):
            return any(_value(part, values) for part in parts)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _FUNCTIONS[name](*(_value(argument, values) for argument in arguments))
        case ast.Compare(left=left, ops=operations, comparators=rights):
            return _chain(_value(left, values), operations, [_value(right, values) for right in rights])
    raise ExpressionError(f"{type(node).__name__} is not part of the expression language")


def _chain(left: Any, operations: list[ast.cmpop], rights: list[Any]) -> bool:
    for operation, right in zip(operations, rights, strict=True):
        if not _COMPARE[type(operation)](left, right):
            return False
        left = right
    return True
