"""Operators on what a function does: updates, timers, effects, their order, early ends."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise

from labs.mutation.mutant import ProposedChange

_CHANGING = frozenset(
    {"add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem",
     "popleft", "put", "remove", "restore", "setdefault", "update", "drop", "note", "assign",
     "forget", "forget_all", "revert", "keep"}
)  # fmt: skip
"""Methods that change the state of their object."""
_TIMERS = frozenset({"set_alarm", "cancel_alarm", "touch", "renew_session", "expect_again",
                     "forget_session", "set", "cancel"})  # fmt: skip
_PERSISTING = frozenset(
    {"write", "write_all", "flush", "sync", "fsync", "swap", "rename", "replace", "truncate",
     "checkpoint", "mark", "write_checkpoint", "take_marker", "unlink"}
)  # fmt: skip


def update_skipped(node: ast.AST) -> Iterator[ProposedChange]:
    """An update of state does not happen."""
    if _is_update(node):
        yield ProposedChange(node, [ast.Pass()], "skips an update")


def update_repeated(node: ast.AST) -> Iterator[ProposedChange]:
    """An update of state happens twice."""
    repeats = isinstance(node, ast.AugAssign) or (
        isinstance(node, ast.Expr) and _called(node) in ("append", "extend", "insert")
    )
    if repeats:
        assert isinstance(node, ast.stmt)
        yield ProposedChange(node, [node, node], "does an update twice")


def timer_skipped(node: ast.AST) -> Iterator[ProposedChange]:
    """A timer is not set, not restarted or not cancelled."""
    if isinstance(node, ast.Expr) and _called(node) in _TIMERS:
        yield ProposedChange(node, [ast.Pass()], "leaves a timer alone")


def write_skipped(node: ast.AST) -> Iterator[ProposedChange]:
    """A value that has to outlive the process is not written."""
    if isinstance(node, ast.Expr) and _called(node) in _PERSISTING:
        yield ProposedChange(node, [ast.Pass()], "does not write a value")


def effects_exchanged(node: ast.AST) -> Iterator[ProposedChange]:
    """Two neighbouring effects happen in the other order."""
    for block in _blocks(node):
        for first, second in pairwise(block):
            if _is_effect(first) and _is_effect(second) and not _are_apart(first, second):
                yield ProposedChange(first, [second, first], "does two things in the other order")


def early_return(node: ast.AST) -> Iterator[ProposedChange]:
    """A function without a result ends before its last statement."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or len(node.body) < 2:
        return
    returns = [one for one in ast.walk(node) if isinstance(one, ast.Return) and one.value]
    yields = any(isinstance(one, ast.Yield | ast.YieldFrom) for one in ast.walk(node))
    if not returns and not yields:
        last = node.body[-1]
        yield ProposedChange(last, [ast.Return(None)], "ends before its last step")


def loop_cut(node: ast.AST) -> Iterator[ProposedChange]:
    """A loop leaves out its first or its last item."""
    if isinstance(node, ast.For | ast.comprehension) and not isinstance(node.iter, ast.Constant):
        items = ast.Call(ast.Name("list", ast.Load()), [node.iter], [])
        but_first = ast.Slice(ast.Constant(1), None, None)
        but_last = ast.Slice(None, ast.Constant(-1), None)
        for part, which in ((but_first, "first"), (but_last, "last")):
            cut = ast.Subscript(items, part, ast.Load())
            yield ProposedChange(node.iter, cut, f"leaves the {which} item out")


def _called(node: ast.Expr) -> str:
    call = node.value
    if not isinstance(call, ast.Call):
        return ""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _is_update(node: ast.AST) -> bool:
    if isinstance(node, ast.Assign):
        return all(isinstance(one, ast.Attribute | ast.Subscript) for one in node.targets)
    if isinstance(node, ast.AugAssign | ast.Delete):
        return True
    return isinstance(node, ast.Expr) and _called(node) in _CHANGING


def _is_effect(node: ast.stmt) -> bool:
    return _is_update(node) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))


def _are_apart(first: ast.stmt, second: ast.stmt) -> bool:
    """True for two assignments that give the same result in either order."""
    if not (isinstance(first, ast.Assign) and isinstance(second, ast.Assign)):
        return False
    if any(isinstance(one, ast.Call) for each in (first, second) for one in ast.walk(each)):
        return False
    return not any(
        ast.unparse(target) in ast.unparse(other)
        for one, other in ((first, second), (second, first))
        for target in one.targets
    )


def _blocks(node: ast.AST) -> Iterator[Sequence[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield block
