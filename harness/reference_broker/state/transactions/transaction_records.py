"""Transactional ids as the records of the coordinator's internal topic.

Source: class TransactionLog. The version of a value is that of the finalized transaction.version.
"""

from __future__ import annotations

from harness.base.ids import PartitionIndex, ProducerEpoch, ProducerId, TimeMs
from harness.codec.data_framing.coordinator_records import TRANSACTION_STATE
from harness.codec.messages import TransactionLogKey, TransactionLogValue
from harness.reference_broker.state.transactions.transaction import (
    NOT_STARTED,
    Place,
    Transaction,
    indexes_by_topic,
)
from harness.reference_broker.state.transactions.transaction_states import (
    STATUS_IN_LOG,
    TransactionState,
)

_Partitions = list[TransactionLogValue.PartitionsSchema]
_FLEXIBLE_SINCE = 1  # transaction.version
_STATE_OF_STATUS = {status: state for state, status in STATUS_IN_LOG.items()}


def key_of(transactional_id: str) -> bytes:
    """Return the key of a transactional id's records."""
    return TRANSACTION_STATE.key_bytes(TransactionLogKey(transactional_id=transactional_id))


def value_of(one: Transaction, transaction_version: int) -> bytes:
    """Return the value of a record, as the finalized transaction.version has it."""
    is_empty = one.state is TransactionState.EMPTY
    value = TransactionLogValue(
        producer_id=one.producer_id,
        producer_epoch=one.producer_epoch,
        transaction_timeout_ms=one.timeout_ms,
        transaction_status=STATUS_IN_LOG[one.state],
        transaction_partitions=None if is_empty else _partitions(one),
        transaction_last_update_timestamp_ms=one.updated_at,
        transaction_start_timestamp_ms=NOT_STARTED if is_empty else one.started_at,
    )
    if transaction_version < _FLEXIBLE_SINCE:
        return TRANSACTION_STATE.value_bytes(value, 0)
    value.previous_producer_id, value.next_producer_id = one.previous_id, one.next_id
    value.client_transaction_version = one.client_version
    return TRANSACTION_STATE.value_bytes(value, 1)


def _partitions(one: Transaction) -> _Partitions:
    by_topic = indexes_by_topic(sorted(one.places))
    return [
        TransactionLogValue.PartitionsSchema(topic=topic, partition_ids=indexes)
        for topic, indexes in by_topic.items()
    ]


def read_transaction(key_bytes: bytes, value_bytes: bytes | None) -> tuple[str, Transaction | None]:
    """Return the transactional id of a record, and its state; None for a tombstone.

    The id is empty for a record that is not known. Raises DecodeError.
    """
    key, _, value = TRANSACTION_STATE.read_record(key_bytes, value_bytes)
    if not isinstance(key, TransactionLogKey):
        return "", None
    if not isinstance(value, TransactionLogValue):
        return key.transactional_id, None
    return key.transactional_id, _transaction(key.transactional_id, value)


def _transaction(transactional_id: str, value: TransactionLogValue) -> Transaction:
    places: list[Place] = [
        (part.topic, PartitionIndex(index))
        for part in value.transaction_partitions or ()
        for index in part.partition_ids
    ]
    return Transaction(
        transactional_id,
        ProducerId(value.producer_id),
        ProducerEpoch(value.producer_epoch),
        value.transaction_timeout_ms,
        TimeMs(value.transaction_last_update_timestamp_ms),
        _STATE_OF_STATUS[value.transaction_status],
        frozenset(places),
        TimeMs(value.transaction_start_timestamp_ms),
        ProducerId(value.previous_producer_id),
        ProducerId(value.next_producer_id),
        client_version=value.client_transaction_version,
    )
