"""Records that coordinators write to their internal topics, read as any client can read them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.older_forms import with_one_offset
from harness.client.only import only
from harness.client.requests import EARLIEST, LATEST, Topic, list_offsets_of
from harness.codec.data_framing import CoordinatorLog, CoordinatorRecord
from harness.codec.dictionary_form import to_dict
from harness.codec.error_code import ErrorCode
from harness.codec.records import CONTROL
from harness.codec.structs import Message
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
    indexes = sorted(each.partition_index for each in led)
    begins, ends = (_offsets(broker, topic, indexes, each) for each in (EARLIEST, LATEST))
    for partition in indexes:
        if begins[partition] != ends[partition]:
            yield from _records_of(broker, log, topic, partition, begins[partition])


def _offsets(
    broker: BrokerUnderTest, topic: Topic, indexes: Sequence[int], time_ms: int
) -> dict[int, int]:
    """By partition; one request, since there are many partitions."""
    version = broker.version("ListOffsets")
    answer = broker.ask(list_offsets_of({topic: indexes}, time_ms), version)
    found = only(answer.topics, "topic").partitions
    codes = {one.error_code for one in found} - {ErrorCode.NONE}
    if codes:
        raise PreparationFailed(f"ListOffsets: {', '.join(map(ErrorCode.describe, sorted(codes)))}")
    offsets = {one.partition_index: with_one_offset(one, version).offset for one in found}
    if missing := set(indexes) - offsets.keys():
        raise PreparationFailed(f"ListOffsets has no answer for the partitions {sorted(missing)}")
    return offsets


def _records_of(
    broker: BrokerUnderTest, log: CoordinatorLog, topic: Topic, partition: int, begin: int
) -> Iterator[CoordinatorRecord]:
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
