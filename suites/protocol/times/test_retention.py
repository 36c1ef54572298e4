"""TIME: by which time old records go."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.record_bytes import record_bytes
from harness.client.requests import EARLIEST, Topic
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import append, now_ms
from suites.protocol.support.expect import expect_error
from suites.protocol.support.record_formats import records_in

DAY_MS = 24 * 60 * 60 * 1000
FIRST_WITH_TIMES = 2
OLD, OLD_LATER, NEW_LAST, NEW_FIRST = range(4)
# Before log.initial.task.delay.ms could be set, the first look at logs came after 30 s.
FIRST_LOOK_WITHIN_MS = 75_000


def _of_days_ago(*days: int) -> bytes:
    """A record of each of these ages, in one batch."""
    times = [now_ms() - each * DAY_MS for each in days]
    records = [
        Record(b"%d days" % each, timestamp_delta=time - times[0])
        for each, time in zip(days, times, strict=True)
    ]
    return encode_batch(RecordBatch(records, base_timestamp=times[0]))


def _begin(broker: BrokerUnderTest, topic: Topic, partition: int) -> int:
    answer = broker.list_offset(topic, EARLIEST, partition=partition)
    expect_error(answer.error_code, ErrorCode.NONE, f"ListOffsets of partition {partition}")
    return answer.offset


def _expect_gone(broker: BrokerUnderTest, topic: Topic, partition: int, end: int) -> None:
    begin = broker.last_seen(
        lambda: _begin(broker, topic, partition), lambda at: at == end, FIRST_LOOK_WITHIN_MS
    )
    told = f"partition {partition}: records of two days ago, kept for one day, were written just "
    assert begin == end, f"{told}now: the log of {end} begins at {begin}"


@judges("TIME-008")
@needs_broker(
    Use.OWN, {"log.retention.check.interval.ms": "500", "log.initial.task.delay.ms": "500"}
)
def test_retention_ms_applies_to_largest_record_timestamp(broker: BrokerUnderTest) -> None:
    """Old ones at once, though their file is new; not where one record beside them is young, nor
    where the broker's own time counts.

    When records that came later are gone too, the broker has looked at all partitions.
    """
    version = broker.version("Produce", f"{FIRST_WITH_TIMES}+")
    topic = broker.create_topic(partitions=4, configs={"retention.ms": str(DAY_MS)})
    young_beside = {NEW_LAST: (2, 0), NEW_FIRST: (0, 2)}
    for partition, days in young_beside.items():
        append(broker, topic, _of_days_ago(*days), partition=partition)
    append(broker, topic, _of_days_ago(3, 2), partition=OLD)
    stamped = {"retention.ms": str(DAY_MS), "message.timestamp.type": "LogAppendTime"}
    of_broker = broker.create_topic(configs=stamped)
    append(broker, of_broker, _of_days_ago(3, 2))
    with requirement("TIME-008", api_key=api_named("Produce").key, api_version=version) as check:
        _expect_gone(broker, topic, OLD, 2)
        append(broker, topic, _of_days_ago(2), partition=OLD_LATER)
        _expect_gone(broker, topic, OLD_LATER, 1)
        for partition, days in young_beside.items():
            with check.subtest(f"partition {partition}"):
                answer = broker.fetch(topic, 0, partition=partition)
                where = f"partition {partition}, ages in days {days}"
                expect_error(answer.error_code, ErrorCode.NONE, f"Fetch at 0 of {where}")
                found = [record.value for record in records_in(record_bytes(answer))]
                assert found == [b"%d days" % each for each in days], f"{where}: left is {found}"
        with check.subtest("LogAppendTime"):
            begin = _begin(broker, of_broker, 0)
            assert begin == 0, f"LogAppendTime, written just now: the log begins at {begin}"
