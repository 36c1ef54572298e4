from harness.base.ids import Offset, ProducerEpoch, ProducerId, TimeMs
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.producers.partition_transactions import (
    AbortedTransaction,
    ActiveProducer,
    Marker,
)
from harness.reference_broker.state.producers.producer_expiration import ProducerExpiration
from harness.reference_broker.state.producers.producer_states import (
    AppendedBatch,
    ProducerBatch,
    ProducerStates,
    RememberedProducers,
    last_sequence_of,
)

NOW = TimeMs(1000)
LONG = ProducerExpiration(60_000, 1_000)


def states_of(expiration: ProducerExpiration = LONG) -> ProducerStates:
    return ProducerStates(expiration, RememberedProducers())


def batch(first: int, last: int, epoch: int = 0, producer_id: int = 7) -> ProducerBatch:
    return ProducerBatch(ProducerId(producer_id), ProducerEpoch(epoch), first, last)


def remember(
    states: ProducerStates, first: int, last: int, epoch: int = 0, producer_id: int = 7
) -> None:
    states.remember(batch(first, last, epoch, producer_id), stored(first, last, first))


def stored(first: int, last: int, base: int) -> AppendedBatch:
    return AppendedBatch(first, last, Offset(base), NOW)


def test_first_batch_may_have_any_sequence() -> None:
    assert states_of().problem_with(batch(41, 43)) is ErrorCode.NONE


def test_batch_with_sequence_gap_is_out_of_order() -> None:
    states = states_of()
    remember(states, 0, 2)
    assert states.problem_with(batch(3, 3)) is ErrorCode.NONE
    assert states.problem_with(batch(4, 4)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_only_last_five_batches_count_as_duplicates() -> None:
    states = states_of()
    for first in range(6):
        remember(states, first, first)
    assert states.duplicate_of(batch(0, 0)) is None
    found = states.duplicate_of(batch(1, 1))
    assert found is not None
    assert found.base_offset == 1
    assert states.problem_with(batch(0, 0)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_same_first_but_other_last_sequence_is_no_duplicate() -> None:
    states = states_of()
    remember(states, 0, 2)
    assert states.duplicate_of(batch(0, 1)) is None


def test_new_producer_epoch_starts_at_sequence_zero_and_old_is_refused() -> None:
    states = states_of()
    remember(states, 0, 0, epoch=3)
    assert states.problem_with(batch(1, 1, epoch=2)) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert states.problem_with(batch(1, 1, epoch=4)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert states.problem_with(batch(0, 1, epoch=4)) is ErrorCode.NONE


def test_producer_without_epoch_may_go_on_with_any_sequence() -> None:
    states = states_of()
    remember(states, 0, 0, epoch=-1)
    assert states.problem_with(batch(7, 7, epoch=-1)) is ErrorCode.NONE
    assert states.problem_with(batch(7, 7, epoch=0)) is ErrorCode.NONE


def test_sequence_wraps_to_zero_after_maximum() -> None:
    states = states_of()
    assert last_sequence_of(2**31 - 2, 2) == 0
    remember(states, 5, 2**31 - 1)
    assert states.problem_with(batch(0, 0)) is ErrorCode.NONE
    assert states.problem_with(batch(1, 1)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_resend_of_older_epoch_is_no_duplicate() -> None:
    states = states_of()
    remember(states, 0, 0)
    remember(states, 0, 0, epoch=1)
    assert states.duplicate_of(batch(0, 0)) is None
    assert states.problem_with(batch(0, 0)) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_active_producers_have_epoch_and_last_sequence() -> None:
    states = states_of()
    assert states.active() == []
    remember(states, 0, 2)
    remember(states, 3, 5)
    assert states.active() == [ActiveProducer(ProducerId(7), ProducerEpoch(0), 5, NOW, -1, -1)]


def marker(at: int, *, aborts: bool, epoch: int = 0) -> Marker:
    return Marker(ProducerId(7), ProducerEpoch(epoch), 3, NOW + at, Offset(at), aborts)


def test_open_transaction_sets_first_unstable_offset_until_marker() -> None:
    states = states_of()
    assert states.first_unstable(Offset(100)) is None
    states.remember(batch(0, 1), stored(0, 1, 10), in_transaction=True)
    states.remember(batch(2, 3), stored(2, 3, 12), in_transaction=True)
    assert states.first_unstable(Offset(100)) == 10
    aborted = states.end_transaction(marker(14, aborts=True))
    assert aborted == AbortedTransaction(ProducerId(7), Offset(10), Offset(14), Offset(15))
    assert states.first_unstable(Offset(14)) == 10  # its marker may be lost yet
    assert states.first_unstable(Offset(15)) is None
    assert states.active() == [ActiveProducer(ProducerId(7), ProducerEpoch(0), 3, NOW + 14, 3, -1)]


def test_abort_marker_without_transaction_aborts_nothing() -> None:
    states = states_of()
    assert states.end_transaction(marker(4, aborts=True)) is None
    assert states.problem_with(batch(0, 0)) is ErrorCode.NONE
    states.remember(batch(0, 0), stored(0, 0, 5), in_transaction=True)
    assert states.end_transaction(marker(6, aborts=False)) is None
    assert states.first_unstable(Offset(7)) is None


def test_up_to_2_7_abort_marker_without_transaction_aborts_itself() -> None:
    """KAFKA-10702. A transaction with records begins at the first of them, as in all releases."""
    states = states_of(ProducerExpiration(60_000, 1_000, empty_count=True))
    aborted = states.end_transaction(marker(4, aborts=True))
    assert aborted is not None
    assert (aborted.first_offset, aborted.last_offset, aborted.last_stable_offset) == (4, 4, 5)
    assert states.end_transaction(marker(6, aborts=False)) is None


def test_producer_with_open_transaction_does_not_expire() -> None:
    states = states_of(ProducerExpiration(idle_ms=500, check_interval_ms=200))
    states.expire(NOW)
    states.remember(batch(0, 0), stored(0, 0, 5), in_transaction=True)
    states.expire(TimeMs(NOW + 5_000))
    (kept,) = states.kept()
    other = states.alike()
    other.restore([kept], TimeMs(NOW + 5_000))
    assert other.first_unstable(Offset(9)) == 5


def test_idle_producer_expires_at_next_check() -> None:
    states = states_of(ProducerExpiration(idle_ms=500, check_interval_ms=200))
    states.expire(NOW)
    remember(states, 0, 0)
    states.expire(TimeMs(NOW + 599))  # idle for longer than 500, but the last check was at 400
    assert states.problem_with(batch(9, 9)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    states.expire(TimeMs(NOW + 600))
    assert states.problem_with(batch(9, 9)) is ErrorCode.NONE


def test_late_expiration_check_uses_its_scheduled_time() -> None:
    states = states_of(ProducerExpiration(idle_ms=500, check_interval_ms=400))
    states.expire(NOW)
    remember(states, 0, 0)
    states.expire(TimeMs(NOW + 799))  # checks were due at 400 alone
    assert states.active() != []
    states.expire(TimeMs(NOW + 1_150))  # and now at 800
    assert states.active() == []


def known(states: ProducerStates) -> list[int]:
    return [producer.producer_id for producer in states.active()]


def test_producer_limit_evicts_longest_idle_across_partitions() -> None:
    remembered = RememberedProducers(limit=3)
    first, second = ProducerStates(LONG, remembered), ProducerStates(LONG, remembered)
    for producer_id in (1, 2):
        remember(first, 0, 0, producer_id=producer_id)
    remember(second, 0, 0, producer_id=1)
    remember(first, 1, 1, producer_id=1)
    remember(second, 0, 0, producer_id=3)
    assert (known(first), known(second)) == ([1], [1, 3])
    assert first.problem_with(batch(9, 9, producer_id=2)) is ErrorCode.NONE
    remember(first, 0, 0, producer_id=2)
    assert (known(first), known(second)) == ([1, 2], [3])


def test_expired_or_removed_producers_do_not_count_for_limit() -> None:
    remembered = RememberedProducers()
    states = ProducerStates(ProducerExpiration(idle_ms=500, check_interval_ms=200), remembered)
    states.expire(NOW)
    remember(states, 0, 0)
    states.expire(TimeMs(NOW + 600))
    assert len(remembered) == 0
    remember(states, 0, 0)
    states.forget_all()
    assert len(remembered) == 0
