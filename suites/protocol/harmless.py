"""A harmless request of every loaded API at every version, for what holds for all of them.

Nothing stays behind at the broker: topics are only validated, what is deleted never was.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.requests import (
    LATEST,
    Topic,
    fetch_partition,
    fetch_request,
    fetch_topic,
    list_offsets_request,
    produce_request,
)
from harness.codec.apis import api_named
from harness.codec.messages import (
    ApiVersionsRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    FetchRequest,
    FindCoordinatorRequest,
    InitProducerIdRequest,
    ListOffsetsRequest,
    MetadataRequest,
    ProduceRequest,
)
from harness.codec.records import Record, RecordBatch
from harness.codec.structs import Message, Request
from harness.codec.versions import VersionRange
from harness.conformance.checks import NotSupported
from harness.marks import released_versions
from suites.protocol.record_formats import encoded_for

NEVER_WAS = "kc-a-topic-that-never-was"


def served_versions(broker: BrokerUnderTest, api_name: str, versions: str = "0+") -> list[int]:
    """What both sides know of ``versions``; raises NotSupported when that is nothing."""
    usable = broker.advertised(api_name) & VersionRange.parse(versions)
    found = released_versions(api_named(api_name), usable)
    if not found:
        raise NotSupported(f"{api_name} {versions}: advertised is {broker.advertised(api_name)}")
    return found


def flexible_versions(broker: BrokerUnderTest, api_name: str) -> list[int]:
    """The served versions with compact fields and tags (KIP-482)."""
    return served_versions(broker, api_name, str(api_named(api_name).flexible_versions))


def harmless_request(api_name: str, version: int, topic: Topic | None = None) -> Request[Message]:
    """A valid request; one about topics names ``topic``, or none at all."""
    return _REQUESTS[api_name](version, topic)


def _produce(version: int, topic: Topic | None) -> ProduceRequest:
    if topic is None:
        return ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[])
    return produce_request(topic, encoded_for(version, RecordBatch([Record(b"x")])), version)


def _fetch(version: int, topic: Topic | None) -> FetchRequest:
    topics = [] if topic is None else [fetch_topic(topic, version, [fetch_partition(0)])]
    return fetch_request(topics)


def _list_offsets(_version: int, topic: Topic | None) -> ListOffsetsRequest:
    if topic is None:
        return ListOffsetsRequest(replica_id=-1, topics=[])
    return list_offsets_request(topic, LATEST)


def _metadata(version: int, topic: Topic | None) -> MetadataRequest:
    topics = [] if topic is None else [MetadataRequest.MetadataRequestTopic(name=topic.name)]
    return MetadataRequest(topics=topics, allow_auto_topic_creation=version < 4)


def _find_coordinator(version: int, _topic: Topic | None) -> FindCoordinatorRequest:
    if version >= 4:
        return FindCoordinatorRequest(coordinator_keys=["kc-group"])
    return FindCoordinatorRequest(key="kc-group")


def _api_versions(_version: int, _topic: Topic | None) -> ApiVersionsRequest:
    return ApiVersionsRequest(client_software_name="kc", client_software_version="1.0")


def _create_topics(version: int, _topic: Topic | None) -> CreateTopicsRequest:
    if version == 0:
        return CreateTopicsRequest(topics=[])  # this version cannot only validate
    entry = CreateTopicsRequest.CreatableTopic(
        name=NEVER_WAS, num_partitions=1, replication_factor=1
    )
    return CreateTopicsRequest(topics=[entry], timeout_ms=10_000, validate_only=True)


def _delete_topics(version: int, _topic: Topic | None) -> DeleteTopicsRequest:
    if version >= 6:
        state = DeleteTopicsRequest.DeleteTopicState(name=NEVER_WAS)
        return DeleteTopicsRequest(topics=[state], timeout_ms=10_000)
    return DeleteTopicsRequest(topic_names=[NEVER_WAS], timeout_ms=10_000)


def _init_producer_id(_version: int, _topic: Topic | None) -> InitProducerIdRequest:
    return InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)


def _create_partitions(_version: int, _topic: Topic | None) -> CreatePartitionsRequest:
    entry = CreatePartitionsRequest.CreatePartitionsTopic(name=NEVER_WAS, count=1, assignments=None)
    return CreatePartitionsRequest(topics=[entry], timeout_ms=10_000, validate_only=True)


_REQUESTS: dict[str, Callable[[int, Topic | None], Request[Message]]] = {
    "Produce": _produce,
    "Fetch": _fetch,
    "ListOffsets": _list_offsets,
    "Metadata": _metadata,
    "FindCoordinator": _find_coordinator,
    "ApiVersions": _api_versions,
    "CreateTopics": _create_topics,
    "DeleteTopics": _delete_topics,
    "InitProducerId": _init_producer_id,
    "CreatePartitions": _create_partitions,
}

API_NAMES = tuple(_REQUESTS)
each_api = pytest.mark.parametrize("api_name", API_NAMES)
each_other_api = pytest.mark.parametrize(
    "api_name", [name for name in API_NAMES if name != "ApiVersions"]
)
