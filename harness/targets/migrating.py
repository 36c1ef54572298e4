"""Kafka in a phase of its migration from ZooKeeper to KRaft, as a target."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.targets.kafka.cluster import KafkaCluster, Programs
from harness.targets.kafka.eras import Mode
from harness.targets.kafka.jvm import HEAP, QUICK
from harness.targets.kafka.migrating_cluster import Between, MigratingCluster
from harness.targets.kafka.migration_plan import MIGRATING, MigratingPlan, Phase, check_migration
from harness.targets.kafka.target import KafkaTarget
from harness.targets.pinned_file import Progress
from harness.targets.target import JOIN_AS_BROKER, LINKS, POWER_LOSS, UPGRADE


class MigratingKafka(KafkaTarget):
    """A cluster that has come from ZooKeeper to ``phase``, with controllers of their own.

    It starts with a ZooKeeper and passes all phases before its own; :meth:`advance` leads it on.
    A stop and a start begin anew.
    """

    capabilities = KafkaTarget.capabilities - {JOIN_AS_BROKER, LINKS, POWER_LOSS, UPGRADE}

    def __init__(
        self,
        release: str,
        phase: Phase,
        *,
        nodes: int = 1,
        controllers: int = 1,
        heap: str = HEAP,
        jvm: str = QUICK,
        settings: Mapping[str, str] | None = None,
        log_dir: Path | None = None,
        progress: Progress | None = None,
    ) -> None:
        """As KafkaTarget. Raises TargetError also where the release cannot migrate."""
        check_migration(release)
        self.phase = phase
        super().__init__(
            release,
            mode=Mode.ZK.value,
            nodes=nodes,
            controllers=controllers,
            heap=heap,
            jvm=jvm,
            settings=settings,
            log_dir=log_dir,
            progress=progress,
        )
        self.capabilities = self.capabilities - {LINKS, POWER_LOSS, UPGRADE}

    def _planned(self, brokers: int, controllers: int) -> MigratingPlan:
        return MigratingPlan(self.release, self.mode, brokers, self.settings, controllers)

    def _mode_options(self) -> list[str]:
        return [f"mode={MIGRATING}", f"phase={self.phase.value}"]

    def _new_cluster(self, programs: Programs) -> KafkaCluster:
        return MigratingCluster(
            self._plan,
            programs,
            self._log_folder(),
            keep_in=self.keep_in,
            node_folders=self.node_folders,
        )

    def _begin(self, cluster: KafkaCluster) -> None:
        assert isinstance(cluster, MigratingCluster)
        for phase in (*self.phase.before[1:], self.phase):
            if phase is not cluster.phase:
                cluster.advance(phase)
        self._show(cluster)

    def _show(self, cluster: MigratingCluster) -> None:
        super()._begin(cluster)
        self.peer_endpoint = None
        if not cluster.phase.has_controllers:
            self.controller_nodes = ()
        else:
            self.zookeeper = None  # the controllers lead the brokers

    def advance(self, phase: Phase, between: Between) -> None:
        """Lead the running cluster to the next phase, one node after the other.

        ``between`` is called with the id of each node that is back. From then on this target is
        of that phase. Raises as MigratingCluster.advance.
        """
        assert isinstance(self._cluster, MigratingCluster)
        self._cluster.advance(phase, between)
        self.phase = phase
        self.spec = self._spec()
        self._show(self._cluster)

    def _another_cluster(self, settings: dict[str, str], nodes: int) -> KafkaTarget:
        return MigratingKafka(
            self.release,
            self.phase,
            nodes=nodes,
            controllers=self._plan.controllers,
            heap=self.heap,
            jvm=self.jvm,
            settings={**self.settings, **settings},
            log_dir=self._log_folder(),
        )
