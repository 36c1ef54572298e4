"""RECV, DELR: whole answers about logs are the same when the broker is started again."""

from __future__ import annotations

from collections.abc import Callable

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker
from suites.durability.support.brief_sessions import BRIEF
from suites.durability.support.restarts import ENDS, KILLED, expect_kept
from suites.durability.support.segments import append_segments, topic_of_segments
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.compacted import (
    QUICKLY,
    KeyedBatches,
    await_compacted,
    batches_of,
    compacted_topic,
)
from suites.protocol.support.deleted_records import delete_records
from suites.protocol.support.expect import expect_error
from suites.protocol.support.idempotent import new_producer
from suites.protocol.support.log_answers import (
    Logs,
    epoch_ends,
    fetched,
    log_sizes,
    offsets_by_time,
    producers,
)
from suites.protocol.support.rich_logs import IDEMPOTENT, MANY, grow, rich_logs, times_of
from suites.protocol.support.whole_answers import WholeAnswers
from suites.protocol.support.writers import Writer

PARTITIONS = {"RECV-018": 9, "RECV-019": 10, "RECV-020": 11, "RECV-021": 12, "RECV-026": 13}
"""Numbers of partitions, by which a defect recognizes its test."""

COMPACTED = [1, 3, 4, 5]
SEGMENTS = [[b"1", b"2"], [b"3", b"4"], [b"5"]]  # and a batch of three records
END = 8  # of each log
DELETED_BELOW = (1, 2, 6, 7, 0, 8, 5)


@judges("RECV-018")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_fetch_at_each_offset_returns_same_batches_after_restarts(
    persistent_broker: PersistentBroker,
) -> None:
    """In several segments and index intervals, with records appended between the restarts."""
    _expect_kept_while_growing(persistent_broker, "RECV-018", fetched)


@judges("RECV-019")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_list_offsets_for_each_time_returns_same_offsets_after_restarts(
    persistent_broker: PersistentBroker,
) -> None:
    """For the time of each record and its neighbours, and all special times."""
    client = persistent_broker.client
    logs = rich_logs(client, PARTITIONS["RECV-019"])
    times = times_of(client, logs)

    def go_on(_: str) -> None:
        grow(client, logs)
        times.update(times_of(client, logs))

    expect_kept(
        persistent_broker, "RECV-019", logs, lambda: offsets_by_time(client, logs, times), go_on
    )


@judges("RECV-020")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_offset_for_leader_epoch_returns_same_ends_after_restarts(
    persistent_broker: PersistentBroker,
) -> None:
    """For each epoch that a batch has; a start may begin a new one."""
    persistent_broker.client.version("OffsetForLeaderEpoch")
    _expect_kept_while_growing(persistent_broker, "RECV-020", _ends_of_written_epochs)


@judges("RECV-021")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_producers_are_known_as_before_and_go_on_after_restarts(
    persistent_broker: PersistentBroker,
) -> None:
    """Those of several epochs in one partition, and one that goes on after each restart."""
    client = persistent_broker.client
    client.version("DescribeProducers")
    logs = rich_logs(client, PARTITIONS["RECV-021"])
    topic = list(logs)[-1]
    writer = Writer(client, topic, IDEMPOTENT)
    writer.append(2)

    def go_on(when: str) -> None:
        with requirement("RECV-021"):
            writer.expect_goes_on(when)
        grow(client, logs)

    expect_kept(persistent_broker, "RECV-021", logs, lambda: producers(client, logs), go_on)


@judges("RECV-021")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_sequences_that_wrap_go_on_after_restarts(persistent_broker: PersistentBroker) -> None:
    """The last batch ends behind sequence 2147483647, in a partition for each restart."""
    client = persistent_broker.client
    client.version("DescribeProducers")
    topic, producer = client.create_topic(len(ENDS)), new_producer(client)
    wrapped, following = producer.batch(2**31 - 2, b"a", b"b", b"c"), producer.batch(1, b"d")
    for partition in range(len(ENDS)):
        append(client, topic, wrapped, partition=partition)
    logs = {topic: len(ENDS)}

    def go_on(when: str) -> None:
        partition = ENDS.index(when)
        for batch, code, offset in (
            (wrapped, ErrorCode.NONE, 0),
            (producer.batch(2, b"gap"), ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, -1),
            (following, ErrorCode.NONE, 3),
            (following, ErrorCode.NONE, 3),
        ):
            with requirement("RECV-021"):
                answer = client.produce(topic, batch, partition=partition)
                what = f"{when} a batch at offset {offset}" if offset >= 0 else f"{when} a gap"
                expect_error(answer.error_code, code, what)
                found = answer.base_offset
                assert found == offset, f"{what} is acknowledged at {found}"
        with requirement("RECV-021"):
            end = client.end_offset(topic, partition)
            assert end == 4, f"{when} the log of 4 records ends at {end}"

    expect_kept(persistent_broker, "RECV-021", logs, lambda: producers(client, logs), go_on)


@judges("RECV-026")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_describe_log_dirs_returns_same_sizes_after_restarts(
    persistent_broker: PersistentBroker,
) -> None:
    """Of logs in several segments, and of empty ones."""
    persistent_broker.client.version("DescribeLogDirs")
    _expect_kept_while_growing(persistent_broker, "RECV-026", log_sizes)


@judges("RECV-018")
@needs_broker(Use.PERSISTENT, {**BRIEF, **QUICKLY})
def test_fetch_at_each_offset_of_compacted_log_returns_same_batches_after_restarts(
    persistent_broker: PersistentBroker,
) -> None:
    """Whole batches are gone, and records inside of one; the log is not compacted further."""
    client = persistent_broker.client
    topic, made = compacted_topic(client), KeyedBatches()
    logs = {topic: 1}
    keys = [(b"a",), (b"b", b"c"), (b"c",), (b"a",), (b"d",)]
    append(client, topic, *[made.next(*each, compression="gzip") for each in keys])
    await_compacted(client, topic, {0: COMPACTED})
    expect_kept(persistent_broker, "RECV-018", logs, lambda: fetched(client, logs), lambda _: None)


@judges("DELR-007")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_log_starts_are_the_same_after_restarts(persistent_broker: PersistentBroker) -> None:
    """Inside of a batch, at the begin of a segment, at the end of the log.

    A kill follows a stop without a deletion between them: a killed broker may lose the log starts
    since its last checkpoint.
    """
    client = persistent_broker.client
    client.version("DeleteRecords")
    topic = topic_of_segments(client, len(DELETED_BELOW))
    logs = {topic: len(DELETED_BELOW)}
    for partition in range(len(DELETED_BELOW)):
        append_segments(client, topic, SEGMENTS, partition=partition)
        append(client, topic, batch_of(b"a", b"b", b"c"), partition=partition)

    def delete(by: int) -> None:
        for partition, below in enumerate(DELETED_BELOW):
            delete_records(client, topic, min(below + by, END), partition=partition)

    def go_on(when: str) -> None:
        if when == KILLED:
            delete(1)

    delete(0)
    expect_kept(persistent_broker, "DELR-007", logs, lambda: _starts(client, logs), go_on)


def _starts(client: BrokerUnderTest, logs: dict[Topic, int]) -> WholeAnswers:
    return fetched(client, logs) | offsets_by_time(client, logs, ())


def _ends_of_written_epochs(client: BrokerUnderTest, logs: Logs) -> WholeAnswers:
    written = batches_of(client, list(logs)[-1], MANY)
    return epoch_ends(client, logs, {one.partition_leader_epoch for one in written})


def _expect_kept_while_growing(
    broker: PersistentBroker,
    requirement_id: str,
    ask: Callable[[BrokerUnderTest, Logs], WholeAnswers],
) -> None:
    """Logs of several segments have the same whole answers; they grow between the restarts."""
    client = broker.client
    logs = rich_logs(client, PARTITIONS[requirement_id])
    expect_kept(
        broker, requirement_id, logs, lambda: ask(client, logs), lambda _: grow(client, logs)
    )
