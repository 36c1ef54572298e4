"""TXN: the timeout of a transaction, and the expiration of an idle transactional id (KIP-98)."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.growing_pause import GrowingPause
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.expect import expect_error
from suites.protocol.support.transaction_log import (
    READ_COMMITTED,
    aborted_in,
    fetched,
    markers_of,
    stable_offset,
)
from suites.protocol.support.transactional import TxnProducer, fenced_code

TIMEOUT_MS, EXPIRATION_MS = 1_000, 3_000
LONG_MS = 600_000
"""Longer than the test takes on a starved machine."""
LOOKED_FOR = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "200"}
EXPIRING = {
    "transactional.id.expiration.ms": str(EXPIRATION_MS),
    "transaction.remove.expired.transaction.cleanup.interval.ms": "200",
}
LATE_MS = 30_000


@judges("TXN-026")
@needs_broker(Use.TUNED, LOOKED_FOR)
def test_transaction_longer_than_its_timeout_is_aborted_and_producer_fenced(
    broker: BrokerUnderTest,
) -> None:
    """A transaction with a timeout of a second, and one of ten minutes, which then commits.

    The former producer of the first can neither commit nor abort; a new one can write. A producer
    with the same timeout that has ended its transaction before is not fenced.
    """
    ended = TxnProducer(broker, "TXN-026", timeout_ms=TIMEOUT_MS)
    short = TxnProducer(broker, "TXN-026", timeout_ms=TIMEOUT_MS)
    long = TxnProducer(broker, "TXN-026", timeout_ms=LONG_MS)
    topic = broker.create_topic(partitions=3)
    ended.write(topic, b"ended", partition=2)
    ended.finish(commit=True)
    long.write(topic, b"long", partition=1)
    short.write(topic, b"short")
    version = short.version("EndTxn")
    with requirement("TXN-026"):
        markers = broker.last_seen(lambda: markers_of(short, topic), bool, LATE_MS)
        assert markers == [(1, False)], f"the markers (offset, is a commit) are {markers}"
        answer = fetched(short, topic, broker.reading_version(topic), READ_COMMITTED)
        aborted = aborted_in(answer)
        assert aborted == [(short.id, 0)], f"the aborted transactions are {aborted}"
        fenced = fenced_code("EndTxn", version)
        commit = short.end(commit=True, version=version).error_code
        expect_error(commit, fenced, "a late commit")
        abort = short.end(commit=False, version=version).error_code
        expect_error(abort, fenced, "a late abort")
        stable = stable_offset(long, topic, 1)
        assert stable == 0, f"a longer timeout: last stable offset {stable}, expected 0"
        code = long.end(commit=True, version=version).error_code
        expect_error(code, ErrorCode.NONE, "a commit in time")
        ended.write(topic, b"later", partition=2)
        code = ended.end(commit=True, version=version).error_code
        expect_error(code, ErrorCode.NONE, "a transaction behind one that ended in time")
        short.take(short.init())
        short.write(topic, b"again")
        code = short.end(commit=True, version=version).error_code
        expect_error(code, ErrorCode.NONE, "a commit of a new producer")


@judges("TXN-040")
@needs_broker(Use.TUNED, EXPIRING)
def test_idle_transactional_id_expires_and_active_one_stays(broker: BrokerUnderTest) -> None:
    """Two ids commit; the second goes on to. When the first has expired, the second has not.

    A new producer of the first id gets another producer id with epoch 0. A third id has been in
    one transaction all the time, and can commit it.
    """
    idle, active, open_ = (TxnProducer(broker, "TXN-040") for _ in range(3))
    topic, pause = broker.create_topic(partitions=2), GrowingPause()
    open_.write(topic, b"open", partition=1)
    for producer in (idle, active):
        producer.write(topic, b"x")
        producer.finish(commit=True)
    version = idle.version("AddPartitionsToTxn")
    unmapped = ErrorCode.INVALID_PRODUCER_ID_MAPPING

    def both() -> tuple[int, int]:
        """The errors of the idle and of the active id, which begins and ends a transaction."""
        active.begin({topic: [0]})
        active.finish(commit=True)
        refused = idle.other(epoch=idle.epoch + 100)  # begins no transaction while it is known
        found = refused.add({topic: [0]}, version)[topic.name, 0]
        pause.sleep()
        return found, active.add({topic: [0]}, version)[topic.name, 0]

    with requirement("TXN-040"):
        found, kept = broker.last_seen(both, lambda codes: codes[0] == unmapped, LATE_MS)
        expect_error(found, unmapped, "an idle id")
        expect_error(kept, ErrorCode.NONE, "an active id")
        version = idle.version("EndTxn")
        code = idle.end(commit=True, version=version).error_code
        expect_error(code, unmapped, "EndTxn of the idle id")
        code = open_.end(commit=True, version=version).error_code
        expect_error(code, ErrorCode.NONE, "EndTxn of the id in a transaction")
        answer = idle.init()
        expect_error(answer.error_code, ErrorCode.NONE, "a new producer of the idle id")
        again = (answer.producer_id != idle.id, answer.producer_epoch)
        assert again == (True, 0), f"a new producer: (another id, epoch) is {again}"
