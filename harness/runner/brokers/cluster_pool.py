"""The one cluster of this process that tests may harm, used by one test at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.client.cluster import Cluster
from harness.client.errors import BrokerMisbehaved
from harness.power_loss.power_loss_disk import DiskError, PowerLossDisk
from harness.proxies.event import Event, Listener
from harness.runner.broker_request import BrokerRequest
from harness.targets.errors import MissingCapability, TargetError
from harness.targets.target import POWER_LOSS, Target


class ClusterPool:
    """A cluster that is started on first use, healed after each test and stopped at the end.

    It is replaced if healing fails or a test needs another kind of cluster.
    """

    def __init__(self) -> None:
        self._running: Target | None = None
        self._kind: BrokerRequest | None = None
        self.disks: dict[int, PowerLossDisk] = {}
        """Of its nodes, where they can lose power."""
        self.listener: Listener | None = None
        """Called with the events of its links while a test uses it, if it has any."""

    def _tell(self, event: Event) -> None:
        if self.listener is not None:
            self.listener(event)

    def acquire(self, like: Callable[[], Target], request: BrokerRequest, nodes: int) -> Target:
        """Return a healthy cluster of so many nodes.

        Raises MissingCapability, TargetError.
        """
        kind = replace(request, nodes=nodes)
        if self._kind != kind:
            self.stop()
        if self._running is None:
            if request.disks:
                self._make_disks(nodes)
            self._running = like().start_another(
                request.settings,
                nodes=nodes,
                links=request.links,
                tell=self._tell if request.links else None,
                node_folders={node: disk.path / "node" for node, disk in self.disks.items()},
            )
            self._kind = kind
            for disk in self.disks.values():
                disk.sync()  # what Kafka 3.9.2 formats is not flushed by itself
        return self._running

    def _make_disks(self, nodes: int) -> None:
        """Raises MissingCapability where the machine has none after all."""
        try:
            for node in range(1, nodes + 1):
                self.disks[node] = PowerLossDisk()
        except DiskError as problem:
            self.stop()
            raise MissingCapability(POWER_LOSS, str(problem)) from problem

    def take_back(self, cluster: Cluster) -> None:
        """After a test: restore the cluster, or stop it."""
        try:
            cluster.heal()
        except (BrokerMisbehaved, TargetError, MissingCapability):
            self.stop()
        finally:
            self.listener = None

    def stop(self) -> None:
        """Stop it; twice is fine."""
        running, self._running = self._running, None
        if running is not None:
            running.stop()
        disks, self.disks = self.disks, {}
        for disk in disks.values():
            disk.close()
