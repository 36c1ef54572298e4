"""Idempotent producers that a broker of an older emulated release does not know."""

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


FIRST_FORM = ProducerExpiration(60_000, 1_000, goes_on=False, last_only=True)
"""Up to 0.11."""


def _marker(epoch: int = 0) -> Marker:
    return Marker(ProducerId(1), ProducerEpoch(epoch), 0, 0, Offset(20), aborts=False)


def test_last_batch_alone_is_remembered_before_1_0() -> None:
    states = _after_two_records(FIRST_FORM)
    states.remember(_batch(2), AppendedBatch(2, 3, Offset(12), TimeMs(0)))
    assert states.duplicate_of(_batch(0)) is None
    assert states.problem_with(_batch(0)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    found = states.duplicate_of(_batch(2))
    assert found is not None
    assert found.base_offset == 12


def test_unknown_producer_is_out_of_order_before_1_0() -> None:
    states = ProducerStates(FIRST_FORM, RememberedProducers())
    assert states.problem_with(_batch(7)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert states.problem_with(_batch(0)) is ErrorCode.NONE


def test_marker_takes_the_place_of_the_last_batch_before_1_0() -> None:
    """It counts as one record with the last sequence: a repeated batch of several is out of order,
    one of a single record gets the offset of the marker."""
    states = _after_two_records(FIRST_FORM)
    states.end_transaction(_marker())
    assert states.duplicate_of(_batch(0)) is None
    assert states.problem_with(_batch(0)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    found = states.duplicate_of(_batch(1)._replace(last_sequence=1))
    assert found is not None
    assert found.base_offset == 20
    assert states.problem_with(_batch(2)) is ErrorCode.NONE
    later = _after_two_records(ProducerExpiration(60_000, 1_000))
    later.end_transaction(_marker())
    assert later.duplicate_of(_batch(0)) is not None


def test_marker_of_a_later_epoch_begins_the_sequences_anew_before_1_0() -> None:
    states = _after_two_records(FIRST_FORM)
    states.end_transaction(_marker(epoch=1))
    assert states.problem_with(_batch(2, epoch=1)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert states.problem_with(_batch(0, epoch=1)) is ErrorCode.NONE
