"""RECF: what compaction leaves of a batch."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.record_bytes import record_bytes
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
    batches_of,
    compacted_topic,
    spans,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.idempotent import new_producer
from suites.protocol.support.record_formats import records_in

FETCH = api_named("Fetch")
OF_BATCHES = VersionRange.parse("4+")
CODECS = ["none", "gzip"]
OLD = b"old"  # all but the newest go: what is around them stays
BATCHES = [(OLD, b"a", OLD), (b"b", OLD, OLD), (OLD, OLD), (OLD, OLD, b"c"), (OLD,), (b"d",)]
LEFT = [1, 3, 10, 11, 12]
SPANS = [(0, 2), (3, 5), (8, 10), (11, 11), (12, 12)]
CONVERTED = VersionRange.parse("0-3")
WITHOUT_RECORDS = 2  # batches of as many producers, each the last one of its producer
EMPTIED = b"two have lost it"


@judges("RECF-016")
@needs_broker(Use.TUNED, QUICKLY)
def test_compacted_batch_keeps_first_and_last_offset(broker: BrokerUnderTest) -> None:
    """Where the first record, one in the middle or the last is left, compressed or not."""
    broker.version("Fetch", str(OF_BATCHES))
    topic = compacted_topic(broker, partitions=len(CODECS))
    for partition, codec in enumerate(CODECS):
        made = KeyedBatches()
        for keys in BATCHES:
            append(broker, topic, made.next(*keys, compression=codec), partition=partition)
    await_compacted(broker, topic, dict.fromkeys(range(len(CODECS)), LEFT))
    for version in broker.advertised("Fetch") & FETCH.valid_versions & OF_BATCHES:
        with requirement("RECF-016", api_key=FETCH.key, api_version=version) as check:
            for partition, codec in enumerate(CODECS):
                with check.subtest(f"codec {codec}"):
                    found = spans(batches_of(broker, topic, partition, version))
                    told = (
                        f"codec {codec}, first and last offset of each batch: {found}, not {SPANS}"
                    )
                    assert found == SPANS, told


@judges("RECF-035")
@needs_broker(Use.TUNED, QUICKLY)
def test_old_reader_gets_records_behind_batches_without_records(broker: BrokerUnderTest) -> None:
    """The last batches of two producers have lost their record: a fetch at either of them brings
    the record behind them, in each version that reads no batches."""
    broker.version("Fetch", str(CONVERTED))
    topic, made = compacted_topic(broker), KeyedBatches()
    for _ in range(WITHOUT_RECORDS):
        append(broker, topic, made.next(EMPTIED, producer=new_producer(broker), sequence=0))
    append(broker, topic, made.next(EMPTIED), made.next(b"another"))
    await_compacted(broker, topic, {0: [WITHOUT_RECORDS, WITHOUT_RECORDS + 1]})
    for version in broker.advertised("Fetch") & FETCH.valid_versions & CONVERTED:
        with requirement("RECF-035", api_key=FETCH.key, api_version=version) as check:
            for offset in range(WITHOUT_RECORDS):
                with check.subtest(f"offset {offset}"):
                    answer = broker.fetch(topic, offset, version)
                    expect_error(answer.error_code, ErrorCode.NONE, f"Fetch at {offset}")
                    found = [each.offset for each in records_in(record_bytes(answer))]
                    told = f"a fetch at {offset} brings the offsets {found}"
                    assert found[:1] == [WITHOUT_RECORDS], f"{told}, not first {WITHOUT_RECORDS}"
