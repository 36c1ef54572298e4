"""The functions of the broker that the tests of each target execute: `executed.tsv`.

Some functions work on one target alone: those of files, of followers, of a controller. A sample of
mutants of another target leaves them out, as its tests cannot notice them. A function without a
target is executed by no test; its mutants count as survivors where its module belongs to.
"""

from __future__ import annotations

import ast
import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from labs.mutation.enumeration import ROOT, functions_of, modules

FILE = Path(__file__).with_name("executed.tsv")
_NONE = "none"


class BrokerFunction(NamedTuple):
    """``module``: its dotted name below the broker's package; ``name``: qualified, in it."""

    module: str
    name: str


Executed = Mapping[BrokerFunction, frozenset[str]]
"""The targets with a test that executes a function; a function newer than the file is missing."""


def executed_in(lines: Iterable[str]) -> Iterator[tuple[BrokerFunction, bool]]:
    """Yield each function of the source, and whether one of its lines is among these.

    ``lines``: the executed ones, each as ``path:line`` below the broker's package.
    """
    by_path: dict[str, set[int]] = defaultdict(set)
    for place in lines:
        path, line = place.rsplit(":", 1)
        by_path[path].add(int(line))
    for module, file in modules():
        own = by_path[str(file.relative_to(ROOT))]
        short = module.removeprefix("harness.reference_broker.")
        for name, node in functions_of(ast.parse(file.read_text("utf-8"))):
            inside = range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
            yield BrokerFunction(short, name), not own.isdisjoint(inside)


def with_target(known: Executed, target: str, lines: Iterable[str]) -> Executed:
    """Return the functions of the present source, with what the tests of a target execute now."""
    return {
        function: known.get(function, frozenset()) - {target} | ({target} if is_executed else set())
        for function, is_executed in executed_in(lines)
    }


def read(file: Path = FILE) -> Executed:
    """Return the functions of the file."""
    with file.open(encoding="utf-8", newline="") as text:
        rows = list(csv.reader(text, delimiter="\t"))
    return {
        BrokerFunction(module, name): frozenset()
        if targets == _NONE
        else frozenset(targets.split())
        for module, targets, names in rows[1:]
        for name in names.split()
    }


def write(executed: Executed, file: Path = FILE) -> None:
    """Write the file: a row for each module and set of targets."""
    rows: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (module, name), targets in executed.items():
        rows[module, " ".join(sorted(targets)) or _NONE].append(name)
    with file.open("w", encoding="utf-8", newline="") as text:
        out = csv.writer(text, delimiter="\t", lineterminator="\n")
        out.writerow(["module", "targets", "functions"])
        out.writerows([*row, " ".join(sorted(names))] for row, names in sorted(rows.items()))
