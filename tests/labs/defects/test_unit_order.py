"""Units that take longest begin first, and long ones are cut."""

from __future__ import annotations

from labs.defects.defect import Where
from labs.defects.row_unit import Unit
from labs.defects.unit_order import LONG_MS, longest_first

SHORT_MS = LONG_MS / 10
DURATIONS = {"A-001": SHORT_MS, "A-002": LONG_MS, "A-003": LONG_MS / 2}


def _unit(watched: str, *rows: str) -> Unit:
    return Unit(Where.SHARED, (watched,), rows)


def test_units_of_areas_come_first_and_unknown_requirements_last() -> None:
    unknown, short, area = _unit("A-009", "u"), _unit("A-001", "s"), _unit("A-*", "a")
    longest = _unit("A-002", "l")
    assert longest_first([unknown, short, longest, area], DURATIONS) == [
        area,
        longest,
        short,
        unknown,
    ]


def test_several_short_rows_outweigh_one_longer_row() -> None:
    rows = tuple("abcdef")
    several, one = _unit("A-001", *rows), _unit("A-003", "x")
    assert longest_first([one, several], DURATIONS) == [several, one]


def test_a_long_unit_is_cut_and_keeps_each_row_once() -> None:
    whole, halves = _unit("A-002", "a", "b", "c"), _unit("A-003", "d", "e", "f")
    cut = longest_first([whole, halves], DURATIONS)
    assert sorted(one.rows for one in cut) == [("a",), ("b",), ("c",), ("d", "e"), ("f",)]
    assert {one.watched for one in cut if one.rows[0] in "abc"} == {("A-002",)}


def test_a_unit_without_rows_stays() -> None:
    clean = _unit("A-002")
    assert longest_first([clean], DURATIONS) == [clean]
