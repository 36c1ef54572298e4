"""Error answers in the broker's place: for all that the request names, in every version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from harness.codec import decode, encode
from harness.codec.apis import APIS, Api
from harness.codec.dictionary_form import from_dict, to_dict
from harness.codec.layout import layout
from harness.codec.messages import FetchResponse, FindCoordinatorRequest
from harness.codec.specs import FieldSpec, MessageSpec, StructSpec
from harness.codec.structs import Message
from harness.proxies.rules.error_answer import error_answer
from harness.proxies.rules.errors import Skip
from harness.proxies.rules.values import is_error_code
from tests.proxies.rules.traffic import fetch

CODE = 41
_PLAIN: dict[str, Any] = {"string": "name", "uuid": str(UUID(int=5)), "bool": True, "bytes": "00",
                          "records": "00", "float64": 1.5}  # fmt: skip


def filled(spec: MessageSpec, struct: StructSpec, version: int, depth: int = 0) -> dict[str, Any]:
    """A dictionary form with one element in every array, and a value in every field."""
    own = layout(spec, struct, version)
    slots = (*own.plain, *own.tagged.values())
    return {
        slot.field.name: value_of(spec, slot.field, version, depth)
        for slot in slots
        if depth < 6 or slot.field.element != "struct"
    }


def value_of(spec: MessageSpec, field: FieldSpec, version: int, depth: int) -> Any:
    kind = field.element if field.kind == "array" else field.kind
    if kind == "struct":
        assert field.struct is not None
        value: Any = filled(spec, field.struct, version, depth + 1)
    else:
        value = _PLAIN.get(kind, 0 if field.name == "key_type" else 3)
    return [value] if field.kind == "array" else value


def codes(form: Any, name: str = "") -> Iterator[int]:
    if isinstance(form, dict):
        for key, value in form.items():
            yield from codes(value, key)
    elif isinstance(form, list):
        for value in form:
            yield from codes(value, name)
    elif is_error_code(name):
        yield form


def has_error_code(spec: MessageSpec, struct: StructSpec, version: int) -> bool:
    return any(True for _ in codes(filled(spec, struct, version)))


def asked(api: Api, version: int) -> Message:
    cls = api.request
    return from_dict(cls, version, filled(cls.message_spec, cls.spec, version))


EVERY = [(api, version) for api in APIS.values() for version in api.valid_versions]


NO_PLACE = [
    *(f"DescribeLogDirs v{version}" for version in range(3)),  # requests name no log directory
    "AlterUserScramCredentials v0",  # users stand in two arrays, under another name
]


def test_error_response_carries_code_for_all_apis_but_listed_ones() -> None:
    """Each answer encodes at its version, and has no other code."""
    without = []
    for api, version in EVERY:
        cls = api.response
        try:
            made = error_answer(asked(api, version), cls, version, CODE)
        except Skip:
            if has_error_code(cls.message_spec, cls.spec, version):
                without.append(f"{api.name} v{version}")
            continue
        again = decode(cls, version, encode(made, version))
        assert set(codes(to_dict(again, version))) == {CODE}, (api, version)
    assert without == NO_PLACE


CASES: dict[str, tuple[str, int, dict[str, Any], dict[str, Any]]] = {
    "partitions of topics": (
        "Fetch", 12,
        {"topics": [{"topic": "a", "partitions": [{"partition": 1}, {"partition": 4}]},
                    {"topic": "b", "partitions": [{"partition": 0}]}]},
        {"error_code": CODE, "responses": [
            {"topic": "a", "partitions": [{"partition_index": 1, "error_code": CODE},
                                          {"partition_index": 4, "error_code": CODE}]},
            {"topic": "b", "partitions": [{"partition_index": 0, "error_code": CODE}]}]},
    ),
    "topics by id": (
        "Fetch", 13,
        {"topics": [{"topic_id": str(UUID(int=5)), "partitions": [{"partition": 1}]}]},
        {"error_code": CODE, "responses": [
            {"topic_id": str(UUID(int=5)),
             "partitions": [{"partition_index": 1, "error_code": CODE}]}]},
    ),
    "plain numbers of partitions": (
        "OffsetFetch", 7,
        {"group_id": "g", "topics": [{"name": "a", "partition_indexes": [2, 5]}]},
        {"error_code": CODE, "topics": [
            {"name": "a", "partitions": [{"partition_index": 2, "error_code": CODE},
                                         {"partition_index": 5, "error_code": CODE}]}]},
    ),
    "topics of groups stay with their group": (
        "OffsetFetch", 8,
        {"groups": [{"group_id": "g", "topics": [{"name": "a", "partition_indexes": [2]}]},
                    {"group_id": "h", "topics": []}]},
        {"groups": [
            {"group_id": "g", "error_code": CODE, "topics": [
                {"name": "a", "partitions": [{"partition_index": 2, "error_code": CODE}]}]},
            {"group_id": "h", "error_code": CODE}]},
    ),
    "plain names of groups": (
        "DeleteGroups", 2, {"groups_names": ["g", "h"]},
        {"results": [{"group_id": "g", "error_code": CODE}, {"group_id": "h", "error_code": CODE}]},
    ),
    "plain names of topics": (
        "DeleteTopics", 5, {"topic_names": ["a"]},
        {"responses": [{"name": "a", "error_code": CODE}]},
    ),
    "topics without partitions": (
        "Metadata", 9, {"topics": [{"name": "a"}, {"name": "b"}]},
        {"topics": [{"name": "a", "error_code": CODE}, {"name": "b", "error_code": CODE}]},
    ),
    "keys of coordinators": (
        "FindCoordinator", 4, {"coordinator_keys": ["g", "h"]},
        {"coordinators": [{"key": "g", "error_code": CODE}, {"key": "h", "error_code": CODE}]},
    ),
    "resources": (
        "DescribeConfigs", 4,
        {"resources": [{"resource_type": 2, "resource_name": "a"}]},
        {"results": [{"resource_type": 2, "resource_name": "a", "error_code": CODE}]},
    ),
    "members": (
        "LeaveGroup", 4,
        {"group_id": "g", "members": [{"member_id": "m", "group_instance_id": "i"}]},
        {"error_code": CODE,
         "members": [{"member_id": "m", "group_instance_id": "i", "error_code": CODE}]},
    ),
    "as many as were asked": (
        "CreateAcls", 2,
        {"creations": [{"resource_name": "a"}, {"resource_name": "b"}]},
        {"results": [{"error_code": CODE}, {"error_code": CODE}]},
    ),
    "transactions in a batch": (
        "AddPartitionsToTxn", 4,
        {"transactions": [{"transactional_id": "t", "topics": [{"name": "a", "partitions": [7]}]}]},
        {"error_code": CODE, "results_by_transaction": [
            {"transactional_id": "t", "topic_results": [
                {"name": "a", "results_by_partition": [
                    {"partition_index": 7, "partition_error_code": CODE}]}]}]},
    ),
    "one transaction": (
        "AddPartitionsToTxn", 3,
        {"v3_and_below_transactional_id": "t",
         "v3_and_below_topics": [{"name": "a", "partitions": [7]}]},
        {"results_by_topic_v3_and_below": [
            {"name": "a", "results_by_partition": [
                {"partition_index": 7, "partition_error_code": CODE}]}]},
    ),
    "nothing but the error": ("Heartbeat", 3, {"group_id": "g"}, {"error_code": CODE}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_error_response_contains_entry_for_each_requested_item(case: str) -> None:
    name, version, request_form, answer_form = CASES[case]
    api = next(api for api in APIS.values() if api.name == name)
    request = from_dict(api.request, version, request_form)
    made = error_answer(request, api.response, version, CODE)
    shown = only(to_dict(made, version), answer_form)
    assert shown == answer_form


def only(shown: Any, wanted: Any) -> Any:
    """The named fields of a dictionary form, down to the last element."""
    if isinstance(wanted, dict):
        return {name: only(shown[name], inner) for name, inner in wanted.items()}
    if isinstance(wanted, list):
        assert len(shown) == len(wanted)
        return [only(*pair) for pair in zip(shown, wanted, strict=True)]
    return shown


def test_error_fetch_partition_has_kafka_default_values() -> None:
    api = next(api for api in APIS.values() if api.name == "Fetch")
    message = error_answer(fetch(), api.response, 12, CODE)
    assert isinstance(message, FetchResponse)
    (one,) = message.responses[0].partitions
    assert (one.high_watermark, one.last_stable_offset, one.records) == (-1, -1, b"")


def test_error_response_without_error_field_raises_skip() -> None:
    api = next(api for api in APIS.values() if api.name == "FindCoordinator")
    nothing = FindCoordinatorRequest(coordinator_keys=[])
    with pytest.raises(Skip, match="FindCoordinatorResponse v4 to this request has no place"):
        error_answer(nothing, api.response, 4, CODE)
