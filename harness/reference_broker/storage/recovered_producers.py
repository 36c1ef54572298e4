"""The states of producers from the batches of a recovered segment."""

from __future__ import annotations

from collections import deque

from harness.codec.records import CONTROL, TRANSACTIONAL
from harness.reference_broker.state.log.stored_batch import recall_producer
from harness.reference_broker.state.producers.producer_expiration import REMEMBERED_BATCHES
from harness.reference_broker.state.producers.producer_states import ProducerStates
from harness.reference_broker.storage.stored_segment import StoredSegment

_ATTRIBUTES_AT, _WHO_BEGIN, _WHO_END, _HEADER_BYTES = 22, 43, 53, 61  # the byte with the bits
_NOBODY = b"\xff" * (_WHO_END - _WHO_BEGIN)


class RecoveredProducers:
    """A collector of producers' states; batches come in their order.

    Of one producer's batches in a row, outside of transactions, only the last few are remembered,
    so those before are not decoded.
    """

    def __init__(self, segment: StoredSegment, producers: ProducerStates) -> None:
        self._segment, self._producers = segment, producers
        self._run: deque[bytes] = deque(maxlen=REMEMBERED_BATCHES)
        self._who = _NOBODY

    def note(self, window: bytes, at: int, size_bytes: int) -> None:
        """Note a producer's batch of that size, at a place of the read bytes. Raises OSError."""
        attributes = window[at + _ATTRIBUTES_AT]
        if attributes & (CONTROL | TRANSACTIONAL):
            self.finish()
            # The content of a batch matters only if it ends a transaction.
            size = size_bytes if attributes & CONTROL else _HEADER_BYTES
            self._run.append(window[at : at + size])
            self.finish()
            return
        header = window[at : at + _HEADER_BYTES]
        if not header.startswith(self._who, _WHO_BEGIN):
            self.finish()
            self._who = header[_WHO_BEGIN:_WHO_END]
        self._run.append(header)

    def finish(self) -> None:
        """Apply the noted batches to the producers. Raises OSError, UntoldProducer."""
        for batch in self._run:
            aborted = recall_producer(self._producers, batch)
            if aborted is not None:
                self._segment.note_aborted(aborted)
        self._run.clear()
