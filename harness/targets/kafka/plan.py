"""The nodes of a Kafka cluster of ours, and their addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.address import Address
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
from harness.targets.kafka.rolling_upgrade import RollingUpgrade

CONTROLLER_ID = 100
NODES_LIMIT = CONTROLLER_ID - 1
CONTROLLERS_LIMIT = 9


@dataclass(frozen=True)
class NodePlan:
    """The nodes of one start. ``controllers``: none where a broker, or ZooKeeper, is it."""

    brokers: tuple[NodeConfig, ...]
    controllers: tuple[NodeConfig, ...]
    zookeeper: Address | None = None


@dataclass(frozen=True)
class KafkaPlan:
    """The requested cluster: brokers 1 to ``brokers`` of a release in a mode.

    A single KRaft node is broker and controller. Several have ``controllers`` of their own with the
    ids 100, 101, ... (a broker that is killed then takes no controller with it), a rack each (r1,
    r2, ...) from 0.10.0 on, and from 0.10.2 on a listener for clients and one for brokers.
    ``upgrade``: some of the nodes run a newer release; what depends on a release is otherwise as
    ``release`` has it.
    """

    release: str
    mode: Mode
    brokers: int
    settings: Mapping[str, str]
    controllers: int = 1
    upgrade: RollingUpgrade | None = None

    def __post_init__(self) -> None:
        """Raises TargetError: a number of nodes that is impossible, or is with this release."""
        if not 1 <= self.brokers <= NODES_LIMIT:
            raise TargetError(f"nodes={self.brokers}: 1 to {NODES_LIMIT} brokers can be started")
        if self._has_controller and not reads_metadata_log(self.release, self.mode):
            raise TargetError(
                f"Kafka {self.release} with KRaft cannot have a controller beside its broker, as "
                "several brokers and links need: a bug of it stops whoever reads the metadata "
                "log; take mode=zk, or another release"
            )
        self._check_controllers()
        if self.upgrade is not None:
            self.upgrade.check(self.release, self.mode, self.node_ids)

    def _check_controllers(self) -> None:
        asked = f"controllers={self.controllers}"
        if not 1 <= self.controllers <= CONTROLLERS_LIMIT:
            raise TargetError(f"{asked}: 1 to {CONTROLLERS_LIMIT} controllers can be started")
        if self.controllers == 1:
            return
        if self.mode is Mode.ZK:
            raise TargetError(
                f"{asked}: with a ZooKeeper one of the brokers is the controller; it takes "
                "mode=kraft to have nodes for that"
            )
        if self.brokers == 1:
            raise TargetError(
                f"{asked}: a single node is broker and controller; it takes several, nodes=3 say"
            )

    @property
    def node_ids(self) -> list[int]:
        """The ids of all nodes: brokers, and controllers that are no brokers."""
        controllers = self.controllers if self._has_controller else 0
        brokers = range(1, self.brokers + 1)
        return [*brokers, *range(CONTROLLER_ID, CONTROLLER_ID + controllers)]

    @property
    def releases(self) -> tuple[str, ...]:
        """The releases of its nodes, the older one first."""
        return (self.release,) if self.upgrade is None else (self.release, self.upgrade.newer)

    @property
    def _has_controller(self) -> bool:
        """True if there is a node that is a controller and no broker."""
        return self.mode is Mode.KRAFT and self.brokers > 1

    @property
    def _has_internal(self) -> bool:
        return self.brokers > 1 and listeners_of(self.release) is Listeners.NAMED

    @property
    def ports(self) -> int:
        """Number of ports of :meth:`nodes`: client listeners, quorum, internal listeners."""
        return self.brokers + self.controllers + (self.brokers if self._has_internal else 0)

    def nodes(self, folder: Path, addresses: Sequence[Address]) -> NodePlan:
        """All nodes; each has its folder, named after its id, below ``folder``."""
        behind = self.brokers + self.controllers
        at = addresses[self.brokers : behind]
        if self.mode is Mode.ZK:
            quorum = Quorum(zookeeper=at[0])
        else:
            quorum = Quorum(dict(enumerate(at, CONTROLLER_ID if self._has_controller else 1)))
        internal = addresses[behind:] if self._has_internal else ()
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
        alone = quorum.voters if self._has_controller else ()
        controllers = tuple(self._node(folder, node_id, quorum) for node_id in alone)
        return NodePlan(tuple(brokers), controllers, quorum.zookeeper)

    def _node(
        self,
        folder: Path,
        node_id: int,
        quorum: Quorum,
        client: Address | None = None,
        internal: Address | None = None,
    ) -> NodeConfig:
        has_rack = self.brokers > 1 and knows(self.release, Fact.RACKS)
        release, level = self.release, dict[str, str]()
        if self.upgrade is not None and node_id in self.upgrade.nodes:
            release, level = self.upgrade.newer, self.upgrade.level(self.release, self.mode)
        return NodeConfig(
            release=release,
            formatted_by=self.release if self.upgrade else "",
            mode=self.mode,
            node_id=node_id,
            quorum=quorum,
            log_dir=folder / f"node-{node_id}" / "log",
            client=client,
            internal=internal,
            rack=f"r{node_id}" if has_rack else None,
            brokers=self.brokers,
            settings={**level, **self.settings},
        )
