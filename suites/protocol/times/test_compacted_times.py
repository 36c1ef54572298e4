"""TIME: compaction of records with timestamps that do not rise with their offsets."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import append, now_ms
from suites.protocol.support.compacted import (
    COMPACTED_WITHIN_MS,
    QUICKLY,
    batches_of,
    compacted_topic,
    offsets,
)

KEY = b"sent with times that fall"
LATE_MS, LATEST_MS = 10_000, 20_000  # behind the earliest record
OF_TWO_BATCHES, OF_ONE_BATCH = 0, 1  # partitions
LEFT = [1, 2]
Timed = tuple[bytes, int]
"""A key, and the time in ms behind the earliest record."""


def _batch(begin_ms: int, *records: Timed) -> bytes:
    made = [Record(b"value", key, timestamp_delta=time_ms) for key, time_ms in records]
    return encode_batch(RecordBatch(made, base_timestamp=begin_ms))


@judges("TIME-012")
@needs_broker(Use.TUNED, QUICKLY)
def test_compaction_keeps_last_record_of_key_although_an_earlier_one_is_younger(
    broker: BrokerUnderTest,
) -> None:
    """The second record of the key is ten seconds older than the first, in the next batch and in
    the same one. A batch of another key, which is younger than both, closes their segment."""
    topic, begin_ms = compacted_topic(broker, partitions=2), now_ms() - 3_600_000
    young, old = (KEY, LATE_MS), (KEY, 0)
    closing = _batch(begin_ms, (b"another", LATEST_MS))
    append(broker, topic, _batch(begin_ms, young), _batch(begin_ms, old), closing)
    append(broker, topic, _batch(begin_ms, young, old), closing, partition=OF_ONE_BATCH)

    def left() -> list[list[int]]:
        return [offsets(batches_of(broker, topic, partition)) for partition in range(2)]

    told = "one record of each key is left"
    broker.eventually(
        lambda: all(len(one) == len(LEFT) for one in left()), told, COMPACTED_WITHIN_MS
    )
    with requirement("TIME-012") as check:
        for partition, where in ((OF_TWO_BATCHES, "two batches"), (OF_ONE_BATCH, "one batch")):
            with check.subtest(where):
                found = left()[partition]
                assert found == LEFT, f"{where}: left are the offsets {found}, not {LEFT}"
