"""Produce with acks=all waits for the replicas (class DelayedProduce)."""

from dataclasses import replace
from typing import Any

import pytest

from harness.base.ids import BrokerId, LeaderEpoch, Offset, TimeMs
from harness.codec import messages
from harness.codec.error_code import ErrorCode
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.reference_broker.handlers import api_00_produce
from harness.reference_broker.handlers.outcome import (
    Advertised,
    Answer,
    NoAnswer,
    Outcome,
    PurgatoryWait,
    RequestContext,
)
from harness.reference_broker.initial_state import member_state
from harness.reference_broker.settings import BrokerSettings
from harness.reference_broker.state.metadata.metadata_image import apply_records, begin_replicas
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.registrations.brokers import Endpoint
from harness.reference_broker.state.registrations.metadata_records import topic_records
from tests.reference_broker.made_controller import CHANCE, TOPIC_ID, broker, registered
from tests.reference_broker.made_replicas import NOW

TIMEOUT_MS = 3_000
ALL = -1


class Led:
    """Broker 1 leads a partition with replicas on 1, 2 and 3."""

    def __init__(self, *isr: int, minimum: int = 2, **changes: Any) -> None:
        settings = BrokerSettings.of({"node.id": "1"})
        self.state = member_state(settings, Endpoint("localhost", 9), "c" * 22)
        begin_replicas(self.state, NOW)
        for number in (1, 2, 3):
            self.state.brokers.put(broker(number))
        of = registered([1, 2, 3], isr, **changes)
        configs = {"min.insync.replicas": str(minimum)}
        apply_records(self.state, topic_records("t", TOPIC_ID, configs, [of]), NOW)

    @property
    def partition(self) -> Partition:
        topic = self.state.cluster.with_id(TOPIC_ID)
        assert topic is not None
        return topic.partitions[0]

    def produce(self, acks: int = ALL, version: int = 9) -> Outcome:
        batch = encode_batch(RecordBatch(records=[Record(b"v", None)], base_timestamp=NOW), "none")
        request = messages.ProduceRequest
        data = request.PartitionProduceData(index=0, records=batch)
        topic = request.TopicProduceData(name="t", partition_data=[data])
        context = RequestContext(
            version, None, 0, self.state, Advertised(()), lambda: NOW, CHANCE, []
        )
        message = request(acks=acks, timeout_ms=TIMEOUT_MS, topic_data=[topic])
        return api_00_produce.handle(message, context)

    def fetched(self, follower: int, offset: int) -> None:
        epoch = 10 * follower
        self.partition.fetched_by(BrokerId(follower), Offset(offset), Offset(0), epoch, NOW)

    def decide(self, *isr: int, leader: int = 1, epoch: int = 5, partition_epoch: int = 8) -> None:
        of = registered([1, 2, 3], isr, leader, partition_epoch=partition_epoch)
        self.partition.register(replace(of, leader_epoch=LeaderEpoch(epoch)), NOW)


def result(message: Any) -> tuple[int, int]:
    """The error and the base offset."""
    told = message.responses[0].partition_responses[0]
    return told.error_code, told.base_offset


def waits(outcome: Outcome) -> PurgatoryWait:
    assert isinstance(outcome, PurgatoryWait)
    assert outcome.attempt() is None
    return outcome


def answered(outcome: Outcome) -> tuple[int, int]:
    assert isinstance(outcome, Answer)
    return result(outcome.message)


def test_acks_all_waits_for_all_isr_members() -> None:
    led = Led(1, 2)
    wait = waits(led.produce())
    assert wait.keys == {(TOPIC_ID, led.partition.index)}
    assert wait.deadline == NOW + TIMEOUT_MS
    led.fetched(2, 1)
    assert result(wait.attempt()) == (ErrorCode.NONE, 0)


def test_acks_1_does_not_wait_and_acks_0_has_no_response() -> None:
    led = Led(1, 2)
    assert answered(led.produce(acks=1)) == (ErrorCode.NONE, 0)
    assert isinstance(led.produce(acks=0), NoAnswer)
    assert led.partition.log.end_offset == 2


def test_acks_all_does_not_wait_if_leader_is_sole_isr_member() -> None:
    assert answered(Led(1, minimum=1).produce()) == (ErrorCode.NONE, 0)


def test_acks_all_times_out_without_replication_and_keeps_record() -> None:
    led = Led(1, 2)
    wait = waits(led.produce())
    assert wait.at_deadline is not None
    assert result(wait.at_deadline()) == (ErrorCode.REQUEST_TIMED_OUT, 0)
    assert led.partition.log.end_offset == 1


def test_acks_all_with_isr_below_minimum_appends_nothing() -> None:
    led = Led(1)
    assert answered(led.produce()) == (ErrorCode.NOT_ENOUGH_REPLICAS, -1)
    assert led.partition.log.end_offset == 0
    assert answered(led.produce(acks=1)) == (ErrorCode.NONE, 0)


@pytest.mark.parametrize("is_committed", [True, False])
def test_isr_shrink_after_append_fails_acks_all_only_if_committed(
    is_committed: bool,
) -> None:
    led = Led(1, 2)
    wait = waits(led.produce())
    if is_committed:
        led.partition.high_watermark = Offset(1)
    led.decide(1)
    if is_committed:
        assert result(wait.attempt()) == (ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, 0)
    else:
        assert wait.attempt() is None  # nothing is committed below the minimum (KAFKA-15583)


def test_proposed_isr_member_counts_for_min_insync_replicas() -> None:
    led = Led(1, 2)
    wait = waits(led.produce())
    led.decide(1)
    leading = led.partition.leading
    assert leading is not None
    led.partition.high_watermark = Offset(1)
    leading.proposed = frozenset({BrokerId(1), BrokerId(2)})
    assert result(wait.attempt()) == (ErrorCode.NONE, 0)


def test_acks_all_fails_when_leadership_is_lost() -> None:
    led = Led(1, 2)
    wait = waits(led.produce())
    led.decide(2, leader=2, epoch=6)
    assert result(wait.attempt()) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, 0)


def test_produce_to_follower_appends_nothing() -> None:
    led = Led(1, 2, leader=2)
    for acks in (1, ALL):
        assert answered(led.produce(acks)) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)
    assert led.partition.log.end_offset == 0


def test_acks_all_at_deadline_succeeds_if_replicated() -> None:
    led = Led(1, 2)
    wait = waits(led.produce())
    led.fetched(2, 1)
    assert wait.at_deadline is not None
    assert result(wait.at_deadline()) == (ErrorCode.NONE, 0)
    assert wait.deadline == TimeMs(NOW + TIMEOUT_MS)
