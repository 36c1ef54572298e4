from harness.codec.error_code import ErrorCode
from harness.ids import Offset, ProducerEpoch, ProducerId, TimeMs
from harness.reference_broker.state.producer_states import (
    AppendedBatch,
    ProducerBatch,
    ProducerStates,
    last_sequence_of,
)

NOW = TimeMs(1000)


def batch(first: int, last: int, epoch: int = 0) -> ProducerBatch:
    return ProducerBatch(ProducerId(7), ProducerEpoch(epoch), first, last)


def remember(states: ProducerStates, first: int, last: int, epoch: int = 0) -> None:
    stored = AppendedBatch(first, last, Offset(first), 0)
    states.remember(batch(first, last, epoch), stored, NOW)


def test_first_batch_may_have_any_sequence() -> None:
    assert ProducerStates(60_000).problem_with(batch(41, 43)) is ErrorCode.NONE


def test_next_sequence_follows_the_last() -> None:
    states = ProducerStates(60_000)
    remember(states, 0, 2)
    assert states.problem_with(batch(3, 3)) is ErrorCode.NONE
    assert states.problem_with(batch(4, 4)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_only_the_last_five_batches_are_duplicates() -> None:
    states = ProducerStates(60_000)
    for first in range(6):
        remember(states, first, first)
    assert states.duplicate_of(batch(0, 0)) is None
    found = states.duplicate_of(batch(1, 1))
    assert found is not None
    assert found.base_offset == 1
    assert states.problem_with(batch(0, 0)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_same_first_but_other_last_sequence_is_no_duplicate() -> None:
    states = ProducerStates(60_000)
    remember(states, 0, 2)
    assert states.duplicate_of(batch(0, 1)) is None


def test_epochs_fence_and_start_at_zero() -> None:
    states = ProducerStates(60_000)
    remember(states, 0, 0, epoch=3)
    assert states.problem_with(batch(1, 1, epoch=2)) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert states.problem_with(batch(1, 1, epoch=4)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert states.problem_with(batch(0, 1, epoch=4)) is ErrorCode.NONE


def test_sequences_wrap() -> None:
    states = ProducerStates(60_000)
    assert last_sequence_of(2**31 - 2, 2) == 0
    remember(states, 5, 2**31 - 1)
    assert states.problem_with(batch(0, 0)) is ErrorCode.NONE
    assert states.problem_with(batch(1, 1)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_idle_producers_are_forgotten() -> None:
    states = ProducerStates(500)
    remember(states, 0, 0)
    states.expire(TimeMs(1499))
    assert states.problem_with(batch(9, 9)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    states.expire(TimeMs(1500))
    assert states.problem_with(batch(9, 9)) is ErrorCode.NONE
