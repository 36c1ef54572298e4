"""The table of features that meet: each pair has requirements that judge it, or a reason."""

from __future__ import annotations

import csv
from itertools import combinations
from pathlib import Path

from harness.conformance.catalogue import load_catalogue

TABLE = Path(__file__).parents[2] / "docs" / "feature-pairs.tsv"
NONE = "-"


def rows() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_table_has_each_pair_of_features_once() -> None:
    pairs = [(row["feature"], row["other feature"]) for row in rows()]
    features = list(dict.fromkeys(name for pair in pairs for name in pair))
    assert sorted(pairs) == sorted(combinations(features, 2))


def test_pairs_have_judged_requirements_or_reason() -> None:
    catalogue = load_catalogue().requirements
    judged = {one.id for one in catalogue.values() if one.not_judged is None}
    for row in rows():
        ids, reason = row["requirements"], row["reason without one"]
        assert (ids == NONE) != (reason == NONE), row
        unknown = set() if ids == NONE else set(ids.split()) - judged
        assert not unknown, f"{row}: no judged requirement: {sorted(unknown)}"
