"""Operators on numbers: off by one, min for max, versions, error codes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from harness.codec.error_code import ErrorCode
from labs.mutation.mutant import ProposedChange

_CODES = list(ErrorCode)


def off_by_one(node: ast.AST) -> Iterator[ProposedChange]:
    """A number in an operation, a slice or a comparison is one more or one less."""
    for child in _numbers_in(node):
        assert isinstance(child.value, int)
        for step in (1, -1):
            yield ProposedChange(child, ast.Constant(child.value + step), "is off by one")
    if isinstance(node, ast.BinOp) and ast.unparse(node.right) == "1":
        yield ProposedChange(node, node.left, "leaves one step out")


def _numbers_in(node: ast.AST) -> Iterator[ast.Constant]:
    places: list[ast.AST | None] = []
    if isinstance(node, ast.Compare):
        places = [node.left, *node.comparators]
    elif isinstance(node, ast.BinOp):
        places = [node.left, node.right]
    elif isinstance(node, ast.Slice):
        places = [node.lower, node.upper]
    for place in places:
        if isinstance(place, ast.Constant) and type(place.value) is int:
            yield place


def least_for_most(node: ast.AST) -> Iterator[ProposedChange]:
    """``min`` and ``max`` are exchanged, or one of two arguments is taken as it is."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return
    other = {"min": "max", "max": "min"}.get(node.func.id)
    if other is None:
        return
    exchanged = ast.Call(ast.Name(other, ast.Load()), node.args, node.keywords)
    yield ProposedChange(node, exchanged, "exchanges the least and the most")
    if len(node.args) == 2 and not node.keywords:
        for argument in node.args:
            yield ProposedChange(node, argument, "limits nothing")


def release_shifted(node: ast.AST) -> Iterator[ProposedChange]:
    """A rule of a release holds in every release, or in none."""
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    if is_call and node.func.attr == "since":  # type: ignore[attr-defined]
        for value in (True, False):
            meaning = "applies a rule in every release" if value else "never applies a rule"
            yield ProposedChange(node, ast.Constant(value), meaning)


def version_shifted(node: ast.AST) -> Iterator[ProposedChange]:
    """A condition on the version of an API begins one version earlier or later."""
    if not isinstance(node, ast.Compare) or "version" not in ast.unparse(node.left):
        return
    for at, limit in enumerate(node.comparators):
        for step in (1, -1):
            shifted = ast.BinOp(limit, ast.Add() if step > 0 else ast.Sub(), ast.Constant(1))
            others = [shifted if n == at else one for n, one in enumerate(node.comparators)]
            instead = ast.Compare(node.left, node.ops, others)
            yield ProposedChange(node, instead, "forgets or adds a version")


def error_exchanged(node: ast.AST) -> Iterator[ProposedChange]:
    """An error code is its neighbour in the table, or none."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return
    if node.value.id != "ErrorCode" or node.attr not in ErrorCode.__members__:
        return
    at = _CODES.index(ErrorCode[node.attr])
    names = {_CODES[(at + 1) % len(_CODES)].name, "NONE"} - {node.attr}
    for name in sorted(names):
        instead = ast.Attribute(node.value, name, ast.Load())
        yield ProposedChange(node, instead, f"answers {name} for {node.attr}")
