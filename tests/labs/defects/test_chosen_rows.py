"""Slices, and what a row watches."""

from __future__ import annotations

import pytest

from labs.defects.all_defects import ALL_DEFECTS
from labs.defects.chosen_rows import RowSlice, sampled
from labs.defects.defect import Where
from labs.defects.row_unit import OWN_PROCESS, ROWS_IN_A_UNIT, units_of
from labs.defects.seen_on import KAFKA_ALONE


@pytest.mark.parametrize("count", [1, 2, 7, 1000])
def test_slices_contain_each_row_exactly_once(count: int) -> None:
    parts = [RowSlice(number, count).of(ALL_DEFECTS) for number in range(1, count + 1)]
    names = [defect.name for part in parts for defect in part]
    assert sorted(names) == sorted(defect.name for defect in ALL_DEFECTS)
    assert len(names) == len(set(names))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_same_slice_contains_same_rows() -> None:
    assert RowSlice.parse("2/9").of(ALL_DEFECTS) == RowSlice(2, 9).of(list(ALL_DEFECTS))


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "1/0", "a/b", "-1/3"])
def test_invalid_slice_text_raises_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="K/N"):
        RowSlice.parse(text)


def test_units_contain_each_row_once_and_only_one_kind() -> None:
    units = units_of(ALL_DEFECTS, lambda defect: (defect.requirement,))
    names = [row for unit in units for row in unit.rows]
    assert sorted(names) == sorted(defect.name for defect in ALL_DEFECTS)
    by_name = {defect.name: defect for defect in ALL_DEFECTS}
    for unit in units:
        assert {by_name[row].where for row in unit.rows} == {unit.where}
        assert {by_name[row].requirement for row in unit.rows} == set(unit.watched)
        assert 1 <= len(unit.rows) <= ROWS_IN_A_UNIT


def test_rows_with_lasting_process_effects_run_alone() -> None:
    units = units_of(ALL_DEFECTS, lambda defect: (f"{defect.area}-*",))
    alone = [unit for unit in units if unit.where in OWN_PROCESS]
    assert Where.OFFLINE in {unit.where for unit in alone}
    assert all(unit.is_alone and len(unit.rows) == 1 for unit in alone)
    assert not any(unit.is_alone for unit in units if unit.where not in OWN_PROCESS)


def test_sample_without_unchosen_rows_is_the_same() -> None:
    sample = sampled(ALL_DEFECTS, 20, 7)
    left_out = next(one for one in ALL_DEFECTS if one not in sample)
    assert sampled([one for one in ALL_DEFECTS if one is not left_out], 20, 7) == sample


def test_seed_changes_the_sample() -> None:
    assert sampled(ALL_DEFECTS, 20, 7) != sampled(ALL_DEFECTS, 20, 8)


def test_sample_has_one_row_of_each_area_before_a_second_one() -> None:
    defects = [one for one in ALL_DEFECTS if one.name not in KAFKA_ALONE]
    areas = {one.area for one in defects}
    assert {one.area for one in sampled(defects, len(areas), 7)} == areas
