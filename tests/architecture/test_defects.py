"""Every file of defects is in the table, and every defect once."""

from __future__ import annotations

from collections import Counter

from tests.architecture.test_tidy import ROOT
from tests.defects.all_defects import ALL_DEFECTS


def test_every_defect_is_there_once() -> None:
    """A run is kept under the defect's name: two of one name would write into each other."""
    twice = [name for name, count in Counter(d.name for d in ALL_DEFECTS).items() if count > 1]
    assert twice == []


def test_every_file_of_defects_is_in_the_table() -> None:
    table = (ROOT / "tests" / "defects" / "all_defects.py").read_text("utf-8")
    files = (ROOT / "tests" / "defects").glob("*.py")
    lists = [file.stem for file in files if "\nDEFECTS = [" in file.read_text("utf-8")]
    assert len(lists) > 20
    assert [name for name in lists if f"*{name}.DEFECTS" not in table] == []
