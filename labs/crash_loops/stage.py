"""A broker or a cluster on which rounds are played, with disks that can lose power if need be."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.power_loss.power_loss_disk import PowerLossDisk
from harness.targets.asking import ask_api_versions
from harness.targets.spec import parse_target
from harness.targets.target import KILL_NODE, RESTART_NODE, Target
from labs.crash_loops.cases import CrashCase, CrashFault

ASK_MS = 30_000
DISK_BYTES = 2 << 30
SETTINGS = {
    # What was killed can come back after this time (a single Kafka waits for it by itself).
    "broker.session.timeout.ms": "1500",
    "broker.heartbeat.interval.ms": "300",
    "log.segment.delete.delay.ms": "500",
}
TOPIC = {"segment.bytes": str(1 << 20)}
_NODES = re.compile(r",nodes=(\d+)")


def nodes_of(spec: str) -> int:
    """Return the number of brokers in a target's string."""
    found = _NODES.search(spec)
    return int(found[1]) if found else 1


@dataclass(slots=True)
class CrashStage:
    """``disks``: of the nodes, when the case needs them."""

    case: CrashCase
    target: Target
    cluster: Cluster
    disks: dict[int, PowerLossDisk]

    def strike(self, victims: Sequence[int]) -> None:
        """Kill these nodes; before, cut the power of their disks, if they have such disks."""
        for node in victims:
            if node in self.disks:
                self.disks[node].cut()
        for node in victims:
            self.cluster.kill(node)

    def bring_back(self, victims: Sequence[int]) -> None:
        """Start the nodes on the contents of their disks. Raises the control's errors."""
        for node in victims:
            if node in self.disks:
                self.disks[node].remount()
            self.cluster.restart(node)


@contextmanager
def stage(spec: str, case: CrashCase, log_dir: Path) -> Iterator[CrashStage]:
    """Started, and cleared away. Raises TargetError, MissingCapability: it cannot be had."""
    with ExitStack() as opened:
        like = parse_target(spec, log_dir=log_dir)
        for capability in (KILL_NODE, RESTART_NODE):
            like.require(capability)
        disks = {}
        if case.fault is CrashFault.POWER:
            nodes = range(1, case.nodes + 1)
            disks = {node: opened.enter_context(PowerLossDisk(DISK_BYTES)) for node in nodes}
        folders = {node: disk.path / "node" for node, disk in disks.items()}
        settings = {**SETTINGS, **case.settings}
        target = like.start_another(settings, nodes=case.nodes, node_folders=folders)
        opened.enter_context(target)
        for disk in disks.values():
            disk.sync()  # what Kafka 3.9.2 formats is not flushed by itself
        cluster = opened.enter_context(cluster_of(target))
        yield CrashStage(case, target, cluster, disks)


@contextmanager
def cluster_of(target: Target) -> Iterator[Cluster]:
    """A started target as clients see it, at the versions that its first broker advertises now."""
    made: list[BrokerUnderTest] = []
    versions = ask_api_versions(target.addresses[0], ASK_MS)
    prefix = f"{target.name_prefix}-crash-{time.monotonic_ns()}"

    def connect(node: int, number: int) -> BrokerUnderTest:
        client = BrokerUnderTest(
            [target.address_of(node)], versions, name_prefix=f"{prefix}-{number}", node=node
        )
        made.append(client)
        return client

    cluster = Cluster(target.nodes, connect)
    cluster.control = target
    try:
        yield cluster
    finally:
        for client in made:
            client.close()
