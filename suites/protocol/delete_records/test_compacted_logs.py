"""DELR: a log start that DeleteRecords set in a log that is compacted."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.requests import EARLIEST
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import append
from suites.protocol.support.compacted import (
    COMPACTED_WITHIN_MS,
    QUICKLY,
    KeyedBatches,
    batches_of,
    offsets,
)
from suites.protocol.support.deleted_records import delete_records
from suites.protocol.support.expect import expect_error

START = 1  # within the first batch
CONFIGS = {
    "cleanup.policy": "compact,delete",
    "retention.ms": "-1",
    "segment.ms": "1",
    "min.cleanable.dirty.ratio": "0",
}
LEFT, LEFT_WITH_START = [2, 3], [START, 3, 4]


@judges("DELR-013")
@needs_broker(Use.TUNED, QUICKLY)
def test_compaction_does_not_move_log_start_back(broker: BrokerUnderTest) -> None:
    """Two records in the first batch: the first is deleted, the second replaced by a later one.

    When compaction has removed the second, the log begins where it began before.
    """
    topic, made = broker.create_topic(configs=CONFIGS), KeyedBatches()
    append(broker, topic, made.next(b"deleted", b"replaced"))
    delete_records(broker, topic, START)
    append(broker, topic, made.next(b"replaced"), made.next(b"another"))

    def is_compacted() -> bool:
        found = offsets(batches_of(broker, topic, begin=START))
        return [offset for offset in found if offset >= START] == LEFT

    told = f"left are the offsets {LEFT} from {START} on"
    broker.eventually(is_compacted, told, COMPACTED_WITHIN_MS)
    with requirement("DELR-013"):
        earliest = broker.list_offset(topic, EARLIEST).offset
        assert earliest == START, f"earliest is {earliest} after compaction, {START} before it"
        code = broker.fetch(topic, START - 1).error_code
        expect_error(code, ErrorCode.OFFSET_OUT_OF_RANGE, "a fetch below the log start")


@judges("DELR-013")
@needs_broker(Use.TUNED, QUICKLY)
def test_compaction_keeps_last_record_of_batch_that_log_starts_at(broker: BrokerUnderTest) -> None:
    """Two records in the first batch: the first is deleted, the second has the only value."""
    topic, made = broker.create_topic(configs=CONFIGS), KeyedBatches()
    append(broker, topic, made.next(b"deleted", b"kept"))
    delete_records(broker, topic, START)
    append(broker, topic, made.next(b"old"), made.next(b"old"), made.next(b"another"))

    def left() -> list[int]:
        found = offsets(batches_of(broker, topic, begin=START))
        return [offset for offset in found if offset >= START]

    told = "offset 2 is compacted away"
    broker.eventually(lambda: 2 not in left(), told, COMPACTED_WITHIN_MS)
    with requirement("DELR-013"):
        earliest = broker.list_offset(topic, EARLIEST).offset
        assert earliest == START, f"earliest is {earliest}, {START} before the compaction"
        found = left()
        assert found == LEFT_WITH_START, f"left are the offsets {found}, not {LEFT_WITH_START}"
