"""LISTO: offsets for times in a topic whose records have the broker's time."""

from __future__ import annotations

from typing import NamedTuple

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.requests import MAX_TIMESTAMP, Topic
from harness.codec.error_code import ErrorCode
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import batch_of, now_ms
from suites.protocol.support.expect import expect_error

HOUR_MS = 60 * 60 * 1000
CODECS = ["none", "gzip"]
COUNT = 3  # records of each batch
APART_MS = 2  # at least so much lies between the times of two batches


class _Stamped(NamedTuple):
    """A topic with two batches in a partition for each codec; the broker's time of each batch."""

    topic: Topic
    times_ms: list[list[int]]


def _stamped(broker: BrokerUnderTest) -> _Stamped:
    topic = broker.create_topic(len(CODECS) + 1, {"message.timestamp.type": "LogAppendTime"})
    made = _Stamped(topic, [[] for _ in CODECS])
    for _ in range(2):
        for partition, codec in enumerate(CODECS):
            made.times_ms[partition].append(_append(broker, topic, partition, codec))
        last_ms = made.times_ms[-1][-1]
        broker.eventually(lambda last_ms=last_ms: _clock(broker, topic) >= last_ms + APART_MS,  # type: ignore[misc]
                          "the broker's clock goes on")  # fmt: skip
    return made


def _append(broker: BrokerUnderTest, topic: Topic, partition: int, codec: str) -> int:
    """Append records with producer times of two hours, the latest first. Return the broker's."""
    records = [Record(b"stamped", timestamp_delta=-place * HOUR_MS) for place in range(COUNT)]
    batch = RecordBatch(records, base_timestamp=now_ms() + HOUR_MS)
    return _appended_at(broker, topic, partition, encode_batch(batch, codec))


def _clock(broker: BrokerUnderTest, topic: Topic) -> int:
    """Append to the last partition. Return the broker's time."""
    return _appended_at(broker, topic, len(CODECS), batch_of(b"clock"))


def _appended_at(broker: BrokerUnderTest, topic: Topic, partition: int, batch: bytes) -> int:
    answer = broker.produce(topic, batch, partition=partition)
    if answer.error_code != ErrorCode.NONE or answer.log_append_time_ms < 0:
        told = f"{ErrorCode.describe(answer.error_code)}, time {answer.log_append_time_ms}"
        raise PreparationFailed(f"Produce: {told}")
    return answer.log_append_time_ms


@judges("LISTO-019")
@at_versions("ListOffsets", "1+")
def test_list_offsets_for_timestamp_uses_time_of_broker_on_log_append_time_topic(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The first record of a batch has its time; the producer's times find nothing else."""
    topic, times_ms = _stamped(broker)
    with requirement("LISTO-019") as check:
        for partition, codec in enumerate(CODECS):
            first_ms, second_ms = times_ms[partition]
            for name, time_ms, expected in (
                ("an hour before", first_ms - HOUR_MS, (0, first_ms)),
                ("the first batch's", first_ms, (0, first_ms)),
                ("a millisecond later", first_ms + 1, (COUNT, second_ms)),
                ("the second batch's", second_ms, (COUNT, second_ms)),
                ("behind the last", second_ms + 1, (-1, -1)),
            ):
                with check.subtest(f"codec {codec}, time {name}"):
                    answer = broker.list_offset(topic, time_ms, api_version, partition=partition)
                    where = f"codec {codec}, time {name}"
                    expect_error(answer.error_code, ErrorCode.NONE, where)
                    found = (answer.offset, answer.timestamp)
                    assert found == expected, (
                        f"{where}: (offset, time) is {found}, expected {expected}"
                    )


@judges("LISTO-020")
@at_versions("ListOffsets", "7+")
def test_list_offsets_max_timestamp_returns_first_record_of_newest_batch_on_log_append_time_topic(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """All records of the second batch have the largest time, that of the broker."""
    topic, times_ms = _stamped(broker)
    with requirement("LISTO-020") as check:
        for partition, codec in enumerate(CODECS):
            with check.subtest(f"codec {codec}"):
                answer = broker.list_offset(topic, MAX_TIMESTAMP, api_version, partition=partition)
                expect_error(answer.error_code, ErrorCode.NONE, f"codec {codec}")
                found, expected = (answer.offset, answer.timestamp), (COUNT, times_ms[partition][1])
                assert found == expected, (
                    f"codec {codec}: (offset, time) is {found}, expected {expected}"
                )
