"""STOR: the size of a log that was compacted."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.messages import DescribeLogDirsRequest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import append
from suites.protocol.support.compacted import (
    COMPACTED_WITHIN_MS,
    QUICKLY,
    KeyedBatches,
    await_compacted,
    compacted_topic,
)
from suites.protocol.support.log_entries import fetched_entries

BATCHES = 4


@judges("STOR-029")
@needs_broker(Use.TUNED, QUICKLY)
def test_compaction_makes_size_of_log_smaller(broker: BrokerUnderTest) -> None:
    """DescribeLogDirs returns the bytes of the two batches that Fetch returns, of four."""
    broker.version("DescribeLogDirs")
    topic, made = compacted_topic(broker), KeyedBatches()
    for _ in range(BATCHES):
        append(broker, topic, made.next(b"same", value_size=100))
    left = BATCHES - 2, BATCHES - 1  # the active segment stays, and one record before it
    await_compacted(broker, topic, {0: left})
    with requirement("STOR-029"):
        read = sum(len(fetched_entries(broker, topic, offset=one)[0]) for one in left)
        size = broker.last_seen(lambda: _size(broker, topic), read.__eq__, COMPACTED_WITHIN_MS)
        assert size == read, f"the compacted log has {size} bytes, Fetch returns {read}"


def _size(broker: BrokerUnderTest, topic: Topic) -> int:
    """The size that DescribeLogDirs returns."""
    asked = DescribeLogDirsRequest.DescribableLogDirTopic(topic=topic.name, partitions=[0])
    answer = broker.ask(DescribeLogDirsRequest(topics=[asked]))
    return sum(
        partition.partition_size
        for directory in answer.results
        for each in directory.topics
        for partition in each.partitions
    )
