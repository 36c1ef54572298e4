"""Loops inside of checks that are no subtests: where a first failure may hide the next ones.

``python -m tests.architecture.check_loops`` records their numbers in ``check_loops.tsv``, where
they may only fall. Steps that build on each other are rightly among them.
"""

from __future__ import annotations

import ast
import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.parsed_source import parsed

ROOT = Path(__file__).resolve().parents[2]
RECORD = Path(__file__).with_name("check_loops.tsv")
HEADER = ("file", "function", "loops")
Loops = dict[tuple[str, str], int]


def plain_loops() -> Loops:
    """By file and function: the outermost loops in blocks of ``requirement`` without a subtest."""
    found: Counter[tuple[str, str]] = Counter()
    for path in sorted((ROOT / "suites").rglob("*.py")):
        place = path.relative_to(ROOT).as_posix()
        for function in _functions(parsed(path.read_text("utf-8"))):
            found[place, function.name] += loops_in(function)
    return {place: number for place, number in found.items() if number}


def loops_in(function: ast.FunctionDef) -> int:
    """The number of such loops in one function."""
    checks = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.With) and _opens(node, "requirement", "checked")
    ]
    return sum(not _has_subtest(loop) for check in checks for loop in _outermost(check.body))


def recorded() -> Loops:
    """What ``check_loops.tsv`` allows."""
    with RECORD.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return {(row["file"], row["function"]): int(row["loops"]) for row in rows}


def record(loops: Loops) -> None:
    """Write the file."""
    with RECORD.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows([*place, number] for place, number in sorted(loops.items()))


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _opens(node: ast.AST, *names: str) -> bool:
    if not isinstance(node, ast.With):
        return False
    calls = [item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call)]
    return any(
        (call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", ""))
        in names
        for call in calls
    )


def _has_subtest(loop: ast.For) -> bool:
    return any(_opens(node, "subtest") for node in ast.walk(loop))


def _outermost(body: Iterable[ast.stmt]) -> Iterator[ast.For]:
    """Loops of a block, outside of subtests; repetitions without a variable are no specimens."""
    for statement in body:
        if _opens(statement, "subtest"):
            continue
        if isinstance(statement, ast.For):
            if not (isinstance(statement.target, ast.Name) and statement.target.id == "_"):
                yield statement
            continue
        for part in ("body", "orelse", "finalbody"):
            yield from _outermost(getattr(statement, part, []))


if __name__ == "__main__":
    record(plain_loops())
