"""The recorded mutants: their stable names, their file."""

from __future__ import annotations

from pathlib import Path

from labs.mutation import noticed
from labs.mutation.enumeration import PACKAGE, mutants_of
from labs.mutation.noticed import NoticedMutant, StableName, rows_of, stable_names
from labs.mutation.population import every_mutant
from labs.mutation.verdicts import Fate, JudgedMutant

MODULE = f"{PACKAGE}.any"
SOURCE = "def function(a, b):\n    return a < b or a < b\n"
MOVED = f"LIMIT = 1\n\n\n{SOURCE}"


def test_stable_name_survives_moved_lines() -> None:
    first, second = [dict(stable_names(mutants_of(MODULE, text))) for text in (SOURCE, MOVED)]
    assert list(first) == list(second)
    assert {one.line for one in first.values()} != {one.line for one in second.values()}


def test_equal_changes_of_a_function_have_ordinals() -> None:
    names = [name for name, _ in stable_names(mutants_of(MODULE, SOURCE))]
    assert len(set(names)) == len(names)
    assert [one.ordinal for one in names if one.operator == "boundary"] == [0, 1]


def test_rows_are_those_of_mutants_with_a_failed_check() -> None:
    first, second, *_ = every = list(mutants_of(MODULE, SOURCE))
    judged = [
        JudgedMutant(first, Fate.NOTICED, "PROD-001", "reason", "protocol/a.py::test_a"),
        JudgedMutant(second, Fate.SURVIVED),
    ]
    (row,) = rows_of(judged, every)
    assert (row.requirement, row.case) == ("PROD-001", "protocol/a.py::test_a")
    assert row.mutant.before == first.before


def test_written_rows_are_read_back_sorted_and_once(tmp_path: Path) -> None:
    rows = [
        NoticedMutant(StableName("turned", "m", "f", "a\n<", "b\t", n), "PROD-001", "case")
        for n in (1, 0, 1)
    ]
    noticed.write(rows, tmp_path / "noticed.tsv")
    assert noticed.read(tmp_path / "noticed.tsv") == [rows[1], rows[0]]


def test_most_recorded_mutants_are_in_the_source() -> None:
    """The gate draws from them: when too few are left, record again (docs/teeth.md)."""
    there = {name for name, _ in stable_names(every_mutant())}
    rows = noticed.read()
    assert sum(row.mutant in there for row in rows) >= len(rows) / 2
