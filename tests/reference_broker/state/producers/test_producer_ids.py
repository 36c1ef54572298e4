from harness.base.ids import ProducerEpoch, ProducerId
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.producers.producer_ids import ProducerIdentity, ProducerIds


def identity(producer_id: int, epoch: int) -> ProducerIdentity:
    return ProducerIdentity(ProducerId(producer_id), ProducerEpoch(epoch))


def test_new_producers_get_distinct_ids() -> None:
    ids = ProducerIds()
    given = {ids.new_producer().producer_id for _ in range(5)}
    assert len(given) == 5


def test_transactional_id_keeps_producer_id_and_bumps_epoch() -> None:
    ids = ProducerIds()
    assert ids.init_transactional("a", None) == identity(0, 0)
    assert ids.init_transactional("a", None) == identity(0, 1)
    assert ids.init_transactional("b", None) == identity(1, 0)


def test_repeated_epoch_bump_is_idempotent_and_old_epoch_is_fenced() -> None:
    ids = ProducerIds()
    ids.init_transactional("a", None)
    assert ids.init_transactional("a", identity(0, 0)) == identity(0, 1)
    assert ids.init_transactional("a", identity(0, 0)) == identity(0, 1)
    assert ids.init_transactional("a", identity(0, 1)) == identity(0, 2)
    assert ids.init_transactional("a", identity(0, 0)) is ErrorCode.PRODUCER_FENCED
    assert ids.init_transactional("a", identity(5, 2)) is ErrorCode.PRODUCER_FENCED


def test_exhausted_producer_epoch_gives_new_producer_id() -> None:
    ids = ProducerIds()
    for _ in range(2**15 - 1):
        last = ids.init_transactional("a", None)
    assert last == identity(0, 2**15 - 2)
    assert ids.init_transactional("a", None) == identity(1, 0)
