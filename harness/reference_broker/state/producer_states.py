"""What a partition remembers of idempotent producers, so that a retry is not a second copy.

Source: KIP-98, KIP-854, classes ProducerAppendInfo, ProducerStateEntry, ProducerStateManager.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from harness.codec.error_code import ErrorCode
from harness.codec.records import BatchHeader
from harness.ids import Offset, ProducerEpoch, ProducerId, TimeMs

_REMEMBERED_BATCHES = 5
_REMEMBERED_PRODUCERS = 100_000
_SEQUENCE_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class ProducerBatch:
    """An idempotent batch as it arrives: sequences are those of its first and last record."""

    producer_id: ProducerId
    producer_epoch: ProducerEpoch
    first_sequence: int
    last_sequence: int

    @classmethod
    def of(cls, header: BatchHeader) -> ProducerBatch:
        """By the batch's own header."""
        return cls(
            ProducerId(header.producer_id),
            ProducerEpoch(header.producer_epoch),
            header.base_sequence,
            last_sequence_of(header.base_sequence, header.last_offset_delta),
        )


@dataclass(frozen=True, slots=True)
class AppendedBatch:
    """An idempotent batch as it was stored."""

    first_sequence: int
    last_sequence: int
    base_offset: Offset
    max_timestamp: int

    @classmethod
    def of(cls, header: BatchHeader) -> AppendedBatch:
        """By the header that it is stored with."""
        first = header.base_sequence
        last = last_sequence_of(first, header.last_offset_delta)
        return cls(first, last, Offset(header.base_offset), header.max_timestamp)

    @property
    def last_offset(self) -> Offset:
        """A sequence number belongs to each record."""
        count = (self.last_sequence - self.first_sequence) % (_SEQUENCE_MAX + 1)
        return Offset(self.base_offset + count)


@dataclass(frozen=True, slots=True)
class ActiveProducer:
    """A producer that is remembered, with its last batch (KIP-664)."""

    producer_id: ProducerId
    producer_epoch: ProducerEpoch
    last_sequence: int
    last_timestamp: int


@dataclass(frozen=True, slots=True)
class ProducerExpiration:
    """A producer is forgotten `idle_ms` after its last batch, at the next check (KIP-854).

    `with_its_records`: also when none of its records is left (up to 2.3, KAFKA-7190). `goes_on`:
    who is forgotten may go on with any sequence, not only begin at 0 (since 2.5, KAFKA-8710).
    """

    idle_ms: int
    check_interval_ms: int
    with_its_records: bool = False
    goes_on: bool = True


@dataclass(slots=True)
class _ProducerState:
    producer_epoch: ProducerEpoch
    batches: deque[AppendedBatch] = field(default_factory=lambda: deque(maxlen=_REMEMBERED_BATCHES))

    @property
    def last_timestamp(self) -> int:
        return self.batches[-1].max_timestamp


class RememberedProducers:
    """Who is remembered anywhere, the longest silent first: so many and no more.

    Kafka knows time alone. Who is forgotten early may go on with any sequence.
    """

    __slots__ = ("_limit", "_places")

    def __init__(self, limit: int = _REMEMBERED_PRODUCERS) -> None:
        self._limit = limit
        self._places: dict[tuple[ProducerStates, ProducerId], None] = {}

    def __len__(self) -> int:
        return len(self._places)

    def note(self, states: ProducerStates, producer_id: ProducerId) -> None:
        """It wrote a batch; when it is one too many, the longest silent is forgotten."""
        self._places.pop((states, producer_id), None)
        self._places[states, producer_id] = None
        if len(self._places) > self._limit:
            oldest, of_producer = next(iter(self._places))
            oldest.forget([of_producer])

    def leave(self, states: ProducerStates, producer_id: ProducerId) -> None:
        """It is not remembered there any more."""
        self._places.pop((states, producer_id), None)


class ProducerStates:
    """The last batches of every producer that wrote here and has not expired."""

    __slots__ = ("_expiration", "_next_check", "_remembered", "_states")

    def __init__(self, expiration: ProducerExpiration, remembered: RememberedProducers) -> None:
        self._expiration = expiration
        self._remembered = remembered
        self._next_check: TimeMs | None = None
        self._states: dict[ProducerId, _ProducerState] = {}

    def active(self) -> list[ActiveProducer]:
        """All that are remembered."""
        return [
            ActiveProducer(
                producer_id,
                state.producer_epoch,
                state.batches[-1].last_sequence,
                state.last_timestamp,
            )
            for producer_id, state in self._states.items()
        ]

    def last_offsets(self) -> dict[ProducerId, Offset]:
        """Where the last batch of each ends."""
        return {
            producer_id: state.batches[-1].last_offset
            for producer_id, state in self._states.items()
        }

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
            may_begin = self._expiration.goes_on or batch.first_sequence == 0
            return ErrorCode.NONE if may_begin else ErrorCode.UNKNOWN_PRODUCER_ID
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

    def remember(self, batch: ProducerBatch, stored: AppendedBatch) -> None:
        """`batch` was appended."""
        state = self._states.get(batch.producer_id)
        if state is None or state.producer_epoch != batch.producer_epoch:
            state = _ProducerState(batch.producer_epoch)
            self._states[batch.producer_id] = state
        state.batches.append(stored)
        self._remembered.note(self, batch.producer_id)

    def forget(self, producer_ids: Iterable[ProducerId]) -> None:
        """As if they had never written here."""
        for producer_id in producer_ids:
            self._states.pop(producer_id, None)
            self._remembered.leave(self, producer_id)

    def forget_all(self) -> None:
        """The partition is gone."""
        self.forget(list(self._states))

    def forget_below(self, log_start: Offset) -> None:
        """The records before `log_start` are gone."""
        if self._expiration.with_its_records:
            self._forget_where(lambda state: state.batches[-1].last_offset < log_start)

    def expire(self, now: TimeMs) -> None:
        """Forget whom the checks up to `now` found idle, by the time that its last batch tells.

        The first call begins the intervals: checks before it would have found nobody.
        """
        interval_ms = self._expiration.check_interval_ms
        if self._next_check is None:
            self._next_check = TimeMs(now + interval_ms)
        if now < self._next_check:
            return
        last_check = now - (now - self._next_check) % interval_ms
        self._next_check = TimeMs(last_check + interval_ms)
        idle_ms = self._expiration.idle_ms
        self._forget_where(lambda state: last_check - state.last_timestamp >= idle_ms)

    def _forget_where(self, is_over: Callable[[_ProducerState], bool]) -> None:
        self.forget([one for one, state in self._states.items() if is_over(state)])


def last_sequence_of(first_sequence: int, last_offset_delta: int) -> int:
    """Sequences go on from 0 after 2147483647."""
    return (first_sequence + last_offset_delta) % (_SEQUENCE_MAX + 1)
