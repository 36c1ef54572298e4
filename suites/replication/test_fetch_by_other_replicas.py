"""REPL: fetches of brokers that are no replica, of later incarnations, and of racks."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.errors import ApiNotAdvertised
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.partition import (
    ANYBODY,
    FIRST_WITH_REPLICA_STATE,
    read_of,
    replica_fetch,
)
from harness.virtual_broker.timeline import Timeline
from suites.replication.support.expect import (
    expect_error,
    expect_high_watermark,
    expect_records,
    expect_sound,
)
from suites.replication.support.three_of_five import commit_three_of_five

NO_EPOCH = -1
RACK = "a rack without brokers"


@judges("REPL-033")
@at_versions("Fetch", "9-14", "15+")
@needs_broker(Use.JOINABLE)
def test_fetch_by_unassigned_broker_returns_error_by_its_leader_epoch(
    timeline: Timeline, broker: BrokerUnderTest, peers: JoinedCluster, api_version: int
) -> None:
    """UNKNOWN_LEADER_EPOCH with the current leader epoch, NOT_LEADER_OR_FOLLOWER without one."""
    partition, stranger = timeline.partition, peers.join().broker_id
    current = partition.state().leader_epoch
    cases = (
        (current, ErrorCode.UNKNOWN_LEADER_EPOCH),
        (NO_EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER),
    )
    with requirement("REPL-033") as check:
        for epoch, code in cases:
            with check.subtest(f"leader epoch {epoch}"):
                request = replica_fetch(
                    partition.topic, api_version, 0, replica=stranger, leader_epoch=epoch
                )
                found = read_of(broker.ask(request, api_version))
                expect_error(found.error, code, f"no replica, leader epoch {epoch}")


@judges("REPL-034")
@needs_broker(Use.JOINABLE)
def test_fetch_with_later_broker_epoch_than_known_is_accepted(peers: JoinedCluster) -> None:
    """The follower has registered again, and the leader has not read of it."""
    member = peers.joined()
    partition = peers.partition([member])
    if partition.fetch_version < FIRST_WITH_REPLICA_STATE:
        raise ApiNotAdvertised("Fetch below v15 has no broker epoch")
    later = member.broker_epoch + 1
    partition.produce(2)
    with requirement("REPL-034"):
        read = partition.follow(member, 0, broker_epoch=later)
        expect_records(read, (0, 1), "a later broker epoch")
        expect_high_watermark(partition, 0, "it fetched from 0")
        read = partition.follow(member, 2, broker_epoch=later)
        expect_error(read.error, ErrorCode.NONE, "a later broker epoch, at the end")
        expect_high_watermark(partition, 2, "it fetched from 2")
        expect_sound(partition)


@judges("REPL-035")
@at_versions("Fetch", "11-12", "13-14", "15+")
@needs_broker(Use.JOINABLE)
def test_consumer_fetch_with_rack_returns_only_records_below_high_watermark(
    timeline: Timeline, broker: BrokerUnderTest, api_version: int
) -> None:
    """Five records, three of them committed; the leader is in no rack."""
    partition = commit_three_of_five(timeline)
    with requirement("REPL-035"):
        request = replica_fetch(partition.topic, api_version, 0, replica=ANYBODY)
        request.rack_id = RACK
        read = read_of(broker.ask(request, api_version))
        expect_records(read, (0, 1, 2), "a consumer with a rack")
        told = f"the high watermark is {read.high_watermark}, expected 3"
        assert read.high_watermark == 3, told
