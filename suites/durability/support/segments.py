"""Logs of small segments; the broker deletes the oldest ones during a test.

A segment ends before a record that is more than ``segment.ms`` younger than the segment's first
record, in every release since 0.10.1. The timestamps of the records decide where segments begin, so
no large ones are needed (`segment.bytes` is a megabyte at least since 4.0).
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.older_forms import records_for
from harness.client.requests import EARLIEST, Topic
from harness.codec.error_code import ErrorCode
from harness.codec.records import Record, RecordBatch, encode_batch
from suites.protocol.support.appended import append, now_ms
from suites.protocol.support.expect import expect_error
from suites.protocol.support.log_entries import fetched_entries
from suites.protocol.support.record_formats import records_in

OFTEN = {"log.retention.check.interval.ms": "300", "log.initial.task.delay.ms": "300"}
"""Settings of a broker that checks the retention of its logs three times a second."""

SEGMENT_MS = 60_000
SECOND_MS, MINUTE_MS, HOUR_MS = 1_000, 60_000, 60 * 60_000
DAY_MS = 24 * HOUR_MS
# Before log.initial.task.delay.ms could be set, the first look at logs came after 30 s.
GONE_WITHIN_MS = 75_000


def topic_of_segments(broker: BrokerUnderTest, partitions: int = 1, **configs: str) -> Topic:
    """Create a topic in which a minute's difference ends a segment.

    ``configs``: names of configs with dots written as ``__``. Raises ApiNotAdvertised before
    0.10.1, where the broker's clock ends segments and timestamps do not count (KIP-33). ListOffsets
    v1 shows the difference: KIP-79 is in the same release.
    """
    broker.version("ListOffsets", "1+")
    named = {name.replace("__", "."): value for name, value in configs.items()}
    return broker.create_topic(partitions, {"segment.ms": str(SEGMENT_MS), **named})


def aged(age_ms: int, *values: bytes) -> bytes:
    """A batch of records that are as old as this."""
    return timed(now_ms() - age_ms, *values)


def timed(time_ms: int, *values: bytes) -> bytes:
    """A batch of records of this time."""
    records = [Record(value) for value in values]
    return encode_batch(RecordBatch(records, base_timestamp=time_ms))


def append_segments(
    broker: BrokerUnderTest,
    topic: Topic,
    segments: Sequence[Sequence[bytes]],
    *,
    oldest_ms: int = HOUR_MS,
    partition: int = 0,
) -> None:
    """Each of batches with these values, a record a batch; segments are two minutes apart."""
    for place, values in enumerate(segments):
        for later, value in enumerate(values):
            age = oldest_ms - place * 2 * SEGMENT_MS - later * SECOND_MS
            append(broker, topic, aged(age, value), partition=partition)


def begin_of(broker: BrokerUnderTest, topic: Topic, partition: int = 0) -> int:
    """The earliest offset."""
    answer = broker.list_offset(topic, EARLIEST, partition=partition)
    if answer.error_code != ErrorCode.NONE:
        raise PreparationFailed(f"ListOffsets: {ErrorCode.describe(answer.error_code)}")
    return answer.offset


def begin_once(broker: BrokerUnderTest, topic: Topic, expected: int, partition: int = 0) -> int:
    """The earliest offset as soon as so much has gone; else the last that was seen."""
    return broker.last_seen(
        lambda: begin_of(broker, topic, partition), lambda at: at >= expected, GONE_WITHIN_MS
    )


def size_of(broker: BrokerUnderTest, batch: bytes) -> int:
    """Return the size in bytes of a prepared batch in the broker's log."""
    return len(records_for(broker.version("Produce"), batch) or b"")


def stored_entries(
    broker: BrokerUnderTest, topic: Topic, begin: int, end: int, partition: int = 0
) -> list[bytes]:
    """All batches, or messages, from ``begin`` to ``end``, however many fetches it takes."""
    found: list[bytes] = []
    at = begin
    while at < end:
        found += fetched_entries(broker, topic, offset=at, partition=partition)
        last = records_in(found[-1])[-1].offset
        assert last >= at, f"a fetch at {at} brings offset {last} as its last"
        at = last + 1
    return found


def expect_removed(broker: BrokerUnderTest, topic: Topic, offset: int, partition: int = 0) -> None:
    """A fetch there is out of range."""
    code = broker.fetch(topic, offset, partition=partition).error_code
    told = f"Fetch at {offset}, which is removed"
    expect_error(code, ErrorCode.OFFSET_OUT_OF_RANGE, told)


WITNESSED = {"segment.ms": "1", "retention.bytes": "1", "min.insync.replicas": "1"}
"""Settings of the topic of a witness, which has one replica: each record ends a segment, and only
the last one stays."""


class Witness:
    """A topic of its own, by which is seen that the broker has looked at its logs again."""

    ROUNDS = 2  # what is looked at when it is asked for counts no more than half

    def __init__(self, broker: BrokerUnderTest, topic: Topic | None = None) -> None:
        """``topic``: on this broker, with the settings :data:`WITNESSED`; by default a new one."""
        self._broker = broker
        self._topic = topic or broker.create_topic(configs=WITNESSED)
        self._appended = 0
        self._append()  # the one that goes in the first round

    def _append(self) -> int:
        """Its offset."""
        age = HOUR_MS - self._appended * SECOND_MS
        append(self._broker, self._topic, aged(age, b"witness"))
        self._appended += 1
        return self._appended - 1

    def look(self) -> None:
        """Return when the broker has looked at all logs once more, from now on."""
        for _ in range(self.ROUNDS):
            newest = self._append()
            self._broker.eventually(
                lambda newest=newest: begin_of(self._broker, self._topic) == newest,  # type: ignore[misc]
                "the broker has looked at its logs",
                GONE_WITHIN_MS,
            )
