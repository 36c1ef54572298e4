"""The functions that the tests of each target execute, and their file."""

from __future__ import annotations

import ast
from pathlib import Path

from labs.mutation import executed
from labs.mutation.enumeration import ROOT, functions_of
from labs.mutation.executed import BrokerFunction, Executed

ENTER = BrokerFunction("purgatory", "Purgatory.enter")


def _first_line_of(function: BrokerFunction) -> str:
    """Return the first line inside, as a recording broker writes it."""
    source = (ROOT / f"{function.module}.py").read_text("utf-8")
    node = dict(functions_of(ast.parse(source)))[function.name]
    return f"{function.module}.py:{node.body[0].lineno}"


def test_function_is_executed_if_one_of_its_lines_is() -> None:
    line = _first_line_of(ENTER)
    found = {name for name, is_executed in executed.executed_in([line]) if is_executed}
    assert found == {ENTER}


def test_target_replaces_what_it_executed_before_and_leaves_others() -> None:
    known: Executed = {ENTER: frozenset({"reference", "reference,disk"})}
    assert executed.with_target(known, "reference", [])[ENTER] == {"reference,disk"}
    again = executed.with_target(known, "reference,nodes=3", [_first_line_of(ENTER)])
    assert again[ENTER] == {"reference", "reference,disk", "reference,nodes=3"}


def test_function_that_the_source_lacks_is_forgotten() -> None:
    gone = BrokerFunction("purgatory", "there_is_no_such_function")
    assert gone not in executed.with_target({gone: frozenset({"reference"})}, "reference", [])


def test_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    known: Executed = {
        ENTER: frozenset({"reference", "reference,disk"}),
        BrokerFunction("purgatory", "Purgatory.remove"): frozenset(),
        BrokerFunction("purgatory", "Purgatory.more"): frozenset(),
    }
    executed.write(known, tmp_path / "executed.tsv")
    assert executed.read(tmp_path / "executed.tsv") == known
