"""RECV, STOR: logs with an unusual end or begin when the broker is started again."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.errors import PreparationFailed
from harness.client.requests import EARLIEST, LATEST, Topic
from harness.codec.data_framing.log_folder import CLEAN_SHUTDOWN, LEADER_EPOCHS
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker
from suites.durability.support.brief_sessions import BRIEF
from suites.durability.support.broken_logs import await_back, entries_of, segments_in
from suites.durability.support.restarts import expect_kept
from suites.durability.support.segments import (
    DAY_MS,
    HOUR_MS,
    OFTEN,
    SEGMENT_MS,
    append_segments,
    begin_once,
    timed,
    topic_of_segments,
)
from suites.protocol.support.appended import append, batch_of, now_ms
from suites.protocol.support.compacted import batches_of
from suites.protocol.support.deleted_records import delete_records
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetching import records_of
from suites.protocol.support.idempotent import (
    IdempotentProducer,
    expect_taken_again,
    new_producer,
)
from suites.protocol.support.log_answers import epoch_ends, offsets_by_time
from suites.protocol.support.topic_admin import ask_to_delete
from suites.protocol.support.whole_answers import WholeAnswers, expect_same

PARTITIONS = {
    "STOR-007": 7,
    "STOR-030": 8,
    "RECV-019": 4,
    "RECV-020": 2,
    "RECV-028": 3,
    "RECV-029": 5,
    "DELR-011": 6,
}
"""Numbers of partitions, by which a defect recognizes its test."""

END = 6
CUT = (0, 1, 2)
"""Numbers of batches that are lost at the end of each partition."""


@judges("STOR-007")
@needs_broker(Use.PERSISTENT, {**BRIEF, **OFTEN})
def test_fully_expired_log_keeps_log_end_offset_after_restarts(
    persistent_broker: PersistentBroker,
) -> None:
    """All of its records are removed before the restarts; then it goes on where it ended."""
    client = persistent_broker.client
    topic = topic_of_segments(client, PARTITIONS["STOR-007"], retention__ms=str(2 * DAY_MS))
    append_segments(client, topic, [[b"r"] * 2] * 3, oldest_ms=3 * DAY_MS)
    begin_once(client, topic, END)
    with requirement("STOR-007") as check:
        for when, stop in (
            ("after a stop,", persistent_broker.stop),
            ("after a kill,", persistent_broker.kill),
        ):
            stop()
            persistent_broker.start()
            await_back(client, topic)
            with check.subtest(when):
                found = begin_once(client, topic, END), client.list_offset(topic, LATEST).offset
                assert found == (END, END), f"{when} earliest and latest are {found}, not (6, 6)"
        answer = client.produce(topic, batch_of(b"next"))
        expect_error(answer.error_code, ErrorCode.NONE, "the next record")
        assert answer.base_offset == END, f"the next record has offset {answer.base_offset}, not 6"
        found_records = records_of(client.fetch(topic, END))
        assert found_records == [(END, b"next")], f"a fetch at 6 brings {found_records}"


@judges("STOR-030")
@needs_broker(Use.PERSISTENT, {**BRIEF, **OFTEN})
def test_segment_ends_by_time_of_first_record_stored_before_restart(
    persistent_broker: PersistentBroker,
) -> None:
    """A partition for each end; of the log, one byte is wanted, so that it soon begins with the
    segment that is written to."""
    client = persistent_broker.client
    topic = topic_of_segments(client, PARTITIONS["STOR-030"], retention__bytes="1")
    first_ms = now_ms() - HOUR_MS
    ends = (("after a stop,", persistent_broker.stop), ("after a kill,", persistent_broker.kill))
    for partition in range(len(ends)):
        append(client, topic, timed(first_ms, b"r"), partition=partition)
    with requirement("STOR-030") as check:
        for partition, (when, stop) in enumerate(ends):
            stop()
            persistent_broker.start()
            await_back(client, topic, partition)
            later = (timed(first_ms + SEGMENT_MS + more_ms, b"r") for more_ms in (0, 1))
            append(client, topic, *later, partition=partition)
            with check.subtest(when):
                begin = begin_once(client, topic, 2, partition)
                assert begin == 2, f"{when} the segment that is written to begins at {begin}, not 2"


@judges("RECV-019")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_first_of_equal_largest_times_is_found_after_restarts(
    persistent_broker: PersistentBroker,
) -> None:
    """Two batches have the largest time, at the end of the log or before it."""
    client = persistent_broker.client
    client.version("ListOffsets", "7+")
    topic = client.create_topic(PARTITIONS["RECV-019"], {"index.interval.bytes": "64"})
    largest_ms = now_ms() - HOUR_MS
    for partition, times in enumerate(((-5, 0, 0, -9), (0, 0), (-1, 0, -3, 0), (-2, 0, 0))):
        for later in times:
            append(client, topic, timed(largest_ms + later, bytes(90)), partition=partition)
    logs = {topic: PARTITIONS["RECV-019"]}

    def ask() -> WholeAnswers:
        return offsets_by_time(client, logs, {largest_ms})

    expect_kept(persistent_broker, "RECV-019", logs, ask, lambda _: None)


def _restart(kept: PersistentBroker, topic: Topic, partitions: int = 1) -> None:
    kept.stop()
    kept.start()
    _await_all(kept.client, topic, partitions)


def _await_all(client: BrokerUnderTest, topic: Topic, partitions: int) -> None:
    for partition in range(partitions):
        await_back(client, topic, partition)


@judges("RECV-020")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_epochs_below_log_start_are_the_same_after_restarts(
    persistent_broker: PersistentBroker,
) -> None:
    """The records of the first two epochs are deleted, and in one partition a part of the third."""
    client, count = persistent_broker.client, PARTITIONS["RECV-020"]
    client.version("OffsetForLeaderEpoch")
    topic = client.create_topic(count)
    epochs: set[int] = set()
    for restarts in range(4):
        if restarts:
            _restart(persistent_broker, topic, count)
        for partition in range(count):
            append(client, topic, batch_of(b"a"), batch_of(b"b"), partition=partition)
        epochs |= {one.partition_leader_epoch or 0 for one in batches_of(client, topic)}
    for partition in range(count):
        delete_records(client, topic, 4 + partition, partition=partition)
    logs = {topic: count}

    def ask() -> WholeAnswers:
        return epoch_ends(client, logs, epochs)

    expect_kept(persistent_broker, "RECV-020", logs, ask, lambda _: None)


def _unclean(kept: PersistentBroker) -> None:
    """Remove the mark of a shutdown in good order, so that the start recovers all logs."""
    for folder in kept.folders:
        (folder / CLEAN_SHUTDOWN).unlink(missing_ok=True)


@judges("RECV-028")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_batch_that_recovery_cut_off_is_appended_when_it_is_sent_again(
    persistent_broker: PersistentBroker,
) -> None:
    """The broker has noted its producers at the end of the log, which then loses some batches."""
    client = persistent_broker.client
    topic, producer = client.create_topic(len(CUT)), new_producer(client)
    batches = [producer.batch(0, b"a", b"b"), producer.batch(2, b"c"), producer.batch(3, b"d")]
    for partition in range(len(CUT)):
        append(client, topic, *batches, partition=partition)
    persistent_broker.stop()
    _unclean(persistent_broker)
    for partition, lost in enumerate(CUT):
        (segment,) = segments_in(persistent_broker.partition_folder(topic.name, partition))
        data = segment.read_bytes()
        ends = [entry.at + entry.size for entry in entries_of(data)]
        segment.write_bytes(data[: ends[-1 - lost]])
    with requirement("RECV-028") as check:
        persistent_broker.start()
        for partition, lost in enumerate(CUT):
            with check.subtest(f"{lost} batches are lost"):
                await_back(client, topic, partition)
                _expect_goes_on(client, topic, producer, batches, partition)


def _expect_goes_on(
    client: BrokerUnderTest,
    topic: Topic,
    producer: IdempotentProducer,
    batches: list[bytes],
    partition: int,
) -> None:
    """A gap is refused, the last batch that is left is known, and what is lost is taken."""
    left, first_lost = len(batches) - CUT[partition], 4 - CUT[partition]
    told = f"{CUT[partition]} batches are lost"
    gap = client.produce(topic, producer.batch(first_lost + 5, b"gap"), partition=partition)
    expect_error(gap.error_code, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, f"{told}, a gap")
    again = client.produce(topic, batches[left - 1], partition=partition)
    expect_taken_again(again.error_code, f"{told}, the last batch that is left")
    for at, batch in enumerate([*batches[left:], producer.batch(4, b"next")]):
        answer = client.produce(topic, batch, partition=partition)
        where = f"{told}, batch {left + at}"
        expect_error(answer.error_code, ErrorCode.NONE, where)
        offset = answer.base_offset
        assert offset == first_lost + at, f"{where} is at offset {offset}, not {first_lost + at}"
    values = [value for _, value in records_of(client.fetch(topic, 0, partition=partition))]
    assert values == [b"a", b"b", b"c", b"d", b"next"], f"{told}, then the log holds {values}"


@judges("RECV-029")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_missing_leader_epochs_are_read_from_batches_after_kill(
    persistent_broker: PersistentBroker,
) -> None:
    """The file is missing in all partitions but the first; each epoch has batches in each."""
    client, count = persistent_broker.client, PARTITIONS["RECV-029"]
    client.version("OffsetForLeaderEpoch")
    topic = client.create_topic(count)
    for restarts in range(3):
        if restarts:
            _restart(persistent_broker, topic, count)
        for partition in range(count):
            values = [b"%d" % number for number in range(1 + partition)]
            append(client, topic, *map(batch_of, values), partition=partition)
    epochs = {one.partition_leader_epoch or 0 for one in batches_of(client, topic)}

    def ask() -> WholeAnswers:
        return epoch_ends(client, {topic: count}, epochs)

    before = ask()
    persistent_broker.kill()
    for partition in range(1, count):
        folder = persistent_broker.partition_folder(topic.name, partition)
        (folder / LEADER_EPOCHS).unlink()
    with requirement("RECV-029"):
        persistent_broker.start()
        _await_all(client, topic, count)
        expect_same(client, before, ask, "after a kill,")


def _made_again(client: BrokerUnderTest, topic: Topic, partitions: int) -> Topic:
    """Delete the topic, and create one with its name as soon as the broker takes it."""
    answer = ask_to_delete(client, client.version("DeleteTopics"), topic.name)[topic.name][0]
    if answer.error_code != ErrorCode.NONE:
        raise PreparationFailed(f"DeleteTopics: {ErrorCode.describe(answer.error_code)}")

    def make() -> Topic | None:
        try:
            return client.create_topic(partitions, name=topic.name)
        except PreparationFailed as refused:
            if refused.error_code != ErrorCode.TOPIC_ALREADY_EXISTS:
                raise
            return None

    return client.eventually(make, f"{topic.name} is created again")


@judges("DELR-011")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_topic_made_again_after_restart_begins_at_0(persistent_broker: PersistentBroker) -> None:
    """Its deleted namesake began behind offset 0 before the restart; another restart follows."""
    client, count = persistent_broker.client, PARTITIONS["DELR-011"]
    client.version("DeleteRecords")
    topic = client.create_topic(count)
    for partition in range(count):
        append(client, topic, *[batch_of(b"old")] * END, partition=partition)
        delete_records(client, topic, partition + 1, partition=partition)
    _restart(persistent_broker, topic, count)
    again = _made_again(client, topic, count)
    with requirement("DELR-011") as check:
        for times in range(2):
            if times:
                _restart(persistent_broker, again, count)
            for partition in range(count):
                with check.subtest(f"partition {partition} after {times} restarts"):
                    _expect_log(client, again, partition, [b"new"] * times)
                    answer = client.produce(again, batch_of(b"new"), partition=partition)
                    expect_error(answer.error_code, ErrorCode.NONE, "Produce")
                    offset = answer.base_offset
                    assert offset == times, f"partition {partition}: record {times} is at {offset}"


def _expect_log(client: BrokerUnderTest, topic: Topic, partition: int, values: list[bytes]) -> None:
    """It begins at offset 0, and holds these records."""
    begin = client.list_offset(topic, EARLIEST, partition=partition).offset
    end = client.list_offset(topic, LATEST, partition=partition).offset
    told = f"partition {partition}: earliest and latest are {(begin, end)}"
    assert (begin, end) == (0, len(values)), f"{told}, expected {(0, len(values))}"
    answer = client.fetch(topic, 0, partition=partition)
    expect_error(answer.error_code, ErrorCode.NONE, f"partition {partition}, Fetch at 0")
    found = [value for _, value in records_of(answer)]
    assert found == values, f"partition {partition} holds {found}, expected {values}"


@judges("RECV-015")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_producer_sequences_are_read_from_batches_where_snapshots_are_unreadable(
    persistent_broker: PersistentBroker,
) -> None:
    """The newest segment has no batch of the producer. In one partition all snapshots are nonsense,
    in the other each is cut to its half."""
    client = persistent_broker.client
    topic, producer = client.create_topic(2, {"segment.ms": str(SEGMENT_MS)}), new_producer(client)
    first, last = producer.batch(0, b"a", b"b"), producer.batch(2, b"c")
    for partition in range(2):
        before, behind = (timed(now_ms() + by * SEGMENT_MS, b"filler") for by in (-10, 2))
        append(client, topic, before, first, last, behind, partition=partition)
    persistent_broker.stop()
    _unclean(persistent_broker)
    for partition in range(2):
        for file in persistent_broker.partition_folder(topic.name, partition).glob("*.snapshot"):
            data = file.read_bytes()
            file.write_bytes(data[: len(data) // 2] if partition else client.random.randbytes(40))
    with requirement("RECV-015") as check:
        persistent_broker.start()
        for partition, what in enumerate(("with nonsense", "with halves")):
            with check.subtest(what):
                await_back(client, topic, partition)
                gap = client.produce(topic, producer.batch(7, b"gap"), partition=partition)
                expect_error(
                    gap.error_code, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, f"{what}, a gap"
                )
                again = client.produce(topic, last, partition=partition)
                expect_taken_again(again.error_code, f"{what}: the last batch once more")
                following = client.produce(topic, producer.batch(3, b"d"), partition=partition)
                expect_error(following.error_code, ErrorCode.NONE, f"{what}: the next batch")
                offset = following.base_offset
                assert offset == 5, f"{what}: the next batch is at offset {offset}, expected 5"
