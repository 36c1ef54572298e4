"""Idempotent producers that a broker of an older emulated release does not know."""

from harness.base.ids import Offset, ProducerEpoch, ProducerId, TimeMs
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.producers.producer_states import (
    AppendedBatch,
    ProducerBatch,
    ProducerExpiration,
    ProducerStates,
    RememberedProducers,
)


def _batch(first: int, epoch: int = 0) -> ProducerBatch:
    return ProducerBatch(ProducerId(1), ProducerEpoch(epoch), first, first + 1)


def _after_two_records(expiration: ProducerExpiration) -> ProducerStates:
    states = ProducerStates(expiration, RememberedProducers())
    states.remember(_batch(0), AppendedBatch(0, 1, Offset(10), TimeMs(0)))
    return states


def test_unknown_producer_must_begin_at_sequence_0_before_2_5() -> None:
    states = ProducerStates(ProducerExpiration(60_000, 1_000, goes_on=False), RememberedProducers())
    assert states.problem_with(_batch(7)) is ErrorCode.UNKNOWN_PRODUCER_ID
    assert states.problem_with(_batch(0)) is ErrorCode.NONE


def test_producer_without_epoch_must_go_on_in_order_before_2_5() -> None:
    states = ProducerStates(ProducerExpiration(60_000, 1_000, goes_on=False), RememberedProducers())
    states.remember(_batch(0, epoch=-1), AppendedBatch(0, 1, Offset(10), TimeMs(0)))
    assert states.problem_with(_batch(7, epoch=-1)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert states.problem_with(_batch(7)) is ErrorCode.UNKNOWN_PRODUCER_ID
    assert states.problem_with(_batch(0)) is ErrorCode.NONE


def test_producer_is_removed_with_its_last_record_before_2_4() -> None:
    states = _after_two_records(ProducerExpiration(60_000, 1_000, with_its_records=True))
    states.forget_below(Offset(11))
    assert len(states.active()) == 1
    states.forget_below(Offset(12))
    assert states.active() == []
    later = _after_two_records(ProducerExpiration(60_000, 1_000))
    later.forget_below(Offset(12))
    assert len(later.active()) == 1
