"""EPOCH: where leader epochs end (KIP-101, KIP-320)."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetching import log_of_nine
from suites.protocol.support.kept_topics import KeptTopics

CONSUMER = -1
UNKNOWN = -1
NEWER_EPOCHS = (999, 2**31 - 1)


def _end_of(
    broker: BrokerUnderTest, topic: Topic, epoch: int, version: int, partition: int
) -> OffsetForLeaderEpochResponse.EpochEndOffset:
    asked = OffsetForLeaderEpochRequest.OffsetForLeaderPartition(
        partition=partition, leader_epoch=epoch
    )
    entry = OffsetForLeaderEpochRequest.OffsetForLeaderTopic(topic=topic.name, partitions=[asked])
    request = OffsetForLeaderEpochRequest(replica_id=CONSUMER, topics=[entry])
    return only(only(broker.ask(request, version).topics, "topic").partitions, "partition")


@judges("EPOCH-004")
@at_versions("OffsetForLeaderEpoch", "0+")
def test_offset_for_leader_epoch_with_newer_epoch_returns_minus_1(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Of a log with records and of an empty one: -1/-1, and no error.

    Version 0 has no epoch in its answer. An epoch from before the first one that the log knows
    needs a leader that has changed.
    """
    topic = kept.topic(broker, log_of_nine)
    with requirement("EPOCH-004") as check:
        for partition in (0, 1):
            for epoch in NEWER_EPOCHS:
                with check.subtest(f"partition {partition}, epoch {epoch}"):
                    answer = _end_of(broker, topic, epoch, api_version, partition)
                    where = f"epoch {epoch}, partition {partition}"
                    expect_error(answer.error_code, ErrorCode.NONE, where)
                    found = (answer.leader_epoch, answer.end_offset)
                    assert found == (UNKNOWN, UNKNOWN), f"{where}: epoch and offset are {found}"
