"""Responses that a client does not read: the requests that they delay, and their end."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic, fetch_request
from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.conformance.checks import requirement
from harness.runner.in_time import in_time
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.fetching import entry_of, partition_of
from suites.protocol.support.healthy import HELD_UP_MS, expect_healthy
from suites.protocol.support.kept_topics import KeptTopics

BATCH_BYTES, BATCHES = 200_000, 4
# More than the sockets of both sides take in together, so that the broker cannot write them all.
UNREAD = 24
STALLED, GONE, READER = "CONN-007 stalled", "FETCH-040 gone", "FETCH-040"


def _large_log(broker: BrokerUnderTest) -> Topic:
    topic = broker.create_topic()
    append(broker, topic, *(batch_of(bytes(BATCH_BYTES)) for _ in range(BATCHES)))
    return topic


def _ask_and_stall(broker: BrokerUnderTest, topic: Topic, version: int, name: str) -> Connection:
    """Many fetches of the whole log at once, of which only the first answer is read."""
    request = fetch_request([entry_of(topic, version, {0: 0})])
    connection = broker.connect(name)
    frames = [frame(encode_request(request, version, one, name)) for one in range(UNREAD)]
    connection.send_bytes(b"".join(frames))
    connection.receive_frame()
    return connection


@judges("CONN-007")
def test_unread_responses_do_not_block_other_connections(
    broker: BrokerUnderTest, kept: KeptTopics
) -> None:
    """While its responses wait, the broker serves another connection and new ones."""
    topic = kept.topic(broker, _large_log)
    stalled = _ask_and_stall(broker, topic, broker.reading_version(topic), STALLED)
    other = broker.connect("CONN-007", timeout_ms=HELD_UP_MS)
    with requirement("CONN-007"), in_time(broker.scaled_ms(HELD_UP_MS)):
        for _ in range(20):
            expect_healthy(other, broker)
            expect_healthy(broker.connect("CONN-007", timeout_ms=HELD_UP_MS), broker)
    stalled.reset()


@judges("FETCH-040")
@at_versions("Fetch", "0-3", "4+")
def test_fetch_after_reset_with_unread_responses_returns_same_records(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The reader resets its connection in the midst of its answers: the next one gets the same."""
    topic = kept.topic(broker, _large_log)
    request = fetch_request([entry_of(topic, api_version, {0: 0})])
    before = record_bytes(partition_of(broker.ask(request, api_version)))
    with requirement("FETCH-040"):
        assert len(before) > BATCH_BYTES, f"{len(before)} bytes of a log of {BATCHES} batches"
        _ask_and_stall(broker, topic, api_version, GONE).reset()
        for _ in range(3):
            reader = broker.connect(READER)
            again = record_bytes(partition_of(reader.ask(request, api_version)))
            told = f"{len(before)} bytes before an answer broke off, {len(again)} after it"
            assert again == before, told
