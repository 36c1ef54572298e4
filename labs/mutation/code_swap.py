"""The mutant in a running program: the code of one function is replaced.

The function object stays, so that every module that has imported it, and every class that has it,
gets the mutant.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from labs.mutation.enumeration import PACKAGE, proposals_of
from labs.mutation.mutant import Mutant, ProposedChange


class NoSuchMutant(LookupError):
    """The source has changed, or the name is wrong."""


def put_in_place(name: str) -> Mutant:
    """Change the function of this mutant. Raises NoSuchMutant."""
    module = name.partition("@")[2].partition(":")[0]
    if not module.startswith("harness."):
        module = f"{PACKAGE}.{module}"
    holder = importlib.import_module(module)
    assert holder.__file__ is not None
    source = Path(holder.__file__).read_text("utf-8")
    tree, mutant = _changed(module, source, name)
    code = compile(tree, holder.__file__, "exec", dont_inherit=True)
    function = _function(holder, mutant.function)
    function.__code__ = _named(code, mutant.function)
    return mutant


def _changed(module: str, source: str, name: str) -> tuple[ast.Module, Mutant]:
    for mutant, proposal in proposals_of(module, source):
        if mutant.name == name:
            return _replaced(source, mutant, proposal), mutant
    raise NoSuchMutant(f"{name}: the source has no such place")


def _replaced(source: str, mutant: Mutant, proposal: ProposedChange) -> ast.Module:
    """Return the module's tree with the change; the proposal is of another tree of this source."""
    tree = ast.parse(source)
    kind = type(proposal.node)
    here = (mutant.line, mutant.column, getattr(proposal.node, "end_col_offset", None))
    changed: ast.Module = _Replace(kind, here, ast.unparse(proposal.node), proposal).visit(tree)
    return ast.fix_missing_locations(changed)


class _Replace(ast.NodeTransformer):
    def __init__(
        self, kind: type, here: tuple[Any, ...], text: str, proposal: ProposedChange
    ) -> None:
        self._kind, self._here, self._text, self._proposal = kind, here, text, proposal

    def visit(self, node: ast.AST) -> Any:
        place = (
            getattr(node, "lineno", 0),
            getattr(node, "col_offset", 0),
            getattr(node, "end_col_offset", None),
        )
        if isinstance(node, self._kind) and place == self._here and ast.unparse(node) == self._text:
            return self._proposal.instead
        return self.generic_visit(node)


def _function(holder: Any, name: str) -> FunctionType:
    *outer, last = name.split(".")
    for part in outer:
        holder = getattr(holder, part)
    found = vars(holder)[last]
    while not isinstance(found, FunctionType):
        for inner in ("fget", "__func__", "__wrapped__"):
            if getattr(found, inner, None) is not None:
                found = getattr(found, inner)
                break
        else:
            raise NoSuchMutant(f"{name} is no function: {found!r}")
    return getattr(found, "__wrapped__", found)


def _named(code: CodeType, name: str) -> CodeType:
    for one in _codes(code):
        if one.co_qualname == name:
            return one
    raise NoSuchMutant(f"{name} has no code of its own")


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)
