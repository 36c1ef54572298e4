"""FETCH: what a fetch waits for where a log has several segments."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic, fetch_request
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse as Answer
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, now_ms
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetch_waits import PATIENCE_MS, PROMPT, QUIET_MS, within
from suites.protocol.support.fetching import entry_of, partition_of, values_of
from suites.protocol.support.kept_topics import KeptTopics

SEGMENT_MS = 1000
UNREACHED_BYTES = 1 << 19
VALUES = [b"closed", b"active"]


def two_segments(broker: BrokerUnderTest) -> Topic:
    """A topic whose second record is so much later than the first that it began a segment."""
    topic = broker.create_topic(configs={"segment.ms": str(SEGMENT_MS)})
    last_ms = now_ms()
    for value, at_ms in zip(VALUES, (last_ms - 10 * SEGMENT_MS, last_ms), strict=True):
        append(broker, topic, encode_batch(RecordBatch([Record(value)], base_timestamp=at_ms)))
    return topic


@judges("FETCH-055")
@at_versions("Fetch", "0-3", "4+")
def test_fetch_from_closed_segment_is_answered_below_min_bytes(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """From offset 0 at once, with the record of that segment; from offset 1 the fetch waits."""
    topic = kept.topic(broker, two_segments)
    wait_ms = int(broker.scaled_ms(PATIENCE_MS))
    with requirement("FETCH-055") as check:
        with check.subtest("the closed segment"):
            connection = broker.connect()
            wanted = [entry_of(topic, api_version, {0: 0})]
            request = fetch_request(wanted, max_wait_ms=wait_ms, min_bytes=UNREACHED_BYTES)
            with within(PROMPT, wait_ms):
                found = partition_of(connection.ask(request, api_version))
            expect_error(found.error_code, ErrorCode.NONE, "the closed segment")
            assert values_of(found) == VALUES[:1], f"{values_of(found)} came"
        with check.subtest("the active segment"):
            connection = broker.connect()
            wanted = [entry_of(topic, api_version, {0: 1})]
            request = fetch_request(wanted, max_wait_ms=10 * QUIET_MS, min_bytes=UNREACHED_BYTES)
            connection.send(request, api_version)
            connection.expect_silence(for_ms=QUIET_MS)
            response = connection.receive()
            assert isinstance(response, Answer)
            found = partition_of(response)
            assert values_of(found) == VALUES[1:], f"{values_of(found)} came after the wait"
