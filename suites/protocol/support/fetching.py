"""Helpers of the Fetch tests: a log, the entry that requests it, and readers of the response."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic, fetch_partition, fetch_topic
from harness.codec.messages import FetchRequest
from harness.codec.messages import FetchResponse as Answer
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.record_formats import records_in

NO_PARTITION = 1_000_000  # beyond what any topic of these tests has
VALUES = [b"r%d" % number for number in range(9)]


def log_of_nine(broker: BrokerUnderTest) -> Topic:
    """Partition 0 holds VALUES in three batches of three, partition 1 nothing."""
    topic = broker.create_topic(partitions=2)
    append(broker, topic, *(batch_of(*VALUES[start : start + 3]) for start in (0, 3, 6)))
    return topic


def entry_of(topic: Topic, version: int, offsets: dict[int, int]) -> FetchRequest.FetchTopic:
    """Partitions of a topic and where to read them, in this order."""
    wanted = [fetch_partition(offset, partition=index) for index, offset in offsets.items()]
    return fetch_topic(topic, version, wanted)


def partitions_of(response: Answer) -> list[Answer.PartitionData]:
    """The parts of an answer about partitions, of all topics and in its order."""
    return [partition for topic in response.responses for partition in topic.partitions]


def records_by_partition(response: Answer) -> dict[int, bytes]:
    """The records of each partition of the only topic; a partition that is left out has none."""
    return {
        partition.partition_index: record_bytes(partition) for partition in partitions_of(response)
    }


def partition_of(response: Answer, index: int = 0) -> Answer.PartitionData:
    """The part of an answer about one partition; every test has a single topic."""
    for partition in partitions_of(response):
        if partition.partition_index == index:
            return partition
    raise AssertionError(f"the answer lacks partition {index}")


def records_of(data: Answer.PartitionData) -> list[tuple[int, bytes | None]]:
    """Offset and value, in the order of the bytes."""
    return [(record.offset, record.value) for record in records_in(record_bytes(data))]


def values_of(data: Answer.PartitionData) -> list[bytes | None]:
    """Values, in the order of the bytes."""
    return [value for _, value in records_of(data)]
