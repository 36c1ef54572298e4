"""TXN: transactions that stay open beside a time limit or another request (KIP-98, KIP-360)."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.growing_pause import GrowingPause
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from suites.protocol.support.appended import append
from suites.protocol.support.committed_offsets import fetch_offsets, fresh_group
from suites.protocol.support.expect import expect_error
from suites.protocol.support.gone_topics import create_again, delete_topic
from suites.protocol.support.idempotent import new_producer
from suites.protocol.support.transaction_log import (
    READ_COMMITTED,
    committed_values,
    fetched,
    markers_of,
    stable_offset,
)
from suites.protocol.support.transactional import FAR_AHEAD, NOT_READY, TxnProducer, fenced_code
from suites.protocol.support.transactional_offsets import (
    FIRST_IMPLICIT,
    end_and_settle,
    make_pending,
    offsets_once,
    pending,
)

TIMEOUT_MS = 1_000
PARTITIONS = 64
"""At the longest pause between two more partitions than the timeout has room for."""
LOOKED_FOR = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "200"}
IDLE_MS, CHECK_INTERVAL_MS = 500, 100
FORGETFUL = {
    "producer.id.expiration.ms": str(IDLE_MS),
    "producer.id.expiration.check.interval.ms": str(CHECK_INTERVAL_MS),
}


def _add_until_refused(producer: TxnProducer, topic: Topic, version: int) -> int:
    """Add one partition after another, with pauses; the error of the last one."""
    code, pause = int(ErrorCode.NONE), GrowingPause()
    for index in range(1, PARTITIONS):
        pause.sleep()
        code = producer.add({topic: [index]}, version)[topic.name, index]
        if code != ErrorCode.NONE:
            break
    return code


@judges("TXN-026")
@needs_broker(Use.TUNED, LOOKED_FOR)
def test_partitions_that_are_added_later_do_not_prolong_transaction(
    broker: BrokerUnderTest,
) -> None:
    """The timeout of a second counts from the first partition; others follow all the time."""
    producer = TxnProducer(broker, "TXN-026", timeout_ms=TIMEOUT_MS)
    topic = broker.create_topic(partitions=PARTITIONS)
    producer.write(topic, b"x")
    version = producer.version("AddPartitionsToTxn")
    with requirement("TXN-026"):
        code = _add_until_refused(producer, topic, version)
        fenced = fenced_code("AddPartitionsToTxn", version)
        expect_error(code, fenced, "a partition behind the timeout")
        markers = broker.last_seen(lambda: markers_of(producer, topic), bool)
        assert markers == [(1, False)], f"the markers (offset, is a commit) are {markers}"


@judges("TXN-064")
@needs_broker(Use.OWN, FORGETFUL)
def test_producer_with_open_transaction_is_not_forgotten(broker: BrokerUnderTest) -> None:
    """Another producer of the partition is forgotten: its sequence 100 is accepted behind 0."""
    topic, idle = broker.create_topic(), new_producer(broker)
    producer = TxnProducer(broker, "TXN-064")
    producer.write(topic, b"open")
    append(broker, topic, idle.batch(0, b"idle"))

    def is_forgotten() -> bool:
        answer = broker.produce(topic, idle.batch(FAR_AHEAD, b"later"))
        return answer.error_code == ErrorCode.NONE

    broker.eventually(is_forgotten, f"a producer idle for {IDLE_MS} ms is forgotten")
    with requirement("TXN-064"):
        stable = stable_offset(producer, topic)
        assert stable == 0, f"in the transaction the last stable offset is {stable}, expected 0"
        code = producer.send(topic, b"more").error_code
        expect_error(code, ErrorCode.NONE, "the next batch of the transaction")
        code = producer.end(commit=True).error_code
        expect_error(code, ErrorCode.NONE, "the commit")
        stable = broker.last_seen(lambda: stable_offset(producer, topic), lambda end: end == 5)
        assert stable == 5, f"behind the commit the last stable offset is {stable}, expected 5"
        answer = fetched(producer, topic, broker.reading_version(topic), READ_COMMITTED)
        found = committed_values(answer)
        expected = [b"open", b"idle", b"later", b"more"]
        assert found == expected, f"behind the commit a consumer reads {found}"


@judges("TXN-065")
@at_versions("InitProducerId", "3+")
def test_wrong_identity_does_not_end_open_transaction(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The identity has the producer id of another transactional id; the transaction goes on."""
    producer, other = (TxnProducer(broker, "TXN-065") for _ in range(2))
    topic = broker.create_topic()
    producer.write(topic, b"x")
    request = producer.init_request()
    request.producer_id, request.producer_epoch = other.id, producer.epoch
    with requirement("TXN-065"):
        answer = broker.last_seen(
            lambda: producer.connection.ask(request, api_version),
            lambda answer: answer.error_code not in NOT_READY,
        )
        fenced = fenced_code("InitProducerId", api_version)
        expect_error(answer.error_code, fenced, "the id of another producer")
        code = producer.send(topic, b"y").error_code
        expect_error(code, ErrorCode.NONE, "the next batch of the transaction")
        code = producer.end(commit=True).error_code
        expect_error(code, ErrorCode.NONE, "the commit")
        markers = broker.last_seen(lambda: markers_of(producer, topic), bool)
        assert markers == [(2, True)], f"the markers (offset, is a commit) are {markers}"


@judges("TXN-066")
@at_versions("TxnOffsetCommit", "0-2", "3-4", "5", "6+")
def test_commit_brings_back_no_pending_offset_of_deleted_topic(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """One of two topics is deleted in the transaction, and another gets its name."""
    producer = TxnProducer(broker, "TXN-066", newer=api_version >= FIRST_IMPLICIT)
    stays, goes = broker.create_topic(), broker.create_topic()
    group = fresh_group(broker, stays)
    make_pending(producer, group, {stays: [pending(7)], goes: [pending(9)]}, api_version)
    delete_topic(broker, goes)
    again = create_again(broker, goes.name)
    with requirement("TXN-066"):
        end_and_settle(producer, commit=True)
        offsets_once(producer, group, stays, {0: 7})
        offsets = fetch_offsets(broker, group, {stays: [0], again: [0]})
        offsets.expect(stays, 7, where="the topic that stays")
        offsets.expect_none(again, where="the deleted topic")
