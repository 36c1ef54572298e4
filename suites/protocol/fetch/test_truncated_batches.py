"""FETCH: what is cut where a limit falls into the middle of a batch or message."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetching import records_of
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.log_entries import OVERHEAD_BYTES, whole_entries
from suites.protocol.support.record_formats import records_in

LARGE = b"x" * 4000
SMALL = batch_of(b"small")


def _large_between_small(broker: BrokerUnderTest) -> Topic:
    """Three batches: small, large, small, at offsets 0, 1, 2."""
    topic = broker.create_topic()
    append(broker, topic, SMALL, batch_of(LARGE), SMALL)
    return topic


@judges("FETCH-013")
@at_versions("Fetch", "0-3", "4+")
def test_partition_max_bytes_inside_second_batch_returns_only_first_whole(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """A limit that ends in the second batch: the first is whole, a rest is less than it says."""
    topic = kept.topic(broker, _large_between_small)
    limit = len(SMALL) + len(LARGE) // 2
    with requirement("FETCH-013"):
        answer = broker.fetch(topic, 0, api_version, partition_max_bytes=limit)
        expect_error(answer.error_code, ErrorCode.NONE)
        data = record_bytes(answer)
        assert len(data) <= limit, f"{len(data)} bytes with partition_max_bytes {limit}"
        entries, _ = whole_entries(data)
        found = [record.offset for record in records_in(b"".join(entries))]
        assert found == [0], f"whole are the records {found}, the first alone fits"


@judges("FETCH-014")
@at_versions("Fetch", "0-2")
def test_first_message_above_partition_max_bytes_is_never_returned_whole(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Half of the room that it needs, or none: no byte more, no record. With enough it comes."""
    topic = kept.topic(broker, _large_between_small)
    with requirement("FETCH-014") as check:
        for limit in (0, 1, OVERHEAD_BYTES, len(LARGE) // 2):
            with check.subtest(f"partition_max_bytes {limit}"):
                answer = broker.fetch(topic, 1, api_version, partition_max_bytes=limit)
                expect_error(answer.error_code, ErrorCode.NONE, f"partition_max_bytes {limit}")
                data = record_bytes(answer)
                assert len(data) <= limit, f"{len(data)} bytes with partition_max_bytes {limit}"
                whole, _ = whole_entries(data)
                assert not whole, f"{len(b''.join(whole))} bytes of whole messages fit into {limit}"
        grown = broker.fetch(topic, 1, api_version, partition_max_bytes=2 * len(LARGE))
        assert (1, LARGE) in records_of(grown), "the message does not come with room enough"
