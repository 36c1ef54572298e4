"""IDEM: what compaction leaves of a producer."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
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
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.idempotent import expect_taken_again, new_producer

KEY, END = b"k", 5


@judges("IDEM-016")
@needs_broker(Use.TUNED, QUICKLY)
def test_last_batch_is_deduplicated_after_compaction_removed_its_records(
    broker: BrokerUnderTest,
) -> None:
    """The last batch of a producer stays without its records; sent again it is not stored again,
    and the next one follows it."""
    topic, producer, made = compacted_topic(broker), new_producer(broker), KeyedBatches()
    first = made.next(KEY, producer=producer, sequence=0)
    last = made.next(KEY, KEY, producer=producer, sequence=1)
    append(broker, topic, first, last, made.next(KEY), made.next(b"another"))
    await_compacted(broker, topic, {0: [3, 4]})
    produce = api_named("Produce")
    with requirement("IDEM-016", api_key=produce.key, api_version=broker.version("Produce")):
        found = [
            (batch.base_offset, batch.base_sequence, batch.last_offset_delta)
            for batch in batches_of(broker, topic)
            if (batch.producer_id, batch.producer_epoch) == (producer.id, producer.epoch)
        ]
        assert found == [(1, 1, 1)], (
            f"offset, sequence and last offset delta of the producer's batches are {found}, of the "
            "last that it sent (1, 1, 1)"
        )
        expect_taken_again(broker.produce(topic, last).error_code, "the last batch once more")
        end = broker.end_offset(topic)
        assert end == END, f"the last batch is stored once more: the log of {END} ends at {end}"
        following = made.next(b"next", producer=producer, sequence=3)
        code = broker.produce(topic, following).error_code
        expect_error(code, ErrorCode.NONE, "sequence 3 behind 2")
