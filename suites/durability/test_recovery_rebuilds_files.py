"""RECV: the broker rebuilds the files that follow from a log if they are missing or wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

from harness.client.broker import BrokerUnderTest
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic
from harness.codec.data_framing.index_files import offset_index_entries
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import Inconclusive, requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker
from suites.durability.support.broken_logs import await_back, entries_of, segments_in, stored
from suites.durability.support.rolled_logs import (
    BATCHES,
    SEGMENT_MS,
    SEGMENTS,
    RolledLogs,
    knows_times,
    timestamp_of,
)
from suites.durability.support.segments import timed
from suites.durability.support.transactional import OpenTransaction
from suites.protocol.support.appended import append, now_ms
from suites.protocol.support.expect import expect_error
from suites.protocol.support.idempotent import IdempotentProducer, expect_taken_again, new_producer
from suites.protocol.support.partition_log import stored_batches
from suites.protocol.support.record_formats import records_in

OFFSETS, TIMES = ".index", ".timeindex"
SNAPSHOTS, ABORTED = ".snapshot", ".txnindex"
READ_COMMITTED = 1
COMMITTED_FETCH = "4+"
Spoil = Callable[[Path], None]
"""A change of one file."""


def _remove(file: Path) -> None:
    file.unlink(missing_ok=True)


def _fill(size: int, random: Random, file: Path) -> None:
    file.write_bytes(random.randbytes(size))


def _spoilt(random: Random) -> list[tuple[str, dict[str, Spoil]]]:
    """Return names and changes of the files of one partition, by their suffixes."""
    return [
        ("without .index", {OFFSETS: _remove}),
        ("without .timeindex", {TIMES: _remove}),
        ("without both", {OFFSETS: _remove, TIMES: _remove}),
        ("with an empty .index", {OFFSETS: partial(_fill, 0, random)}),
        ("with an empty .timeindex", {TIMES: partial(_fill, 0, random)}),
        ("with nonsense in .index", {OFFSETS: partial(_fill, 64, random)}),
        ("with nonsense in .timeindex", {TIMES: partial(_fill, 60, random)}),
        ("with a cut entry in .index", {OFFSETS: partial(_fill, 13, random)}),
        ("with a cut entry in .timeindex", {TIMES: partial(_fill, 29, random)}),
    ]


@judges("RECV-008")
@needs_broker(Use.PERSISTENT)
def test_missing_or_corrupt_indexes_are_rebuilt_after_kill(
    persistent_broker: PersistentBroker,
) -> None:
    """In each partition those of all three segments are missing or damaged in one way."""
    ways = _spoilt(persistent_broker.client.random)
    logs = RolledLogs(persistent_broker, len(ways))
    persistent_broker.kill()
    for index, (_, spoil) in enumerate(ways):
        for segment in segments_in(persistent_broker.partition_folder(logs.topic.name, index)):
            for suffix, do in spoil.items():
                do(segment.with_suffix(suffix))
    with requirement("RECV-008") as check:
        persistent_broker.start()
        for index, (way, _) in enumerate(ways):
            with check.subtest(way):
                await_back(persistent_broker.client, logs.topic, index)
                _expect_served(logs, index, way)
                _expect_indexed(logs, index, way)


@judges("RECV-008")
@needs_broker(Use.PERSISTENT)
def test_missing_indexes_are_rebuilt_after_clean_shutdown(
    persistent_broker: PersistentBroker,
) -> None:
    """Although the logs themselves are not looked at then."""
    logs = RolledLogs(persistent_broker)
    persistent_broker.stop()
    for segment in segments_in(persistent_broker.partition_folder(logs.topic.name)):
        _remove(segment.with_suffix(OFFSETS))
        _remove(segment.with_suffix(TIMES))
    with requirement("RECV-008"):
        persistent_broker.start()
        await_back(persistent_broker.client, logs.topic)
        _expect_served(logs, 0, "without indexes")
        _expect_indexed(logs, 0, "without indexes")


def _expect_served(logs: RolledLogs, partition: int, way: str) -> None:
    """All records, from each offset on, and the offset for each time."""
    client = logs.kept.client
    found = stored(client, logs.topic, partition)
    assert found == logs.before, f"{way} the log holds {found}, not {logs.before}"
    for offset, value in logs.before:
        answer = client.fetch(logs.topic, offset, partition=partition)
        expect_error(answer.error_code, ErrorCode.NONE, f"{way}, Fetch at {offset}")
        there = [r.value for r in records_in(record_bytes(answer)) if r.offset == offset]
        assert there == [value], f"{way} offset {offset} holds {there}, not {value!r}"
    for number in range(SEGMENTS * BATCHES if knows_times(client) else 0):
        timestamp = timestamp_of(logs.begin_ms, *divmod(number, BATCHES))
        told = client.list_offset(logs.topic, timestamp, partition=partition).offset
        assert told == 2 * number, f"{way} the offset for batch {number}'s time is {told}"


def _expect_indexed(logs: RolledLogs, partition: int, way: str) -> None:
    """The index of a segment that is complete leads to entries that hold the offsets."""
    folder = logs.kept.partition_folder(logs.topic.name, partition)
    for segment in segments_in(folder)[: SEGMENTS - 1]:
        file, data = segment.with_suffix(OFFSETS), segment.read_bytes()
        assert file.is_file(), f"{way} there is no {file.name}"
        starts = {entry.at: entry.size for entry in entries_of(data)}
        entries = list(offset_index_entries(file.read_bytes(), int(segment.stem)))
        assert entries, f"{way} {file.name} is empty"
        for offset, at in entries:
            wanted = f"{way} {file.name} says that offset {offset} is at byte {at}"
            assert at in starts, f"{wanted}, where no entry begins"
            there = [record.offset for record in records_in(data[at : at + starts[at]])]
            assert offset in there, f"{wanted}, where {there} are"


class _State(NamedTuple):
    """The state of transactions that a partition shows to a ``read_committed`` consumer."""

    end: int
    last_stable_offset: int
    aborted: list[tuple[int, int]]


def _state_of(broker: BrokerUnderTest, topic: Topic, partition: int) -> _State:
    version = broker.version("Fetch", COMMITTED_FETCH)
    version = min(version, broker.reading_version(topic))
    answer = broker.fetch(topic, 0, version, partition=partition, isolation_level=READ_COMMITTED)
    aborted = [(one.producer_id, one.first_offset) for one in answer.aborted_transactions or ()]
    return _State(answer.high_watermark, answer.last_stable_offset, sorted(aborted))


@judges("RECV-015")
@needs_broker(Use.PERSISTENT)
def test_producer_sequences_survive_kill_with_or_without_snapshots(
    persistent_broker: PersistentBroker,
) -> None:
    """With the snapshots in which they are noted, without, with the oldest, which lacks most, and
    with snapshots that cannot be read.

    The producer's first batch is in the second segment, its last one in the third.
    """
    client = persistent_broker.client
    producer = new_producer(client)
    nonsense = partial(_fill, 40, client.random)
    ways: list[tuple[str, slice, Spoil]] = [
        ("with all files", slice(0), _remove),
        ("without snapshots", slice(None), _remove),
        ("with the oldest snapshot alone", slice(1, None), _remove),
        ("with nonsense in the newest snapshot", slice(-1, None), nonsense),
        ("with nonsense in all snapshots", slice(None), nonsense),
    ]
    topic = client.create_topic(len(ways), {"segment.ms": str(SEGMENT_MS)})
    for index in range(len(ways)):
        before, behind = (timed(now_ms() + by * SEGMENT_MS, b"filler") for by in (-10, 2))
        batches = [before, producer.batch(0, b"first", b"second"), behind]
        append(client, topic, *batches, producer.batch(2, b"third"), partition=index)
        held = [value for _, value in stored(client, topic, index)]
        if held != [b"filler", b"first", b"second", b"filler", b"third"]:
            raise Inconclusive(f"partition {index} holds {held}")
    persistent_broker.kill()
    for index, (where, spoilt, spoil) in enumerate(ways):
        folder = persistent_broker.partition_folder(topic.name, index)
        snapshots = sorted(folder.glob(f"*{SNAPSHOTS}"))
        if len(snapshots) < SEGMENTS - 1:
            raise Inconclusive(f"{where}: {folder.name} has {len(snapshots)} snapshots")
        for file in snapshots[spoilt]:
            spoil(file)
    with requirement("RECV-015") as check:
        persistent_broker.start()
        for index, (where, *_) in enumerate(ways):
            with check.subtest(where):
                await_back(client, topic, index)
                _expect_going_on(client, topic, producer, index, where)


@judges("RECV-015")
@needs_broker(Use.PERSISTENT)
def test_transaction_and_producer_state_survive_kill(
    persistent_broker: PersistentBroker,
) -> None:
    """With the files in which they are noted, and without; then the producer goes on."""
    client = persistent_broker.client
    client.version("Fetch", COMMITTED_FETCH)
    removed: list[tuple[str, ...]] = [(), (SNAPSHOTS,), (ABORTED,), (SNAPSHOTS, ABORTED)]
    topic = client.create_topic(len(removed), {"segment.ms": str(SEGMENT_MS)})
    producer = new_producer(client)
    before = _transactions(client, topic, producer, len(removed))
    persistent_broker.kill()
    for index, suffixes in enumerate(removed):
        _remove_all(persistent_broker.partition_folder(topic.name, index), suffixes)
    with requirement("RECV-015") as check:
        persistent_broker.start()
        for index, suffixes in enumerate(removed):
            with check.subtest(" and ".join(suffixes) or "all files"):
                await_back(client, topic, index)
                where = f"without {' and '.join(suffixes)}" if suffixes else "with all files"
                there = client.last_seen(
                    partial(_state_of, client, topic, index), partial(before[index].__eq__)
                )
                assert there == before[index], f"{where}: {there}, before the kill {before[index]}"
                _expect_going_on(client, topic, producer, index, where)


def _remove_all(folder: Path, suffixes: tuple[str, ...]) -> None:
    for suffix in suffixes:
        files = list(folder.glob(f"*{suffix}"))
        if not files:
            raise Inconclusive(f"{folder.name} has no {suffix}, which was to be removed")
        for file in files:
            file.unlink()


def _transactions(
    client: BrokerUnderTest, topic: Topic, producer: IdempotentProducer, partitions: int
) -> list[_State]:
    """An aborted, a committed and an open transaction in each partition, in several segments."""
    every, started_ms = list(range(partitions)), now_ms() - 10 * SEGMENT_MS
    ended, still_open = OpenTransaction(client, topic), OpenTransaction(client, topic)
    for index in every:
        append(client, topic, producer.batch(0, b"first", b"second"), partition=index)
    ended.append(every, b"aborted", started_ms)
    ended.end(commit=False)
    ended.append(every, b"committed", now_ms() + 2 * SEGMENT_MS)
    ended.end(commit=True)
    still_open.append(every, b"open", now_ms() + 2 * SEGMENT_MS)
    for index in every:
        append(client, topic, producer.batch(2, b"third"), partition=index)
    states = []
    for index in every:
        opened = _opened_at(client, topic, still_open.producer.id, index)
        states.append(
            client.eventually(
                lambda index=index, opened=opened: _once_stable(client, topic, index, opened),  # type: ignore[misc]
                "the transactions that have ended are stable",
            )
        )
    return states


def _opened_at(client: BrokerUnderTest, topic: Topic, producer_id: int, partition: int) -> int:
    """Return the first offset of the open transaction."""
    return next(
        batch.base_offset
        for batch in stored_batches(client, topic, partition)
        if batch.producer_id == producer_id
    )


def _once_stable(
    client: BrokerUnderTest, topic: Topic, partition: int, opened: int
) -> _State | None:
    """None while a transaction that has ended lacks its marker."""
    state = _state_of(client, topic, partition)
    return state if state.last_stable_offset == opened and len(state.aborted) == 1 else None


def _expect_going_on(
    client: BrokerUnderTest, topic: Topic, producer: IdempotentProducer, partition: int, where: str
) -> None:
    """Its last batch is a duplicate, a gap is refused, what follows is taken."""
    end = client.end_offset(topic, partition)
    again = client.produce(topic, producer.batch(2, b"third"), partition=partition)
    expect_taken_again(again.error_code, f"{where}, the last batch once more")
    now = client.end_offset(topic, partition)
    assert now == end, f"{where}: a batch that was stored before the kill is stored once more"
    gap = client.produce(topic, producer.batch(9, b"gap"), partition=partition)
    expect_error(gap.error_code, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, f"{where}, a gap")
    next_one = client.produce(topic, producer.batch(3, b"fourth"), partition=partition)
    expect_error(next_one.error_code, ErrorCode.NONE, f"{where}, the next batch")
    assert next_one.base_offset == end, f"{where}: it is stored at {next_one.base_offset}"
