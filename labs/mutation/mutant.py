"""A wrong broker that differs from the right one in one place of one function."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Replacement = ast.expr | Sequence[ast.stmt]
"""What stands in the place of a node: an expression for one, statements for a statement."""


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """A change of one node. ``meaning`` completes "the broker ..."."""

    node: ast.AST
    instead: Replacement
    meaning: str


Operator = Callable[[ast.AST], Iterator[ProposedChange]]
"""Yields the changes of one node; the node itself stays as it is."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change in one function of the broker.

    Attributes:
        operator: the kind of mistake, a key of ``operators.OPERATORS``.
        module, function: dotted name of the module, qualified name of the function in it.
        line, column: the place of the change in the module.
        ordinal: number of the change among those of this operator at this place, from 0.
        before, after: source of the changed node.
    """

    operator: str
    module: str
    function: str
    line: int
    column: int
    ordinal: int
    before: str
    after: str

    @property
    def name(self) -> str:
        """The name by which the same mutant is made again from the same source."""
        place = f"{self.module.removeprefix('harness.reference_broker.')}:{self.line}:{self.column}"
        return f"{self.operator}@{place}#{self.ordinal}"

    @property
    def area_path(self) -> str:
        """The module without the package of the broker."""
        return self.module.removeprefix("harness.reference_broker.")
