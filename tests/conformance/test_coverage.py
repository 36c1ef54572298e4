import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.conformance.catalogue import UnknownRequirementError, load_catalogue
from harness.conformance.coverage import coverage
from harness.conformance.defect_tables import DefectTableError, proved_in
from tests.conformance.test_catalogue import ENTRY, a_catalogue


def test_coverage_splits_into_judged_not_judged_and_unexplained(tmp_path: Path) -> None:
    reason = {"not_judged": '"needs a disk that lies"'}
    entries = [
        ENTRY,
        {**ENTRY, "id": '"AB-002"', **reason},
        {**ENTRY, "id": '"AB-003"'},
        {**ENTRY, "id": '"AB-004"', **reason},
    ]
    catalogue = load_catalogue(a_catalogue(tmp_path, *entries))
    found = coverage(["AB-001", "AB-004", "AB-001"], catalogue)
    (area,) = found.areas
    assert (area.area, area.title) == ("AB", "A and B")
    assert area.judged == ("AB-001", "AB-004")
    assert area.not_judged == {"AB-002": "needs a disk that lies"}
    assert area.unexplained == ("AB-003",)
    assert found.contradictory == ("AB-004",)
    assert (found.judged, found.not_judged, found.unexplained) == (2, 1, 1)
    assert (area.unproved, found.unproved) == (None, None)
    known = coverage(["AB-001", "AB-004"], catalogue, ["AB-004", "AB-003"])
    assert (known.areas[0].unproved, known.unproved) == (("AB-001",), 1)


def test_requirement_killed_in_any_table_is_proved(tmp_path: Path) -> None:
    rows = [{"requirement": f"AB-00{number}", "killed": number < 3} for number in (1, 2, 3)]
    for name, defects in (("reference", rows[:1]), ("kafka", rows[1:])):
        table = {"schema_version": 1, "defects": defects}
        (tmp_path / f"{name}.json").write_text(json.dumps(table), "utf-8")
    assert proved_in(tmp_path) == {"AB-001", "AB-002"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "has no defect table; this command writes one"),
        ("{", "x.json is no defect table"),
        ('{"schema_version": 2}', "its schema version is 2, not 1"),
        ('{"schema_version": 1, "defects": [{}]}', "not readable: KeyError"),
    ],
)
def test_invalid_or_missing_defect_table_raises_defect_table_error(
    tmp_path: Path, text: str | None, said: str
) -> None:
    if text is not None:
        (tmp_path / "x.json").write_text(text, "utf-8")
    with pytest.raises(DefectTableError, match=re.escape(said)):
        proved_in(tmp_path)


def test_unknown_declared_id_raises_unknown_requirement_error() -> None:
    with pytest.raises(UnknownRequirementError, match="CONN-999"):
        coverage(["CONN-999"], load_catalogue())


@given(st.lists(st.sampled_from(sorted(load_catalogue().requirements))))
def test_coverage_counts_add_up_to_number_of_requirements(declared: list[str]) -> None:
    catalogue = load_catalogue()
    found = coverage(declared, catalogue)
    assert found.judged == len(set(declared))
    assert found.judged + found.not_judged + found.unexplained == len(catalogue.requirements)
