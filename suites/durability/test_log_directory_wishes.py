"""LDIR: the directory in which a replica is created, and a move that is taken back."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker
from suites.durability.support.broken_logs import await_back
from suites.durability.support.keyed import KeyedLog, compacted
from suites.durability.support.log_dirs import TWO, described, move, places_of
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.compacted import QUICKLY
from suites.protocol.support.config_admin import AlterOperation, asked_broker, change
from suites.protocol.support.expect import expect_error
from suites.protocol.support.gone_topics import delete_topic
from suites.protocol.support.topic_admin import ask_to_delete

WISHED = 4  # topics in one of two directories, and so many in the other
BOTH = 2
THROTTLE = "replica.alter.log.dirs.io.max.bytes.per.second"
BATCHES, BATCH_BYTES, SLOWLY = 5, 900_000, "1"
MOVED_WITHIN_MS = 60_000
Places = list[tuple[str, bool]]
"""Directories, each with True for a future replica."""


def _places(client: BrokerUnderTest, topic: str, partition: int = 0) -> Places:
    found = places_of(described(client), topic, partition)
    return sorted((each.log_dir, each.is_future) for each in found)


@judges("LDIR-014", "LDIR-015")
@needs_broker(Use.PERSISTENT, TWO)
def test_topic_is_created_in_wished_directory_else_where_fewest_are(
    persistent_broker: PersistentBroker,
) -> None:
    """Four topics are wished for one directory before they exist, eight others for none.

    The first four of these go to the other directory, the rest to both in equal parts. A wish is
    over when its topic has been created: deleted, and created again, it goes where fewest are. Two
    partitions of a topic are wished for a directory each.
    """
    client = persistent_broker.client
    client.version("AlterReplicaLogDirs")
    first, second = (str(folder) for folder in persistent_broker.folders)
    wished = [client.unique_topic() for _ in range(WISHED)]
    for name in wished:
        move(client, name, second)
    made = [client.create_topic(name=name) for name in wished]
    others = [client.create_topic() for _ in range(2 * WISHED)]
    with requirement("LDIR-014"):
        found = [_places(client, name) for name in wished]
        expected = [[(second, False)]] * WISHED
        assert found == expected, f"wished for {second} are replicas that are in {found}"
    with requirement("LDIR-015"):
        found = [_places(client, topic.name) for topic in others]
        level, expected = found[:WISHED], [[(first, False)]] * WISHED
        assert level == expected, f"{second} has {WISHED} replicas more, the next are in {level}"
        rest = [found[WISHED:].count([(folder, False)]) for folder in (first, second)]
        assert rest == [WISHED // 2] * 2, f"both have as many, of the next they have {rest}"
    of_first = [
        topic for topic, places in zip(others, found, strict=True) if places == [(first, False)]
    ]
    _delete(client, made[0], *of_first[:BOTH])
    client.create_topic(name=wished[0])
    with requirement("LDIR-015"):
        again = _places(client, wished[0])
        assert again == [(first, False)], f"once wished for {second}, made again is one in {again}"
    apart, wishes = client.unique_topic(), (second, first)
    for partition, folder in enumerate(wishes):
        move(client, apart, folder, partition=partition)
    client.create_topic(len(wishes), name=apart)
    with requirement("LDIR-014"):
        found = [_places(client, apart, partition) for partition in range(len(wishes))]
        expected = [[(folder, False)] for folder in wishes]
        assert found == expected, f"partitions wished for both are replicas that are in {found}"


def _delete(client: BrokerUnderTest, *topics: Topic) -> None:
    """Delete the topics, and wait until no directory has them."""
    for topic in topics:
        delete_topic(client, topic)
    client.eventually(
        lambda: not any(_places(client, topic.name) for topic in topics),
        "no directory has the topics",
    )


def _set_throttle(client: BrokerUnderTest, operation: AlterOperation) -> None:
    value = SLOWLY if operation == AlterOperation.SET else None
    code = change(client, asked_broker(client), (THROTTLE, operation, value))
    if code != ErrorCode.NONE:
        raise PreparationFailed(f"{THROTTLE}: {ErrorCode.describe(code)}", code)


@judges("LDIR-016")
@needs_broker(Use.PERSISTENT, TWO)
def test_slow_move_is_described_and_ends_with_wish_for_present_directory(
    persistent_broker: PersistentBroker,
) -> None:
    """The throttle lets no more than the first batches through, until it is removed."""
    client = persistent_broker.client
    topic, old, new = _slowly_moving(persistent_broker)
    both = sorted([(old, False), (new, True)])
    with requirement("LDIR-016"):
        expect_error(move(client, topic.name, new), ErrorCode.NONE, "a slow move")
        _expect_in_both(client, topic.name, both, "soon")
        append(client, client.create_topic(), batch_of(b"meanwhile"))
        _expect_in_both(client, topic.name, both, "later")
        expect_error(move(client, topic.name, old), ErrorCode.NONE, "a wish for its directory")
        _expect_only(client, topic.name, old, "the move is taken back")
        _set_throttle(client, AlterOperation.DELETE)
        expect_error(move(client, topic.name, new), ErrorCode.NONE, "the move once more")
        _expect_only(client, topic.name, new, "it is not slow any more")


@judges("LDIR-018")
@needs_broker(Use.PERSISTENT, TWO)
def test_slow_move_goes_on_after_restart(persistent_broker: PersistentBroker) -> None:
    """The broker is stopped and started while the replica moves; then the throttle is removed.

    A throttle counts from the start on: on a slow machine the move can be over at the first look.
    """
    client = persistent_broker.client
    topic, old, new = _slowly_moving(persistent_broker)
    both = sorted([(old, False), (new, True)])
    with requirement("LDIR-018"):
        expect_error(move(client, topic.name, new), ErrorCode.NONE, "a slow move")
        _expect_in_both(client, topic.name, both, "soon")
        persistent_broker.stop()
        persistent_broker.start()
        await_back(client, topic)
        goes_on = (both, [(new, False)])
        places = client.last_seen(lambda: _places(client, topic.name), goes_on.__contains__)
        assert places in goes_on, f"started again, the replica is in {places}, expected {both}"
        _set_throttle(client, AlterOperation.DELETE)
        _expect_only(client, topic.name, new, "it is not slow any more")
        found = client.end_offset(topic)
        assert found == BATCHES, f"the moved log ends at {found}, expected {BATCHES}"


def _slowly_moving(persistent_broker: PersistentBroker) -> tuple[Topic, str, str]:
    """Return a topic that moves slowly, its directory, and the other one."""
    client = persistent_broker.client
    client.version("AlterReplicaLogDirs")
    client.version("IncrementalAlterConfigs")
    topic = client.create_topic()
    append(client, topic, *[batch_of(bytes(BATCH_BYTES))] * BATCHES)
    _set_throttle(client, AlterOperation.SET)
    [(old, _)] = _places(client, topic.name)
    new = next(str(each) for each in persistent_broker.folders if str(each) != old)
    return topic, old, new


def _expect_in_both(client: BrokerUnderTest, topic: str, both: Places, when: str) -> None:
    """The replica is in its directory, and a future one that lacks records is in the other."""
    places = client.last_seen(lambda: _places(client, topic), both.__eq__)
    assert places == both, f"{when} the replica is in {places}, expected {both}"
    lags = [one.lag for one in places_of(described(client), topic) if one.is_future]
    assert lags, f"{when} the future replica is away"
    assert 0 < lags[0] <= BATCHES, f"{when} the lag of the future replica is {lags[0]}"


@judges("LDIR-016")
@needs_broker(Use.PERSISTENT, TWO)
def test_topic_deleted_during_slow_move_is_in_no_directory(
    persistent_broker: PersistentBroker,
) -> None:
    """Neither its replica nor the future one is described any more."""
    client = persistent_broker.client
    topic, _, new = _slowly_moving(persistent_broker)
    with requirement("LDIR-016"):
        expect_error(move(client, topic.name, new), ErrorCode.NONE, "a slow move")
        places = client.last_seen(lambda: _places(client, topic.name), lambda found: len(found) > 1)
        assert len(places) == BOTH, f"soon the replica is in {places}, expected both directories"
        deleted = ask_to_delete(client, client.version("DeleteTopics"), topic.name)
        expect_error(deleted[topic.name][0].error_code, ErrorCode.NONE, "DeleteTopics")
        left = client.last_seen(lambda: _places(client, topic.name), lambda found: not found)
        assert not left, f"the topic is deleted, its replicas are in {left}"


@judges("LDIR-017")
@needs_broker(Use.PERSISTENT, {**TWO, **QUICKLY})
def test_moved_replica_is_compacted(persistent_broker: PersistentBroker) -> None:
    """It was compacted before; after the move older records are replaced, and new ones."""
    client = persistent_broker.client
    client.version("AlterReplicaLogDirs")
    log = KeyedLog(client, compacted(client))
    _append(log, b"before", b"a", b"a", b"b", b"end")
    log.await_compacted()
    [(old, _)] = _places(client, log.topic.name)
    new = next(str(each) for each in persistent_broker.folders if str(each) != old)
    with requirement("LDIR-017"):
        expect_error(move(client, log.topic.name, new), ErrorCode.NONE, "a move")
        _expect_only(client, log.topic.name, new, "it is moved")
        _append(log, b"after", b"b", b"c", b"c", b"end")
        gone = set(log.superseded())
        left = log.read_once(lambda left: not gone & set(left))
        assert not gone & set(left), f"it was moved, left is {left}"


def _append(log: KeyedLog, value: bytes, *keys: bytes) -> None:
    """Append a batch for each key."""
    for key in keys:
        log.append((key, value))


def _expect_only(client: BrokerUnderTest, topic: str, folder: str, when: str) -> None:
    expected = [(folder, False)]
    found = client.last_seen(lambda: _places(client, topic), expected.__eq__, MOVED_WITHIN_MS)
    assert found == expected, f"{when}: the replica is in {found}, expected {expected}"
