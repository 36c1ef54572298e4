"""A batch behind one that was checked and not appended is out of order."""

from __future__ import annotations

from harness.base.ids import Offset, ProducerEpoch, ProducerId, TimeMs
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.producers.partition_transactions import Marker
from harness.reference_broker.state.producers.producer_expiration import ProducerExpiration
from harness.reference_broker.state.producers.producer_states import (
    AppendedBatch,
    ProducerBatch,
    ProducerStates,
    RememberedProducers,
)
from harness.reference_broker.state.producers.unverified_sequences import (
    MOST_PRODUCERS,
    UnverifiedSequences,
)

WHO, OTHER = ProducerId(7), ProducerId(8)
OUT_OF_ORDER = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def noted(*batches: tuple[int, int]) -> UnverifiedSequences:
    """By epoch and sequence."""
    made = UnverifiedSequences()
    for epoch, sequence in batches:
        made.note(WHO, ProducerEpoch(epoch), sequence)
    return made


def made_states() -> ProducerStates:
    states = ProducerStates(ProducerExpiration(60_000, 1_000), RememberedProducers())
    states.unverified.note(WHO, ProducerEpoch(0), 0)
    return states


def batch(sequence: int, epoch: int = 0) -> ProducerBatch:
    return ProducerBatch(WHO, ProducerEpoch(epoch), sequence, sequence)


def test_lowest_sequence_of_the_newest_epoch_comes_first() -> None:
    for batches, lowest in (
        ([(0, 3), (0, 1), (0, 2)], 1),
        ([(0, 1), (1, 4)], 4),
        ([(1, 4), (0, 1)], 4),
    ):
        made = noted(*batches)
        assert made.precede(WHO, lowest + 1), batches
        assert not made.precede(WHO, lowest), batches
        assert not made.precede(OTHER, lowest + 1), batches


def test_later_batch_is_out_of_order_until_the_producer_has_a_transaction_here() -> None:
    states = made_states()
    assert states.problem_with(batch(1)) is OUT_OF_ORDER
    assert states.problem_with(batch(0)) is ErrorCode.NONE
    stored = AppendedBatch(0, 0, Offset(0), TimeMs(1))
    states.remember(batch(0), stored)
    assert states.problem_with(batch(1)) is OUT_OF_ORDER
    states.remember(batch(0), stored, in_transaction=True)
    assert states.problem_with(batch(1)) is ErrorCode.NONE


def test_marker_forgets_the_sequence_and_an_earlier_epoch_is_fenced_first() -> None:
    states = made_states()
    states.end_transaction(Marker(WHO, ProducerEpoch(1), 0, 1, Offset(0), aborts=True))
    states.unverified.note(WHO, ProducerEpoch(1), 0)
    assert states.problem_with(batch(1, epoch=0)) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert states.problem_with(batch(1, epoch=1)) is OUT_OF_ORDER
    states.end_transaction(Marker(WHO, ProducerEpoch(1), 0, 1, Offset(1), aborts=True))
    assert not states.unverified.precede(WHO, 1)


def test_producer_that_was_silent_for_longest_is_forgotten_above_the_limit() -> None:
    made = noted((0, 0))
    for number in range(100, 100 + MOST_PRODUCERS):
        made.note(ProducerId(number), ProducerEpoch(0), 0)
    assert not made.precede(WHO, 1)
    assert made.precede(ProducerId(100), 1)
