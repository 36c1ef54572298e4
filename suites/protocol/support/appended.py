"""Records that tests append before they ask their question."""

from __future__ import annotations

import time
from functools import partial

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.preparing import preparing
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.records import Record, RecordBatch
from suites.protocol.support.record_formats import FIRST_PRODUCE_OF_BATCHES as NEW_FORMAT
from suites.protocol.support.record_formats import encoded_for


def now_ms() -> int:
    """The present, in milliseconds since 1970: older records may fall to the retention."""
    return time.time_ns() // 1_000_000


def batch_of(*values: bytes, version: int = NEW_FORMAT) -> bytes:
    """A record for each value, not compressed, as this version of Produce carries them."""
    records = [Record(value) for value in values]
    return encoded_for(version, RecordBatch(records, base_timestamp=now_ms()))


def append(
    broker: BrokerUnderTest,
    topic: Topic,
    *batches: bytes,
    partition: int = 0,
    version: int | None = None,
) -> None:
    """Append the batches one by one; raises PreparationFailed when one is refused.

    With a ``version`` of Produce they are in the format that it carries.

    As a producer does, it sends a batch again that too few replicas in sync refused: nothing of it
    was appended.
    """
    for batch in batches:
        with preparing(f"Produce to {topic.name}"):
            code = broker.last_seen(
                partial(_appended, broker, topic, batch, version, partition),
                lambda code: code != ErrorCode.NOT_ENOUGH_REPLICAS,
            )
        if code != ErrorCode.NONE:
            raise PreparationFailed(f"Produce to {topic.name}: {ErrorCode.describe(code)}")


def _appended(
    broker: BrokerUnderTest, topic: Topic, batch: bytes, version: int | None, partition: int
) -> int:
    return broker.produce(topic, batch, version, partition=partition).error_code


def topic_with_batches(broker: BrokerUnderTest, partitions: int, *batches: bytes) -> Topic:
    """Create a topic, and append the same batches to each of its partitions."""
    topic = broker.create_topic(partitions=partitions)
    for partition in range(partitions):
        append(broker, topic, *batches, partition=partition)
    return topic
