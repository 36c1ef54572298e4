"""RECF: what compaction leaves of a batch."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.codec.apis import api_named
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

FETCH = api_named("Fetch")
OF_BATCHES = VersionRange.parse("4+")
CODECS = ["none", "gzip"]
OLD = b"old"  # all but the newest go: what is around them stays
BATCHES = [(OLD, b"a", OLD), (b"b", OLD, OLD), (OLD, OLD), (OLD, OLD, b"c"), (OLD,), (b"d",)]
LEFT = [1, 3, 10, 11, 12]
SPANS = [(0, 2), (3, 5), (8, 10), (11, 11), (12, 12)]


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
