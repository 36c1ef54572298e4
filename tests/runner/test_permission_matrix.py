"""The permission matrix is whole: requirements, requests, places and the page agree with it."""

from __future__ import annotations

from typing import cast

import pytest

from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DeleteGroupsResponse
from harness.conformance.catalogue import load_catalogue
from suites.protocol.support.acl_terms import Operation, Resource
from suites.protocol.support.permissions import page
from suites.protocol.support.permissions.forms import ASKED
from suites.protocol.support.permissions.matrix import Line, Row, rows, values_at
from suites.protocol.support.permissions.scene import Scene

EVERY = list(rows().values())


def resource_of(word: str) -> Resource:
    return Resource[word.removeprefix("new-").replace("-", "_").upper()]


def test_each_requirement_of_the_area_has_a_row() -> None:
    areas = load_catalogue().areas
    assert [row.requirement for row in EVERY] == list(areas["AUTHZ"].requirements)


def test_each_row_has_a_request_and_each_request_a_row() -> None:
    assert sorted(row.form for row in EVERY) == sorted(ASKED)


@pytest.mark.parametrize("row", EVERY, ids=lambda row: row.requirement)
def test_a_row_names_known_operations_resources_and_fields(row: Row) -> None:
    for line in row.lines:
        for right in line.held.split(", ") if line.held != "-" else ():
            operation, word = right.split()
            assert Operation[operation]
            assert resource_of(word)
        assert field_is_known(row, line.place), f"{row.api} has no {line.place}"
        assert ASKED[row.form].secret == "" or field_is_known(row, ASKED[row.form].secret)


def field_is_known(row: Row, place: str) -> bool:
    spec = api_named(row.api).response.spec
    *outer, last = place.split(".")
    for name in outer:
        (found,) = [field for field in spec.fields if field.name == name]
        assert found.struct is not None
        spec = found.struct
    return last in {field.name for field in spec.fields}


@pytest.mark.parametrize("row", EVERY, ids=lambda row: row.requirement)
def test_refusals_stand_in_front_so_that_no_right_of_before_is_left(row: Row) -> None:
    """An authorizer learns of a removed right a moment later than the answer shows it."""
    for version in api_named(row.api).valid_versions:
        kinds = [line.refuses for line in row.at(version)]
        assert kinds == sorted(kinds, reverse=True), f"v{version}"


def is_right(answer: str, found: list[object]) -> bool:
    line = Line(api_named("Heartbeat").valid_versions, "-", "error_code", answer)
    nowhere = cast("Scene", None)  # these answers name no object
    return line.is_right(found, nowhere)


def test_the_errors_of_a_line_are_those_and_no_other() -> None:
    allowed = "NONE|UNKNOWN_MEMBER_ID"
    assert is_right(allowed, [ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID])
    assert not is_right(allowed, [ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS])
    assert not is_right(allowed, [])


def test_the_operations_of_a_line_are_exactly_these() -> None:
    assert is_right("operations READ DESCRIBE", [1 << 3 | 1 << 8])
    assert not is_right("operations READ DESCRIBE", [1 << 3 | 1 << 4 | 1 << 8])
    assert is_right("operations -", [0])


def test_a_place_leads_through_every_element_of_an_array() -> None:
    result = DeleteGroupsResponse.DeletableGroupResult
    results = [result(group_id=name, error_code=30) for name in ("a", "b")]
    answer = DeleteGroupsResponse(results=results)
    assert list(values_at(answer, "results.error_code")) == [30, 30]
    assert list(values_at(answer, "results.group_id")) == ["a", "b"]


def test_the_page_has_the_table_of_the_matrix() -> None:
    """``python -m suites.protocol.support.permissions.page`` writes it."""
    text = page.PAGE.read_text("utf-8")
    assert text == page.with_table(text)
    assert page.table() in text
