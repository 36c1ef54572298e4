"""Tests of the mutated API come first, then those of the areas of its module."""

from __future__ import annotations

import pytest

from harness.codec.apis import api_named
from labs.mutation.mutant import Mutant
from labs.mutation.related_tests import JudgedSubject, Relation, judged_by, relation


def _mutant(module: str) -> Mutant:
    name = f"harness.reference_broker.{module}"
    return Mutant("boundary", name, "handle", 1, 0, 0, "a < b", "a <= b")


@pytest.mark.parametrize(
    ("module", "judged", "expected"),
    [
        ("handlers.api_09_offset_fetch", JudgedSubject(9, frozenset({"GRP"})), Relation.SAME_API),
        ("handlers.api_09_offset_fetch", JudgedSubject(8, frozenset({"OFFS"})), Relation.SAME_AREA),
        ("handlers.api_09_offset_fetch", JudgedSubject(8, frozenset({"GRP"})), Relation.OTHER),
        ("handlers.api_09_offset_fetch", None, Relation.OTHER),
        ("state.quotas.rate", JudgedSubject(9, frozenset({"QUOTA"})), Relation.SAME_AREA),
        ("state.quotas.rate", JudgedSubject(-1, frozenset({"OFFS"})), Relation.OTHER),
    ],
)
def test_relation_is_that_of_api_then_of_area(
    module: str, judged: JudgedSubject | None, expected: Relation
) -> None:
    assert relation(judged, _mutant(module)) is expected


def test_marks_of_tests_name_api_and_areas(request: pytest.FixtureRequest) -> None:
    item: pytest.Item = request.node
    assert judged_by([item]) == {item.nodeid: JudgedSubject(-1, frozenset())}
    item.add_marker(pytest.mark.judges("OFFS-001", "GRP-002"))
    item.add_marker(pytest.mark.at_versions(api_named("OffsetFetch")))
    assert judged_by([item]) == {item.nodeid: JudgedSubject(9, frozenset({"OFFS", "GRP"}))}
