"""Appends by coordinators: the markers that end transactions, and offsets within a transaction.

Source: class UnifiedLog with ``AppendOrigin.COORDINATOR``, class ProducerAppendInfo
(checkProducerEpoch, checkCoordinatorEpoch); KIP-98, KIP-1228.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.base.ids import ProducerEpoch, ProducerId, TimeMs
from harness.codec.data_framing.control_records import (
    ABORT,
    COMMIT,
    control_record_key,
    control_record_value,
)
from harness.codec.error_code import ErrorCode
from harness.codec.messages import EndTxnMarker
from harness.codec.records import CONTROL, TRANSACTIONAL, BatchHeader, RecordBatch, encode_rows
from harness.reference_broker.state.log.append_error import AppendRefused
from harness.reference_broker.state.log.batch_bytes import with_broker_fields
from harness.reference_broker.state.partition.partition import Appended, Partition
from harness.reference_broker.state.producers.producer_ids import ProducerIdentity
from harness.reference_broker.state.validation.producer_check import check_epoch
from harness.reference_broker.state.validation.record_validation import Placement, validate_batch

_FIRST_SEQUENCE, _NO_EPOCH = 0, -1
_EPOCH_WAS_RAISED = 2
"""The transaction version since which a marker has a higher epoch than the records."""


@dataclass(frozen=True, slots=True)
class WantedMarker:
    """A marker to append. `version` is the transaction version of the producer, 0 if unknown."""

    producer_id: ProducerId
    producer_epoch: ProducerEpoch
    coordinator_epoch: int
    aborts: bool
    version: int = 0


def append_marker(partition: Partition, marker: WantedMarker, now: TimeMs) -> Appended:
    """Append the marker of a transaction, open or not. Raises AppendRefused.

    The error is TRANSACTION_COORDINATOR_FENCED if a later coordinator has written here, and
    INVALID_PRODUCER_EPOCH for an epoch before the producer's.
    """
    _check_marker(partition, marker)
    control_type = ABORT if marker.aborts else COMMIT
    value = control_record_value(EndTxnMarker(coordinator_epoch=marker.coordinator_epoch))
    batch = encode_rows(
        [(now, control_record_key(control_type), value)],
        RecordBatch(
            attributes=CONTROL | TRANSACTIONAL,
            producer_id=marker.producer_id,
            producer_epoch=marker.producer_epoch,
        ),
    )
    end, epoch = partition.log.end_offset, partition.leader_epoch
    append_time = now if partition.config.uses_log_append_time else None
    stored = with_broker_fields(batch, BatchHeader.read(batch), end, epoch, append_time, now)
    return partition.store(stored, BatchHeader.read(stored), now)


def _check_marker(partition: Partition, marker: WantedMarker) -> None:
    if partition.log.is_offline:
        raise AppendRefused(ErrorCode.KAFKA_STORAGE_ERROR)
    _check_producer(ProducerIdentity(marker.producer_id, marker.producer_epoch))
    if marker.version < 0:  # an exception, for this partition alone (seen on 4.4.0)
        raise AppendRefused(ErrorCode.UNKNOWN_SERVER_ERROR)
    producers = partition.producers
    known_epoch, coordinator_epoch = producers.epochs_of(marker.producer_id)
    is_raised = marker.version >= _EPOCH_WAS_RAISED
    is_open = producers.is_in_transaction(marker.producer_id)
    if is_raised and is_open and marker.producer_epoch == known_epoch:
        raise AppendRefused(ErrorCode.INVALID_PRODUCER_EPOCH)
    check_epoch(producers, marker.producer_id, marker.producer_epoch)
    if marker.coordinator_epoch < coordinator_epoch:
        raise AppendRefused(ErrorCode.TRANSACTION_COORDINATOR_FENCED)


def _check_producer(producer: ProducerIdentity) -> None:
    """Refuse what no batch of a transaction can have (class MemoryRecordsBuilder)."""
    if producer.producer_id < 0 or producer.producer_epoch == _NO_EPOCH:
        raise AppendRefused(ErrorCode.UNKNOWN_SERVER_ERROR)


def append_in_transaction(
    partition: Partition,
    rows: Sequence[tuple[int, bytes | None, bytes | None]],
    producer: ProducerIdentity,
    now: TimeMs,
) -> Appended:
    """Append records as a part of a producer's transaction. Raises AppendRefused."""
    if partition.log.is_offline:
        raise AppendRefused(ErrorCode.KAFKA_STORAGE_ERROR)
    _check_producer(producer)
    if partition.producers.fences_offsets:
        check_epoch(partition.producers, producer.producer_id, producer.producer_epoch)
    batch = encode_rows(
        rows,
        RecordBatch(
            attributes=TRANSACTIONAL,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            base_sequence=_FIRST_SEQUENCE,
        ),
    )
    place = Placement(partition.log.end_offset, partition.leader_epoch, now)
    stored = validate_batch(batch, partition.config, place)
    return partition.store(stored, BatchHeader.read(stored), now)
