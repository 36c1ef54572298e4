"""Which nodes a Kafka of ours has, and where each of them listens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.targets.errors import TargetError
from harness.targets.kafka.broker_config import NodeConfig, Quorum
from harness.targets.kafka.eras import (
    Fact,
    Listeners,
    Mode,
    knows,
    listeners_of,
    reads_metadata_log,
)
from harness.targets.target import Address

CONTROLLER_ID = 100
NODES_LIMIT = CONTROLLER_ID - 1


@dataclass(frozen=True)
class NodePlan:
    """The nodes of one start. ``controller`` is None where a broker, or ZooKeeper, is it."""

    quorum: Quorum
    brokers: tuple[NodeConfig, ...]
    controller: NodeConfig | None


@dataclass(frozen=True)
class ClusterPlan:
    """What is asked for: brokers 1 to ``brokers`` of a release in a mode.

    A single KRaft node is broker and controller. Several have a controller of their own with the
    id 100 (a broker that is killed then takes no controller with it), a rack each (r1, r2, ...)
    from 0.10.0 on, and from 0.10.2 on a listener for clients and one for brokers.
    """

    release: str
    mode: Mode
    brokers: int
    settings: Mapping[str, str]

    def __post_init__(self) -> None:
        """Raises TargetError: a number of brokers that is impossible, or is with this release."""
        if not 1 <= self.brokers <= NODES_LIMIT:
            raise TargetError(f"nodes={self.brokers}: 1 to {NODES_LIMIT} brokers can be started")
        if self._has_controller and not reads_metadata_log(self.release, self.mode):
            raise TargetError(
                f"Kafka {self.release} with KRaft cannot have a controller beside its broker, as "
                "several brokers and links need: a bug of it stops whoever reads the metadata "
                "log; take mode=zk, or another release"
            )

    @property
    def _has_controller(self) -> bool:
        """Whether there is a node that is a controller and no broker."""
        return self.mode is Mode.KRAFT and self.brokers > 1

    @property
    def _has_internal(self) -> bool:
        return self.brokers > 1 and listeners_of(self.release) is Listeners.NAMED

    @property
    def ports(self) -> int:
        """How many ports :meth:`nodes` takes: client listeners, quorum, internal listeners."""
        return self.brokers + 1 + (self.brokers if self._has_internal else 0)

    def nodes(self, folder: Path, addresses: Sequence[Address]) -> NodePlan:
        """All nodes; each has its folder, named after its id, below ``folder``."""
        at = addresses[self.brokers]
        if self.mode is Mode.ZK:
            quorum = Quorum(at)
        else:
            quorum = Quorum(at, CONTROLLER_ID if self._has_controller else 1)
        internal = addresses[self.brokers + 1 :] if self._has_internal else ()
        brokers = [
            self._node(
                folder,
                number,
                quorum,
                client=addresses[number - 1],
                internal=internal[number - 1] if internal else None,
            )
            for number in range(1, self.brokers + 1)
        ]
        controller = self._node(folder, CONTROLLER_ID, quorum) if self._has_controller else None
        return NodePlan(quorum, tuple(brokers), controller)

    def _node(
        self,
        folder: Path,
        node_id: int,
        quorum: Quorum,
        client: Address | None = None,
        internal: Address | None = None,
    ) -> NodeConfig:
        has_rack = self.brokers > 1 and knows(self.release, Fact.RACKS)
        return NodeConfig(
            release=self.release,
            mode=self.mode,
            node_id=node_id,
            quorum=quorum,
            log_dir=folder / f"node-{node_id}" / "log",
            client=client,
            internal=internal,
            rack=f"r{node_id}" if has_rack else None,
            brokers=self.brokers,
            settings=self.settings,
        )
