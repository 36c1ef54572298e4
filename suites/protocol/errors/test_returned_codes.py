"""ERR: which numbers errors have, and where in an answer they stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from uuid import uuid4

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.errors import BrokerMisbehaved
from harness.client.only import only
from harness.client.requests import LATEST, Topic, fetch_request, fetch_topic, produce_request
from harness.client.requests import fetch_partition as at_offset
from harness.codec.messages import (
    CreateTopicsRequest,
    DeleteRecordsRequest,
    DescribeGroupsRequest,
    DescribeProducersRequest,
    FetchRequest,
    ListOffsetsRequest,
    OffsetForLeaderEpochRequest,
    ProduceRequest,
)
from harness.codec.structs import Message, Request, Struct
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.classic_group import ClassicGroup
from suites.protocol.support.committed_offsets import commit, entry, fresh_group
from suites.protocol.support.harmless import each_api, harmless_request, served_versions
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.struct_walk import error_codes, structs_at

# Numbers are written out: the published table is what is judged, not our own.
NOT_FOUND_SINCE = 6  # from this version of DescribeGroups on an unknown group is an error
NONE, OFFSET_OUT_OF_RANGE, CORRUPT_MESSAGE, UNKNOWN_TOPIC_OR_PARTITION = 0, 1, 2, 3
MESSAGE_TOO_LARGE, INVALID_TOPIC, INVALID_REQUIRED_ACKS = 10, 17, 21
UNKNOWN_SERVER_ERROR = -1
GROUP_ID_NOT_FOUND, UNKNOWN_TOPIC_ID = 69, 100
UNKNOWN_TOPICS = (UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID)
BETWEEN_BROKERS = {8: "BROKER_NOT_AVAILABLE", 11: "STALE_CONTROLLER_EPOCH", 13: "NETWORK_EXCEPTION"}
NO_PARTITION = 999
LIMIT_BYTES = 300


def _number_is(answer: Struct, version: int, expected: int, where: str) -> None:
    codes = error_codes(answer, version)
    assert codes == [expected], f"{where}: error codes are {codes}, expected {expected} alone"


# -- numbers ---------------------------------------------------------------------------------------


@judges("ERR-001")
@at_versions("Produce", "2", "3+")
def test_produce_errors_have_published_codes(broker: BrokerUnderTest, api_version: int) -> None:
    """Damaged, for no partition there is, too large, with impossible acks; and without fault."""
    topic = broker.create_topic(configs={"max.message.bytes": str(LIMIT_BYTES)})
    good = batch_of(b"x", version=api_version)
    large = batch_of(b"x" * LIMIT_BYTES, version=api_version)
    damaged = good[:-1] + b"\x7f"
    cases = {
        "damaged": (produce_request(topic, damaged, api_version), CORRUPT_MESSAGE),
        "partition 999": (
            produce_request(topic, good, api_version, partition=NO_PARTITION),
            UNKNOWN_TOPIC_OR_PARTITION,
        ),
        "too large": (produce_request(topic, large, api_version), MESSAGE_TOO_LARGE),
        "acks 7": (produce_request(topic, good, api_version, acks=7), INVALID_REQUIRED_ACKS),
        "without fault": (produce_request(topic, good, api_version), NONE),
    }
    with requirement("ERR-001") as check:
        for where, (request, number) in cases.items():
            with check.subtest(where):
                answer = only(broker.ask(request, api_version).responses, "topic")
                partition = only(answer.partition_responses, "partition")
                _number_is(partition, api_version, number, where)


@judges("ERR-001")
@at_versions("Fetch", "0-3", "4-12", "13+")
def test_fetch_errors_have_published_codes(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Behind the end of the log, before its beginning, from no partition there is, from the end."""
    topic = kept.topic(broker, _with_a_record)
    cases = [
        (0, 2, OFFSET_OUT_OF_RANGE),
        (0, -1, OFFSET_OUT_OF_RANGE),
        (NO_PARTITION, 0, UNKNOWN_TOPIC_OR_PARTITION),
        (0, 1, NONE),
    ]
    with requirement("ERR-001") as check:
        for partition, offset, number in cases:
            with check.subtest(f"partition {partition}, offset {offset}"):
                found = broker.fetch(topic, offset, api_version, partition=partition)
                _number_is(found, api_version, number, f"partition {partition}, offset {offset}")


@judges("ERR-001")
@at_versions("CreateTopics", "0+")
def test_create_topics_with_illegal_name_returns_invalid_topic_exception(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A name with a space in it."""
    name = f"{broker.unique_topic()} x"
    broker.delete_later(name)
    entry = CreateTopicsRequest.CreatableTopic(name=name, num_partitions=1, replication_factor=1)
    request = CreateTopicsRequest(topics=[entry], timeout_ms=1000)
    with requirement("ERR-001"):
        found = only(broker.ask(request, api_version).topics, "topic")
        _number_is(found, api_version, INVALID_TOPIC, "a name with a space")


# -- where they stand ------------------------------------------------------------------------------


def _with_a_record(broker: BrokerUnderTest) -> Topic:
    topic = broker.create_topic()
    append(broker, topic, batch_of(b"x"))
    return topic


def _that_is_written(broker: BrokerUnderTest) -> Topic:
    """Create a topic other than the one that tests read: some of these requests write to it."""
    return _with_a_record(broker)


def _produce(topic: Topic, version: int, partitions: Sequence[int]) -> ProduceRequest:
    request = produce_request(topic, None, version)
    request.topic_data[0].partition_data = [
        ProduceRequest.PartitionProduceData(index=index, records=batch_of(b"x", version=version))
        for index in partitions
    ]
    return request


def _fetch(topic: Topic, version: int, partitions: Sequence[int]) -> FetchRequest:
    wanted = [at_offset(0, partition=index) for index in partitions]
    return fetch_request([fetch_topic(topic, version, wanted)])


def _list_offsets(topic: Topic, _: int, partitions: Sequence[int]) -> ListOffsetsRequest:
    asked = ListOffsetsRequest.ListOffsetsPartition
    wanted = [asked(partition_index=index, timestamp=LATEST) for index in partitions]
    entry = ListOffsetsRequest.ListOffsetsTopic(name=topic.name, partitions=wanted)
    return ListOffsetsRequest(replica_id=-1, topics=[entry])


def _delete_records(topic: Topic, _: int, partitions: Sequence[int]) -> DeleteRecordsRequest:
    asked = DeleteRecordsRequest.DeleteRecordsPartition
    wanted = [asked(partition_index=index, offset=0) for index in partitions]
    entry = DeleteRecordsRequest.DeleteRecordsTopic(name=topic.name, partitions=wanted)
    return DeleteRecordsRequest(topics=[entry], timeout_ms=1000)


def _end_of_epoch(topic: Topic, _: int, partitions: Sequence[int]) -> OffsetForLeaderEpochRequest:
    asked = OffsetForLeaderEpochRequest.OffsetForLeaderPartition
    wanted = [asked(partition=index, leader_epoch=0) for index in partitions]
    entry = OffsetForLeaderEpochRequest.OffsetForLeaderTopic(topic=topic.name, partitions=wanted)
    return OffsetForLeaderEpochRequest(replica_id=-1, topics=[entry])


def _describe_producers(topic: Topic, _: int, partitions: Sequence[int]) -> Request[Message]:
    entry = DescribeProducersRequest.TopicRequest(
        name=topic.name, partition_indexes=list(partitions)
    )
    return DescribeProducersRequest(topics=[entry])


Ask = Callable[[Topic, int, Sequence[int]], Request[Message]]
ABOUT_PARTITIONS: dict[str, Ask] = {
    "Produce": _produce,
    "Fetch": _fetch,
    "ListOffsets": _list_offsets,
    "DeleteRecords": _delete_records,
    "OffsetForLeaderEpoch": _end_of_epoch,
    "DescribeProducers": _describe_producers,
}
NUMBERS = ("index", "partition_index", "partition")


def _codes_by_partition(answer: Struct, version: int) -> dict[int, int]:
    found: dict[int, int] = {}
    for one in structs_at(answer, version):
        fields = {spec.name for spec in one.spec.fields}
        names = fields.intersection(NUMBERS)
        if "error_code" in fields and names:
            found[getattr(one, names.pop())] = one.error_code  # type: ignore[attr-defined]
    return found


@judges("ERR-002")
@pytest.mark.parametrize("api_name", list(ABOUT_PARTITIONS))
def test_unknown_partition_error_does_not_affect_other_partition(
    broker: BrokerUnderTest, kept: KeptTopics, api_name: str
) -> None:
    """Asked in front of the one that is there, and behind it; at every version served."""
    versions = served_versions(broker, api_name)
    topic = kept.topic(broker, _that_is_written)
    expected = {0: NONE, NO_PARTITION: UNKNOWN_TOPIC_OR_PARTITION}
    with requirement("ERR-002") as check:
        for version in versions:
            for order in ([NO_PARTITION, 0], [0, NO_PARTITION]):
                with check.subtest(f"v{version}, {order}"):
                    request = ABOUT_PARTITIONS[api_name](topic, version, order)
                    found = _codes_by_partition(broker.ask(request, version), version)
                    assert found == expected, f"{api_name} v{version}, asked {order}: codes {found}"


@judges("ERR-002")
@pytest.mark.parametrize("api_name", list(ABOUT_PARTITIONS))
def test_unknown_topic_error_does_not_affect_other_topic(
    broker: BrokerUnderTest, kept: KeptTopics, api_name: str
) -> None:
    """Partition 1 of a topic that is not there, before and behind partition 0 of one that is."""
    known, unknown = kept.topic(broker, _that_is_written), Topic(broker.unique_topic(), uuid4())
    with requirement("ERR-002") as check:
        for version in served_versions(broker, api_name):
            for is_first in (True, False):
                where = f"v{version}, asked {'before' if is_first else 'behind'} a known topic"
                with check.subtest(where):
                    request = ABOUT_PARTITIONS[api_name](known, version, [0])
                    other = ABOUT_PARTITIONS[api_name](unknown, version, [1])
                    entries = _topics(request)
                    entries[:] = (
                        [*_topics(other), *entries] if is_first else [*entries, *_topics(other)]
                    )
                    found = _codes_by_partition(broker.ask(request, version), version)
                    told = f"{api_name} {where}: codes {found}"
                    assert found.keys() == {0, 1}, told
                    assert found[0] == NONE, told
                    assert found[1] in UNKNOWN_TOPICS, told


def _topics(request: Request[Message]) -> list[Struct]:
    """Return the list of a request in which its topics are."""
    name = "topic_data" if isinstance(request, ProduceRequest) else "topics"
    topics: list[Struct] = getattr(request, name)
    return topics


@judges("ERR-002")
@at_versions("DescribeGroups")
def test_unknown_group_does_not_affect_described_groups(
    broker: BrokerUnderTest, group: ClassicGroup, api_version: int
) -> None:
    """A group without offsets and members between two stable ones, and one with offsets alone."""
    other, topic = ClassicGroup(broker), broker.create_topic()
    for each in (group, other):
        each.stable(None)
    simple = fresh_group(broker, topic)
    commit(broker, simple, {topic: [entry(1)]})
    names = [group.group_id, broker.unique_group(), other.group_id, simple]
    for each in (group, other):
        each.described()  # Kafka answers SyncGroup just before the group is Stable
    with requirement("ERR-002"):
        answer = broker.ask(DescribeGroupsRequest(groups=names), api_version)
        found = {each.group_id: (each.error_code, each.group_state) for each in answer.groups}
        missing = NONE if api_version < NOT_FOUND_SINCE else GROUP_ID_NOT_FOUND
        states = ("Stable", "Dead", "Stable", "Empty")
        codes = (NONE, missing, NONE, NONE)
        expected = dict(zip(names, zip(codes, states, strict=True), strict=True))
        assert found == expected, f"errors and states are {found}, expected {expected}"
    other.close()


# -- what clients do not see -----------------------------------------------------------------------


def _codes_of_harmless(broker: BrokerUnderTest, api_name: str) -> list[tuple[int, int]]:
    """Return version and error code of each response that can be decoded.

    APIV-002 judges whether there is a response, and CONN-025 its layout.
    """
    versions = served_versions(broker, api_name)
    found = []
    for version in versions:
        request = harmless_request(broker, api_name, version)
        with suppress(BrokerMisbehaved):
            answer = broker.ask(request, version, tolerant=True)
            found += [(version, code) for code in error_codes(answer, version)]
    return found


@judges("ERR-003")
@each_api
def test_well_formed_request_never_returns_unknown_server_error(
    broker: BrokerUnderTest, api_name: str
) -> None:
    """Well-formed requests, most of them about what is not there, never get -1."""
    codes = _codes_of_harmless(broker, api_name)
    with requirement("ERR-003"):
        for version, code in codes:
            told = f"{api_name} v{version} gets UNKNOWN_SERVER_ERROR (-1)"
            assert code != UNKNOWN_SERVER_ERROR, told


@judges("ERR-005")
@each_api
def test_well_formed_request_never_returns_inter_broker_error_codes(
    broker: BrokerUnderTest, api_name: str
) -> None:
    """A harmless request never gets an error code that brokers send only to each other."""
    codes = _codes_of_harmless(broker, api_name)
    with requirement("ERR-005"):
        for version, code in codes:
            told = f"{api_name} v{version} gets {BETWEEN_BROKERS.get(code)} ({code})"
            assert code not in BETWEEN_BROKERS, told
