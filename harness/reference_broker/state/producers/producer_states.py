"""A partition's state of idempotent producers, by which it recognises a retried batch.

Source: KIP-98, KIP-854, classes ProducerAppendInfo, ProducerStateEntry, ProducerStateManager.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from harness.base.ids import Offset, ProducerEpoch, ProducerId, TimeMs
from harness.codec.error_code import ErrorCode
from harness.codec.records import BatchHeader
from harness.reference_broker.state.producers.partition_transactions import (
    AbortedTransaction,
    ActiveProducer,
    Marker,
)
from harness.reference_broker.state.producers.producer_expiration import ProducerExpiration
from harness.reference_broker.state.producers.unverified_sequences import UnverifiedSequences

_REMEMBERED_PRODUCERS = 100_000
_SEQUENCE_MAX = 2**31 - 1
_NO_SEQUENCE = _NO_EPOCH = _NEVER = _NO_COORDINATOR = _NO_TRANSACTION = -1


class ProducerBatch(NamedTuple):
    """An idempotent batch as it arrives, with the sequences of its first and last record."""

    producer_id: ProducerId
    producer_epoch: ProducerEpoch
    first_sequence: int
    last_sequence: int

    @classmethod
    def of(cls, header: BatchHeader) -> ProducerBatch:
        """Return the values of a batch's header."""
        return cls(
            ProducerId(header.producer_id),
            ProducerEpoch(header.producer_epoch),
            header.base_sequence,
            last_sequence_of(header.base_sequence, header.last_offset_delta),
        )


class AppendedBatch(NamedTuple):
    """An idempotent batch as it was stored."""

    first_sequence: int
    last_sequence: int
    base_offset: Offset
    max_timestamp: int

    @classmethod
    def of(cls, header: BatchHeader) -> AppendedBatch:
        """Return the values of the header of a stored batch."""
        first = header.base_sequence
        last = last_sequence_of(first, header.last_offset_delta)
        return cls(first, last, Offset(header.base_offset), header.max_timestamp)

    @property
    def last_offset(self) -> Offset:
        """The last offset: each record has one sequence number."""
        count = (self.last_sequence - self.first_sequence) % (_SEQUENCE_MAX + 1)
        return Offset(self.base_offset + count)


class LastRecord(NamedTuple):
    """The last offset of a producer, None after ended transactions alone: then only the markers of
    its epoch show its state."""

    offset: Offset | None
    producer_epoch: ProducerEpoch


@dataclass(frozen=True, slots=True)
class KeptProducer:
    """The state that outlives a restart; no batch if the producer only ended transactions."""

    producer_id: ProducerId
    producer_epoch: ProducerEpoch
    last_batch: AppendedBatch | None
    last_timestamp: int
    coordinator_epoch: int
    transaction_start: Offset | None


KnownBatches = tuple[ProducerEpoch, tuple[AppendedBatch, ...]]
"""A producer's epoch and its remembered batches; -1 and none for an unknown producer."""


@dataclass(slots=True)
class _ProducerState:
    producer_epoch: ProducerEpoch
    batches: deque[AppendedBatch]
    last_timestamp: int = _NEVER
    coordinator_epoch: int = _NO_COORDINATOR

    @property
    def last_batch(self) -> AppendedBatch | None:
        return self.batches[-1] if self.batches else None

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else _NO_SEQUENCE


class RememberedProducers:
    """The remembered producers of all partitions, the longest silent first, up to a limit.

    Kafka limits them by time alone. A producer that is forgotten early is treated like an expired
    one (`ProducerExpiration.goes_on`).
    """

    __slots__ = ("_limit", "_places")

    def __init__(self, limit: int = _REMEMBERED_PRODUCERS) -> None:
        self._limit = limit
        self._places: dict[tuple[ProducerStates, ProducerId], None] = {}

    def __len__(self) -> int:
        return len(self._places)

    @property
    def limit(self) -> int:
        """The largest number of producers."""
        return self._limit

    def note(self, states: ProducerStates, producer_id: ProducerId) -> None:
        """Note a producer that wrote a batch; above the limit, forget the longest silent one."""
        self._places.pop((states, producer_id), None)
        self._places[states, producer_id] = None
        if len(self._places) > self._limit:
            oldest, of_producer = next(iter(self._places))
            oldest.forget([of_producer])

    def leave(self, states: ProducerStates, producer_id: ProducerId) -> None:
        """Remove a producer that its partition has forgotten."""
        self._places.pop((states, producer_id), None)


class ProducerStates:
    """The last batches of every producer that wrote here and has not expired, and their
    transactions that are open, or decided at or above the high watermark."""

    __slots__ = (
        *("_decided", "_expiration", "_next_check", "_open", "_remembered", "_states"),
        *("fences_offsets", "unverified"),
    )

    def __init__(self, expiration: ProducerExpiration, remembered: RememberedProducers) -> None:
        self._expiration = expiration
        self._remembered = remembered
        self._next_check: TimeMs | None = None
        self._states: dict[ProducerId, _ProducerState] = {}
        self._open: dict[ProducerId, Offset] = {}  # where the transaction began
        self._decided: deque[tuple[Offset, Offset]] = deque()  # from, up to; not committed yet
        self.fences_offsets, self.unverified = expiration.fences_offsets, UnverifiedSequences()

    def alike(self) -> ProducerStates:
        """Return an empty copy with the same rules; its producers do not count for the limit."""
        return ProducerStates(self._expiration, RememberedProducers(self._remembered.limit))

    def first_unstable(self, high_watermark: Offset) -> Offset | None:
        """Return the start of the first transaction that `read_committed` readers do not get yet.

        Source: ProducerStateManager (firstUnstableOffset, onHighWatermarkUpdated).
        """
        decided = self._decided
        while decided and decided[0][1] < high_watermark:
            decided.popleft()
        if not decided and not self._open:
            return None
        return min([*self._open.values(), *(first for first, _ in decided)])

    def is_in_transaction(self, producer_id: ProducerId) -> bool:
        """True if the producer has an open transaction."""
        return producer_id in self._open

    def epochs_of(self, producer_id: ProducerId) -> tuple[ProducerEpoch, int]:
        """Return the epochs of a producer and of its coordinator; -1 where they are not known."""
        state = self._states.get(producer_id) or self._begun(ProducerEpoch(_NO_EPOCH))
        return state.producer_epoch, state.coordinator_epoch

    def active(self) -> list[ActiveProducer]:
        """Return all remembered producers."""
        return [
            ActiveProducer(
                producer_id,
                state.producer_epoch,
                state.last_sequence,
                state.last_timestamp,
                state.coordinator_epoch,
                self._open.get(producer_id, _NO_TRANSACTION),
            )
            for producer_id, state in self._states.items()
        ]

    def kept(self) -> list[KeptProducer]:
        """Return the state of all remembered producers, as a snapshot stores it."""
        return [
            KeptProducer(
                who,
                one.producer_epoch,
                one.last_batch,
                one.last_timestamp,
                one.coordinator_epoch,
                self._open.get(who),
            )
            for who, one in self._states.items()
        ]

    def restore(self, kept: Iterable[KeptProducer], now: TimeMs) -> None:
        """Replace all producers by these, without the idle ones that have no open transaction."""
        self.forget_all()
        for one in kept:
            is_idle = now - one.last_timestamp >= self._expiration.idle_ms
            if is_idle and one.transaction_start is None:
                continue
            batches = [] if one.last_batch is None else [one.last_batch]
            state = self._begun(one.producer_epoch, one.coordinator_epoch)
            state.last_timestamp = one.last_timestamp
            state.batches.extend(batches)
            if one.transaction_start is not None:
                self._open[one.producer_id] = one.transaction_start
            self._states[one.producer_id] = state
            self._remembered.note(self, one.producer_id)

    def _begun(self, epoch: ProducerEpoch, coordinator_epoch: int = _NO_COORDINATOR) -> (
        _ProducerState
    ):  # fmt: skip
        batches = deque[AppendedBatch](maxlen=self._expiration.batches)
        return _ProducerState(epoch, batches, coordinator_epoch=coordinator_epoch)

    def batches_of(self, producer_id: ProducerId) -> KnownBatches:
        """Return the remembered batches of a producer."""
        state = self._states.get(producer_id) or self._begun(ProducerEpoch(_NO_EPOCH))
        return state.producer_epoch, tuple(state.batches)

    def put_before(self, producer_id: ProducerId, known: KnownBatches) -> None:
        """Put batches before the remembered ones if the producer is in their epoch."""
        state = self._states.get(producer_id)
        if state is not None and state.producer_epoch == known[0]:
            state.batches = deque((*known[1], *state.batches), maxlen=state.batches.maxlen)

    def of_another_log(self) -> ProducerStates:
        """Return an empty copy for another log, under the same rules and the same limit."""
        return ProducerStates(self._expiration, self._remembered)

    def last_records(self) -> dict[ProducerId, LastRecord]:
        """Return the last records that have to stay in the log (lastRecordsOfActiveProducers)."""
        return {
            producer_id: LastRecord(
                state.batches[-1].last_offset if state.batches else None, state.producer_epoch
            )
            for producer_id, state in self._states.items()
        }

    def duplicate_of(self, batch: ProducerBatch) -> AppendedBatch | None:
        """Return the remembered batch that `batch` repeats: same epoch, first and last sequence."""
        state = self._states.get(batch.producer_id)
        if state is None or state.producer_epoch != batch.producer_epoch:
            return None
        asked = (batch.first_sequence, batch.last_sequence)
        for known in state.batches:
            if (known.first_sequence, known.last_sequence) == asked:
                return known
        return None

    def problem_with(self, batch: ProducerBatch) -> ErrorCode:
        """Return the error if `batch` may not be appended next, NONE if it may."""
        state = self._states.get(batch.producer_id)
        is_fenced = state is not None and batch.producer_epoch < state.producer_epoch
        if not is_fenced and self.unverified.precede(batch.producer_id, batch.first_sequence):
            return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        goes_on = self._expiration.goes_on
        if state is None or (
            state.producer_epoch == _NO_EPOCH and (goes_on or batch.producer_epoch != _NO_EPOCH)
        ):  # Without an epoch any sequence may be the next one: the rest may have been deleted.
            may_begin = goes_on or batch.first_sequence == 0
            return ErrorCode.NONE if may_begin else self._expiration.unknown
        if is_fenced:
            return ErrorCode.INVALID_PRODUCER_EPOCH
        if batch.producer_epoch > state.producer_epoch:
            expected = 0
        else:
            last = state.last_sequence
            expected = 0 if last == _SEQUENCE_MAX else last + 1
        if batch.first_sequence != expected:
            return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        return ErrorCode.NONE

    def remember(
        self, batch: ProducerBatch, stored: AppendedBatch, *, in_transaction: bool = False
    ) -> None:
        """Remember a batch that was appended."""
        state = self._states.get(batch.producer_id)
        if state is None or state.producer_epoch != batch.producer_epoch:
            known = _NO_COORDINATOR if state is None else state.coordinator_epoch
            state = self._states[batch.producer_id] = self._begun(batch.producer_epoch, known)
        state.batches.append(stored)
        state.last_timestamp = stored.max_timestamp
        if in_transaction:
            self._open.setdefault(batch.producer_id, stored.base_offset)
            self.unverified.forget(batch.producer_id)
        self._remembered.note(self, batch.producer_id)

    def end_transaction(self, marker: Marker) -> AbortedTransaction | None:
        """End the transaction of an appended marker; return it if aborted (ProducerAppendInfo)."""
        who = marker.producer_id
        state = self._states.get(who)
        if state is None or state.producer_epoch != marker.producer_epoch:
            state = self._states[who] = self._begun(marker.producer_epoch)
        if self._expiration.last_only and state.batches:
            last = state.last_sequence
            state.batches.append(AppendedBatch(last, last, marker.offset, marker.timestamp))
        state.last_timestamp = marker.timestamp
        state.coordinator_epoch = marker.coordinator_epoch
        self._remembered.note(self, who)
        self.unverified.forget(who)
        first = self._open.pop(who, marker.offset if self._expiration.empty_count else None)
        if first is None:
            return None
        self._decided.append((first, marker.offset))
        if not marker.aborts:
            return None
        stable = min(self._open.values(), default=Offset(marker.offset + 1))
        return AbortedTransaction(who, first, marker.offset, stable)

    def forget(self, producer_ids: Iterable[ProducerId]) -> None:
        """Forget these producers, as if they had never written here."""
        for producer_id in producer_ids:
            self._states.pop(producer_id, None)
            self._open.pop(producer_id, None)
            self._remembered.leave(self, producer_id)

    def forget_all(self) -> None:
        """Forget all producers of a deleted partition."""
        self.forget(list(self._states))
        self._open.clear()
        self._decided.clear()

    def forget_below(self, log_start: Offset) -> None:
        """Forget producers after the deletion of the records before `log_start`.

        Also those in a transaction (class ProducerStateManager, truncateHead).
        """
        if self._expiration.with_its_records:
            self.forget(
                [
                    one
                    for one, state in self._states.items()
                    if state.batches and state.batches[-1].last_offset < log_start
                ]
            )

    def expire(self, now: TimeMs) -> None:
        """Forget the producers that the checks up to `now` find idle since their last batch.

        The first call begins the check intervals: earlier checks would have found no producer.
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
        self.forget(
            [one for one, state in self._states.items() if is_over(state) and one not in self._open]
        )


def last_sequence_of(first_sequence: int, last_offset_delta: int) -> int:
    """Return the last sequence of a batch; sequences go on from 0 after 2147483647."""
    return (first_sequence + last_offset_delta) % (_SEQUENCE_MAX + 1)
