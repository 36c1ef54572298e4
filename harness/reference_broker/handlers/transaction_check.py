"""The check that a transaction has a partition, before records of the transaction are appended.

A broker that emulates 3.6 or later asks the coordinator, and appends nothing if the transaction
does not have the partition; from certain versions on it adds the partition instead. Source: class
ReplicaManager (maybeSendPartitionsToTransactionCoordinator), class AddPartitionsToTxnManager;
KIP-890.
"""

from typing import NamedTuple

from harness.codec.error_code import ErrorCode
from harness.reference_broker.handlers.outcome import RequestContext
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.producers.producer_ids import ProducerIdentity
from harness.reference_broker.state.transactions.adding import add, verify
from harness.reference_broker.state.transactions.transaction import EPOCH_BUMPS

_TO_REPEAT = frozenset(
    {
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)
"""The coordinator's errors that earlier clients do not repeat: they get NOT_ENOUGH_REPLICAS."""


class Writing(NamedTuple):
    """A write within a transaction. `adds`: the version adds the partition (KIP-890, part 2).

    `is_abortable`: the version has TRANSACTION_ABORTABLE, instead of INVALID_TXN_STATE.
    """

    transactional_id: str
    producer: ProducerIdentity
    adds: bool
    is_abortable: bool


def problem_with_transaction(
    partition: Partition, wanted: Writing, context: RequestContext
) -> ErrorCode:
    """Return the error if records of the transaction may not be appended to the partition."""
    transactions = context.state.transactions
    if not transactions.limits.verifies or partition.leading is None:
        return ErrorCode.NONE
    producer, producers = wanted.producer, partition.producers
    epoch, _ = producers.epochs_of(producer.producer_id)
    if producers.is_in_transaction(producer.producer_id) and epoch == producer.producer_epoch:
        return ErrorCode.NONE
    if not wanted.transactional_id:
        return ErrorCode.INVALID_REQUEST
    error = transactions.problem_with_coordinator(wanted.transactional_id)
    if error is ErrorCode.NONE:
        error = _by_coordinator(partition, wanted, context)
    return _as_of_version(error, wanted)


def _by_coordinator(partition: Partition, wanted: Writing, context: RequestContext) -> ErrorCode:
    transactions, place = context.state.transactions, (partition.topic_name, partition.index)
    transactional_id, producer = wanted.transactional_id, wanted.producer
    if not wanted.adds:
        return verify(transactions, transactional_id, producer, place)
    return add(transactions, transactional_id, producer, [place], EPOCH_BUMPS, context.now())


def _as_of_version(error: ErrorCode, wanted: Writing) -> ErrorCode:
    if error is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if error is ErrorCode.TRANSACTION_ABORTABLE and not wanted.is_abortable:
        return ErrorCode.INVALID_TXN_STATE
    if error is ErrorCode.CONCURRENT_TRANSACTIONS and wanted.adds:
        return error
    return ErrorCode.NOT_ENOUGH_REPLICAS if error in _TO_REPEAT else error
