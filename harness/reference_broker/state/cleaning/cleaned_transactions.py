"""Batches of transactions that compaction need not keep.

These are the batches of aborted transactions, and markers of transactions of which no batch is
left. Source: class CleanedTransactionMetadata; KIP-98.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from harness.base.ids import ProducerId
from harness.codec.records import CONTROL, TRANSACTIONAL, BatchHeader
from harness.reference_broker.state.log.batch_bytes import magic_of
from harness.reference_broker.state.log.stored_batch import (
    MAGIC_OF_BATCHES,
    StoredBatch,
    marker_of,
)
from harness.reference_broker.state.producers.partition_transactions import AbortedTransaction


@dataclass(slots=True)
class _Aborted:
    transaction: AbortedTransaction
    has_batches: bool = False


class CleanedTransactions:
    """One pass over a log; `go_past` takes its batches in their order.

    ``aborted`` are the aborted transactions that overlap these batches. ``kept`` is called, when
    the pass is at the marker, with each of them that readers must still receive.
    """

    def __init__(
        self,
        aborted: Iterable[AbortedTransaction],
        kept: Callable[[AbortedTransaction], None] = lambda _aborted: None,
    ) -> None:
        self._coming = deque(sorted(aborted, key=lambda one: one.first_offset))
        self._kept = kept
        self._aborted: dict[ProducerId, _Aborted] = {}
        self._committed: set[ProducerId] = set()

    def go_past(self, batch: StoredBatch) -> bool:
        """Take the next batch; return True if compaction need not keep it."""
        if magic_of(batch.data) < MAGIC_OF_BATCHES:
            return False
        while self._coming and self._coming[0].first_offset <= batch.last_offset:
            begun = self._coming.popleft()
            self._aborted.setdefault(begun.producer_id, _Aborted(begun))
        header = BatchHeader.read(batch.data)
        if header.attributes & CONTROL:
            return self._past_marker(batch, header)
        if not header.attributes & TRANSACTIONAL:
            return False
        producer = ProducerId(header.producer_id)
        aborted = self._aborted.get(producer)
        if aborted is None:
            self._committed.add(producer)
            return False
        aborted.has_batches = True
        return True

    def _past_marker(self, batch: StoredBatch, header: BatchHeader) -> bool:
        if not header.record_count:
            return True  # it was emptied before
        marker = marker_of(batch.data, header)
        if marker is None:
            return False
        if not marker.aborts:
            was_there = marker.producer_id in self._committed
            self._committed.discard(marker.producer_id)
            return not was_there
        aborted = self._aborted.pop(marker.producer_id, None)
        if aborted is None or not aborted.has_batches:
            return True
        self._kept(aborted.transaction)
        return False
