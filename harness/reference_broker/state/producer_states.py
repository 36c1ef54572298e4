"""What a partition remembers of idempotent producers, so that a retry is not a second copy.

Source: KIP-98, classes ProducerAppendInfo and ProducerStateEntry.
"""

from collections import deque
from dataclasses import dataclass, field

from harness.codec.error_code import ErrorCode
from harness.ids import Offset, ProducerEpoch, ProducerId, TimeMs

_REMEMBERED_BATCHES = 5
_SEQUENCE_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class ProducerBatch:
    """An idempotent batch as it arrives: sequences are those of its first and last record."""

    producer_id: ProducerId
    producer_epoch: ProducerEpoch
    first_sequence: int
    last_sequence: int


@dataclass(frozen=True, slots=True)
class AppendedBatch:
    """An idempotent batch as it was stored."""

    first_sequence: int
    last_sequence: int
    base_offset: Offset
    max_timestamp: int


@dataclass(slots=True)
class _ProducerState:
    producer_epoch: ProducerEpoch
    last_append: TimeMs
    batches: deque[AppendedBatch] = field(default_factory=lambda: deque(maxlen=_REMEMBERED_BATCHES))


class ProducerStates:
    """The last batches of every producer that wrote here within `expiration_ms`."""

    __slots__ = ("_expiration_ms", "_states")

    def __init__(self, expiration_ms: int) -> None:
        self._expiration_ms = expiration_ms
        self._states: dict[ProducerId, _ProducerState] = {}  # least recently appended first

    def duplicate_of(self, batch: ProducerBatch) -> AppendedBatch | None:
        """The remembered batch that `batch` repeats: same epoch, first and last sequence."""
        state = self._states.get(batch.producer_id)
        if state is None or state.producer_epoch != batch.producer_epoch:
            return None
        asked = (batch.first_sequence, batch.last_sequence)
        for known in state.batches:
            if (known.first_sequence, known.last_sequence) == asked:
                return known
        return None

    def problem_with(self, batch: ProducerBatch) -> ErrorCode:
        """Why `batch` may not be appended next, NONE when it may."""
        state = self._states.get(batch.producer_id)
        if state is None:
            # Without state any sequence may be the next one: the rest may have been deleted.
            return ErrorCode.NONE
        if batch.producer_epoch < state.producer_epoch:
            return ErrorCode.INVALID_PRODUCER_EPOCH
        if batch.producer_epoch > state.producer_epoch:
            expected = 0
        else:
            last = state.batches[-1].last_sequence
            expected = 0 if last == _SEQUENCE_MAX else last + 1
        if batch.first_sequence != expected:
            return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        return ErrorCode.NONE

    def remember(self, batch: ProducerBatch, stored: AppendedBatch, now: TimeMs) -> None:
        """`batch` was appended."""
        state = self._states.pop(batch.producer_id, None)
        if state is None or state.producer_epoch != batch.producer_epoch:
            state = _ProducerState(batch.producer_epoch, now)
        state.last_append = now
        state.batches.append(stored)
        self._states[batch.producer_id] = state

    def expire(self, now: TimeMs) -> None:
        """Forget producers that have not written for `expiration_ms` (KIP-854)."""
        while self._states:
            producer_id, state = next(iter(self._states.items()))
            if now - state.last_append < self._expiration_ms:
                return
            del self._states[producer_id]


def last_sequence_of(first_sequence: int, last_offset_delta: int) -> int:
    """Sequences go on from 0 after 2147483647."""
    return (first_sequence + last_offset_delta) % (_SEQUENCE_MAX + 1)
