"""REPL: the ten steps T1 to T10 of a leader with two followers, and what decides each.

Each test goes its own way to the step that it is about and looks there for the first time.
"""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.timeline import R2, R3, Timeline
from suites.replication.support.elections import await_alive
from suites.replication.support.expect import (
    expect_error,
    expect_high_watermark,
    expect_log_end,
    expect_records,
    expect_sound,
)

FIRST = (0, 1, 2)


@judges("REPL-001")
@needs_broker(Use.JOINABLE)
def test_t1_unconfirmed_append_is_in_log_and_not_visible(timeline: Timeline) -> None:
    """Three records are produced, and no follower has asked for anything."""
    partition = timeline.partition
    timeline.play("T1")
    with requirement("REPL-001"):
        expect_log_end(partition, 3, "after the produce")
        read = expect_high_watermark(partition, 0, "after the produce")
        expect_records(read, (), "a consumer")
        expect_sound(partition)


@judges("REPL-002")
@needs_broker(Use.JOINABLE)
def test_t2_t3_delivery_to_followers_does_not_move_high_watermark(timeline: Timeline) -> None:
    """Both followers have been given the records; what confirms is that they ask for the next."""
    partition = timeline.partition
    timeline.play("T1")
    with requirement("REPL-002"):
        for follower in (R2, R3):
            expect_records(timeline.follow(follower, 0), FIRST, follower)
            expect_high_watermark(partition, 0, f"{follower} was given the records")
        timeline.follow(R2, 3)
        timeline.follow(R3, 3)
        expect_high_watermark(partition, 3, "both asked for offset 3")
        expect_sound(partition)


@judges("REPL-003")
@needs_broker(Use.JOINABLE)
def test_t4_consumer_fetch_with_high_watermark_0_returns_no_records(timeline: Timeline) -> None:
    """All replicas have the records, and the leader does not know it yet."""
    timeline.play("T3")
    with requirement("REPL-003"):
        expect_records(timeline.partition.consume(0), (), "a consumer at offset 0")
        expect_sound(timeline.partition)


@judges("REPL-004")
@needs_broker(Use.JOINABLE)
def test_t5_one_of_two_confirmations_does_not_move_high_watermark(timeline: Timeline) -> None:
    """R2 has confirmed, R3 has not."""
    timeline.play("T4")
    with requirement("REPL-004"):
        expect_records(timeline.follow(R2, 3), (), R2)
        expect_high_watermark(timeline.partition, 0, "R2 alone has confirmed")
        expect_sound(timeline.partition)


@judges("REPL-005")
@needs_broker(Use.JOINABLE)
def test_t6_last_confirmation_advances_high_watermark(timeline: Timeline) -> None:
    """All have confirmed: the records are visible."""
    timeline.play("T5")
    with requirement("REPL-005"):
        expect_records(timeline.follow(R3, 3), (), R3)
        read = expect_high_watermark(timeline.partition, 3, "R2 and R3 have confirmed")
        expect_records(read, FIRST, "a consumer")
        expect_sound(timeline.partition)


@judges("REPL-006")
@needs_broker(Use.JOINABLE)
def test_t7_new_append_moves_log_end_but_not_high_watermark(timeline: Timeline) -> None:
    """Two more records behind three that are committed."""
    timeline.play("T7")
    with requirement("REPL-006"):
        expect_log_end(timeline.partition, 5, "after the second produce")
        expect_high_watermark(timeline.partition, 3, "after the second produce")
        expect_sound(timeline.partition)


@judges("REPL-007")
@needs_broker(Use.JOINABLE)
def test_t8_t9_partial_confirmation_does_not_move_high_watermark(timeline: Timeline) -> None:
    """R2 is given the new records and confirms them, R3 is where it was."""
    timeline.play("T7")
    with requirement("REPL-007"):
        expect_records(timeline.follow(R2, 3), (3, 4), R2)
        expect_high_watermark(timeline.partition, 3, "R2 was given the new records")
        expect_records(timeline.follow(R2, 5), (), R2)
        expect_high_watermark(timeline.partition, 3, "R2 has confirmed them")
        expect_sound(timeline.partition)


@judges("REPL-008")
@needs_broker(Use.JOINABLE)
def test_t10_consumer_fetch_returns_only_committed_records(timeline: Timeline) -> None:
    """Five records are in the log, three are committed."""
    timeline.play("T9")
    with requirement("REPL-008"):
        read = timeline.partition.consume(0)
        expect_records(read, FIRST, "a consumer at offset 0")
        told = f"a consumer is told the high watermark {read.high_watermark}, expected 3"
        assert read.high_watermark == 3, told
        expect_sound(timeline.partition)


@judges("REPL-009")
@needs_broker(Use.JOINABLE)
def test_follower_fetch_offset_confirms_records_before_it(timeline: Timeline) -> None:
    """R3 has everything; R2 goes from record to record, and the high watermark with it."""
    partition = timeline.partition
    partition.produce(5)
    timeline.follow(R3, 5)
    with requirement("REPL-009"):
        for offset in range(6):
            expect_records(timeline.follow(R2, offset), range(offset, 5), f"R2 at {offset}")
            told = partition.consume(offset)
            expect_error(told.error, ErrorCode.NONE, f"a consumer at {offset}")
            seen = f"R2 has fetched {offset}: the high watermark is {told.high_watermark}"
            assert told.high_watermark == offset, seen
        expect_sound(partition)


@judges("REPL-010")
@needs_broker(Use.JOINABLE)
def test_slowest_isr_member_determines_high_watermark(timeline: Timeline) -> None:
    """The leader's log ends at 5; the slower follower's offset is the high watermark."""
    partition = timeline.partition
    partition.produce(5)
    with requirement("REPL-010"):
        for follower, offset, watermark in ((R2, 4, 0), (R3, 2, 2), (R3, 5, 4), (R2, 5, 5)):
            timeline.follow(follower, offset)
            has = f"R2 has {timeline.confirmed[R2]}, R3 {timeline.confirmed[R3]}"
            expect_high_watermark(partition, watermark, has)
        expect_sound(partition)


@judges("REPL-010")
@needs_broker(Use.JOINABLE)
def test_follower_behind_and_out_of_isr_does_not_hold_back_high_watermark(
    peers: JoinedCluster,
) -> None:
    """R3 was away when three records were committed, is alive now, and has one of them."""
    followers = [peers.join(), peers.join()]
    followers[1].leave()
    timeline = Timeline(peers.partition(followers, away=followers[1:]), followers)
    partition = timeline.partition
    partition.produce(3)
    timeline.follow(R2, 3)
    followers[1].come_back()
    await_alive(partition.broker, followers[1].broker_id)
    timeline.follow(R3, 1)
    partition.produce()
    with requirement("REPL-010"):
        timeline.follow(R2, 4)
        read = expect_high_watermark(partition, 4, "R3 has one record and is not in the ISR")
        expect_records(read, range(4), "a consumer")
        isr = partition.state().isr
        expected = tuple(sorted((partition.leader, followers[0].broker_id)))
        assert isr == expected, f"the ISR is {isr}, expected {expected}"
        expect_sound(partition)
