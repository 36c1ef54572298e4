"""A cluster of Kafka that migrates from ZooKeeper to KRaft, phase by phase."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from harness.base.address import Address
from harness.targets.asking import ask_cluster
from harness.targets.errors import TargetError, TargetStartError
from harness.targets.kafka.broker_config import Quorum
from harness.targets.kafka.cluster import START_TIMEOUT_MS, KafkaCluster
from harness.targets.kafka.migration_plan import MigratingPlan, Phase
from harness.targets.kafka.node import KafkaNode
from harness.targets.kafka.server import await_condition
from harness.targets.not_answered import NotAnswered

if TYPE_CHECKING:
    from kazoo.client import KazooClient

CONTROLLER, MIGRATION = "/controller", "/migration"
ANSWER_MS = 30_000
SESSION_S = 10.0
SAMPLES = 10
Between = Callable[[int], None]


class MigratingCluster(KafkaCluster):
    """Starts with a ZooKeeper; :meth:`advance` leads it from one phase to the next."""

    phase = Phase.ZOOKEEPER
    _quorum: Quorum

    def start(self, addresses: Sequence[Address]) -> None:
        """Start brokers with a ZooKeeper; the controllers are not started yet."""
        assert isinstance(self.plan, MigratingPlan)
        self._quorum = self.plan.quorum(addresses)
        self._make(addresses)
        assert self.zookeeper is not None
        self.zookeeper.start(archive_in=self.scratch.path)
        self._launch(list(self.brokers.values()))
        for broker in self.brokers.values():
            self._await(broker, self.addresses)

    def advance(self, phase: Phase, between: Between | None = None) -> None:
        """Lead the cluster into the next phase.

        ``between``: brokers are restarted one after the other and this is called with each; None:
        all at once, which is quicker and interrupts clients. Raises TargetError: this phase does
        not follow; TargetStartError: a node does not come back.
        """
        if (self.phase, phase) not in _STEPS:
            there = ", ".join(to.value for at, to in _STEPS if at is self.phase) or "none"
            raise TargetError(f"{phase.value} does not follow {self.phase.value}; {there} does")
        _STEPS[self.phase, phase](self, between)
        self.phase = phase

    # -- steps ---------------------------------------------------------------------------------

    def _enter(self, between: Between | None) -> None:
        """Start the controllers, then the brokers in migration mode; await the copied metadata."""
        cluster_id = ask_cluster(next(iter(self.addresses.values())), ANSWER_MS).cluster_id
        for controller in self.controllers.values():
            controller.cluster_id = cluster_id
        self._launch(list(self.controllers.values()))
        self._await_controllers()
        self._restart_brokers(Phase.DUAL_WRITE, between)
        await_condition(
            self._is_copied, START_TIMEOUT_MS, self._check, "ZooKeeper's metadata were not copied"
        )

    def _leave_zookeeper(self, between: Between | None) -> None:
        self._cluster_id = next(iter(self.controllers.values())).cluster_id
        self._restart_brokers(Phase.KRAFT_BROKERS, between)

    def _finalize(self, between: Between | None) -> None:
        """Restart the controllers out of migration mode, one after the other; end ZooKeeper."""
        for controller in self.controllers.values():
            config = Phase.FINALIZED.controller(controller.config, self._quorum)
            controller.upgrade(config, self._programs.kafka)
            self.restart(controller)
            if between is not None:
                between(controller.node_id)
        assert self.zookeeper is not None
        self.zookeeper.kill()

    def _return_brokers(self, between: Between | None) -> None:
        """Brokers without a ZooKeeper are restarted in migration mode again."""
        self._restart_brokers(Phase.DUAL_WRITE, between)

    def _roll_back(self, between: Between | None) -> None:
        """End the controllers, remove what they left in ZooKeeper, restart the brokers.

        The restarts wait until each broker knows the new controller: up to then a broker that is
        stopped waits 5 minutes for a controller of the quorum (KafkaServer.controlledShutdown).
        """
        for controller in self.controllers.values():
            controller.stop()
        with self._connected() as client:
            for path in (CONTROLLER, MIGRATION):
                client.delete(path, recursive=True)
        await_condition(
            self._know_controller, START_TIMEOUT_MS, self._check, "no broker became controller"
        )
        self._restart_brokers(Phase.ROLLED_BACK, between)

    def _know_controller(self) -> bool:
        """True if all brokers name the one that is registered as controller.

        A broker that still knows the quorum names any of the brokers, another one each time.
        """
        assert self.zookeeper is not None
        if CONTROLLER not in self.zookeeper.ephemerals():
            return False
        try:
            named = {
                ask_cluster(address, ANSWER_MS).controller
                for address in self.addresses.values()
                for _ in range(SAMPLES)
            }
        except NotAnswered:
            return False
        return len(named) == 1

    # -- brokers -------------------------------------------------------------------------------

    def _restart_brokers(self, phase: Phase, between: Between | None) -> None:
        brokers = list(self.brokers.values())
        for broker in brokers:
            config = phase.broker(broker.config, self._quorum)
            broker.upgrade(config, self._programs.kafka)
        if between is None:
            self._restart_together(brokers)
            return
        for broker in brokers:
            self.restart(broker)
            between(broker.node_id)

    def _restart_together(self, brokers: Sequence[KafkaNode]) -> None:
        for broker in brokers:
            broker.stop()
        assert self.zookeeper is not None
        for broker in brokers:
            self.zookeeper.await_gone(broker.node_id)
        self._launch(brokers)
        for broker in brokers:
            self._await(broker, self.addresses)

    # -- ZooKeeper -----------------------------------------------------------------------------

    def _check(self) -> None:
        dead = next(self.dead(), None)
        if dead is not None:
            raise TargetStartError(dead.ended())

    def _is_copied(self) -> bool:
        """The controllers note in ZooKeeper up to which offset of their log it has their writes."""
        from kazoo.exceptions import NoNodeError

        with self._connected() as client:
            try:
                content, _ = client.get(MIGRATION)
            except NoNodeError:
                return False
        found: dict[str, Any] = json.loads(content)
        return int(found["kraft_metadata_offset"]) >= 0

    @contextmanager
    def _connected(self) -> Iterator[KazooClient]:
        from kazoo.client import KazooClient
        from kazoo.exceptions import KazooException
        from kazoo.handlers.threading import KazooTimeoutError

        assert self.zookeeper is not None
        client = KazooClient(hosts=str(self.zookeeper.address), timeout=SESSION_S)
        try:
            client.start(timeout=SESSION_S)
            yield client
        except (KazooException, KazooTimeoutError) as problem:
            raise TargetStartError(f"{self.zookeeper.called}: {problem!r}") from problem
        finally:
            client.stop()
            client.close()


Step = Callable[[MigratingCluster, Between | None], None]
_STEPS: dict[tuple[Phase, Phase], Step] = {
    (Phase.ZOOKEEPER, Phase.DUAL_WRITE): MigratingCluster._enter,
    (Phase.DUAL_WRITE, Phase.KRAFT_BROKERS): MigratingCluster._leave_zookeeper,
    (Phase.KRAFT_BROKERS, Phase.FINALIZED): MigratingCluster._finalize,
    (Phase.KRAFT_BROKERS, Phase.DUAL_WRITE): MigratingCluster._return_brokers,
    (Phase.DUAL_WRITE, Phase.ROLLED_BACK): MigratingCluster._roll_back,
}
"""What leads from a phase to another one; back from KRaft brokers is in two steps."""
