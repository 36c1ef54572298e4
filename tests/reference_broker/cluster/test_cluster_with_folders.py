"""Nodes that keep their logs: a controller that was away, a restart of a whole cluster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from harness.codec.error_code import ErrorCode
from harness.codec.messages import CreateTopicsRequest
from harness.reference_broker.cluster.broker_node import BrokerNode, Joining
from harness.reference_broker.cluster.controller_node import ControllerNode
from harness.reference_broker.emulated_release import LIKE_NONE
from harness.reference_broker.settings import BrokerSettings
from harness.reference_broker.state.registrations.brokers import Endpoint
from tests.reference_broker.cluster.test_cluster_of_nodes import CLUSTER_ID, TIMES, Cluster, until


def controller_in(folder: Path) -> ControllerNode:
    settings = BrokerSettings.of({"node.id": "100", **TIMES})
    return ControllerNode(settings, CLUSTER_ID, folder / "node-100")


def broker_in(folder: Path, number: int, controller: Endpoint, port: int = 0) -> BrokerNode:
    settings = BrokerSettings.of({"node.id": str(number), "min.insync.replicas": "2", **TIMES})
    where = folder / f"node-{number}"
    return BrokerNode(settings, Joining(CLUSTER_ID, controller, port=port, folder=where))


@asynccontextmanager
async def kept_in(folder: Path) -> AsyncIterator[Cluster]:
    """Three brokers and a controller, with the state that the folder has of them."""
    controller = controller_in(folder)
    at = await controller.start()
    brokers = {number: broker_in(folder, number, at) for number in (1, 2, 3)}
    cluster = Cluster(controller, brokers, LIKE_NONE)
    try:
        places = await asyncio.gather(*(one.start() for one in cluster.brokers.values()))
        cluster.at = dict(zip(cluster.brokers, places, strict=True))
        yield cluster
    finally:
        for one in cluster.brokers.values():
            await one.close()
        await cluster.controller.stop()


async def create(cluster: Cluster, name: str = "t") -> int:
    """Create a topic with three replicas and return the error."""
    topic = CreateTopicsRequest.CreatableTopic(name=name, num_partitions=1, replication_factor=3)
    answer = await cluster.ask(1, CreateTopicsRequest(topics=[topic], timeout_ms=20_000), 7)
    error: int = answer.topics[0].error_code
    return error


def test_brokers_serve_without_controller_and_rejoin_it_after_its_restart(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        async with kept_in(tmp_path) as cluster:
            assert await create(cluster) == ErrorCode.NONE
            assert await cluster.produce(0, "before") == (ErrorCode.NONE, 0)
            assert cluster.controller.node is not None
            at = Endpoint(
                cluster.controller.node.state.identity.host,
                cluster.controller.node.state.identity.port,
            )
            await cluster.controller.stop()
            assert await cluster.produce(0, "meanwhile") == (ErrorCode.NONE, 1)
            cluster.controller = controller_in(tmp_path)
            await cluster.controller.start(*at)
            assert await create(cluster, "u") == ErrorCode.NONE
            node = cluster.controller.node
            assert node is not None
            assert {one.broker_id for one in node.state.brokers.all() if not one.is_fenced} == {
                1,
                2,
                3,
            }
            gone = await until(lambda: cluster.leader(0))
            await cluster.brokers.pop(gone).close()
            assert await until(lambda: cluster.leader(0)) != gone
            assert await cluster.produce(0, "after") == (ErrorCode.NONE, 2)

    asyncio.run(scenario())


def test_restart_of_whole_cluster_keeps_topics_and_records(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with kept_in(tmp_path) as cluster:
            assert await create(cluster) == ErrorCode.NONE
            for number in range(3):
                assert await cluster.produce(0, f"r{number}") == (ErrorCode.NONE, number)
            before = cluster.batches(1, 0)
        async with kept_in(tmp_path) as cluster:
            await until(lambda: cluster.leader(0))
            assert cluster.batches(1, 0) == before
            assert await cluster.produce(0, "r3") == (ErrorCode.NONE, 3)

    asyncio.run(scenario())
