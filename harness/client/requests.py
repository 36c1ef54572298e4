"""Requests for one partition at any version, so that a test names only what it is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from harness.codec.definition import ZERO_UUID
from harness.codec.messages import FetchRequest, ListOffsetsRequest, ProduceRequest

PRODUCE_BY_ID = 13  # from these versions on, a topic is named by its id alone (KIP-516)
FETCH_BY_ID = 13
LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
# What there is comes at once, as min_bytes is 0 and no broker waits for nothing. A max_wait_ms of 0
# would say the same, but then a broker's treatment of 0 would decide every test that reads.
READ_WAIT_MS, READ_MIN_BYTES = 100, 0


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as requests name it; ``id`` is zero when the broker has no topic ids."""

    name: str
    id: UUID = ZERO_UUID


def produce_request(
    topic: Topic,
    records: bytes | None,
    version: int,
    *,
    partition: int = 0,
    acks: int = -1,
    timeout_ms: int = 10_000,
) -> ProduceRequest:
    """Append ``records``, the bytes of one batch, to one partition."""
    by_id = version >= PRODUCE_BY_ID
    entry = ProduceRequest.TopicProduceData(
        name="" if by_id else topic.name,
        topic_id=topic.id if by_id else ZERO_UUID,
        partition_data=[ProduceRequest.PartitionProduceData(index=partition, records=records)],
    )
    return ProduceRequest(acks=acks, timeout_ms=timeout_ms, topic_data=[entry])


def fetch_partition(
    offset: int, *, partition: int = 0, partition_max_bytes: int = 1 << 20
) -> FetchRequest.FetchPartition:
    """One partition of a fetch, without leader epoch check."""
    return FetchRequest.FetchPartition(
        partition=partition, fetch_offset=offset, partition_max_bytes=partition_max_bytes
    )


def fetch_topic(
    topic: Topic, version: int, partitions: list[FetchRequest.FetchPartition]
) -> FetchRequest.FetchTopic:
    """A topic of a fetch, named as the version wants it."""
    if version >= FETCH_BY_ID:
        return FetchRequest.FetchTopic(topic_id=topic.id, partitions=partitions)
    return FetchRequest.FetchTopic(topic=topic.name, partitions=partitions)


def fetch_request(
    topics: list[FetchRequest.FetchTopic],
    *,
    max_wait_ms: int = READ_WAIT_MS,
    min_bytes: int = READ_MIN_BYTES,
    max_bytes: int = 50 << 20,
    isolation_level: int = 0,
) -> FetchRequest:
    """A full fetch outside of any session (session id 0, epoch -1); by default without waiting."""
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        isolation_level=isolation_level,
        topics=topics,
    )


def list_offsets_request(
    topic: Topic, timestamp: int, *, partition: int = 0, isolation_level: int = 0
) -> ListOffsetsRequest:
    """The offset for a time, or for one of the special times LATEST, EARLIEST, MAX_TIMESTAMP."""
    return list_offsets_of({topic: [partition]}, timestamp, isolation_level)


def list_offsets_of(
    partitions: Mapping[Topic, Iterable[int]], timestamp: int, isolation_level: int = 0
) -> ListOffsetsRequest:
    """The same for several partitions of several topics."""
    asked = ListOffsetsRequest.ListOffsetsPartition
    topics = [
        ListOffsetsRequest.ListOffsetsTopic(
            name=topic.name,
            partitions=[asked(partition_index=at, timestamp=timestamp) for at in indexes],
        )
        for topic, indexes in partitions.items()
    ]
    return ListOffsetsRequest(replica_id=-1, isolation_level=isolation_level, topics=topics)
