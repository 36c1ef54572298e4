"""CONN: requests on one connection are processed in their order, not only answered in it."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.only import only
from harness.client.requests import (
    Topic,
    fetch_partition,
    fetch_request,
    fetch_topic,
    produce_request,
)
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse, ProduceResponse
from harness.conformance.checks import requirement
from harness.runner.marks import judges
from suites.protocol.support.answers import expect_answers
from suites.protocol.support.appended import batch_of
from suites.protocol.support.classic_group import ClassicGroup, await_rebalance
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetching import partition_of, values_of
from suites.protocol.support.healthy import healthy

CLIENT, JOINING = "CONN-004 order", "CONN-005 joining"
WAIT_MS, SILENCE_MS = 100, 50
BEHIND = 55


def _send_fetch(connection: Connection, broker: BrokerUnderTest, topic: Topic, at: int) -> None:
    """Fetch from the offset on, and wait for a record."""
    version = broker.reading_version(topic)
    wanted = [fetch_topic(topic, version, [fetch_partition(at)])]
    connection.send(fetch_request(wanted, max_wait_ms=WAIT_MS, min_bytes=1), version)


def _send_produce(
    connection: Connection, broker: BrokerUnderTest, topic: Topic, value: bytes, acks: int
) -> None:
    version = broker.version("Produce")
    batch = batch_of(value, version=version)
    connection.send(produce_request(topic, batch, version, acks=acks), version)


def _values(connection: Connection) -> list[bytes | None]:
    """Return the values in the next answer, which is one to Fetch."""
    answer = connection.receive()
    assert isinstance(answer, FetchResponse)
    data = partition_of(answer)
    expect_error(data.error_code, ErrorCode.NONE, "Fetch")
    return list(values_of(data))


def _expect_appended(connection: Connection, offset: int) -> None:
    """The next answer is one to Produce, with this offset."""
    answer = connection.receive()
    assert isinstance(answer, ProduceResponse)
    told = only(only(answer.responses, "topic").partition_responses, "partition")
    expect_error(told.error_code, ErrorCode.NONE, "Produce")
    assert told.base_offset == offset, f"the record is at {told.base_offset}, not at {offset}"


@judges("CONN-004")
def test_produce_behind_waiting_fetch_is_processed_after_it(broker: BrokerUnderTest) -> None:
    """A Fetch of the empty log waits in vain: the record is sent on its own connection."""
    topic, connection = broker.create_topic(), broker.connect(CLIENT)
    with requirement("CONN-004"):
        _send_fetch(connection, broker, topic, 0)
        _send_produce(connection, broker, topic, b"sent later", acks=1)
        found = _values(connection)
        assert not found, f"a Fetch returns {found}, sent after it on its connection"
        _expect_appended(connection, 0)


@judges("CONN-004")
def test_fetch_behind_produce_returns_its_record(broker: BrokerUnderTest) -> None:
    """At once with a Produce that is acknowledged, and with one that is not."""
    topic, connection = broker.create_topic(), broker.connect(CLIENT)
    with requirement("CONN-004"):
        _send_produce(connection, broker, topic, b"with acks", acks=1)
        _send_fetch(connection, broker, topic, 0)
        _expect_appended(connection, 0)
        found = _values(connection)
        assert found == [b"with acks"], f"behind a Produce with acks=1 a Fetch returns {found}"
        _send_produce(connection, broker, topic, b"without", acks=0)
        _send_fetch(connection, broker, topic, 1)
        found = _values(connection)
        assert found == [b"without"], f"behind a Produce with acks=0 a Fetch returns {found}"


@judges("CONN-005")
def test_later_request_does_not_overtake_join_that_waits(
    broker: BrokerUnderTest, group: ClassicGroup
) -> None:
    """A member joins a stable group, and waits until the other one joins again."""
    (first,) = group.stable(None)
    newcomer = group.member(client_id=JOINING)
    newcomer.be_given_an_id()
    connection = newcomer.connection
    with requirement("CONN-005"):
        newcomer.send_join()
        connection.send(healthy(broker), 0, correlation_id=BEHIND)
        await_rebalance(first)
        connection.expect_silence(for_ms=broker.scaled_ms(SILENCE_MS))
        first.send_join()
        code = newcomer.take_join().error_code
        expect_error(code, ErrorCode.NONE, "JoinGroup of the second member")
        expect_answers(connection, [BEHIND])
