"""Nodes of a cluster as processes: one of them, or all in one, until a signal ends them."""

from __future__ import annotations

import asyncio
import base64
import sys
import uuid
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.base.ending_signals import run_until_signal
from harness.base.operating_system import raise_descriptor_limit
from harness.reference_broker.allocator import keep_freed_memory
from harness.reference_broker.cluster.broker_node import BrokerNode, Joining
from harness.reference_broker.cluster.controller_node import ControllerNode
from harness.reference_broker.settings import BrokerSettings
from harness.reference_broker.state.registrations.brokers import Endpoint
from harness.reference_broker.storage.node_files import NodeFiles

CONTROLLER_ID = 100
_REPLICATION = 3


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """Brokers 1 to ``brokers`` at ``host``, at ports from ``port`` on; 0 takes free ones.

    Each has a rack of its own, r1, r2 and so on; ``given`` settings win.
    """

    brokers: int
    host: str
    port: int
    given: Mapping[str, str]
    like: str = ""
    scram_users: tuple[str, ...] = ()

    def settings_of(self, node_id: int) -> BrokerSettings:
        """Of one node. Raises SettingError."""
        replicas = str(min(_REPLICATION, self.brokers))
        own = {"node.id": str(node_id), "default.replication.factor": replicas}
        if node_id != CONTROLLER_ID and self.brokers > 1:
            own["broker.rack"] = f"r{node_id}"
        return BrokerSettings.of({**own, **self.given}, self.like, self.scram_users)

    def port_of(self, node_id: int) -> int:
        """Where clients come to a broker."""
        return self.port + node_id - 1 if self.port else 0


def new_cluster_id() -> str:
    """22 characters of url-safe base64 that do not begin with a dash."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text


def run_cluster(plan: ClusterPlan) -> None:
    """Serve with all nodes in this process. Raises OSError: one cannot listen."""
    _run(_serve_cluster(plan))


def run_controller(
    settings: BrokerSettings, cluster_id: str, at: Endpoint, folder: Path | None
) -> None:
    """Serve as the controller of a cluster, new if the folder is or if there is none.

    Raises OSError: it cannot listen, or not use the folder.
    """
    _run(_serve_controller(settings, cluster_id, at, folder))


def run_member(settings: BrokerSettings, joining: Joining) -> None:
    """Serve as a broker of a cluster, and hand over at the end. Raises OSError."""
    _run(_serve_member(settings, joining))


def run_combined(settings: BrokerSettings, joining: Joining) -> None:
    """Serve as controller and broker in one, with one node id.

    As Kafka's `process.roles=broker,controller` has it: a listener and a log for each role.

    ``joining.controller`` is where the controller is to listen. Raises OSError.
    """
    _run(_serve_combined(settings, joining))


async def _serve_cluster(plan: ClusterPlan) -> None:
    cluster_id = new_cluster_id()
    controller = ControllerNode(plan.settings_of(CONTROLLER_ID), cluster_id)
    brokers: list[BrokerNode] = []
    try:
        at = await controller.start(plan.host)
        _say(f"controller {CONTROLLER_ID} of cluster {cluster_id} at {at.host}:{at.port}")
        for node_id in range(1, plan.brokers + 1):
            joining = Joining(
                cluster_id,
                at,
                plan.host,
                plan.port_of(node_id),
                internal_port=0 if plan.brokers > 1 else None,
            )
            brokers.append(BrokerNode(plan.settings_of(node_id), joining))
        addresses = await asyncio.gather(*(broker.start() for broker in brokers))
        _listening(*addresses)
        await asyncio.get_running_loop().create_future()
    finally:
        for broker in brokers:
            await broker.close()
        await controller.stop()


async def _serve_controller(
    settings: BrokerSettings, cluster_id: str, at: Endpoint, folder: Path | None
) -> None:
    controller = ControllerNode(settings, cluster_id, folder)
    try:
        _listening(await controller.start(*at))
        await _lost(controller.files)
    finally:
        await controller.stop()


async def _serve_member(settings: BrokerSettings, joining: Joining) -> None:
    broker = BrokerNode(settings, joining)
    try:
        _listening(await broker.start())
        await _lost(broker.files)
    finally:
        await broker.stop()


async def _serve_combined(settings: BrokerSettings, joining: Joining) -> None:
    controller = ControllerNode(settings, joining.cluster_id, joining.folder)
    broker: BrokerNode | None = None
    try:
        at = await controller.start(*joining.controller)
        _say(f"controller of cluster {joining.cluster_id} at {at.host}:{at.port}")
        broker = BrokerNode(settings, replace(joining, controller=at), controller.files)
        _listening(await broker.start())
        await _lost(controller.files)
    finally:
        if broker is not None:
            await broker.stop()
        await controller.stop(None if broker is None else broker.ended_as)


async def _lost(files: NodeFiles | None) -> None:
    """For as long as the node can live. Raises NoDirectoryLeft."""
    lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def tell() -> None:
        if files is not None and files.logs.lost is not None and not lost.done():
            lost.set_exception(files.logs.lost)

    if files is not None:
        files.logs.on_lost = tell
    tell()
    await lost


def member_joining(joining: Joining, *, alone: bool) -> Joining:
    """``alone``: the only broker there will be of ours needs no listener for others."""
    return replace(joining, internal_port=None) if alone else joining


def _run(serving: Coroutine[Any, Any, None]) -> None:
    keep_freed_memory()
    raise_descriptor_limit()
    run_until_signal(serving)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _listening(*addresses: Endpoint) -> None:
    _say("listening on " + ",".join(f"{at.host}:{at.port}" for at in addresses))
