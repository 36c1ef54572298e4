"""Transactions of a partition: their markers, and the aborted ones that readers leave out.

Source: KIP-98, KIP-664, classes CompletedTxn, EndTransactionMarker and AbortedTxn.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.base.ids import Offset, ProducerEpoch, ProducerId


@dataclass(frozen=True, slots=True)
class AbortedTransaction:
    """An aborted transaction; at its marker, all below `last_stable_offset` was decided."""

    producer_id: ProducerId
    first_offset: Offset
    last_offset: Offset
    last_stable_offset: Offset


@dataclass(frozen=True, slots=True)
class Marker:
    """The marker that ends a transaction, at this offset of the log."""

    producer_id: ProducerId
    producer_epoch: ProducerEpoch
    coordinator_epoch: int
    timestamp: int
    offset: Offset
    aborts: bool


@dataclass(frozen=True, slots=True)
class ActiveProducer:
    """A remembered producer; `transaction_start` is -1 without an open transaction (KIP-664)."""

    producer_id: ProducerId
    producer_epoch: ProducerEpoch
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int
    transaction_start: int
