"""STOR: what compaction leaves of the times of a topic with LogAppendTime."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.records import LOG_APPEND_TIME, Record, RecordBatch, encode_batch
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.durability.support.keyed import Pair, compacted
from suites.durability.support.segments import DAY_MS, HOUR_MS
from suites.protocol.support.appended import now_ms
from suites.protocol.support.compacted import COMPACTED_WITHIN_MS, QUICKLY, batches_of

LEFT = (1, 2, 4, 5)
"""The offsets of the records that are left, one of each batch."""


def _appended(broker: BrokerUnderTest, topic: Topic, *pairs: Pair) -> tuple[int, int]:
    """Append a batch with times of two hours ago and one hour ago; return its offset and time."""
    records = [
        Record(value, key, timestamp_delta=HOUR_MS * at) for at, (key, value) in enumerate(pairs)
    ]
    batch = encode_batch(RecordBatch(records, base_timestamp=now_ms() - 2 * HOUR_MS))
    answer = broker.produce(topic, batch)
    if answer.error_code != ErrorCode.NONE or answer.log_append_time_ms < 0:
        raise PreparationFailed(f"Produce is answered with {answer}", answer.error_code)
    broker.eventually(lambda: now_ms() > answer.log_append_time_ms + 1, "the next is a segment")
    return answer.base_offset, answer.log_append_time_ms


@judges("STOR-031")
@needs_broker(Use.TUNED, QUICKLY)
def test_compaction_keeps_append_time_of_batches(broker: BrokerUnderTest) -> None:
    """A batch that loses its first record, one with a tombstone, and two that stay as they are."""
    topic = compacted(
        broker, message__timestamp__type="LogAppendTime", delete__retention__ms=str(DAY_MS)
    )
    times = dict(
        [
            _appended(broker, topic, (b"a", b"1"), (b"b", b"1")),
            _appended(broker, topic, (b"a", b"2"), (b"c", b"1")),
            _appended(broker, topic, (b"c", None)),
            _appended(broker, topic, (b"end", b"1")),
        ]
    )
    with requirement("STOR-031"):

        def seen() -> dict[int, tuple[int, int, int]]:
            return {
                batch.base_offset: (
                    len(batch.records),
                    batch.attributes & LOG_APPEND_TIME,
                    batch.max_timestamp or 0,
                )
                for batch in batches_of(broker, topic)
            }

        wanted = {at: (1, LOG_APPEND_TIME, time) for at, time in times.items()}
        left = broker.last_seen(seen, wanted.__eq__, COMPACTED_WITHIN_MS)
        told = "(records, time type, time) of the batches at their first offsets are"
        assert left == wanted, f"{told} {left}, expected {wanted}"
        answers = [broker.list_offset(topic, time) for time in times.values()]
        places = [(one.offset, one.timestamp) for one in answers]
        expected = list(zip(LEFT, times.values(), strict=True))
        told = "ListOffsets of the time of each batch: (offset, time) are"
        assert places == expected, f"{told} {places}, expected {expected}"
