"""A broker reports the directories of its replicas to the controller; a future log waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from uuid import UUID

import pytest

from harness.base.ids import BrokerId, PartitionIndex
from harness.codec.error_code import ErrorCode
from harness.reference_broker.cluster.broker_node import BrokerNode, Joining
from harness.reference_broker.cluster.controller_node import ControllerNode
from harness.reference_broker.effects import DirectoryChosen, Effect, ReplicaMoved
from harness.reference_broker.emulated_release import LIKE_NONE
from harness.reference_broker.settings import BrokerSettings
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.registrations.brokers import Endpoint
from harness.reference_broker.state.replica_moves.log_moving import directory_is_known, wish
from tests.reference_broker.cluster.test_cluster_of_nodes import (
    CLUSTER_ID,
    PARTITIONS,
    TIMES,
    Cluster,
    until,
    with_topic,
)
from tests.reference_broker.cluster.test_cluster_with_folders import controller_in
from tests.reference_broker.moving import TOPIC, Moving, moving
from tests.reference_broker.storage.test_log_directories import put_a_file_in_place_of
from tests.reference_broker.storage.test_storage import NOW, write

FOLDERS = ("one", "two")
NEVER_FENCED = {**TIMES, "broker.session.timeout.ms": "180000"}
"""On a slow machine a broker may be silent for longer than the session of TIMES."""
SELDOM = {**NEVER_FENCED, "broker.heartbeat.interval.ms": "60000"}
KEY = (TOPIC, PartitionIndex(0))


# -- a log to come ---------------------------------------------------------------------------------


def begun(broker: Moving) -> Partition:
    """A replica in the first folder with a complete copy in the second."""
    broker.state.cluster.host.tells_directories = True
    replica = broker.replica()
    write(replica, 3)
    assert broker.wish("second") is ErrorCode.NONE
    return replica


def chosen(effects: list[Effect]) -> list[UUID]:
    return [one.directory for one in effects if isinstance(one, DirectoryChosen)]


def is_looked_at_again(effects: list[Effect]) -> bool:
    return ReplicaMoved(*KEY) in effects


def test_future_log_replaces_log_only_after_controller_knows_directory(tmp_path: Path) -> None:
    with moving(tmp_path) as broker:
        replica = begun(broker)
        _, second, third = broker.files.directory_ids
        assert chosen(broker.bring()) == [second]
        write(replica)
        assert chosen(broker.bring()) == []
        assert broker.places() == {"first": False, "second": True}
        directory_is_known(broker.state.cluster, KEY, third)  # not the reported one
        broker.bring()
        assert broker.places() == {"first": False, "second": True}
        directory_is_known(broker.state.cluster, KEY, second)
        assert is_looked_at_again(broker.bring())
        assert broker.places() == {"second": False}
        assert replica.log.end_offset == 4


def test_directory_known_before_report_does_not_complete_move(tmp_path: Path) -> None:
    with moving(tmp_path) as broker:
        begun(broker)
        second = broker.files.directory_ids[1]
        directory_is_known(broker.state.cluster, KEY, second)
        assert chosen(broker.bring()) == [second]
        assert broker.places() == {"first": False, "second": True}


def test_cancelled_move_triggers_new_directory_report(tmp_path: Path) -> None:
    with moving(tmp_path) as broker:
        begun(broker)
        broker.bring()
        assert broker.wish("first") is ErrorCode.NONE
        assert is_looked_at_again(broker.state.effects)
        directory_is_known(broker.state.cluster, KEY, broker.files.directory_ids[1])
        assert broker.places() == {"first": False}


def test_failed_move_destination_triggers_new_directory_report(tmp_path: Path) -> None:
    with moving(tmp_path) as broker:
        replica = begun(broker)
        broker.bring()
        put_a_file_in_place_of(tmp_path / "second")
        broker.files.logs.checkpoint()
        assert is_looked_at_again(broker.bring())
        assert replica.future is None
        assert not replica.log.is_offline


def test_restart_during_move_reports_only_unknown_directory(tmp_path: Path) -> None:
    with moving(tmp_path) as broker:
        begun(broker)
        broker.bring()
    for place, is_told in ((0, True), (1, False)):
        with moving(tmp_path) as broker:
            broker.state.cluster.host.tells_directories = True
            broker.believed_in = broker.files.directory_ids[place]
            broker.replica()
            broker.resume()
            assert bool(chosen(broker.bring())) is is_told
    assert broker.places() == {"second": False}


# -- over sockets ----------------------------------------------------------------------------------


def broker_in(
    folder: Path, number: int, controller: Endpoint, times: Mapping[str, str] = TIMES
) -> BrokerNode:
    settings = {"node.id": str(number), "min.insync.replicas": "2", "log.dirs": ",".join(FOLDERS)}
    where = folder / f"node-{number}"
    joining = Joining(CLUSTER_ID, controller, folder=where)
    return BrokerNode(BrokerSettings.of({**settings, **times}), joining)


@asynccontextmanager
async def with_two_folders_each(folder: Path, times: Mapping[str, str]) -> AsyncIterator[Cluster]:
    """Three brokers and a controller, with a topic in its registered directories."""
    settings = BrokerSettings.of({"node.id": "100", **times})
    controller = ControllerNode(settings, CLUSTER_ID, folder / "node-100")
    at = await controller.start()
    brokers = {number: broker_in(folder, number, at, times) for number in (1, 2, 3)}
    cluster = Cluster(controller, brokers, LIKE_NONE)
    try:
        places = await asyncio.gather(*(one.start() for one in cluster.brokers.values()))
        cluster.at = dict(zip(cluster.brokers, places, strict=True))
        await with_topic(cluster)
        await until(lambda: all(is_known(cluster, n, i) for n in (1, 2, 3) for i in range(3)))
        yield cluster
    finally:
        for one in cluster.brokers.values():
            await one.close()
        await cluster.controller.stop()


def at_controller(cluster: Cluster, index: int) -> Partition:
    node = cluster.controller.node
    topic = None if node is None else node.state.cluster.named("t")
    partition = None if topic is None else topic.partition(index)
    assert partition is not None
    return partition


def is_known(cluster: Cluster, number: int, index: int) -> bool:
    """True if the controller knows the directory of a broker's replica."""
    believed = at_controller(cluster, index).registration.directory_of(BrokerId(number))
    return believed == directory_of(cluster, number, index)


def directory_of(cluster: Cluster, number: int, index: int) -> UUID | None:
    partition, files = cluster.partition(number, index), cluster.brokers[number].files
    assert partition is not None
    assert files is not None
    return files.logs.directory_of(partition.name)


def in_second(cluster: Cluster, number: int) -> set[int]:
    files = cluster.brokers[number].files
    assert files is not None
    second = files.directory_ids[1]
    return {i for i in range(PARTITIONS) if directory_of(cluster, number, i) == second}


def fail_second(cluster: Cluster, folder: Path, number: int) -> None:
    files = cluster.brokers[number].files
    assert files is not None
    put_a_file_in_place_of(folder / f"node-{number}" / FOLDERS[1])
    files.logs.checkpoint()


def in_sync(cluster: Cluster, number: int) -> set[int]:
    """The partitions in which a broker is in sync."""
    isrs = [at_controller(cluster, index).registration.isr for index in range(PARTITIONS)]
    return {index for index, isr in enumerate(isrs) if number in isr}


def new_leader(cluster: Cluster, index: int) -> int | None:
    """The registered leader, if it can serve the partition and is the only one that leads it."""
    leader = at_controller(cluster, index).registration.leader
    partition = cluster.partition(leader, index) if leader in cluster.brokers else None
    can_serve = partition is not None and not partition.log.is_offline
    return leader if can_serve and cluster.leader(index) == leader else None


def test_other_brokers_lead_partitions_of_failed_directory(tmp_path: Path) -> None:
    """The heartbeat that reports the failure is sent at once."""

    async def scenario() -> None:
        async with with_two_folders_each(tmp_path, SELDOM) as cluster:
            leads = [await until(partial(cluster.leader, index)) for index in range(PARTITIONS)]
            number = next(leads[i] for i in range(PARTITIONS) if i in in_second(cluster, leads[i]))
            lost = in_second(cluster, number)
            fail_second(cluster, tmp_path, number)
            for index, before in enumerate(leads):
                found = await until(partial(new_leader, cluster, index))
                assert (found == before) is (index not in lost or before != number)
                assert await cluster.produce(index, "after") == (ErrorCode.NONE, 0)
            assert in_sync(cluster, number) == {*range(PARTITIONS)} - lost

    asyncio.run(scenario())


def has_all(coming: Partition | None, count: int) -> bool:
    return coming is not None and coming.log.end_offset == count


@pytest.mark.parametrize("is_away", [False, True], ids=["there", "away"])
def test_replica_move_completes_when_controller_is_reachable(tmp_path: Path, is_away: bool) -> None:
    async def scenario() -> None:
        async with with_two_folders_each(tmp_path, NEVER_FENCED) as cluster:
            broker, partition = cluster.brokers[1], cluster.partition(1, 0)
            assert broker.files is not None
            assert broker.node is not None
            assert partition is not None
            assert cluster.controller.node is not None
            before, known = directory_of(cluster, 1, 0), broker.files.directory_ids
            place = next(number for number, one in enumerate(known) if one != before)
            assert await cluster.produce(0, "before") == (ErrorCode.NONE, 0)
            identity = cluster.controller.node.state.identity
            if is_away:
                await cluster.controller.stop()
            path = str(tmp_path / "node-1" / FOLDERS[place])
            assert wish(broker.node.state, "t", 0, path, NOW) is ErrorCode.NONE
            if is_away:
                await until(lambda: has_all(partition.future, 1))
                assert directory_of(cluster, 1, 0) == before
                cluster.controller = controller_in(tmp_path)
                await cluster.controller.start(identity.host, identity.port)
            await until(lambda: directory_of(cluster, 1, 0) == known[place])
            assert partition.future is None
            assert is_known(cluster, 1, 0)

    asyncio.run(scenario())


def test_broker_restarted_with_failed_directory_serves_other_directory(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with with_two_folders_each(tmp_path, TIMES) as cluster:
            node = cluster.controller.node
            assert node is not None
            lost = in_second(cluster, 1)
            assert lost
            await cluster.brokers[1].close()
            put_a_file_in_place_of(tmp_path / "node-1" / FOLDERS[1])
            identity = node.state.identity
            again = broker_in(tmp_path, 1, Endpoint(identity.host, identity.port))
            cluster.brokers[1] = again
            cluster.at[1] = await again.start()
            await until(lambda: in_sync(cluster, 1) == {*range(PARTITIONS)} - lost)
            known = node.state.brokers.get(1)
            assert known is not None
            assert again.files is not None
            assert list(known.directories) == again.files.directory_ids[:1]

    asyncio.run(scenario())
