"""The table of reviewed requirements names requirements and weaknesses that there are."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from harness.conformance.catalogue import load_catalogue

DOCS = Path(__file__).parents[2] / "docs"
HEADING = "## A test that judges the whole statement"


def weaknesses() -> set[str]:
    """The first cells of the table in authoring.md."""
    _, _, behind = (DOCS / "authoring.md").read_text("utf-8").partition(HEADING)
    section = behind.partition("\n## ")[0]
    return set(re.findall(r"^\| ([a-z][^|]*) \|", section, re.MULTILINE)) - {"weakness"}


def test_reviewed_requirements_and_weaknesses_exist() -> None:
    with (DOCS / "requirement-review.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    order, known = list(load_catalogue().requirements), weaknesses()
    ids = [row["requirement"] for row in rows]
    assert len(known) == 13
    assert ids == sorted(set(ids), key=order.index)
    for row in rows:
        strange = set(row["weaknesses looked for"].split(", ")) - known
        assert not strange, f"{row['requirement']}: {sorted(strange)}"
        assert row["added"], row
