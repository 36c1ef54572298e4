"""LDIR, RECV: one of two log directories fails, and the broker goes on with the other."""

from __future__ import annotations

from functools import partial

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker
from suites.durability.support.brief_sessions import BRIEF
from suites.durability.support.broken_logs import await_back, stored
from suites.durability.support.log_dirs import (
    TWO,
    DescribedReplica,
    HalfFailed,
    described,
    move,
    places_of,
)
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.expect import expect_error

LAST_FETCH_WITHOUT_STORAGE_ERROR, LAST_PRODUCE_WITHOUT = 5, 3
MOVED_WITHIN_MS = 30_000
BATCHES = 200
NEIGHBOURS = 3  # so many partitions that each directory has two


def _versions(broker: BrokerUnderTest, api: str) -> list[int]:
    """All that the broker and the codec know."""
    return list(broker.advertised(api) & api_named(api).valid_versions)


@judges("LDIR-003")
@needs_broker(Use.PERSISTENT, TWO)
def test_describe_log_dirs_of_failed_directory_returns_kafka_storage_error(
    persistent_broker: PersistentBroker,
) -> None:
    """At every version; the other one has no error."""
    half = HalfFailed(persistent_broker)
    half.fail()
    with requirement("LDIR-003") as check:
        code = persistent_broker.client.last_seen(half.code, bool)
        expect_error(code, ErrorCode.KAFKA_STORAGE_ERROR, "the directory that failed")
        for version in _versions(persistent_broker.client, "DescribeLogDirs"):
            with check.subtest(f"v{version}"):
                told = {
                    d.log_dir: d.error_code
                    for d in described(persistent_broker.client, version=version)
                }
                expected = dict.fromkeys(map(str, persistent_broker.folders), int(ErrorCode.NONE))
                expected[str(half.failing)] = int(ErrorCode.KAFKA_STORAGE_ERROR)
                assert told == expected, f"DescribeLogDirs v{version}: {told}, not {expected}"


@judges("LDIR-005")
@needs_broker(Use.PERSISTENT, TWO)
def test_alter_replica_log_dirs_failed_directory_returns_kafka_storage_error(
    persistent_broker: PersistentBroker,
) -> None:
    """Nor out of it."""
    half = HalfFailed(persistent_broker)
    persistent_broker.client.version("AlterReplicaLogDirs")
    half.fail()
    half.await_failed()
    with requirement("LDIR-005") as check:
        for version in _versions(persistent_broker.client, "AlterReplicaLogDirs"):
            for partition, folder in ((half.left[0], half.failing), (half.lost[0], half.good)):
                with check.subtest(f"v{version}, partition {partition}"):
                    code = move(
                        persistent_broker.client, half.topic.name, str(folder), version, partition
                    )
                    where = f"v{version}, a replica to {folder.name}"
                    expect_error(code, ErrorCode.KAFKA_STORAGE_ERROR, where)


@judges("LDIR-007")
@needs_broker(Use.PERSISTENT, TWO)
def test_produce_and_fetch_in_failed_log_directory_are_refused(
    persistent_broker: PersistentBroker,
) -> None:
    """The broker returns KAFKA_STORAGE_ERROR for a partition of the failed directory.

    At versions of Fetch older than this error it returns NOT_LEADER_OR_FOLLOWER.
    """
    half = HalfFailed(persistent_broker)
    client = persistent_broker.client
    for index in half.lost:
        append(client, half.topic, batch_of(b"before"), partition=index)
    half.fail()
    half.await_failed()
    index, failed = half.lost[0], ErrorCode.KAFKA_STORAGE_ERROR
    with requirement("LDIR-007") as check:
        client.last_seen(partial(_fetch_code, client, half.topic, index), failed.__eq__)
        for version in _versions(client, "Fetch"):
            with check.subtest(f"Fetch v{version}"):
                code = client.fetch(half.topic, 0, version, partition=index).error_code
                old = version <= LAST_FETCH_WITHOUT_STORAGE_ERROR
                expected = ErrorCode.NOT_LEADER_OR_FOLLOWER if old else failed
                expect_error(code, expected, f"Fetch v{version}")
        for version in _versions(client, "Produce"):
            with check.subtest(f"Produce v{version}"):
                batch = batch_of(b"after", version=version)
                code = client.produce(half.topic, batch, version, partition=index).error_code
                if version <= LAST_PRODUCE_WITHOUT and code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
                    continue  # up to 2.7
                expect_error(code, failed, f"Produce v{version}")


def _fetch_code(broker: BrokerUnderTest, topic: Topic, partition: int) -> int:
    return broker.fetch(topic, 0, partition=partition).error_code


@judges("RECV-016")
@needs_broker(Use.PERSISTENT, {**TWO, **BRIEF})
def test_broker_with_failed_log_directory_serves_other_directory(
    persistent_broker: PersistentBroker,
) -> None:
    """When one fails while the broker runs, and when the broker starts without it."""
    half = HalfFailed(persistent_broker)
    client, topic = persistent_broker.client, half.topic
    for index in half.left:
        append(client, topic, batch_of(b"before"), partition=index)
    half.fail()
    half.await_failed()
    with requirement("RECV-016"):
        for index in half.left:
            code = client.produce(topic, batch_of(b"after"), partition=index).error_code
            expect_error(code, ErrorCode.NONE, "Produce in the directory that is left")
            found = [value for _, value in stored(client, topic, index)]
            assert found == [b"before", b"after"], f"partition {index} holds {found}"
        persistent_broker.kill()
        persistent_broker.start()
        for index in half.left:
            await_back(client, topic, index)
            code = client.produce(topic, batch_of(b"again"), partition=index).error_code
            expect_error(code, ErrorCode.NONE, "Produce after a start with one directory")
            found = [value for _, value in stored(client, topic, index)]
            assert found == [b"before", b"after", b"again"], f"partition {index} holds {found}"


@judges("LDIR-004")
@needs_broker(Use.PERSISTENT, TWO)
def test_alter_replica_log_dirs_moves_replica_during_produce_and_fetch(
    persistent_broker: PersistentBroker,
) -> None:
    """Each record is acknowledged and read; then the replica is in the other directory alone.

    The replicas of other partitions stay where they are.
    """
    client = persistent_broker.client
    client.version("AlterReplicaLogDirs")
    topic = client.create_topic(NEIGHBOURS + 1)
    stay = _neighbours(client, topic)
    old = persistent_broker.partition_folder(topic.name).parent
    new = next(folder for folder in persistent_broker.folders if folder != old)
    sent = [b"%d" % number * 500 for number in range(BATCHES)]
    append(client, topic, *map(batch_of, sent))
    with requirement("LDIR-004"):
        code = move(client, topic.name, str(new))
        expect_error(code, ErrorCode.NONE, f"a move to {new.name}")

        def is_moved() -> bool:
            sent.append(b"%d" % len(sent))
            code = client.produce(topic, batch_of(sent[-1])).error_code
            expect_error(code, ErrorCode.NONE, "Produce during the move")
            code = client.fetch(topic, len(sent) - 1).error_code
            expect_error(code, ErrorCode.NONE, "Fetch during the move")
            places = places_of(described(client), topic.name)
            return [(one.log_dir, one.is_future) for one in places] == [(str(new), False)]

        assert client.last_seen(is_moved, bool, MOVED_WITHIN_MS), (
            f"the replica is not in {new.name} alone: {places_of(described(client), topic.name)}"
        )
        found = [value for _, value in stored(client, topic, 0)]
        assert found == sent, f"of {len(sent)} records there are {len(found)}, or in another order"
        assert (new / f"{topic.name}-0").is_dir(), f"{new.name} has no folder of the partition"
        now = _neighbours(client, topic)
        assert now == stay, f"the other partitions were in {stay}, now in {now}"


def _neighbours(client: BrokerUnderTest, topic: Topic) -> list[list[DescribedReplica]]:
    """Return where the partitions behind the first one are."""
    found = described(client)
    return [places_of(found, topic.name, index) for index in range(1, NEIGHBOURS + 1)]
