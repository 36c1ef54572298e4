"""Circles of imports between our modules, by the place of the imports.

An import at the level of a module runs when the module loads; one inside a function runs later; one
under TYPE_CHECKING never runs. A circle of the first kind makes the order of imports matter.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from enum import Enum
from pathlib import Path

from tests.parsed_source import parsed


class Place(Enum):
    """The place of an import."""

    MODULE = "module"
    FUNCTION = "function"
    TYPES = "TYPE_CHECKING"


Imports = Mapping[str, frozenset[tuple[str, Place]]]
"""Module -> the modules that it imports, each with the place."""


def modules_of(root: Path, packages: Collection[str]) -> dict[str, Path]:
    """Return the modules of the packages by dotted name."""
    found = {}
    for package in packages:
        for file in sorted((root / package).rglob("*.py")):
            parts = file.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imports_of(modules: Mapping[str, Path]) -> Imports:
    """Return the imports between these modules."""
    return {name: frozenset(_imports(name, file, modules)) for name, file in modules.items()}


def circles(imports: Imports, places: Collection[Place]) -> list[frozenset[str]]:
    """Return the sets of modules that import each other, over imports at these places."""
    graph = {
        name: {other for other, place in found if place in places}
        for name, found in imports.items()
    }
    reached = {name: _reached(graph, name) for name in graph}
    sets = {
        frozenset(other for other in reached[name] if name in reached[other])
        for name in graph
        if name in reached[name]
    }
    return sorted(sets, key=sorted)


def _reached(graph: Mapping[str, Collection[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += graph[name]
    return found


def _imports(name: str, file: Path, modules: Mapping[str, Path]) -> Iterator[tuple[str, Place]]:
    for node, place in _with_places(parsed(file.read_text("utf-8")), Place.MODULE):
        for named in _named(node, name, file):
            found = _module(named, modules)
            if found and found != name:
                yield found, place


def _with_places(tree: ast.AST, place: Place) -> Iterator[tuple[ast.AST, Place]]:
    """The statements of a tree; no expression contains an import."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr):
            continue
        inner = place
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = Place.FUNCTION
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            inner = Place.TYPES
        yield node, place
        yield from _with_places(node, inner)


def _named(node: ast.AST, name: str, file: Path) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        package = name if file.name == "__init__.py" else name.rpartition(".")[0]
        for _ in range(node.level - 1):
            package = package.rpartition(".")[0]
        base = node.module or ""
        if node.level:
            base = f"{package}.{base}".rstrip(".")
        yield from (f"{base}.{alias.name}" for alias in node.names)


def _module(named: str, modules: Mapping[str, Path]) -> str:
    """Return the longest part of a dotted name that is a module; empty without one."""
    while named and named not in modules:
        named = named.rpartition(".")[0]
    return named
