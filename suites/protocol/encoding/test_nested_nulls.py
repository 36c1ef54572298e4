"""ENC: null inside the lists of a request, for a topic's name and for its partitions."""

from __future__ import annotations

from collections.abc import Callable
from uuid import NAMESPACE_OID, UUID, uuid5

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.requests import FETCH_BY_ID, PRODUCE_BY_ID
from harness.codec import encode
from harness.codec.apis import api_named
from harness.codec.definition import ZERO_UUID
from harness.codec.header import encode_request
from harness.codec.messages import (
    DeleteRecordsRequest,
    FetchRequest,
    ListOffsetsRequest,
    ProduceRequest,
)
from harness.codec.structs import Message, Request
from harness.conformance.checks import requirement
from harness.runner.marks import judges
from suites.protocol.support.harmless import served_versions
from suites.protocol.support.refused_null import expect_null_refused

# One topic without partitions, which no broker answers with an error.


def _id(name: str) -> UUID:
    return uuid5(NAMESPACE_OID, name)


def _produce(version: int, name: str) -> ProduceRequest:
    by_id = version >= PRODUCE_BY_ID
    entry = ProduceRequest.TopicProduceData(
        name="" if by_id else name, topic_id=_id(name) if by_id else ZERO_UUID
    )
    return ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[entry])


def _fetch(version: int, name: str) -> FetchRequest:
    by_id = version >= FETCH_BY_ID
    entry = FetchRequest.FetchTopic(
        topic="" if by_id else name, topic_id=_id(name) if by_id else ZERO_UUID
    )
    return FetchRequest(max_bytes=1 << 20, topics=[entry])


def _list_offsets(_version: int, name: str) -> ListOffsetsRequest:
    return ListOffsetsRequest(topics=[ListOffsetsRequest.ListOffsetsTopic(name=name)])


def _delete_records(_version: int, name: str) -> DeleteRecordsRequest:
    return DeleteRecordsRequest(topics=[DeleteRecordsRequest.DeleteRecordsTopic(name=name)])


REQUESTS: dict[str, tuple[Callable[[int, str], Request[Message]], dict[str, str]]] = {
    "Produce": (_produce, {"name": f"3-{PRODUCE_BY_ID - 1}", "partitions": "3+"}),
    "Fetch": (_fetch, {"name": f"4-{FETCH_BY_ID - 1}", "partitions": "4+"}),
    "ListOffsets": (_list_offsets, {"name": "1+", "partitions": "1+"}),
    "DeleteRecords": (_delete_records, {"name": "0+", "partitions": "0+"}),
}
CASES = [(api_name, field) for api_name, (_, fields) in REQUESTS.items() for field in fields]


def _with_null(api_name: str, version: int, field: str, name: str) -> bytes:
    """The payload with null for the name, or for the list that stands behind name or id."""
    request = REQUESTS[api_name][0](version, name)
    flexible = version in api_named(api_name).flexible_versions
    payload = encode_request(request, version, 7)
    shown = name.encode() if name.encode() in encode(request, version) else _id(name).bytes
    before, after = payload.split(shown)
    if field == "name":
        return before[:-1] + b"\0" + after if flexible else before[:-2] + b"\xff\xff" + after
    null = b"\0" if flexible else b"\xff" * 4
    return before + shown + null + after[len(null) :]


@judges("ENC-004")
@pytest.mark.parametrize(("api_name", "field"), CASES)
def test_null_topic_name_or_partitions_in_topic_entry_is_refused(
    broker: BrokerUnderTest, api_name: str, field: str
) -> None:
    """Where the same request with a name and an empty list is answered."""
    api, name = api_named(api_name), broker.unique_topic()
    for version in served_versions(broker, api_name, REQUESTS[api_name][1][field]):
        connection = broker.connect()
        connection.ask(REQUESTS[api_name][0](version, name), version)
        connection.send_frame(_with_null(api_name, version, field, name))
        with requirement("ENC-004", api_key=api.key, api_version=version):
            expect_null_refused(connection, api_name, version)
