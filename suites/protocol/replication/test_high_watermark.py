"""REPL: the high watermark of a partition with one replica."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import batch_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetching import values_of

COUNTS = (1, 3, 2, 1)
LEADER, ALL = 1, -1


@judges("REPL-021")
@at_versions("Fetch", "0-3", "4-12", "13+")
def test_high_watermark_of_single_replica_follows_each_append(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """As soon as a batch is acknowledged, by the leader or by all, it can be read."""
    version = broker.version("Produce")
    for acks in (LEADER, ALL):
        topic = broker.create_topic()
        end = 0
        for count in COUNTS:
            values = [b"%d" % (end + i) for i in range(count)]
            with requirement("REPL-021"):
                batch = batch_of(*values, version=version)
                answer = broker.produce(topic, batch, version, acks=acks)
                expect_error(answer.error_code, ErrorCode.NONE, f"acks {acks}")
                read = broker.fetch(topic, end, api_version)
                end += count
                told = f"acks {acks}: {end} records, high watermark {read.high_watermark}"
                assert read.high_watermark == end, told
                assert values_of(read) == values, f"acks {acks}: {values_of(read)} are read"
