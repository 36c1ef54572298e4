"""ACKS: the time of a response to a producer; followers fetch only when the test lets them."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.runner.refusal_judged import refusal_judged
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.timeline import R2, R3, Timeline
from suites.replication.support.expect import (
    expect_error,
    expect_high_watermark,
    expect_log_end,
    expect_records,
    expect_sound,
)
from suites.replication.support.pending_produce import PendingProduce

SHORT_MS, PATIENT_MS = 500, 2_000
"""Timeouts of requests in ms; the second is time for the fetches of a slow machine."""


@judges("ACKS-003")
@needs_broker(Use.JOINABLE)
def test_acks_1_waits_for_no_follower(timeline: Timeline) -> None:
    """No follower fetches, and yet each record is acknowledged."""
    partition = timeline.partition
    with requirement("ACKS-003"):
        for offset in range(3):
            with refusal_judged():
                found = partition.produce(acks=1)
            assert found == offset, f"acks=1 is answered with offset {found}, expected {offset}"
        expect_log_end(partition, 3, "three acknowledged records")
        expect_sound(partition)


@judges("ACKS-004")
@needs_broker(Use.JOINABLE)
def test_acks_all_responds_after_all_isr_members_confirm(timeline: Timeline) -> None:
    """Neither the delivery to both followers nor one confirmation is enough."""
    partition = timeline.partition
    pending = PendingProduce(partition)
    with requirement("ACKS-004"):
        pending.expect_silence("before a follower has fetched")
        for who in (R2, R3):
            expect_records(timeline.follow(who, 0), (0,), who)
        pending.expect_silence("when the record was delivered and not confirmed")
        timeline.follow(R2, 1)
        pending.expect_silence("when one of two followers has confirmed")
        timeline.follow(R3, 1)
        expect_error(pending.answer().error_code, ErrorCode.NONE, "all have confirmed")
        expect_sound(partition)


@judges("ACKS-007")
@needs_broker(Use.JOINABLE)
def test_acks_all_unconfirmed_within_timeout_returns_request_timed_out(timeline: Timeline) -> None:
    """No follower confirms in time; later the record is committed all the same."""
    partition = timeline.partition
    pending = PendingProduce(partition, timeout_ms=SHORT_MS)
    with requirement("ACKS-007"):
        expect_error(pending.answer().error_code, ErrorCode.REQUEST_TIMED_OUT, "nobody confirms")
        timeline.follow(R2, 1)
        timeline.follow(R3, 1)
        read = expect_high_watermark(partition, 1, "both have confirmed after the timeout")
        expect_records(read, (0,), "a consumer")
        expect_sound(partition)


@judges("ACKS-017")
@needs_broker(Use.JOINABLE)
def test_acks_all_timeout_keeps_record_in_log(timeline: Timeline) -> None:
    """A record not acknowledged in time stays in the leader's log, and followers fetch it."""
    partition = timeline.partition
    partition.produce()
    pending = PendingProduce(partition, timeout_ms=SHORT_MS)
    told = pending.answer()
    with requirement("ACKS-017"):
        expect_error(told.error_code, ErrorCode.REQUEST_TIMED_OUT, "nobody confirms")
        expect_log_end(partition, 2, "after the timeout")
        expect_records(timeline.follow(R2, 0), (0, 1), R2)
        expect_sound(partition)


@judges("ACKS-010")
@needs_broker(Use.JOINABLE)
def test_acks_all_waits_for_more_than_min_insync_replicas(peers: JoinedCluster) -> None:
    """min.insync.replicas is 2 and two have the record; the third is in the ISR and must follow."""
    followers = [peers.join(), peers.join()]
    partition = peers.partition(followers, configs={"min.insync.replicas": "2"})
    timeline = Timeline(partition, followers)
    pending = PendingProduce(partition)
    with requirement("ACKS-010"):
        timeline.follow(R2, 1)
        pending.expect_silence("when min.insync.replicas have the record, and the ISR has not")
        followers[1].leave()
        partition.await_isr(partition.leader, followers[0].broker_id)
        timeline.follow(R2, 1)  # before 0.9 a smaller ISR alone completes no waiting request
        expect_error(pending.answer().error_code, ErrorCode.NONE, "the third has left the ISR")
        expect_sound(partition)


@judges("ACKS-019")
@needs_broker(Use.JOINABLE)
def test_acks_all_to_two_partitions_responds_after_all_of_both_confirm(
    peers: JoinedCluster,
) -> None:
    """The partition that the request names last is confirmed first, then the other one."""
    follower, other = peers.join(), peers.join()
    first, last = peers.partition([follower]), peers.partition([other])
    last.produce()
    last.follow(other, 1)
    pending = PendingProduce(first, last)
    with requirement("ACKS-019"):
        pending.expect_silence("before a follower has fetched")
        last.follow(other, 2)
        pending.expect_silence("when one of two partitions is confirmed")
        first.follow(follower, 1)
        codes = [each.error_code for each in pending.answers()]
        assert codes == [ErrorCode.NONE] * 2, f"all have confirmed: the errors are {codes}"
        expect_sound(first)
        expect_sound(last)


@judges("ACKS-019")
@needs_broker(Use.JOINABLE)
def test_acks_all_timeout_fails_only_partition_that_is_not_confirmed(
    peers: JoinedCluster,
) -> None:
    """One of three partitions is not confirmed in time, the others are."""
    follower = peers.join()
    partitions = [peers.partition([follower]) for _ in range(3)]
    late = partitions[1]
    pending = PendingProduce(*partitions, timeout_ms=PATIENT_MS)
    for each in partitions:
        each.follow(follower, 0 if each is late else 1)
    with requirement("ACKS-019"):
        codes = [each.error_code for each in pending.answers()]
        expected = [ErrorCode.NONE, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NONE]
        assert codes == expected, f"the second of three is late: the errors are {codes}"
        late.follow(follower, 1)
        expect_high_watermark(late, 1, "it is confirmed after the timeout")
        expect_sound(late)
