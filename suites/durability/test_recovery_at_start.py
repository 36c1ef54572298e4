"""RECV: what a start keeps, after a kill and after an end in good order."""

from __future__ import annotations

from pathlib import Path

from harness.client.requests import Topic
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker
from suites.durability.support.broken_logs import (
    CHECKED_FROM,
    Stored,
    await_back,
    entries_of,
    flipped,
    segments_in,
    stored,
)
from suites.durability.support.noted_offsets import RECOVERY_POINTS, note
from suites.durability.support.rolled_logs import SEGMENTS, RolledLogs
from suites.durability.support.whole_log import acknowledged
from suites.protocol.support.record_formats import records_in

ROUNDS = 3
BATCHES_A_ROUND = 47  # as no other log here: its defect is known by it

ACKS = ((-1, 1), (1, -1))
"""In turn from the first record of a round on; the number of its records is odd."""


def _expect_whole(kept: PersistentBroker, topic: Topic, expected: Stored, when: str) -> None:
    end = kept.client.end_offset(topic)
    assert end == len(expected), f"{when} the log ends at {end}, acknowledged are {len(expected)}"
    found = stored(kept.client, topic, 0)
    lost = [each for each in expected if each not in found]
    assert not lost, f"{when} {len(lost)} acknowledged records are missing, the first is {lost[0]}"
    assert found == expected, f"{when} the log holds {found}, not {expected}"


@judges("RECV-001")
@needs_broker(Use.PERSISTENT)
def test_acknowledged_records_survive_broker_kill(persistent_broker: PersistentBroker) -> None:
    """Several times, each behind the acknowledgement of the last of many records: of one with
    acks=all, then of one with acks=1."""
    client = persistent_broker.client
    topic = client.create_topic()
    sent: Stored = []
    for number in range(ROUNDS):
        sent += acknowledged(client, topic, BATCHES_A_ROUND, acks=ACKS[number % 2])
        persistent_broker.kill()
        with requirement("RECV-001"):
            persistent_broker.start()
            await_back(client, topic)
            _expect_whole(persistent_broker, topic, sent, f"after kill {number + 1}")


@judges("RECV-007")
@needs_broker(Use.PERSISTENT)
def test_clean_shutdown_and_start_leave_log_unchanged(persistent_broker: PersistentBroker) -> None:
    """The log has the same records, the same end, and its files the same bytes."""
    logs = RolledLogs(persistent_broker)
    folder = persistent_broker.partition_folder(logs.topic.name)
    persistent_broker.stop()
    files = _contents(folder)
    with requirement("RECV-007"):
        persistent_broker.start()
        await_back(persistent_broker.client, logs.topic)
        _expect_whole(persistent_broker, logs.topic, logs.before, "after an end in good order")
        assert _contents(folder) == files, "the start changed the segments"


@judges("RECV-007")
@needs_broker(Use.PERSISTENT)
def test_damaged_batch_is_not_truncated_after_clean_shutdown(
    persistent_broker: PersistentBroker,
) -> None:
    """It is not looked at: an entry that was damaged since then costs those behind it nothing."""
    logs = RolledLogs(persistent_broker)
    folder = persistent_broker.partition_folder(logs.topic.name)
    persistent_broker.stop()
    newest = segments_in(folder)[-1]
    data = newest.read_bytes()
    damaged = entries_of(data)[1]
    newest.write_bytes(flipped(data, damaged.at + damaged.size - 1))
    files = _contents(folder)
    with requirement("RECV-007"):
        persistent_broker.start()
        await_back(persistent_broker.client, logs.topic)
        end = persistent_broker.client.end_offset(logs.topic)
        told = f"damaged since an end in good order the log ends at {end}"
        assert end == len(logs.before), f"{told}, before at {len(logs.before)}"
        assert _contents(folder) == files, f"{told}, the start changed the segments"


def _contents(folder: Path) -> dict[str, bytes]:
    return {segment.name: segment.read_bytes() for segment in segments_in(folder)}


@judges("RECV-006")
@needs_broker(Use.PERSISTENT)
def test_recovery_of_damaged_newest_segment_keeps_older_segments(
    persistent_broker: PersistentBroker,
) -> None:
    """The last entry of the newest of three is damaged: the other two stay as they are."""
    logs = RolledLogs(persistent_broker)
    folder = persistent_broker.partition_folder(logs.topic.name)
    persistent_broker.kill()
    before = _contents(folder)
    newest = segments_in(folder)[-1]
    data = newest.read_bytes()
    last = entries_of(data)[-1]
    newest.write_bytes(flipped(data, last.at + CHECKED_FROM))
    whole = records_in(data[: last.at])
    with requirement("RECV-006") as check:
        persistent_broker.start()
        await_back(persistent_broker.client, logs.topic)
        expected = [each for each in logs.before if each[0] <= whole[-1].offset]
        end = persistent_broker.client.end_offset(logs.topic)
        assert end == len(expected), (
            f"the log ends at {end}, whole is what is before {len(expected)}"
        )
        for name in sorted(before)[: SEGMENTS - 1]:
            with check.subtest(name):
                there = (folder / name).is_file() and (folder / name).read_bytes() == before[name]
                assert there, f"{name} was not damaged, and is not what it was"
        found = stored(persistent_broker.client, logs.topic, 0)
        assert found == expected, f"the log holds {found}, not {expected}"


@judges("RECV-006")
@needs_broker(Use.PERSISTENT)
def test_recovery_checks_segments_from_recovery_point_on(
    persistent_broker: PersistentBroker,
) -> None:
    """The second of three segments is damaged. The noted recovery point is 0 in one partition, and
    the begin of the third segment in the other."""
    logs = RolledLogs(persistent_broker, 2)
    client, topic = persistent_broker.client, logs.topic
    folders = [persistent_broker.partition_folder(topic.name, index) for index in range(2)]
    persistent_broker.kill()
    _, middle, newest = segments_in(folders[0])
    note(persistent_broker, RECOVERY_POINTS, topic, {0: 0, 1: int(newest.stem)})
    data = middle.read_bytes()
    damaged = entries_of(data)[1]
    for folder in folders:
        (folder / middle.name).write_bytes(flipped(data, damaged.at + damaged.size - 1))
    end = records_in(data[damaged.at :])[0].offset
    files = _contents(folders[1])
    with requirement("RECV-006") as check:
        persistent_broker.start()
        for index, point in enumerate(("0", "behind")):
            with check.subtest(f"recovery point {point}"):
                await_back(client, topic, index)
                expected = logs.before if index else logs.before[:end]
                found = client.end_offset(topic, index)
                told = f"the second segment is damaged, the recovery point is {point}"
                assert found == len(expected), (
                    f"{told}: the log ends at {found}, not at {len(expected)}"
                )
                if index:
                    assert _contents(folders[index]) == files, f"{told}: the segments have changed"
                else:
                    held = stored(client, topic, index)
                    assert held == expected, f"{told}: the log holds {held}, not {expected}"
