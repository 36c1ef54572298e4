"""The records that a reader of committed records leaves out.

Source: class CompletedFetch of Kafka's consumer. An answer lists aborted transactions by producer
and first offset; the records of a producer are left out from that offset to its abort marker.
"""

from __future__ import annotations

from collections.abc import Iterable

from harness.codec.data_framing.control_records import ABORT
from harness.codec.messages import FetchResponse
from harness.codec.records.control_batch import control_records
from harness.codec.records.log_batch import LogBatch


class AbortedProducers:
    """The aborted transactions of one partition, batch after batch."""

    def __init__(self) -> None:
        self._begin: list[tuple[int, int]] = []
        self._open: set[int] = set()

    def take(self, listed: Iterable[FetchResponse.AbortedTransaction] | None) -> None:
        """Take the list of an answer, which is about the answer's records; null has none."""
        self._begin = sorted((one.first_offset, one.producer_id) for one in listed or ())

    def leaves_out(self, batch: LogBatch) -> bool:
        """True if no record of the batch is shown: its transaction was aborted."""
        while self._begin and self._begin[0][0] <= batch.last_offset:
            self._open.add(self._begin.pop(0)[1])
        if batch.is_control:
            if any(one.type == ABORT for one in control_records(batch)):
                self._open.discard(batch.producer_id)
            return True
        return batch.is_transactional and batch.producer_id in self._open
