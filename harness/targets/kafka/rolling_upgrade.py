"""Some nodes of a cluster run a newer release than the others: the middle of a rolling upgrade.

Kafka's documents ("Upgrading") let each node be restarted as the newer release while the cluster
stays at the level of the older one: with a ZooKeeper the setting ``inter.broker.protocol.version``
of each broker, with KRaft the feature ``metadata.version`` (KIP-778), which the cluster's log
contains since the older release formatted it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.targets.errors import TargetError
from harness.targets.kafka.broker_config import INTER_BROKER_PROTOCOL
from harness.targets.kafka.eras import Fact, Mode, knows, modes_of
from harness.targets.kafka.release import line_of, release_key

MESSAGE_FORMAT = "log.message.format.version"


@dataclass(frozen=True)
class RollingUpgrade:
    """``newer``: the release of the nodes with the ids ``nodes``; the others run the older one."""

    newer: str
    nodes: frozenset[int]

    def check(self, older: str, mode: Mode, node_ids: Sequence[int]) -> None:
        """Raises TargetError: no such upgrade, or no cluster in the middle of it."""
        asked = f"with={self.newer}"
        if release_key(self.newer) <= release_key(older):
            raise TargetError(
                f"{asked}: an upgrade leads to a newer release than {older}; write the older one "
                "first: kafka:OLDER,with=NEWER"
            )
        if mode not in modes_of(self.newer):
            raise TargetError(
                f"{asked}: Kafka {self.newer} has no mode {mode.value}, in which {older} is here; "
                f"{_other_mode(older, self.newer)}"
            )
        if mode is Mode.KRAFT:
            _check_level(older, self.newer)
        self._check_nodes(node_ids)

    def _check_nodes(self, node_ids: Sequence[int]) -> None:
        asked = "upgraded=" + "+".join(map(str, sorted(self.nodes)))
        if len(node_ids) == 1:
            raise TargetError(
                f"with={self.newer}: one node cannot be of two releases; take several, nodes=3 say"
            )
        there = ", ".join(map(str, node_ids))
        if unknown := sorted(self.nodes - set(node_ids)):
            raise TargetError(f"{asked}: there is no node {unknown[0]}; the nodes: {there}")
        if not self.nodes or self.nodes >= set(node_ids):
            raise TargetError(
                f"{asked}: nodes of both releases are needed; name some of the nodes {there}, "
                "not all"
            )

    def level(self, older: str, mode: Mode) -> dict[str, str]:
        """The settings with which a newer broker keeps to the level of the older release."""
        if mode is Mode.KRAFT:
            return {}
        facts = {
            INTER_BROKER_PROTOCOL: Fact.INTER_BROKER_PROTOCOL,
            MESSAGE_FORMAT: Fact.MESSAGE_FORMAT,
        }
        return {name: line_of(older) for name, fact in facts.items() if knows(self.newer, fact)}


def usually_upgraded(brokers: int) -> frozenset[int]:
    """The last brokers, half of them rounded down."""
    return frozenset(range(brokers - brokers // 2 + 1, brokers + 1))


def read_upgraded(text: str) -> frozenset[int]:
    """The ids in ``2+3``. Raises TargetError."""
    words = text.split("+")
    if not all(word.isdecimal() and len(word) <= 3 for word in words):
        raise TargetError(f"upgraded={text}: must be ids of nodes, such as 3 or 2+3")
    return frozenset(map(int, words))


def _other_mode(older: str, newer: str) -> str:
    common = [mode.value for mode in modes_of(older) if mode in modes_of(newer)]
    if common:
        return f"take mode={common[0]}"
    return "with a ZooKeeper an upgrade ends at 3.9, and a migration to KRaft leads further"


def _check_level(older: str, newer: str) -> None:
    """Kafka 4.x reads no metadata.version before 3.3-IV3 (KIP-896)."""
    if knows(newer, Fact.NEEDS_METADATA_VERSION) and not knows(older, Fact.METADATA_VERSION):
        raise TargetError(
            f"with={newer}: Kafka {newer} reads no metadata.version before 3.3-IV3, and Kafka "
            f"{older} has none; upgrade it to 3.3 or a later 3.x first"
        )
