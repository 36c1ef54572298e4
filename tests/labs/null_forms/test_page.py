"""The page of nullable fields has the table of the file."""

from __future__ import annotations

import pytest

from harness.codec.versions import VersionRange
from harness.oracle.null_forms import NullForm
from harness.oracle.null_table import NullRow, null_table
from labs.null_forms.page import MARK, PAGE, page_text, table_lines


def test_page_has_the_table_of_the_file() -> None:
    text = PAGE.read_text("utf-8")
    assert page_text(text, list(null_table().values())) == text


def test_cell_names_targets_only_where_not_all_sent_the_form() -> None:
    seen = {NullForm.NULL: ("2.8.2", "4.4.0"), NullForm.VALUE: ("4.4.0",)}
    *_, line = table_lines([NullRow("Fetch", "cluster_id", "error", VersionRange(1, 2), seen)])
    assert line == "| Fetch | cluster_id | error | 1-2 | all | - | 4.4.0 |"


def test_page_without_place_for_table_is_refused() -> None:
    with pytest.raises(ValueError, match="the table --> is missing"):
        page_text("# A page", [])
    assert page_text(f"# A page\n{MARK}old", []).startswith(f"# A page\n{MARK}\n| API |")
