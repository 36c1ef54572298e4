"""The phases of a migration from ZooKeeper to KRaft, and the nodes' configuration in each.

Kafka's documents ("ZooKeeper to KRaft Migration", KIP-866) have the steps: controllers are started
beside the brokers; the brokers are restarted in migration mode, upon which the controllers copy the
metadata and then write every change to both places; the brokers are restarted without a ZooKeeper;
the controllers are restarted without migration mode. Until the last step the way back is open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from harness.base.address import Address
from harness.targets.errors import TargetError
from harness.targets.kafka.broker_config import NodeConfig, Quorum
from harness.targets.kafka.eras import Fact, Mode, knows, modes_of
from harness.targets.kafka.plan import CONTROLLER_ID, KafkaPlan, NodePlan

MIGRATING = "migrating"


class Phase(Enum):
    """The progress of a migration; the value is its name in target strings."""

    ZOOKEEPER = "zookeeper"
    DUAL_WRITE = "dual-write"
    KRAFT_BROKERS = "kraft-brokers"
    FINALIZED = "finalized"
    ROLLED_BACK = "rolled-back"

    @property
    def broker_mode(self) -> Mode:
        """The mode of the brokers."""
        kraft = (Phase.KRAFT_BROKERS, Phase.FINALIZED)
        return Mode.KRAFT if self in kraft else Mode.ZK

    @property
    def has_controllers(self) -> bool:
        """True if KRaft controllers lead the cluster."""
        return self not in (Phase.ZOOKEEPER, Phase.ROLLED_BACK)

    @property
    def before(self) -> tuple[Phase, ...]:
        """The phases that a cluster passes on its way from the first one to this one."""
        path = tuple(Phase)[:4]
        if self is Phase.ROLLED_BACK:
            return path[:2]
        return path[: path.index(self)]

    def broker(self, config: NodeConfig, quorum: Quorum) -> NodeConfig:
        """The configuration of a broker in this phase; ``quorum``: controllers and ZooKeeper."""
        by_mode = {
            Mode.ZK: quorum if self is Phase.DUAL_WRITE else Quorum(zookeeper=quorum.zookeeper),
            Mode.KRAFT: Quorum(quorum.voters),
        }
        mode = self.broker_mode
        return replace(config, mode=mode, quorum=by_mode[mode])

    def controller(self, config: NodeConfig, quorum: Quorum) -> NodeConfig:
        """The configuration of a controller in this phase."""
        ours = Quorum(quorum.voters) if self is Phase.FINALIZED else quorum
        return replace(config, mode=Mode.KRAFT, quorum=ours)


def read_phase(text: str) -> Phase:
    """The phase of that name. Raises TargetError."""
    names = [phase.value for phase in Phase]
    if text not in names:
        raise TargetError(f"phase={text}: no such phase; the phases: {', '.join(names)}")
    return Phase(text)


def check_migration(release: str) -> None:
    """Raises TargetError: the release has no migration from ZooKeeper to KRaft."""
    if Mode.ZK not in modes_of(release):
        raise TargetError(
            f"mode={MIGRATING}: Kafka {release} has no ZooKeeper to migrate from; take a 3.6 to 3.9"
        )
    if not knows(release, Fact.MIGRATION):
        raise TargetError(
            f"mode={MIGRATING}: Kafka {release} has no migration that is fit for production; take "
            "a 3.6 to 3.9"
        )


@dataclass(frozen=True)
class MigratingPlan(KafkaPlan):
    """As its parent, with a ZooKeeper and with controllers of their own from 100 on."""

    def _check_controllers(self) -> None:
        if not 1 <= self.controllers <= 9:
            raise TargetError(f"controllers={self.controllers}: 1 to 9 controllers can be started")

    @property
    def ports(self) -> int:
        """One more than the parent's: ZooKeeper's."""
        return super().ports + 1

    def quorum(self, addresses: Sequence[Address]) -> Quorum:
        """The controllers and the ZooKeeper."""
        at = addresses[self.brokers : self.brokers + self.controllers]
        return Quorum(dict(enumerate(at, CONTROLLER_ID)), zookeeper=addresses[-1])

    def nodes(self, folder: Path, addresses: Sequence[Address]) -> NodePlan:
        """The brokers as they are before the migration, and the controllers of its beginning."""
        quorum = self.quorum(addresses)
        behind = self.brokers + self.controllers
        internal = addresses[behind:-1] if self._has_internal else ()
        brokers = [
            self._node(
                folder,
                number,
                Quorum(zookeeper=quorum.zookeeper),
                client=addresses[number - 1],
                internal=internal[number - 1] if internal else None,
            )
            for number in range(1, self.brokers + 1)
        ]
        controllers = [
            Phase.DUAL_WRITE.controller(self._node(folder, node_id, quorum), quorum)
            for node_id in quorum.voters
        ]
        return NodePlan(tuple(brokers), tuple(controllers), quorum.zookeeper)
