"""REPL, FETCH: the records that each reader may get, and a high watermark that never goes back."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.older_forms import records_for
from harness.client.requests import produce_request
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.partition import ANYBODY, batch_of, read_of, replica_fetch
from harness.virtual_broker.timeline import R2, R3, Timeline
from suites.replication.support.expect import (
    expect_error,
    expect_high_watermark,
    expect_log_end,
    expect_records,
    expect_sound,
)
from suites.replication.support.pending_produce import PendingProduce
from suites.replication.support.three_of_five import commit_three_of_five

FORMS = ("0-3", "4-12", "13-14", "15+")
"""Versions of Fetch: with message sets, with topic names, with topic ids, with replica states."""
NO_BROKER = 999
READ_COMMITTED = 1


@judges("REPL-011")
@needs_broker(Use.JOINABLE)
def test_high_watermark_never_decreases_when_follower_fetches_go_back(timeline: Timeline) -> None:
    """Followers go on, go back behind what they had confirmed, leave and come again."""
    partition = timeline.partition
    partition.produce(4)
    steps = ((R2, 2), (R3, 4), (R2, 4), (R2, 1), (R3, 0), (R2, 4), (R3, 3), (R3, 4))
    with requirement("REPL-011"):
        for follower, offset in steps:
            timeline.follow(follower, offset)
            partition.consume(0)
            partition.log_end()
        expect_high_watermark(partition, 4, "both have confirmed all")
        expect_sound(partition)


@judges("REPL-038")
@needs_broker(Use.JOINABLE)
def test_follower_fetch_above_log_end_is_refused_and_confirms_nothing(timeline: Timeline) -> None:
    """R2 has all three records; R3 asks above the log end, and only then at the log end."""
    partition, r3 = timeline.partition, timeline.followers[R3]
    partition.produce(3)
    timeline.follow(R2, 3)
    with requirement("REPL-038") as check:
        for offset in (4, 2**40):
            when = f"R3 fetches {offset}, the log ends at 3"
            with check.subtest(f"offset {offset}"):
                read = partition.follow(r3, offset)
                expect_error(read.error, ErrorCode.OFFSET_OUT_OF_RANGE, when)
                expect_high_watermark(partition, 0, when)
        timeline.follow(R3, 3)
        expect_high_watermark(partition, 3, "R3 fetches 3")
        expect_sound(partition)


@judges("FETCH-003")
@needs_broker(Use.JOINABLE)
def test_fetch_after_follower_goes_back_returns_same_high_watermark(timeline: Timeline) -> None:
    """A follower that asks again for what it had confirmed takes nothing back."""
    partition = timeline.partition
    partition.produce(3)
    timeline.follow(R2, 3)
    timeline.follow(R3, 3)
    with requirement("FETCH-003"):
        told = [partition.consume(3).high_watermark]
        for offset in (0, 2):
            timeline.follow(R3, offset)
            told.append(partition.consume(3).high_watermark)
        partition.produce()
        told.append(partition.consume(3).high_watermark)
        assert told == [3, 3, 3, 3], f"the high watermarks are {told}, expected 3 each time"
        expect_log_end(partition, 4, "after one more record")
        expect_sound(partition)


@judges("REPL-020")
@needs_broker(Use.JOINABLE)
def test_acks_do_not_affect_record_visibility(timeline: Timeline, broker: BrokerUnderTest) -> None:
    """A record each with acks 0, 1 and all; the followers confirm one after the other."""
    partition = timeline.partition
    with requirement("REPL-020"):
        _produce_unanswered(broker, timeline)
        partition.produce(acks=1)
        pending = PendingProduce(partition)
        timeline.follow(R2, 3)
        read = expect_high_watermark(partition, 0, "R3 lacks records of acks 0, 1 and all")
        expect_records(read, (), "a consumer")
        for offset in (1, 2, 3):
            timeline.follow(R3, offset)
            read = expect_high_watermark(partition, offset, f"R3 has {offset} of them")
            expect_records(read, range(offset), "a consumer")
        expect_error(pending.answer().error_code, ErrorCode.NONE, "acks=all")
        expect_sound(partition)


def _produce_unanswered(broker: BrokerUnderTest, timeline: Timeline) -> None:
    """Produce with acks=0, and wait until the record is in the log."""
    version = broker.version("Produce")
    records = records_for(version, batch_of(b"unanswered"))
    connection = broker.connect("acks-0")
    connection.send(produce_request(timeline.partition.topic, records, version, acks=0), version)
    broker.eventually(lambda: timeline.partition.log_end() == 1, "the record of acks=0 is appended")


@judges("FETCH-002")
@at_versions("Fetch", *FORMS)
@needs_broker(Use.JOINABLE)
def test_consumer_fetch_returns_only_records_below_high_watermark(
    timeline: Timeline, api_version: int
) -> None:
    """Five records, three of them committed; read from each of them on."""
    partition = commit_three_of_five(timeline)
    with requirement("FETCH-002") as check:
        for offset in range(3):
            with check.subtest(f"offset {offset}"):
                read = partition.consume(offset, api_version)
                expect_records(read, range(offset, 3), f"a consumer at {offset}")
        expect_sound(partition)


@judges("FETCH-002")
@at_versions("Fetch", *FORMS[1:])
@needs_broker(Use.JOINABLE)
def test_read_committed_fetch_returns_only_records_below_high_watermark(
    timeline: Timeline, broker: BrokerUnderTest, api_version: int
) -> None:
    """The same for a consumer of committed transactions; all records are without one."""
    partition = commit_three_of_five(timeline)
    with requirement("FETCH-002") as check:
        for offset in range(3):
            with check.subtest(f"offset {offset}"):
                request = replica_fetch(partition.topic, api_version, offset, replica=ANYBODY)
                request.isolation_level = READ_COMMITTED
                read = read_of(broker.ask(request, api_version))
                expect_records(read, range(offset, 3), f"a read_committed consumer at {offset}")
        expect_sound(partition)


@judges("FETCH-019")
@at_versions("Fetch", *FORMS)
@needs_broker(Use.JOINABLE)
def test_fetch_with_replica_id_reads_to_log_end_and_confirms_offset(
    timeline: Timeline, api_version: int
) -> None:
    """The same fetch as a consumer and as a replica: given less, and confirming nothing."""
    partition, ids = timeline.partition, timeline.followers
    partition.produce(2)
    timeline.follow(R3, 2)
    with requirement("FETCH-019"):
        expect_records(partition.consume(0, api_version), (), "a consumer at 0")
        partition.consume(2, api_version)
        read = partition.consume(0, api_version)
        expect_records(read, (), "a consumer, after one asked for offset 2")
        read = partition.follow(ids[R2], 0, version=api_version)
        expect_records(read, (0, 1), "the replica at 0")
        partition.follow(ids[R2], 2, version=api_version)
        read = partition.consume(0, api_version)
        expect_records(read, (0, 1), "a consumer, after the replica asked for offset 2")
        expect_sound(partition)


@judges("FETCH-021")
@at_versions("Fetch", *FORMS)
@needs_broker(Use.JOINABLE)
def test_consumer_fetch_above_high_watermark_returns_empty_without_error(
    timeline: Timeline, api_version: int
) -> None:
    """The high watermark is 3 and the log ends at 5: a consumer asks for 3, 4 and 5."""
    partition = commit_three_of_five(timeline)
    with requirement("FETCH-021") as check:
        for offset in (3, 4, 5):
            with check.subtest(f"offset {offset}"):
                expect_records(
                    partition.consume(offset, api_version), (), f"a consumer at {offset}"
                )
        expect_sound(partition)


@judges("FETCH-022")
@at_versions("Fetch", *FORMS)
@needs_broker(Use.JOINABLE)
def test_fetch_as_unassigned_replica_is_refused_and_confirms_nothing(
    timeline: Timeline, broker: BrokerUnderTest, peers: JoinedCluster, api_version: int
) -> None:
    """A broker that is there and has no replica of the partition, and one that is not there."""
    partition = timeline.partition
    partition.produce(2)
    timeline.follow(R2, 2)
    refused = (ErrorCode.UNKNOWN_LEADER_EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    strangers = (peers.join().broker_id, NO_BROKER)
    with requirement("FETCH-022") as check:
        for stranger in strangers:
            with check.subtest(f"replica id {stranger}"):
                assert stranger != ANYBODY
                request = replica_fetch(partition.topic, api_version, 2, replica=stranger)
                found = read_of(broker.ask(request, api_version))
                told = f"a fetch as {stranger}: {ErrorCode.describe(found.error)}"
                assert found.error in refused, told
                assert not found.offsets, f"{told}, with the records {found.offsets}"
        expect_high_watermark(partition, 0, "strangers asked for offset 2")
        expect_sound(partition)
