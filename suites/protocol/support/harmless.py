"""A harmless request of every API at every version, for what holds for all of them.

Nothing stays behind at the broker. The requests come from the table of harmless requests; a few
can be about a topic of the test's instead. No API that is destructive is asked here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from uuid import NAMESPACE_OID, uuid5

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.coordinator import GROUP, TRANSACTION, coordinated_name
from harness.client.requests import (
    LATEST,
    Topic,
    fetch_partition,
    fetch_request,
    fetch_topic,
    list_offsets_request,
    produce_request,
)
from harness.codec.apis import APIS, api_named
from harness.codec.messages import MetadataRequest
from harness.codec.records import Record, RecordBatch
from harness.codec.structs import Message, Request
from harness.codec.versions import VersionRange
from harness.conformance.checks import NotSupported
from harness.conformance.harmless_requests import Safety
from harness.runner.marks import released_versions
from harness.sweep import requests as table
from harness.sweep.requests import OwnNames, safety_of
from suites.protocol.support.record_formats import encoded_for

SAFE_APIS = tuple(a.name for a in APIS.values() if safety_of(a.name) is not Safety.DESTRUCTIVE)
AUTO_CREATION_IS_ASKED_FOR = (
    4  # before this version of Metadata any request for a topic may create it
)
EVERYDAY_APIS = (
    *("Produce", "Fetch", "ListOffsets", "Metadata", "FindCoordinator", "ApiVersions"),
    *("CreateTopics", "DeleteTopics", "InitProducerId"),
)


def _each(names: Iterable[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("api_name", list(names))


each_api = _each(SAFE_APIS)
_COORDINATED = {
    **dict.fromkeys(("JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup"), GROUP),
    **dict.fromkeys(("DescribeGroups", "DeleteGroups", "TxnOffsetCommit"), GROUP),
    **dict.fromkeys(("OffsetCommit", "OffsetFetch", "OffsetDelete"), GROUP),
    **dict.fromkeys(("ConsumerGroupHeartbeat", "ConsumerGroupDescribe"), GROUP),
    **dict.fromkeys(("StreamsGroupHeartbeat", "StreamsGroupDescribe"), GROUP),
    **dict.fromkeys(("ShareGroupHeartbeat", "ShareGroupDescribe"), GROUP),
    **dict.fromkeys(("AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn"), TRANSACTION),
    "DescribeTransactions": TRANSACTION,
}
"""APIs that only a coordinator serves, with its key type: other brokers return only that error."""
each_other_api = _each(name for name in SAFE_APIS if name != "ApiVersions")
each_everyday_api = _each(EVERYDAY_APIS)
each_other_everyday_api = _each(name for name in EVERYDAY_APIS if name != "ApiVersions")


def served_versions(broker: BrokerUnderTest, api_name: str, versions: str = "0+") -> list[int]:
    """Return the ``versions`` that both sides know. Raises NotSupported if there are none."""
    usable = broker.advertised(api_name) & VersionRange.parse(versions)
    found = released_versions(api_named(api_name), usable)
    if not found:
        raise NotSupported(f"{api_name} {versions}: advertised is {broker.advertised(api_name)}")
    return found


def flexible_versions(broker: BrokerUnderTest, api_name: str) -> list[int]:
    """The served versions with compact fields and tags (KIP-482)."""
    flexible = api_named(api_name).flexible_versions
    if not flexible:
        raise NotSupported(f"no version of {api_name} is flexible")
    return served_versions(broker, api_name, str(flexible))


def harmless_request(
    broker: BrokerUnderTest, api_name: str, version: int, topic: Topic | None = None
) -> Request[Message]:
    """A valid request; ``topic`` takes the place of what the table names, where there is a form.

    All else in it is named as nothing at the broker is.
    """
    if topic is not None and api_name in _ABOUT_A_TOPIC:
        if api_name == "Metadata" and version < AUTO_CREATION_IS_ASKED_FOR:
            broker.delete_later(topic.name)
        return _ABOUT_A_TOPIC[api_name](version, topic)
    name = broker.unique_topic()
    if api_name in _COORDINATED:
        name = coordinated_name(broker, _COORDINATED[api_name])
    return table.harmless_request(api_name, version, OwnNames(name, uuid5(NAMESPACE_OID, name)))


def _produce(version: int, topic: Topic) -> Request[Message]:
    return produce_request(topic, encoded_for(version, RecordBatch([Record(b"x")])), version)


def _fetch(version: int, topic: Topic) -> Request[Message]:
    return fetch_request([fetch_topic(topic, version, [fetch_partition(0)])])


def _list_offsets(_version: int, topic: Topic) -> Request[Message]:
    return list_offsets_request(topic, LATEST)


def _metadata(version: int, topic: Topic) -> Request[Message]:
    topics = [MetadataRequest.MetadataRequestTopic(name=topic.name)]
    return MetadataRequest(topics=topics, allow_auto_topic_creation=version < 4)


_ABOUT_A_TOPIC: dict[str, Callable[[int, Topic], Request[Message]]] = {
    "Produce": _produce,
    "Fetch": _fetch,
    "ListOffsets": _list_offsets,
    "Metadata": _metadata,
}
TOPIC_APIS = tuple(_ABOUT_A_TOPIC)
