"""docs/not-judged.md names the areas with requirements that have no test, and no others."""

from __future__ import annotations

import re
from pathlib import Path

from harness.conformance.catalogue import load_catalogue
from harness.conformance.where_judged import requirements_with_tests

ROOT = Path(__file__).parents[2]


def test_the_page_names_all_areas_with_requirements_without_a_test() -> None:
    page = (ROOT / "docs" / "not-judged.md").read_text("utf-8")
    section = page.partition("## In the catalogue")[2].partition("\n## ")[0]
    named = re.findall(r"^\| ([A-Z0-9]+) \|", section, re.MULTILINE)
    tested = requirements_with_tests(ROOT)
    open_ = [one for one in load_catalogue().requirements.values() if one.id not in tested]
    assert set(named) == {one.area for one in open_}
    raft = [one for one in load_catalogue().requirements.values() if one.area == "RAFT"]
    left = sum(one.area == "RAFT" for one in open_)
    assert f"{left} of {len(raft)}" in section
