"""A step before the check of a test makes it inconclusive, not failed, where the broker refuses it.

A function ``expect...`` raises AssertionError, which outside of a check is an error of the harness;
there a preparation raises PreparationFailed instead.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.parsed_source import parsed

ROOT = Path(__file__).resolve().parents[2]
OPENS_CHECK = ("requirement", "checked", "judged")
MISPLACED = """
def prepare(broker):
    expect_error(broker.ask(), 0)
    pass

@judges("AREA-001")
def test_of_it(broker):
    expect_error(broker.ask(), 0)
    with requirement("AREA-001"):
        expect_error(broker.ask(), 0)
"""


def _trees() -> dict[str, ast.Module]:
    return {
        path.relative_to(ROOT).as_posix(): parsed(path.read_text("utf-8"))
        for path in sorted((ROOT / "suites").rglob("*.py"))
    }


def _called(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Names of the functions that are called in a node, without their modules, and lines."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call):
            yield getattr(call.func, "attr", getattr(call.func, "id", "")), call.lineno


def _functions(trees: dict[str, ast.Module]) -> Iterator[ast.FunctionDef]:
    for tree in trees.values():
        yield from (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _reaching(trees: dict[str, ast.Module], first: set[str]) -> set[str]:
    """Names of functions that call one of the first, directly or by others; with the first."""
    calls: dict[str, set[str]] = defaultdict(set)
    for function in _functions(trees):
        calls[function.name] |= {name for name, _ in _called(function)}
    found = set(first)
    while more := {name for name, called in calls.items() if called & found} - found:
        found |= more
    return found


def _asserting(trees: dict[str, ast.Module]) -> set[str]:
    """Names of functions that raise AssertionError."""
    plain = {
        function.name
        for function in _functions(trees)
        if any(isinstance(node, ast.Assert) for node in ast.walk(function))
    }
    return _reaching(trees, plain | {"expect_error"})


def _outside(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a test that are in none of its checks."""
    for one in statements:
        blocks = [getattr(one, name, []) for name in ("body", "orelse", "finalbody")]
        if isinstance(one, ast.With):
            opened = {name for item in one.items for name, _ in _called(item.context_expr)}
            if not opened & set(OPENS_CHECK):
                yield from _outside(one.body)
        elif isinstance(one, ast.FunctionDef):
            continue
        elif any(blocks):
            for block in blocks:
                yield from _outside(block)
        else:
            yield one


def misplaced(trees: dict[str, ast.Module]) -> list[str]:
    """Calls of ``expect...`` in tests outside of any check."""
    judged = _asserting(trees) - _reaching(trees, {*OPENS_CHECK})
    return [
        f"{place}:{line} {name}"
        for place, tree in trees.items()
        for test in tree.body
        if isinstance(test, ast.FunctionDef) and test.name.startswith("test_")
        for statement in _outside(test.body)
        for name, line in _called(statement)
        if name.lstrip("_").startswith("expect_") and name in judged
    ]


def test_expectations_of_suites_are_in_checks() -> None:
    found = misplaced(_trees())
    assert not found, f"raise PreparationFailed there, or begin the check before: {found}"


def test_expectation_before_check_is_found() -> None:
    found = misplaced({"small.py": ast.parse(MISPLACED)})
    assert found == ["small.py:8 expect_error"]
