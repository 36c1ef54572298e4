"""TXN: what a broker knows of transactional producers when it is started again (KIP-98)."""

from __future__ import annotations

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.errors import PreparationFailed
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeTransactionsRequest, WriteTxnMarkersRequest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker
from suites.durability.support.restarts import KILLED, STOPPED, end
from suites.protocol.support.appended import append
from suites.protocol.support.expect import expect_error
from suites.protocol.support.idempotent import new_producer
from suites.protocol.support.transaction_log import (
    READ_COMMITTED,
    committed_values,
    fetched,
    stable_offset,
)
from suites.protocol.support.transactional import EXPIRING, FAR_AHEAD, TxnProducer

COORDINATOR_EPOCH = 10  # higher than that of any coordinator of the test's broker
MARKED, OPEN, EXPIRED, DESCRIBED = (
    7,
    9,
    11,
    13,
)  # numbers of partitions, by which a defect recognizes the test
TIMEOUT_MS = 600_000
FORGETFUL = {
    "producer.id.expiration.ms": "500",
    "producer.id.expiration.check.interval.ms": "100",
}
LATE_MS = 30_000
ASKED_AGAIN = 2
"""The partition that the test asks to add after the restart."""
ENDS = pytest.mark.parametrize("when", [STOPPED, KILLED], ids=["stop", "kill"])


def _abort_marker(producer: TxnProducer, topic: Topic, coordinator_epoch: int) -> int:
    """The error of an abort marker in the name of a coordinator."""
    kinds = WriteTxnMarkersRequest
    marker = kinds.WritableTxnMarker(
        producer_id=producer.id,
        producer_epoch=producer.epoch,
        transaction_result=False,
        coordinator_epoch=coordinator_epoch,
        topics=[kinds.WritableTxnMarkerTopic(name=topic.name, partition_indexes=[0])],
    )
    answer = producer.connection.ask(kinds(markers=[marker]), producer.version("WriteTxnMarkers"))
    found = only(only(answer.markers, "marker").topics, "topic")
    return only(found.partitions, "partition").error_code


@judges("TXN-069")
@needs_broker(Use.PERSISTENT)
@ENDS
def test_marker_of_former_coordinator_is_refused_after_restart(
    persistent_broker: PersistentBroker, when: str
) -> None:
    """A marker of a later coordinator is the last batch of the producer."""
    client = persistent_broker.client
    producer = TxnProducer(client, "TXN-069", timeout_ms=TIMEOUT_MS)
    topic = client.create_topic(MARKED)
    producer.write(topic, b"aborted")
    code = _abort_marker(producer, topic, COORDINATOR_EPOCH)
    if code != ErrorCode.NONE:
        raise PreparationFailed(f"WriteTxnMarkers: {ErrorCode.describe(code)}", code)
    end(persistent_broker, when)
    persistent_broker.start()
    client.await_served(topic)
    again = producer.through(client)
    with requirement("TXN-069"):
        fenced = ErrorCode.TRANSACTION_COORDINATOR_FENCED
        code = _abort_marker(again, topic, COORDINATOR_EPOCH - 1)
        expect_error(code, fenced, f"{when} an epoch below")
        code = _abort_marker(again, topic, COORDINATOR_EPOCH)
        expect_error(code, ErrorCode.NONE, f"{when} the same epoch")
        at = client.end_offset(topic)
        assert at == 3, f"{when} the log ends at {at}, expected 3"


@judges("TXN-064")
@needs_broker(Use.PERSISTENT, FORGETFUL)
@ENDS
def test_open_transaction_of_idle_producer_outlives_restart(
    persistent_broker: PersistentBroker, when: str
) -> None:
    """It is open for longer than a producer may be idle: another producer is forgotten."""
    client = persistent_broker.client
    producer = TxnProducer(client, "TXN-064", timeout_ms=TIMEOUT_MS)
    topic, idle = client.create_topic(OPEN), new_producer(client)
    producer.write(topic, b"open")
    append(client, topic, idle.batch(0, b"idle"))

    def is_forgotten() -> bool:
        answer = client.produce(topic, idle.batch(FAR_AHEAD, b"later"))
        return answer.error_code == ErrorCode.NONE

    client.eventually(is_forgotten, "an idle producer is forgotten")
    end(persistent_broker, when)
    persistent_broker.start()
    client.await_served(topic)
    again = producer.through(client)
    with requirement("TXN-064"):
        stable = stable_offset(again, topic)
        assert stable == 0, f"{when} the last stable offset is {stable}, expected 0"
        code = again.end(commit=True).error_code
        expect_error(code, ErrorCode.NONE, f"{when} the commit")
        stable = client.last_seen(lambda: stable_offset(again, topic), (4).__eq__)
        assert stable == 4, f"{when} behind the commit the last stable offset is {stable}"
        answer = fetched(again, topic, client.reading_version(topic), READ_COMMITTED)
        found = committed_values(answer)
        expected = [b"open", b"idle", b"later"]
        assert found == expected, f"{when} behind the commit a consumer reads {found}"


@judges("TXN-072")
@needs_broker(Use.PERSISTENT, EXPIRING)
@ENDS
def test_expired_transactional_id_stays_unknown_after_restart(
    persistent_broker: PersistentBroker, when: str
) -> None:
    """Its states are in the log, the last one before its end is a commit; a second id has been in
    one transaction all the time."""
    client = persistent_broker.client
    idle, active = (TxnProducer(client, "TXN-072", timeout_ms=TIMEOUT_MS) for _ in range(2))
    topic = client.create_topic(EXPIRED)
    active.write(topic, b"open")
    idle.write(topic, b"x", partition=1)
    idle.finish(commit=True)
    unmapped, version = ErrorCode.INVALID_PRODUCER_ID_MAPPING, idle.version("AddPartitionsToTxn")

    def code_of(producer: TxnProducer, partition: int = 0) -> int:
        """The error of an epoch that no producer has: it begins no transaction."""
        refused = producer.other(epoch=producer.epoch + FAR_AHEAD)
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION  # of a broker that has just been started
        return client.last_seen(
            lambda: refused.add({topic: [partition]}, version)[topic.name, partition],
            lambda code: code != unknown,
        )

    client.eventually(lambda: code_of(idle) == unmapped, "an idle id expires", LATE_MS)
    end(persistent_broker, when)
    persistent_broker.start()
    client.await_served(topic)
    with requirement("TXN-072"):
        code = code_of(idle.through(client), ASKED_AGAIN)
        expect_error(code, unmapped, f"{when} the expired id")
        again = active.through(client)
        code = code_of(again, ASKED_AGAIN)
        assert code not in (ErrorCode.NONE, unmapped), f"{when} the id in a transaction: {code}"
        code = again.end(commit=True).error_code
        expect_error(code, ErrorCode.NONE, f"{when} the commit of the other id")


Described = list[tuple[object, ...]]


def _described(client: BrokerUnderTest, *producers: TxnProducer) -> Described:
    """The fields of each in DescribeTransactions; the begin of an open transaction alone."""
    names = [one.name for one in producers]
    answer = client.ask(DescribeTransactionsRequest(transactional_ids=names))
    return [
        (
            ErrorCode(one.error_code).name,
            one.transaction_state,
            one.transaction_timeout_ms,
            one.producer_id,
            one.producer_epoch,
            [(topic.topic, *topic.partitions) for topic in one.topics],
            one.topics and one.transaction_start_time_ms,
        )
        for one in answer.transaction_states
    ]


@judges("TXN-074")
@needs_broker(Use.PERSISTENT)
@ENDS
def test_described_transactions_are_the_same_after_restart(
    persistent_broker: PersistentBroker, when: str
) -> None:
    """An open transaction of two partitions, a committed one and an id without any; each has
    another timeout."""
    client = persistent_broker.client
    client.version("DescribeTransactions")
    topic = client.create_topic(DESCRIBED)
    producers = [TxnProducer(client, "TXN-074", timeout_ms=TIMEOUT_MS + n) for n in range(3)]
    open_, ended, _ = producers
    for partition in (1, 3):
        open_.write(topic, b"x", partition=partition)
    ended.write(topic, b"y")
    ended.finish(commit=True)
    states = ["Ongoing", "CompleteCommit", "Empty"]
    before = client.last_seen(
        lambda: _described(client, *producers), lambda all_: [one[1] for one in all_] == states
    )
    if [one[1:3] for one in before] != [(s, TIMEOUT_MS + n) for n, s in enumerate(states)]:
        raise PreparationFailed(f"the ids are described before the restart as {before}")
    end(persistent_broker, when)
    persistent_broker.start()
    client.await_served(topic)
    with requirement("TXN-074"):
        after = client.last_seen(lambda: _described(client, *producers), before.__eq__)
        assert after == before, f"{when} the ids are {after}, before {before}"
