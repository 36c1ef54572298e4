"""Defects that edit decoded messages: by a row, or by a function with annotated parameters."""

from __future__ import annotations

from functools import partial

import pytest

from harness.codec import decode
from harness.codec.error_code import ErrorCode
from harness.codec.header import (
    decode_request_header,
    decode_response,
    encode_request,
    encode_response,
)
from harness.codec.messages import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    FetchRequest,
    FetchResponse,
    HeartbeatRequest,
    HeartbeatResponse,
)
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.defect import Defect
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes
from labs.defects.one_client import of_client

REFUSED = HeartbeatResponse(error_code=ErrorCode.ILLEGAL_GENERATION)
row = partial(changed_field, "GRP-021", "a_name", "a reason", "A meaning.")
heartbeat_row = partial(
    row, HeartbeatResponse, "error_code", ErrorCode.ILLEGAL_GENERATION, ErrorCode.NONE
)


def seen(request: Message, version: int, client_id: str = "") -> SeenRequest:
    """A request as a rule sees it."""
    return SeenRequest(encode_request(request, version, 7, client_id))


def answered(defect: Defect, request: SeenRequest, answer: Message) -> Message:
    """Return the answer as the defect changes it."""
    payload = encode_response(answer, request.version, 7)
    (changed,) = defect.rule().on_response(request, payload)
    assert request.api is not None
    return decode_response(request.api, request.version, changed)[1]


def code(defect: Defect, request: SeenRequest) -> int:
    """Return the error code in place of ILLEGAL_GENERATION in an answer to a heartbeat."""
    found = answered(defect, request, REFUSED)
    assert isinstance(found, HeartbeatResponse)
    return found.error_code


def test_a_row_has_the_fields_of_its_defect() -> None:
    defect = heartbeat_row()
    assert (defect.requirement, defect.name) == ("GRP-021", "a_name")
    assert (defect.reason, defect.meaning) == ("a reason", "A meaning.")


def test_a_field_changes_at_the_versions_of_the_row_if_it_has_the_old_value() -> None:
    defect = heartbeat_row(range(3))
    assert code(defect, seen(HeartbeatRequest(), 2)) == ErrorCode.NONE
    assert code(defect, seen(HeartbeatRequest(), 3)) == ErrorCode.ILLEGAL_GENERATION
    other = HeartbeatResponse(error_code=ErrorCode.FENCED_INSTANCE_ID)
    assert answered(defect, seen(HeartbeatRequest(), 2), other) == other


def test_answers_of_other_apis_and_to_unreadable_requests_are_passed_as_they_came() -> None:
    fetched = FetchResponse(error_code=ErrorCode.ILLEGAL_GENERATION)
    assert answered(heartbeat_row(), seen(FetchRequest(), 7), fetched) == fetched
    cut = SeenRequest(seen(HeartbeatRequest(), 2).payload[:-1])
    assert code(heartbeat_row(), cut) == ErrorCode.ILLEGAL_GENERATION


def test_conditions_on_the_request() -> None:
    defect = heartbeat_row(requested={"group_id": ""}, asked=of_client("struck"))
    unnamed, named = HeartbeatRequest(), HeartbeatRequest(group_id="g")
    assert code(defect, seen(unnamed, 2, "struck")) == ErrorCode.NONE
    assert code(defect, seen(named, 2, "struck")) == ErrorCode.ILLEGAL_GENERATION
    assert code(defect, seen(unnamed, 2, "other")) == ErrorCode.ILLEGAL_GENERATION


def test_conditions_on_the_struct_and_on_those_around_it() -> None:
    result, config = (
        DescribeConfigsResponse.DescribeConfigsResult,
        DescribeConfigsResponse.DescribeConfigsResourceResult,
    )

    def described(kind: int, *values: str) -> DescribeConfigsResponse:
        configs = [config(name=name, value=name) for name in values]
        return DescribeConfigsResponse(results=[result(resource_type=kind, configs=configs)])

    defect = row(
        *(DescribeConfigsResponse, "results.configs.value", frozenset({"a", "b"}), "changed"),
        where={"results.resource_type": 2, "results.configs.name": "a"},
        also={"is_sensitive": True},
    )
    request = seen(DescribeConfigsRequest(), 1)
    found = answered(defect, request, described(2, "a", "b"))
    assert isinstance(found, DescribeConfigsResponse)
    values = [(each.value, each.is_sensitive) for each in found.results[0].configs]
    assert values == [("changed", True), ("b", False)]
    assert answered(defect, request, described(4, "a")) == described(4, "a")


def test_a_row_of_a_request_changes_what_the_broker_reads() -> None:
    rule = row(FetchRequest, "session_id", -1, 0, range(8)).rule()

    def read(version: int) -> int:
        asked = seen(FetchRequest(session_id=-1), version)
        payload = rule.on_request(asked)
        assert payload is not None
        body = decode(FetchRequest, version, payload, decode_request_header(payload)[1])
        assert isinstance(body, FetchRequest)
        return body.session_id

    assert (read(7), read(8)) == (0, -1)


@pytest.mark.parametrize(
    ("message", "field", "conditions"),
    [
        (HeartbeatResponse, "no_such_field", {}),
        (HeartbeatResponse, "error_code.code", {}),
        (HeartbeatResponse, "error_code", {"where": {"no_such_field": 1}}),
        (HeartbeatResponse, "error_code", {"where": {"results.name": 1}}),
        (HeartbeatResponse, "error_code", {"also": {"no_such_field": 1}}),
        (HeartbeatResponse, "error_code", {"requested": {"no_such_field": 1}}),
        (HeartbeatRequest, "group_id", {"requested": {"group_id": ""}}),
    ],
)
def test_a_row_that_can_never_strike_is_refused(
    message: type[Message], field: str, conditions: dict[str, dict[str, object]]
) -> None:
    with pytest.raises(ValueError, match=r"no field|no array|encloses|conditions for answers"):
        row(message, field, ANY, 0, **conditions)  # type: ignore[arg-type]


def test_the_annotations_of_a_function_name_its_messages() -> None:
    @answers("GRP-021", "a reason")
    def by_answer(answer: HeartbeatResponse) -> None:
        """Change each answer."""
        answer.error_code = 1

    @answers("GRP-021", "a reason", range(3))
    def by_request(request: HeartbeatRequest, answer: HeartbeatResponse) -> None:
        """Change answers by the request."""
        answer.error_code = request.generation_id

    @answers("GRP-021", "a reason", asked=of_client("struck"))
    def by_header(seen: SeenRequest, answer: HeartbeatResponse) -> None:
        """Change answers by the header."""
        answer.error_code = seen.version

    request = HeartbeatRequest(generation_id=5)
    assert code(by_answer, seen(request, 2)) == 1
    assert code(by_request, seen(request, 2)) == 5
    assert code(by_request, seen(request, 3)) == ErrorCode.ILLEGAL_GENERATION
    assert code(by_header, seen(request, 2, "struck")) == 2
    assert code(by_header, seen(request, 2)) == ErrorCode.ILLEGAL_GENERATION
    assert (by_answer.name, by_answer.meaning) == ("by_answer", "Change each answer.")


def test_a_function_of_a_request_is_called_with_requests_of_its_type_alone() -> None:
    @takes("FETCH-031", "a reason")
    def fetches_begin_anew(request: FetchRequest) -> None:
        """Take each Fetch for the first one."""
        request.session_epoch = 0

    rule = fetches_begin_anew.rule()
    fetch, heartbeat = seen(FetchRequest(session_epoch=3), 7), seen(HeartbeatRequest(), 2)
    assert rule.on_request(heartbeat) == heartbeat.payload
    assert rule.on_request(fetch) == seen(FetchRequest(session_epoch=0), 7).payload
