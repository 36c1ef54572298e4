"""TIME: the source of a record's timestamp, accepted timestamps, and timestamps in Fetch."""

from __future__ import annotations

from itertools import product

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.records import LOG_APPEND_TIME, Record, RecordBatch, decode_batches
from harness.codec.records.conversion import timestamps_of
from harness.codec.records.message_set import LegacyMessage, decode_message_set
from harness.codec.versions import VersionRange
from harness.conformance.checks import NotApplicable, requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import batch_of, now_ms
from suites.protocol.support.expect import expect_error
from suites.protocol.support.idempotent import new_producer
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.log_entries import MAGIC_AT, attributes_of, fetched_entries
from suites.protocol.support.old_messages import gzip_wrapper, message_bytes
from suites.protocol.support.partition_log import UntouchedLog
from suites.protocol.support.record_formats import FIRST_PRODUCE_OF_BATCHES, encoded_for

DAY_MS, HOUR_MS = 24 * 60 * 60 * 1000, 60 * 60 * 1000
NO_TIME = -1
BASE_MS = now_ms() - HOUR_MS
COMPRESSIONS = ["none", "gzip"]


def _with_times(value: bytes, *times_ms: int) -> RecordBatch:
    """A record for each time."""
    records = [Record(value, b"key", timestamp_delta=time - times_ms[0]) for time in times_ms]
    return RecordBatch(records, base_timestamp=times_ms[0])


def _times_in(entries: list[bytes]) -> list[tuple[int, int]]:
    """Offset and time of each record, compressed or not, of any format."""
    found: list[tuple[int, int]] = []
    for entry in entries:
        if entry[MAGIC_AT] < 2:
            messages: list[LegacyMessage] = decode_message_set(entry)
            found += [(message.offset, message.timestamp) for message in messages]
            continue
        (batch,) = decode_batches(entry)
        offsets = [batch.base_offset + (record.offset_delta or 0) for record in batch.records]
        found += zip(offsets, timestamps_of(batch), strict=True)
    return found


def _of_create_time(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic(configs={"message.timestamp.type": "CreateTime"})


def _of_log_append_time(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic(configs={"message.timestamp.type": "LogAppendTime"})


# -- the producer's time ---------------------------------------------------------------------------


@judges("TIME-001")
@pytest.mark.parametrize("compression", COMPRESSIONS)
@at_versions("Produce", "2", "3+")
def test_create_time_topic_keeps_producer_timestamps(
    broker: BrokerUnderTest, api_version: int, compression: str
) -> None:
    """Three times of today, to the millisecond; bit 3 of the attributes is 0."""
    topic = _of_create_time(broker)
    times = [BASE_MS, BASE_MS + 1, BASE_MS + 1_234_567]
    batch = encoded_for(api_version, _with_times(b"kept", *times), compression)
    with requirement("TIME-001"):
        expect_error(broker.produce(topic, batch, api_version).error_code, ErrorCode.NONE)
        entries = fetched_entries(broker, topic)
        found = [time for _, time in _times_in(entries)]
        assert found == times, f"times sent: {times}, stored: {found}"
        assert not any(attributes_of(entry) & LOG_APPEND_TIME for entry in entries), (
            "bit 3 of the attributes says that the times are the broker's"
        )


@judges("TIME-005")
@pytest.mark.parametrize("compression", COMPRESSIONS)
@at_versions("Produce", "2", "3+")
def test_timestamp_minus_1_is_accepted_and_stored(
    broker: BrokerUnderTest, api_version: int, compression: str
) -> None:
    """-1, and it stays so."""
    topic = _of_create_time(broker)
    batch = encoded_for(api_version, _with_times(b"untimed", NO_TIME, NO_TIME), compression)
    with requirement("TIME-005"):
        expect_error(
            broker.produce(topic, batch, api_version).error_code, ErrorCode.NONE, "time -1"
        )
        found = [time for _, time in _times_in(fetched_entries(broker, topic))]
        assert found == [NO_TIME] * 2, f"sent without a time, stored with {found}"


@judges("TIME-006")
@pytest.mark.parametrize("compression", COMPRESSIONS)
@at_versions("Produce", "2", "3+")
def test_descending_timestamps_do_not_change_record_order(
    broker: BrokerUnderTest, api_version: int, compression: str
) -> None:
    """Within a batch and from batch to batch: records stand as they came."""
    topic = _of_create_time(broker)
    batches = [
        [BASE_MS + after for after in some] for some in ((900, 500, 700), (300, 200), (400,))
    ]
    with requirement("TIME-006"):
        for times in batches:
            batch = encoded_for(api_version, _with_times(b"back", *times), compression)
            expect_error(broker.produce(topic, batch, api_version).error_code, ErrorCode.NONE)
        found = _times_in(fetched_entries(broker, topic))
        sent = list(enumerate(time for times in batches for time in times))
        assert found == sent, f"(offset, time) sent: {sent}, stored: {found}"


@judges("TIME-004")
@pytest.mark.parametrize(
    ("limits", "too_far_ms", "near_ms"),
    [
        ({"message.timestamp.before.max.ms": str(HOUR_MS)}, -2 * HOUR_MS, -HOUR_MS // 2),
        ({"message.timestamp.after.max.ms": str(HOUR_MS)}, 2 * HOUR_MS, HOUR_MS // 2),
    ],
    ids=["before", "after"],
)
@at_versions("Produce", "2", "3+")
def test_timestamp_outside_limits_returns_invalid_timestamp(
    broker: BrokerUnderTest,
    api_version: int,
    limits: dict[str, str],
    too_far_ms: int,
    near_ms: int,
) -> None:
    """One of three records is; nothing of the batch is appended. Within the limit all is taken.

    So it is in a topic that keeps the codec, and in one that stores another.
    """
    topic, recoded = (
        broker.create_topic(configs=limits | {"compression.type": codec})
        for codec in ("producer", "snappy")
    )
    logs, present = (UntouchedLog(broker, topic), UntouchedLog(broker, recoded)), now_ms()
    with requirement("TIME-004") as check:
        for compression, log in product(COMPRESSIONS, logs):
            name = f"{compression}, topic {logs.index(log)}"
            with check.subtest(name):
                times = (present, present + too_far_ms, present)
                batch = encoded_for(api_version, _with_times(b"far", *times), compression)
                where = f"{name}, {too_far_ms} ms from now"
                log.expect_refusal(batch, api_version, ErrorCode.INVALID_TIMESTAMP, where)
        batch = encoded_for(api_version, _with_times(b"near", present, present + near_ms))
        answer = broker.produce(topic, batch, api_version)
        expect_error(answer.error_code, ErrorCode.NONE, f"{near_ms} ms from now")


@judges("TIME-004")
@at_versions("Produce", "2", "3+")
def test_timestamp_limits_do_not_refuse_absent_times_or_log_append_time(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Both limits are set: no time is no old time, and the broker's own time is always right."""
    limits = {f"message.timestamp.{side}.max.ms": str(HOUR_MS) for side in ("before", "after")}
    stamped = limits | {"message.timestamp.type": "LogAppendTime"}
    topic, of_broker = (broker.create_topic(configs=configs) for configs in (limits, stamped))
    far = (now_ms() - 2 * DAY_MS, now_ms() + 2 * DAY_MS)
    cases = (
        ("time -1", topic, _with_times(b"none", NO_TIME, NO_TIME)),
        ("far times, LogAppendTime", of_broker, _with_times(b"far", *far)),
    )
    with requirement("TIME-004") as check:
        for compression in COMPRESSIONS:
            for what, where, records in cases:
                with check.subtest(f"{compression}, {what}"):
                    batch = encoded_for(api_version, records, compression)
                    code = broker.produce(where, batch, api_version).error_code
                    expect_error(code, ErrorCode.NONE, f"{compression}, {what}")


# -- the broker's time -----------------------------------------------------------------------------


@judges("TIME-002")
@pytest.mark.parametrize("compression", COMPRESSIONS)
@at_versions("Produce", "2", "3+")
def test_log_append_time_topic_replaces_producer_timestamps(
    broker: BrokerUnderTest, api_version: int, compression: str
) -> None:
    """One time for all records of the batch, of the broker's clock, and bit 3 says so."""
    topic = _of_log_append_time(broker)
    times = [BASE_MS - 3 * DAY_MS, BASE_MS - 2 * DAY_MS, NO_TIME]
    batch = encoded_for(api_version, _with_times(b"replaced", *times), compression)
    with requirement("TIME-002"):
        expect_error(broker.produce(topic, batch, api_version).error_code, ErrorCode.NONE)
        entries = fetched_entries(broker, topic)
        found = [time for _, time in _times_in(entries)]
        assert len(found) == len(times), f"{len(found)} records came"
        assert len(set(found)) == 1, f"the records of one batch have the times {found}"
        apart_ms = found[0] - now_ms()
        assert abs(apart_ms) < DAY_MS, f"time {found[0]} is {apart_ms} ms from now"
        assert all(attributes_of(entry) & LOG_APPEND_TIME for entry in entries), (
            "bit 3 of the attributes does not say that the times are the broker's"
        )


@judges("TIME-010")
@pytest.mark.parametrize("compression", COMPRESSIONS)
@at_versions("Produce", "2", "3+")
def test_produce_returns_stored_log_append_time(
    broker: BrokerUnderTest, api_version: int, compression: str
) -> None:
    """log_append_time is what a reader gets, of each of two batches."""
    topic = _of_log_append_time(broker)
    batch = encoded_for(api_version, _with_times(b"told", BASE_MS, BASE_MS), compression)
    with requirement("TIME-010"):
        told = []
        for _ in range(2):
            answer = broker.produce(topic, batch, api_version)
            expect_error(answer.error_code, ErrorCode.NONE)
            told += [answer.log_append_time_ms] * 2
        stored = [time for _, time in _times_in(fetched_entries(broker, topic))]
        assert stored == told, f"log_append_time of the answers: {told}, stored: {stored}"


@judges("TIME-010")
@at_versions("Produce", "3+")
def test_repeated_batch_returns_stored_log_append_time(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A batch of an idempotent producer is sent again when the broker's clock shows a later time.

    Not applicable where a repeated batch is refused: IDEM-005 judges that.
    """
    topic, producer = _of_log_append_time(broker), new_producer(broker)
    batch = producer.batch(0, b"told again")
    first = broker.produce(topic, batch, api_version)

    def later() -> bool:
        other = broker.produce(topic, batch_of(b"later"), api_version)
        return other.log_append_time_ms > first.log_append_time_ms

    broker.eventually(later, "the broker's clock goes on")
    again = broker.produce(topic, batch, api_version)
    if again.error_code != ErrorCode.NONE:
        raise NotApplicable("repeated_batches", "a repeated batch is refused")
    with requirement("TIME-010"):
        stored = _times_in(fetched_entries(broker, topic))[0][1]
        told = (first.log_append_time_ms, again.log_append_time_ms)
        assert told == (stored, stored), f"log_append_time of both answers: {told}, stored {stored}"


def _saying_log_append_time(produce_version: int, time_ms: int, compression: str) -> bytes:
    """One record of a producer that sets bit 3 itself."""
    if produce_version >= FIRST_PRODUCE_OF_BATCHES:
        batch = RecordBatch([Record(b"x")], base_timestamp=time_ms, attributes=LOG_APPEND_TIME)
        return encoded_for(produce_version, batch, compression)
    plain = message_bytes(1, b"x", timestamp=time_ms, attributes=LOG_APPEND_TIME)
    if compression == "none":
        return plain
    return gzip_wrapper(1, plain, timestamp=time_ms, attributes=LOG_APPEND_TIME)


@judges("TIME-003")
@pytest.mark.parametrize("compression", COMPRESSIONS)
@at_versions("Produce", "2", "3+")
def test_produce_with_log_append_time_bit_returns_invalid_timestamp(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int, compression: str
) -> None:
    """Bit 3 of the attributes is set, where no time of the producer counts: nothing is appended.

    A time that a CreateTime topic takes is not asked about: since KIP-937 it is looked at first.
    """
    with requirement("TIME-003") as check:
        for make, time_ms in (
            (_of_log_append_time, BASE_MS),
            (_of_log_append_time, NO_TIME),
            (_of_create_time, NO_TIME),
        ):
            with check.subtest(f"{make.__name__.strip('_')}, time {time_ms}"):
                log = UntouchedLog(broker, kept.topic(broker, make))
                where = f"topic{make.__name__.replace('_', ' ')}, time {time_ms}"
                batch = _saying_log_append_time(api_version, time_ms, compression)
                log.expect_refusal(batch, api_version, ErrorCode.INVALID_TIMESTAMP, where)


# -- old formats -----------------------------------------------------------------------------------


@judges("TIME-007")
@at_versions("Produce", "0-1")
def test_message_of_magic_0_is_fetched_with_timestamp_minus_1(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Fetch returns its message with the time -1 in formats with times."""
    broker.version("Fetch", "2+")
    topic = _of_create_time(broker)
    message = message_bytes(0, b"without a time")
    with requirement("TIME-007") as check:
        answer = broker.produce(topic, message, api_version)
        expect_error(answer.error_code, ErrorCode.NONE)
        for version in broker.advertised("Fetch") & VersionRange.parse("2-12"):
            with check.subtest(f"Fetch v{version}"):
                found = [time for _, time in _times_in(fetched_entries(broker, topic, version))]
                assert found == [NO_TIME], (
                    f"Fetch {version}: a message of magic 0 has the time {found}"
                )
