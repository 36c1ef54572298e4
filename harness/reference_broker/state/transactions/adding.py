"""Partitions of a transaction: they are added by the producer, or by a leader that gets records.

Source: class TransactionCoordinator (handleAddPartitionsToTransaction,
handleVerifyPartitionsInTransaction); KIP-98, KIP-890.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from harness.base.ids import TimeMs
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.producers.producer_ids import ProducerIdentity
from harness.reference_broker.state.transactions.transaction import Place, Transaction
from harness.reference_broker.state.transactions.transaction_states import (
    DECIDED,
    TransactionEvent,
    TransactionState,
)
from harness.reference_broker.state.transactions.transactions import Transactions


def add(
    transactions: Transactions,
    transactional_id: str,
    producer: ProducerIdentity,
    places: Collection[Place],
    version: int,
    now: TimeMs,
) -> ErrorCode:
    """Add partitions, all or none; the first ones begin a transaction.

    `version` is the transaction version of the producer's request.
    """
    known = transactions.find(transactional_id)
    problem = _problem_with(known, producer)
    if problem is not ErrorCode.NONE or known is None:
        return problem
    is_ongoing = known.state is TransactionState.ONGOING
    if is_ongoing and known.places.issuperset(places):
        return ErrorCode.NONE
    added = replace(
        known.after(TransactionEvent.PARTITION_ADDED, now),
        places=known.places | frozenset(places),
        started_at=known.started_at if is_ongoing else now,
        client_version=version,
    )
    return transactions.change(added, now)


def verify(
    transactions: Transactions, transactional_id: str, producer: ProducerIdentity, place: Place
) -> ErrorCode:
    """Return TRANSACTION_ABORTABLE if the producer's transaction does not have the partition."""
    known = transactions.find(transactional_id)
    problem = _problem_with(known, producer)
    if problem is not ErrorCode.NONE or known is None:
        return problem
    return ErrorCode.NONE if place in known.places else ErrorCode.TRANSACTION_ABORTABLE


def _problem_with(known: Transaction | None, producer: ProducerIdentity) -> ErrorCode:
    if known is None or known.producer_id != producer.producer_id:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    if known.producer_epoch != producer.producer_epoch:
        return ErrorCode.PRODUCER_FENCED
    return ErrorCode.CONCURRENT_TRANSACTIONS if known.state in DECIDED else ErrorCode.NONE
