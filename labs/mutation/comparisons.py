"""Operators on comparisons and conditions: boundaries, turned and dropped ones, lost operands."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from labs.mutation.mutant import ProposedChange

_NEIGHBOURS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
_OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


def boundary(node: ast.AST) -> Iterator[ProposedChange]:
    """A limit belongs to the other side: ``<`` for ``<=`` and so on."""
    yield from _exchanged(node, _NEIGHBOURS, "moves the boundary")


def turned(node: ast.AST) -> Iterator[ProposedChange]:
    """A comparison is turned into its opposite."""
    yield from _exchanged(node, _OPPOSITES, "turns the comparison")


def _exchanged(
    node: ast.AST, table: dict[type[ast.cmpop], type[ast.cmpop]], meaning: str
) -> Iterator[ProposedChange]:
    if not isinstance(node, ast.Compare):
        return
    for at, op in enumerate(node.ops):
        other = table.get(type(op))
        if other is not None:
            ops = [other() if number == at else one for number, one in enumerate(node.ops)]
            yield ProposedChange(node, ast.Compare(node.left, ops, node.comparators), meaning)


def condition_left_out(node: ast.AST) -> Iterator[ProposedChange]:
    """A condition is always, or never, true."""
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        test = node.test
        for value in (True, False):
            if isinstance(node, ast.While) and value:
                continue  # it would never end
            if isinstance(test, ast.Constant):
                continue
            yield ProposedChange(test, ast.Constant(value), f"takes a condition for {value}")
    if isinstance(node, ast.comprehension):
        for test in node.ifs:
            yield ProposedChange(test, ast.Constant(value=True), "filters nothing")


def operand_left_out(node: ast.AST) -> Iterator[ProposedChange]:
    """One operand of ``and`` or ``or`` is left out."""
    if not isinstance(node, ast.BoolOp):
        return
    for at in range(len(node.values)):
        rest = [value for number, value in enumerate(node.values) if number != at]
        instead = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
        yield ProposedChange(node, instead, "leaves an operand out")


def negation_left_out(node: ast.AST) -> Iterator[ProposedChange]:
    """``not`` is left out."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield ProposedChange(node, node.operand, "leaves a negation out")
