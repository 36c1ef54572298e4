"""A controller and three built-in brokers in one process, over real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar

import pytest

from harness.client.connection import Connection
from harness.codec.apis import api_of
from harness.codec.error_code import ErrorCode
from harness.codec.messages import CreateTopicsRequest, FetchRequest, ProduceRequest
from harness.codec.records import (
    LegacyMessage,
    Record,
    RecordBatch,
    encode_batch,
    encode_message_set,
)
from harness.reference_broker.cluster.broker_node import BrokerNode, Joining
from harness.reference_broker.cluster.controller_node import ControllerNode
from harness.reference_broker.emulated_release import LIKE_NONE, EmulatedRelease, releases
from harness.reference_broker.settings import BrokerSettings
from harness.reference_broker.state.controller.circumstances import ELIGIBLE_LEADERS
from harness.reference_broker.state.log.stored_batch import StoredBatch
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.registrations.brokers import Endpoint
from labs.hang_limit import HANGS_AFTER_S
from tests.reference_broker.made_replicas import NOW

CLUSTER_ID = "three-brokers-as-nodes"
TIMES = {
    "replica.lag.time.max.ms": "1500",
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "200",
    "replica.fetch.wait.max.ms": "100",
}
PARTITIONS = 3
IN_TIME_S = float(HANGS_AFTER_S)
_T = TypeVar("_T")


class Cluster:
    """Brokers 1 to 3; `at` has their addresses for clients."""

    def __init__(
        self, controller: ControllerNode, brokers: dict[int, BrokerNode], like: EmulatedRelease
    ) -> None:
        self.controller, self.brokers, self.like = controller, brokers, like
        self.at: dict[int, Endpoint] = {}

    async def ask(self, number: int, request: Any, version: int) -> Any:
        """Send a client's request to a broker, at this or a lower version that it still knows."""
        at = self.at[number]
        _, highest = self.like.api_versions.get(api_of(type(request)).key, (0, version))

        def blocking() -> Any:
            with Connection((at.host, at.port)) as connection:
                return connection.ask(request, min(version, highest))

        return await asyncio.to_thread(blocking)

    def partition(self, number: int, index: int) -> Partition | None:
        """The partition as a broker has it."""
        node = self.brokers[number].node
        topic = None if node is None else node.state.cluster.named("t")
        return None if topic is None else topic.partition(index)

    def replicas(self, index: int) -> list[Partition]:
        """The replicas of all brokers that have read of the partition."""
        found = (self.partition(number, index) for number in self.brokers)
        return [one for one in found if one is not None]

    def leader(self, index: int) -> int | None:
        """The broker that believes that it leads, if there is exactly one."""
        leads = [
            number
            for number in self.brokers
            if (one := self.partition(number, index)) is not None and one.leading is not None
        ]
        return leads[0] if len(leads) == 1 else None

    def batches(self, number: int, index: int) -> list[StoredBatch]:
        """The batches in a broker's log."""
        partition = self.partition(number, index)
        assert partition is not None
        return list(partition.log.between(partition.log.start_offset, partition.log.end_offset))

    async def debug(self, number: int, index: int) -> int:
        """The error of a debug Fetch, with which clients read from followers before KIP-392."""
        wanted = FetchRequest.FetchPartition(partition=index, partition_max_bytes=1000)
        topic = FetchRequest.FetchTopic(topic="t", partitions=[wanted])
        request = FetchRequest(replica_id=-2, max_bytes=1000, topics=[topic])
        version = 4 if self.like.since(4, 0) else 2
        answer = await self.ask(number, request, version)
        error: int = answer.responses[0].partitions[0].error_code
        return error

    def _records(self, value: str) -> bytes:
        if not self.like.since(0, 11):
            return encode_message_set([LegacyMessage(value=value.encode(), magic=0)])
        batch = RecordBatch(records=[Record(value.encode(), None)], base_timestamp=NOW)
        return encode_batch(batch, "none")

    async def produce(self, index: int, value: str, at: int | None = None) -> tuple[int, int]:
        """Produce with acks=all, to the leader or that node; return error and base offset."""
        batch = self._records(value)
        data = ProduceRequest.PartitionProduceData(index=index, records=batch)
        topic = ProduceRequest.TopicProduceData(name="t", partition_data=[data])
        request = ProduceRequest(acks=-1, timeout_ms=int(IN_TIME_S * 1000), topic_data=[topic])
        if at is None:
            at = await until(lambda: self.leader(index))
        answer = await self.ask(at, request, 9)
        told = answer.responses[0].partition_responses[0]
        return told.error_code, told.base_offset


async def until(condition: Callable[[], _T | None]) -> _T:
    """Wait until a condition is neither None nor false, and return its value."""
    async with asyncio.timeout(IN_TIME_S):
        while not (found := condition()):
            await asyncio.sleep(0.01)  # between two looks
    return found


@asynccontextmanager
async def running(like: str = "", given: Mapping[str, str] | None = None) -> AsyncIterator[Cluster]:
    """Run a cluster until the block ends; then no task and no listener is left.

    ``given``: settings of all nodes.
    """
    of_all = {**TIMES, **(given or {})}
    controller = ControllerNode(BrokerSettings.of({"node.id": "100", **of_all}, like), CLUSTER_ID)
    at = await controller.start()
    brokers = {
        number: BrokerNode(
            BrokerSettings.of({"node.id": str(number), "min.insync.replicas": "2", **of_all}, like),
            Joining(CLUSTER_ID, at),
        )
        for number in (1, 2, 3)
    }
    cluster = Cluster(controller, brokers, EmulatedRelease.of(like) if like else LIKE_NONE)
    try:
        places = await asyncio.gather(*(one.start() for one in brokers.values()))
        cluster.at = dict(zip(brokers, places, strict=True))
        yield cluster
    finally:
        for one in brokers.values():
            await one.close()
        await controller.stop()
    for place in [at, *cluster.at.values()]:
        await is_closed(place)
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await until(lambda: all(task.done() for task in others))


async def is_closed(place: Endpoint) -> None:
    """Assert that no server listens there."""
    try:
        _, writer = await asyncio.open_connection(place.host, place.port)
    except ConnectionRefusedError:
        return
    writer.close()
    raise AssertionError(f"somebody listens at {place}")


async def with_topic(cluster: Cluster) -> None:
    """Create three partitions with three replicas each; all brokers know them, all are in sync."""
    topic = CreateTopicsRequest.CreatableTopic(
        name="t", num_partitions=PARTITIONS, replication_factor=3
    )
    request = CreateTopicsRequest(topics=[topic], timeout_ms=10_000)
    answer = await cluster.ask(1, request, 5)
    assert answer.topics[0].error_code == ErrorCode.NONE
    await until(lambda: all(len(cluster.replicas(index)) == 3 for index in range(PARTITIONS)))


def play(scenario: Callable[[Cluster], Awaitable[None]], like: str = "") -> None:
    """Run the scenario in a new cluster with the topic."""

    async def whole() -> None:
        async with running(like) as cluster:
            await with_topic(cluster)
            await scenario(cluster)

    asyncio.run(whole())


def alike(cluster: Cluster, index: int, *numbers: int) -> bool:
    """True if the logs are equal, and all records are committed on each broker."""
    logs = [cluster.batches(number, index) for number in numbers]
    ends = {
        (one.log.end_offset, one.high_watermark)
        for number in numbers
        if (one := cluster.partition(number, index)) is not None
    }
    return all(log == logs[0] for log in logs) and len(ends) == 1 and len({*ends.pop()}) == 1


def is_out_of_sync(cluster: Cluster, index: int, gone: int) -> bool:
    """True if all brokers have read that one is not in sync."""
    return all(gone not in one.registration.isr for one in cluster.replicas(index))


def leads(cluster: Cluster, number: int, index: int) -> bool:
    """True if a broker knows that it leads."""
    partition = cluster.partition(number, index)
    return partition is not None and partition.leading is not None


def test_produce_with_acks_all_replicates_records_to_all_logs() -> None:
    async def scenario(cluster: Cluster) -> None:
        for index in range(PARTITIONS):
            for offset in range(5):
                assert await cluster.produce(index, f"{index}-{offset}") == (0, offset)
                in_sync = [
                    one
                    for number in cluster.brokers
                    if (one := cluster.partition(number, index)) is not None
                    and one.log.end_offset > offset
                ]
                assert len(in_sync) >= 2
            await until(partial(alike, cluster, index, 1, 2, 3))
            assert len(cluster.batches(1, index)) == 5

    play(scenario)


def test_killed_broker_is_fenced_and_other_brokers_lead() -> None:
    async def scenario(cluster: Cluster) -> None:
        gone = await until(lambda: cluster.leader(0))
        assert await cluster.produce(0, "before") == (0, 0)
        others = [number for number in cluster.brokers if number != gone]
        await until(lambda: alike(cluster, 0, *others))
        await cluster.brokers.pop(gone).close()
        node = cluster.controller.node
        assert node is not None

        def is_fenced() -> bool:
            known = node.state.brokers.get(gone)
            return known is not None and known.is_fenced

        await until(is_fenced)
        for index in range(PARTITIONS):
            await until(partial(cluster.leader, index))
            await until(partial(is_out_of_sync, cluster, index, gone))
            assert gone in cluster.replicas(index)[0].registration.replicas
        assert await cluster.produce(0, "after") == (0, 1)
        await until(lambda: alike(cluster, 0, *others))
        assert len(cluster.batches(others[0], 0)) == 2

    play(scenario)


def test_controlled_shutdown_moves_leaderships_before_broker_closes() -> None:
    async def scenario(cluster: Cluster) -> None:
        going = await until(lambda: cluster.leader(0))
        assert await cluster.produce(0, "before") == (0, 0)
        broker = cluster.brokers[going]
        node = cluster.controller.node
        assert node is not None
        topic = node.state.cluster.named("t")
        assert topic is not None
        led_at_the_end: list[int] = []
        close = broker.close

        async def noting_close() -> None:
            led_at_the_end.extend(
                one.index for one in topic.partitions if one.registration.leader == going
            )
            others = [number for number in cluster.brokers if number != going]
            for one in topic.partitions:
                assert any(leads(cluster, number, one.index) for number in others)
            await close()

        broker.close = noting_close  # type: ignore[method-assign]
        await broker.stop()
        assert led_at_the_end == []
        del cluster.brokers[going]
        known = node.state.brokers.get(going)
        assert known is not None
        assert known.is_fenced
        assert known.is_shutting_down
        assert await cluster.produce(0, "after") == (0, 1)

    play(scenario)


@pytest.mark.parametrize("like", releases())
def test_nodes_of_each_emulated_release_replicate(like: str) -> None:
    """Also one with a ZooKeeper: its real brokers know none of the requests between ours."""

    async def scenario(cluster: Cluster) -> None:
        assert await cluster.produce(0, "in all logs") == (0, 0)
        await until(lambda: alike(cluster, 0, 1, 2, 3))
        assert len(cluster.batches(3, 0)) == 1
        (follower, *_) = {1, 2, 3} - {cluster.leader(0)}
        given = ErrorCode.NOT_LEADER_OR_FOLLOWER if cluster.like.since(2, 4) else ErrorCode.NONE
        assert await cluster.debug(follower, 0) == given
        node = cluster.controller.node
        assert node is not None
        assert (ELIGIBLE_LEADERS in node.state.features) == cluster.like.since(4, 1)

    play(scenario, like)
