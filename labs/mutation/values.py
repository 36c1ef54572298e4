"""Operators on values: fields at their defaults, null and empty, the wrong like variable."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from labs.mutation.mutant import ProposedChange

_EMPTY = ("[]", "()", "{}", "''", "b''", "0", "-1", "None", "False")
_LIKE = (
    ("end_offset", "high_watermark", "start_offset"),
    ("offset", "end_offset", "base_offset", "last_offset"),
    ("log_end", "high_watermark"),
    ("own", "leader"),
    ("new", "old"),
    ("first", "last"),
    ("before", "after"),
    ("isr", "replicas"),
    ("adding", "removing"),
    ("epoch", "leader_epoch", "partition_epoch", "broker_epoch"),
    ("session_timeout_ms", "rebalance_timeout_ms"),
    ("member_id", "instance_id", "leader_id"),
    ("earliest", "latest"),
    ("minimum", "maximum"),
)
"""Names of variables and attributes that an implementer may take for each other."""


def field_left_out(node: ast.AST) -> Iterator[ProposedChange]:
    """A field of an answer or a record stays at its default."""
    if not isinstance(node, ast.Call) or not _is_class(node.func):
        return
    for at, keyword in enumerate(node.keywords):
        if keyword.arg is None or ast.unparse(keyword.value) in _EMPTY:
            continue
        rest = [one for number, one in enumerate(node.keywords) if number != at]
        instead = ast.Call(node.func, node.args, rest)
        yield ProposedChange(node, instead, f"leaves {keyword.arg} at its default")


def _is_class(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else ""
    name = function.id if isinstance(function, ast.Name) else name
    return name[:1].isupper()


def null_for_empty(node: ast.AST) -> Iterator[ProposedChange]:
    """Null stands for an empty value, or an empty value for null."""
    if isinstance(node, ast.keyword | ast.Return) and node.value is not None:
        value = node.value
        if isinstance(value, ast.Constant) and value.value is None:
            yield ProposedChange(value, ast.Constant(""), "has an empty value for null")
        elif ast.unparse(value) in ("[]", "()", "''", "b''"):
            yield ProposedChange(value, ast.Constant(None), "has null for an empty value")


def like_variable(node: ast.AST) -> Iterator[ProposedChange]:
    """The wrong one of like variables of the same function."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return
    names = [one for one in ast.walk(node) if isinstance(one, ast.Name | ast.Attribute)]
    there = {ast.unparse(one) for one in names}
    for one in names:
        if isinstance(one.ctx, ast.Load):
            for other in _others(one):
                if ast.unparse(other) in there:
                    yield ProposedChange(one, other, f"takes {ast.unparse(other)}")


def _others(node: ast.Name | ast.Attribute) -> Iterator[ast.expr]:
    name = node.id if isinstance(node, ast.Name) else node.attr
    for like in _LIKE:
        for other in like if name in like else ():
            if other == name:
                continue
            if isinstance(node, ast.Name):
                yield ast.Name(other, ast.Load())
            else:
                yield ast.Attribute(node.value, other, ast.Load())
