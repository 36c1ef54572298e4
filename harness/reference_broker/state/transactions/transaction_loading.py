"""Load of transactional ids: a broker that becomes a coordinator reads a partition of the topic.

Source: class TransactionStateManager (loadTransactionMetadata, removeTransactionsForTxnTopic).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.codec.records.any_format import read_records
from harness.reference_broker.state.transactions.transaction_records import read_transaction

if TYPE_CHECKING:
    from harness.reference_broker.state.partition.partition import Partition
    from harness.reference_broker.state.transactions.transaction import Transaction
    from harness.reference_broker.state.transactions.transactions import Transactions

_ANY_BYTES = 2**31 - 1


def load_transactions(transactions: Transactions, partition: Partition) -> None:
    """Take over the transactional ids of a partition; decided transactions get their markers.

    If the log cannot be read, none is loaded: the broker does not write to that log either.
    """
    try:
        found = _read(partition)
    except OSError:
        return
    for one in found.values():
        transactions.put(one)


def unload_transactions(transactions: Transactions, partition: Partition) -> None:
    """Drop the transactional ids of a partition that another broker coordinates now."""
    for transactional_id in transactions.in_partition(partition):
        transactions.drop(transactional_id)


def _read(partition: Partition) -> dict[str, Transaction]:
    found: dict[str, Transaction] = {}
    log = partition.log
    for batch in log.between(log.start_offset, log.end_offset):
        for read in read_records(batch.data, limit_bytes=_ANY_BYTES).batches:
            for _, _, key, value in read.records.rows():
                if key is None:
                    continue
                transactional_id, one = read_transaction(key, value)
                found.pop(transactional_id, None)
                if one is not None:
                    found[transactional_id] = one
    return found
