"""FETCH: the log start offset of a log that has lost its first records to compaction."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.requests import EARLIEST
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.versions import VersionRange
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import append
from suites.protocol.support.compacted import (
    QUICKLY,
    KeyedBatches,
    await_compacted,
    compacted_topic,
)
from suites.protocol.support.expect import expect_error

FETCH = api_named("Fetch")
WITH_LOG_START = VersionRange.parse("5+")


@judges("FETCH-024")
@needs_broker(Use.TUNED, QUICKLY)
def test_fetch_log_start_offset_equals_earliest_offset_after_compaction(
    broker: BrokerUnderTest,
) -> None:
    """No record is left of the first two batches: both offsets are the same, at every version."""
    versions = broker.advertised("Fetch") & FETCH.valid_versions & WITH_LOG_START
    broker.version("Fetch", str(WITH_LOG_START))
    topic, made = compacted_topic(broker), KeyedBatches()
    append(broker, topic, *(made.next(key) for key in (b"a", b"b", b"a", b"b", b"end")))
    await_compacted(broker, topic, {0: [2, 3, 4]})
    for version in versions:
        with requirement("FETCH-024", api_key=FETCH.key, api_version=version) as check:
            earliest = broker.list_offset(topic, EARLIEST)
            expect_error(earliest.error_code, ErrorCode.NONE, "ListOffsets")
            for offset in (earliest.offset, 2, 5):
                with check.subtest(f"offset {offset}"):
                    found = broker.fetch(topic, offset, version)
                    expect_error(found.error_code, ErrorCode.NONE, f"Fetch at {offset}")
                    start = found.log_start_offset
                    told = f"log start offset {start}, the earliest is {earliest.offset}"
                    assert start == earliest.offset, told
