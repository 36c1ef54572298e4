"""Markers and transactional records in a partition: the epochs that they may have."""

from __future__ import annotations

import pytest

from harness.base.ids import ProducerEpoch, ProducerId
from harness.codec.error_code import ErrorCode
from harness.codec.records import TRANSACTIONAL, BatchHeader
from harness.reference_broker.state.log.append_error import AppendRefused
from harness.reference_broker.state.partition.coordinator_append import (
    WantedMarker,
    append_in_transaction,
    append_marker,
)
from harness.reference_broker.state.partition.last_stable_offset import last_stable_offset
from harness.reference_broker.state.partition.partition import Partition
from tests.reference_broker.made_replicas import NOW, decided, replica, write
from tests.reference_broker.made_transactions import identity, markers

PRODUCER, EPOCH, COORDINATOR = 7, 3, 5


def made(timestamp_type: str = "CreateTime") -> Partition:
    """A leader alone in sync, with an open transaction from offset 0."""
    partition = replica(1, decided(1, isr=(1,)), message_timestamp_type=timestamp_type)
    in_transaction(partition)
    return partition


def in_transaction(partition: Partition) -> None:
    write(
        partition,
        "x",
        attributes=TRANSACTIONAL,
        producer_id=PRODUCER,
        producer_epoch=EPOCH,
        base_sequence=0,
    )


def marker(epoch: int = EPOCH, coordinator: int = COORDINATOR, version: int = 0) -> WantedMarker:
    return WantedMarker(
        ProducerId(PRODUCER), ProducerEpoch(epoch), coordinator, aborts=True, version=version
    )


def refusal(partition: Partition, wanted: WantedMarker) -> ErrorCode:
    end = partition.log.end_offset
    with pytest.raises(AppendRefused) as refused:
        append_marker(partition, wanted, NOW)
    assert partition.log.end_offset == end
    return refused.value.error


def test_a_marker_takes_one_offset_and_ends_the_transaction() -> None:
    partition = made()
    assert last_stable_offset(partition) == 0
    appended = append_marker(partition, marker(), NOW)
    assert (appended.base_offset, appended.end_offset) == (1, 2)
    assert last_stable_offset(partition) == 2
    (found,) = markers(partition)
    assert (found.coordinator_epoch, found.aborts, found.timestamp) == (COORDINATOR, True, NOW)
    (aborted,) = partition.log.aborted_between(partition.log.start_offset, appended.end_offset)
    assert (aborted.producer_id, aborted.first_offset, aborted.last_offset) == (PRODUCER, 0, 1)


def test_a_marker_of_an_earlier_coordinator_is_refused() -> None:
    partition = made()
    append_marker(partition, marker(), NOW)
    fenced = ErrorCode.TRANSACTION_COORDINATOR_FENCED
    assert refusal(partition, marker(coordinator=COORDINATOR - 1)) is fenced
    append_marker(partition, marker(), NOW)


def test_a_marker_with_an_earlier_epoch_of_the_producer_is_refused() -> None:
    partition = made()
    assert refusal(partition, marker(EPOCH - 1)) is ErrorCode.INVALID_PRODUCER_EPOCH
    append_marker(partition, marker(EPOCH + 1), NOW)
    assert refusal(partition, marker(EPOCH)) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_marker_of_version_2_has_a_higher_epoch_than_the_records() -> None:
    partition = made()
    assert refusal(partition, marker(version=2)) is ErrorCode.INVALID_PRODUCER_EPOCH
    append_marker(partition, marker(EPOCH + 1, version=2), NOW)
    append_marker(partition, marker(EPOCH + 1, version=2), NOW)


def test_a_marker_has_the_time_of_the_broker_in_a_topic_that_wants_it() -> None:
    partition = made("LogAppendTime")
    append_marker(partition, marker(), NOW)
    assert [found.timestamp for found in markers(partition)] == [NOW]


def test_records_outside_of_the_open_transaction_are_refused() -> None:
    partition = made()
    with pytest.raises(AppendRefused) as refused:
        write(partition, "y", producer_id=PRODUCER, producer_epoch=EPOCH, base_sequence=1)
    assert refused.value.error is ErrorCode.INVALID_TXN_STATE
    append_marker(partition, marker(), NOW)
    write(partition, "y", producer_id=PRODUCER, producer_epoch=EPOCH, base_sequence=1)


def test_records_of_a_coordinator_have_no_sequence_that_counts() -> None:
    partition = replica(1, decided(1, isr=(1,)))
    rows = [(NOW, b"k", b"v")]
    for _ in range(2):
        append_in_transaction(partition, rows, identity(PRODUCER, EPOCH), NOW)
    with pytest.raises(AppendRefused) as refused:
        append_in_transaction(partition, rows, identity(PRODUCER, EPOCH - 1), NOW)
    assert refused.value.error is ErrorCode.INVALID_PRODUCER_EPOCH
    stored = partition.log.between(partition.log.start_offset, partition.log.end_offset)
    headers = [BatchHeader.read(batch.data) for batch in stored]
    assert [(one.base_sequence, one.attributes) for one in headers] == [(0, TRANSACTIONAL)] * 2
    assert last_stable_offset(partition) == 0
