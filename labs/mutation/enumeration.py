"""All mutants of the built-in broker, from its source: the same source gives the same list."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import harness.reference_broker
from labs.mutation.mutant import Mutant, ProposedChange
from labs.mutation.operators import OPERATORS

PACKAGE = "harness.reference_broker"
ROOT = Path(harness.reference_broker.__file__).parent
NOT_MUTATED = frozenset(
    {
        # Text, start and end of processes, limits of this machine: no behaviour of a broker.
        "__main__", "command", "allocator", "descriptors", "settings", "initial_state",
        "state.configs.documentation", "cluster.running", "cluster.command",
        "state.memory_budget", "outbound_limit",
    }
)  # fmt: skip
_SOUNDLESS = frozenset({"__repr__", "__str__", "__hash__", "__len__", "size_bytes",
                        "size_of_member"})  # fmt: skip


def modules() -> Iterator[tuple[str, Path]]:
    """Yield the modules of the broker that are mutated, with their files."""
    for file in sorted(ROOT.rglob("*.py")):
        parts = file.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name and name not in NOT_MUTATED:
            yield f"{PACKAGE}.{name}", file


def mutants_of(module: str, source: str) -> Iterator[Mutant]:
    """Yield the mutants of one module."""
    for mutant, _ in proposals_of(module, source):
        yield mutant


def proposals_of(module: str, source: str) -> Iterator[tuple[Mutant, ProposedChange]]:
    """Yield each mutant with the change of the syntax tree that makes it."""
    seen: dict[tuple[str, int, int], int] = {}
    for function, node in functions_of(ast.parse(source)):
        for part in _parts(node):
            for operator, propose in OPERATORS.items():
                for proposal in propose(part):
                    yield _numbered(operator, module, function, proposal, seen), proposal


def _numbered(
    operator: str,
    module: str,
    function: str,
    proposal: ProposedChange,
    seen: dict[tuple[str, int, int], int],
) -> Mutant:
    node = proposal.node
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    ordinal = seen.get((operator, line, column), 0)
    seen[operator, line, column] = ordinal + 1
    instead = proposal.instead
    after = ast.unparse(instead) if isinstance(instead, ast.AST) else _text(instead)
    return Mutant(operator, module, function, line, column, ordinal, ast.unparse(node), after)


def _text(statements: object) -> str:
    assert isinstance(statements, list)
    return "; ".join(ast.unparse(one) for one in statements)


def functions_of(
    node: ast.AST, outer: str = ""
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield the outermost functions, and the methods of classes, by qualified name."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            if child.name not in _SOUNDLESS:
                yield f"{outer}{child.name}", child
        elif isinstance(child, ast.ClassDef):
            yield from functions_of(child, f"{outer}{child.name}.")


def _parts(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    """The function, and what is in it; not its decorators, annotations, docstring, assertions."""
    yield function
    for statement in function.body:
        yield from _walk(statement)


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    if is_text or isinstance(node, ast.Assert | ast.Import | ast.ImportFrom):
        return
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_comment"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _walk(child)
