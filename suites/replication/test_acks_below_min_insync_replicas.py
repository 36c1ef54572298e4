"""ACKS: responses to a producer while fewer are in sync than min.insync.replicas."""

from __future__ import annotations

from functools import partial
from operator import eq

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.older_forms import records_for
from harness.client.only import only
from harness.client.requests import Topic, produce_request
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.runner.refusal_judged import refusal_judged
from harness.virtual_broker.assigned_topics import state_shown
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.membership import Membership
from harness.virtual_broker.partition import WatchedPartition, batch_of
from suites.protocol.support.config_admin import TOPIC, AlterOperation, change
from suites.replication.support.asked_as import produce_as
from suites.replication.support.expect import (
    expect_error,
    expect_high_watermark,
    expect_log_end,
    expect_records,
    expect_sound,
)
from suites.replication.support.pending_produce import PendingProduce

ALL = -1
MIN_ISR, PARTITIONS = "min.insync.replicas", 3
LEARNS_MS, SOON_MS = 5_000, 1_000
"""Time for the leader to learn of the ISR, and a short timeout of requests, in ms.

A request that arrives before the leader learns of it waits for its whole timeout (KAFKA-13091).
"""
HELD_SINCE = 16
"""A broker with this version of Fetch commits nothing below min.insync.replicas (KAFKA-15583)."""
WAIT_MS = 4_000


@pytest.fixture
def alone(peers: JoinedCluster) -> WatchedPartition:
    """Only the leader is left in the ISR, where two would have to be; one record is committed."""
    followers = [peers.join(), peers.join()]
    partition = peers.partition(followers, configs={"min.insync.replicas": "2"})
    partition.produce()
    for follower in followers:
        partition.follow(follower, 1)
    _leave_alone(partition, *followers)
    return partition


def _leave_alone(partition: WatchedPartition, *followers: Membership) -> None:
    """One goes when the one before is seen to be gone.

    Of two that go at once the controller of 0.8 overlooks one for ever: it may list both, and look
    for the second when that has gone too (class BrokerChangeListener).
    """
    left = [partition.leader, *(each.broker_id for each in followers)]
    for follower in followers:
        follower.leave()
        left.remove(follower.broker_id)
        partition.await_isr(*left)


@judges("ACKS-005")
@needs_broker(Use.JOINABLE)
def test_acks_all_below_min_isr_returns_not_enough_replicas_appends_nothing(
    alone: WatchedPartition,
) -> None:
    """NOT_ENOUGH_REPLICAS, and the log ends where it did.

    The cluster knows of a smaller ISR a moment before the leader does: until then it appends.
    """
    with requirement("ACKS-005"):
        code = alone.broker.last_seen(
            lambda: _all(alone), lambda told: told == ErrorCode.NOT_ENOUGH_REPLICAS, LEARNS_MS
        )
        expect_error(code, ErrorCode.NOT_ENOUGH_REPLICAS, "one is in sync, not two")
        end = alone.log_end()
        expect_error(_all(alone), ErrorCode.NOT_ENOUGH_REPLICAS, "one is in sync, not two")
        expect_log_end(alone, end, "after the refusal")
        expect_sound(alone)


def _all(partition: WatchedPartition, client_id: str = "ACKS-005") -> int:
    """Return the error code of a Produce with acks=all."""
    answer = produce_as(
        client_id, partition.broker, partition.topic, b"all", acks=ALL, timeout_ms=SOON_MS
    )
    assert answer is not None, "acks=all is not answered in time"
    return answer.error_code


@judges("ACKS-009")
@needs_broker(Use.JOINABLE)
def test_min_insync_replicas_above_replica_count_needs_all_replicas(peers: JoinedCluster) -> None:
    """Two replicas, and five that would have to be in sync; then the leader is alone."""
    follower = peers.join()
    partition = peers.partition([follower], configs={"min.insync.replicas": "5"})
    partition.produce()
    partition.follow(follower, 1)
    with requirement("ACKS-009"):
        expect_high_watermark(partition, 1, "both are in sync")
        _leave_alone(partition, follower)
        code = partition.broker.last_seen(
            lambda: _all(partition, "ACKS-009"), ErrorCode.NOT_ENOUGH_REPLICAS.__eq__, LEARNS_MS
        )
        expect_error(code, ErrorCode.NOT_ENOUGH_REPLICAS, "one of two replicas is in sync")
        partition.produce()
        expect_high_watermark(partition, 1, "one of two replicas has more records")
        expect_sound(partition)


@judges("ACKS-008")
@needs_broker(Use.JOINABLE)
def test_acks_1_and_0_below_min_isr_append_on_leader_alone(alone: WatchedPartition) -> None:
    """Whatever min.insync.replicas says."""
    broker, version = alone.broker, alone.broker.version("Produce")
    with requirement("ACKS-008"):
        with refusal_judged():
            assert alone.produce(acks=1) == 1, "the record of acks=1 is the second"
        records = records_for(version, batch_of(b"none"))
        request = produce_request(alone.topic, records, version, acks=0)
        broker.connect("acks-0").send(request, version)
        broker.eventually(lambda: alone.log_end() == 3, "the record of acks=0 is in the log")
        expect_sound(alone)


@judges("ACKS-006")
@needs_broker(Use.JOINABLE)
def test_acks_all_when_isr_shrinks_after_append_returns_error_keeps_record(
    peers: JoinedCluster,
) -> None:
    """The leader alone is left; its record was not enough in time, and stays."""
    one, two = peers.join(), peers.join()
    partition = peers.partition([one, two], configs={"min.insync.replicas": "2"})
    holds = HELD_SINCE in peers.broker.advertised("Fetch")
    expected = ErrorCode.REQUEST_TIMED_OUT if holds else ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
    pending = PendingProduce(partition, timeout_ms=WAIT_MS)
    with requirement("ACKS-006"):
        _leave_alone(partition, one, two)
        if not holds:
            partition.follow(one, 0)  # before 0.9 a smaller ISR alone completes no waiting request
        expect_error(pending.answer().error_code, expected, "one is left, two were needed")
        expect_log_end(partition, 1, "after the answer")
        expect_records(partition.follow(one, 0), (0,), "who follows")
        expect_sound(partition)


@judges("CONF-014")
@needs_broker(Use.JOINABLE)
def test_changed_min_insync_replicas_holds_for_all_partitions(peers: JoinedCluster) -> None:
    """The leader is alone in sync; two are wanted from then on, and later one again."""
    broker, follower = peers.broker, peers.join()
    name = broker.unique_topic()
    peers.world.create_topic(
        name, [[peers.leader, follower.broker_id]] * PARTITIONS, {MIN_ISR: "1"}
    )
    follower.leave()
    for index in range(PARTITIONS):
        broker.eventually(
            partial(_is_alone, peers, name, index), f"the leader is alone in partition {index}"
        )
    topic = Topic(name, only(broker.metadata([name]).topics, "topic").topic_id)
    for index in range(PARTITIONS):
        broker.await_served(topic, index)
    with requirement("CONF-014"):
        for value, expected in (("2", ErrorCode.NOT_ENOUGH_REPLICAS), ("1", ErrorCode.NONE)):
            code = change(broker, (TOPIC, name), (MIN_ISR, AlterOperation.SET, value))
            expect_error(code, ErrorCode.NONE, f"{MIN_ISR} becomes {value}")
            for index in range(PARTITIONS):
                code = broker.last_seen(
                    partial(_code_of_all, broker, topic, index), partial(eq, expected), LEARNS_MS
                )
                expect_error(code, expected, f"{MIN_ISR} is {value}, partition {index}")


def _is_alone(peers: JoinedCluster, name: str, index: int) -> bool:
    """True if the cluster has this ISR, and the broker knows from its metadata that it leads."""
    shown = state_shown(peers.broker, name, index)
    return shown.leader == peers.leader and peers.world.state(name, index).isr == (peers.leader,)


def _code_of_all(broker: BrokerUnderTest, topic: Topic, index: int) -> int:
    return broker.produce(topic, batch_of(b"r"), partition=index, acks=ALL).error_code
