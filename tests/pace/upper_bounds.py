"""Assertions of an upper bound on real time, found in the syntax tree of a file.

An expression is a point of time (a clock's reading), a deadline (a point with something added) or a
span (a difference of two). Upper bounds are: a span on the small side of a comparison, or in an
approximate equality; a point on the small side with a deadline on the other; a reading made in the
comparison itself on the small side. The time of the processor is no real time.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from enum import Enum

from tests.parsed_source import parsed

CLOCKS = frozenset(
    f"{name}{unit}" for name in ("monotonic", "perf_counter", "time") for unit in ("", "_ns")
)
SPAN_NAMES = re.compile(r"(^|_)(took|elapsed|waited)(_|$)")
LANE = "clock"
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Kind(Enum):
    """Kinds of expressions."""

    OTHER = 0
    NAMED_SPAN = 1  # by its name only
    POINT = 2
    DEADLINE = 3
    SPAN = 4


SPANS = (Kind.NAMED_SPAN, Kind.SPAN)
Names = Mapping[str, Kind]


def upper_bounds(source: str) -> list[int]:
    """Return the lines of such assertions outside of functions with the lane's mark."""
    module = parsed(source)
    returned = _returned(module)
    found: list[int] = []
    for function in _outermost(module):
        if not _is_marked(function):
            names = {**returned, **_assigned(function, returned)}
            found += _asserted(function, names)
    return sorted(set(found))


def _outermost(node: ast.AST) -> Iterator[Function]:
    """Yield functions of a module and of its classes; nested ones are read with their function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            yield child
        elif not (isinstance(child, ast.ClassDef) and _is_marked(child)):
            yield from _outermost(child)


def _is_marked(node: Function | ast.ClassDef) -> bool:
    names = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
    return any(isinstance(name, ast.Attribute) and name.attr == LANE for name in names)


def _returned(module: ast.Module) -> dict[str, Kind]:
    """Return the functions of the module that return a time, by name."""
    kinds: dict[str, Kind] = {}
    for function in ast.walk(module):
        if isinstance(function, Function):
            names = _assigned(function, {})
            given = {
                _kind(node.value, names)
                for node in ast.walk(function)
                if isinstance(node, ast.Return) and node.value is not None
            }
            if given - {Kind.OTHER}:
                kinds[f"{function.name}()"] = max(given, key=lambda kind: kind.value)
    return kinds


def _assigned(function: Function, known: Names) -> dict[str, Kind]:
    """Return the names that stand for times, in the order of the text."""
    names = dict(known)
    assignments = [
        node for node in ast.walk(function) if isinstance(node, ast.Assign | ast.NamedExpr)
    ]
    for node in sorted(assignments, key=lambda node: (node.lineno, node.col_offset)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            for name, value in _pairs(target, node.value):
                kind = _kind(value, names)
                if kind is not Kind.OTHER:
                    names[name] = kind
    return names


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, part in zip(target.elts, value.elts, strict=False):
            yield from _pairs(one, part)
    elif isinstance(target, ast.Name | ast.Attribute):
        yield ast.unparse(target), value


def _kind(node: ast.expr, names: Names) -> Kind:
    """Return the kind of this expression, by the known names."""
    match node:
        case ast.Call():
            return _kind_of_call(node, names)
        case ast.Name() | ast.Attribute():
            name = ast.unparse(node)
            is_span = SPAN_NAMES.search(name.rsplit(".", 1)[-1])
            return names.get(name, Kind.NAMED_SPAN if is_span else Kind.OTHER)
        case ast.BinOp():
            return _kind_of_operation(node, names)
        case ast.UnaryOp():
            return _kind(node.operand, names)
    return Kind.OTHER


def _kind_of_call(node: ast.Call, names: Names) -> Kind:
    if _is_reading(node):
        return Kind.POINT
    name = ast.unparse(node.func)
    if f"{name}()" in names:
        return names[f"{name}()"]
    if SPAN_NAMES.search(name.rsplit(".", 1)[-1]):
        return Kind.NAMED_SPAN
    if name in ("round", "int", "float", "abs", "min", "max"):
        return max((_kind(each, names) for each in node.args), key=lambda kind: kind.value)
    return Kind.OTHER


def _is_reading(node: ast.expr) -> bool:
    """``time.monotonic()`` and the like, ``monotonic()``, ``loop.time()``."""
    if not isinstance(node, ast.Call) or node.args:
        return False
    match node.func:
        case ast.Name(id=name):
            return name in CLOCKS
        case ast.Attribute(value=ast.Name(id="time"), attr=name):
            return name in CLOCKS
        case ast.Attribute(value=owner, attr="time"):
            return "loop" in ast.unparse(owner)
    return False


def _kind_of_operation(node: ast.BinOp, names: Names) -> Kind:
    left, right = _kind(node.left, names), _kind(node.right, names)
    points = (Kind.POINT, Kind.DEADLINE)
    if isinstance(node.op, ast.Sub) and left in points and not _is_amount(node.right):
        return Kind.SPAN
    if isinstance(node.op, ast.Add | ast.Sub) and (left in points or right in points):
        return Kind.DEADLINE
    return max(left, right, key=lambda kind: kind.value)


def _is_amount(node: ast.expr) -> bool:
    """A number, or the name of a constant: what is left of a point is a point."""
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id.isupper())


def _asserted(function: Function, names: Names) -> Iterator[int]:
    """The lines at which the function asserts an upper bound, or gives a checker one."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            yield from (found.lineno for found in _bounds(node.test, names, holds=True))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            for argument in [*node.value.args, *(each.value for each in node.value.keywords)]:
                yield from (found.lineno for found in _bounds(argument, names, holds=True))


def _bounds(node: ast.expr, names: Names, *, holds: bool) -> Iterator[ast.expr]:
    """The comparisons in a condition that are upper bounds; it has to hold, or not to."""
    match node:
        case ast.BoolOp():
            for part in node.values:
                yield from _bounds(part, names, holds=holds)
        case ast.UnaryOp(op=ast.Not()):
            yield from _bounds(node.operand, names, holds=not holds)
        case ast.Compare():
            sides = [node.left, *node.comparators]
            for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
                if _is_upper_bound(left, operator, right, names, holds=holds):
                    yield node


def _is_upper_bound(
    left: ast.expr, operator: ast.cmpop, right: ast.expr, names: Names, *, holds: bool
) -> bool:
    if isinstance(operator, ast.Eq) and holds:
        sides = (left, right), (right, left)
        return any(_is_approximate(a) and _kind(b, names) is Kind.SPAN for a, b in sides)
    rises = isinstance(operator, ast.Lt | ast.LtE)
    if not rises and not isinstance(operator, ast.Gt | ast.GtE):
        return False
    small, large = (left, right) if rises == holds else (right, left)
    kind = _kind(small, names)
    if kind is Kind.POINT:
        return _is_reading(small) or _kind(large, names) is Kind.DEADLINE
    return kind in SPANS and _kind(large, names) not in SPANS


def _is_approximate(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith("approx")
