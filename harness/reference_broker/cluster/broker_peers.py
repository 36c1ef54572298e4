"""Connections to other brokers for one purpose, each opened with its first request."""

from __future__ import annotations

from harness.base.ids import BrokerId
from harness.reference_broker.cluster.membership import NodeMembership
from harness.reference_broker.cluster.peer import Peer
from harness.reference_broker.node import Node


class BrokerPeers:
    """One peer for each other broker; an address is looked up at each connect."""

    def __init__(self, node: Node, member: NodeMembership, purpose: str, timeout_ms: int) -> None:
        self._node, self._member = node, member
        self._client_id = f"broker-{member.broker_id}-{purpose}"
        self._timeout_ms = timeout_ms
        self._peers: dict[BrokerId, Peer] = {}

    def to(self, broker_id: BrokerId) -> Peer:
        """Return the peer of that broker."""
        found = self._peers.get(broker_id)
        if found is None:
            brokers, member = self._node.state.brokers, self._member
            found = self._peers[broker_id] = Peer(
                lambda: member.way_to_broker(brokers.get(broker_id)),
                self._client_id,
                self._timeout_ms,
                member.security_between_brokers,
            )
        return found

    def close(self) -> None:
        """Drop all connections."""
        for peer in self._peers.values():
            peer.close()
