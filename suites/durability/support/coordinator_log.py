"""Records that coordinators write to their internal topics, read as any client can read them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.data_framing import CoordinatorLog, CoordinatorRecord
from harness.codec.dictionary_form import to_dict
from harness.codec.records import CONTROL
from harness.codec.structs import Message
from suites.durability.support.segments import begin_of
from suites.protocol.support.compacted import batches_of
from suites.protocol.support.internal_topics import internal_topic

Key = tuple[Hashable, ...]
"""The name of the key's type, and its fields in their order."""


def key_of(message: Message) -> Key:
    """Return the identity of a key: the name of its type and the values of its fields."""
    fields = to_dict(message, message.message_spec.valid.highest)
    return type(message).__name__.removesuffix("Key"), *fields.values()


def records_of_coordinators(
    broker: BrokerUnderTest, log: CoordinatorLog
) -> Iterator[CoordinatorRecord]:
    """All that this broker wrote as a coordinator, by partition and offset.

    Other brokers of a cluster lead the other partitions and coordinate other groups.
    """
    topic = internal_topic(broker, log.topic)
    shown = only(broker.metadata([topic.name]).topics, "topic")
    led = [each for each in shown.partitions if broker.node in (None, each.leader_id)]
    for partition in sorted(each.partition_index for each in led):
        yield from _records_of(broker, log, topic, partition)


def _records_of(
    broker: BrokerUnderTest, log: CoordinatorLog, topic: Topic, partition: int
) -> Iterator[CoordinatorRecord]:
    begin = begin_of(broker, topic, partition)
    if begin == broker.end_offset(topic, partition):
        return
    for batch in batches_of(broker, topic, partition, begin=begin):
        if not batch.attributes & CONTROL:
            for record in batch.records:
                assert record.key is not None, f"{topic.name}-{partition}: a record without a key"
                yield log.read_record(record.key, record.value)


def last_of_each_key(broker: BrokerUnderTest, log: CoordinatorLog) -> dict[Key, Message | None]:
    """The newest value of each key that is known; None is a tombstone."""
    return {
        key_of(found.key): found.value
        for found in records_of_coordinators(broker, log)
        if isinstance(found.key, Message)
    }
