"""Health check of a cluster that a test had: direct, past all proxies."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.errors import BrokerMisbehaved
from harness.targets.errors import TargetError
from harness.targets.info import probe
from harness.targets.target import Target


def is_well(target: Target) -> bool:
    """True if all brokers run and know one another, all partitions have a leader and are in sync.

    Tests heal a cluster through the proxies of its row, and their rule may have hidden a failure.
    """
    if len(target.nodes) < 2:
        return True
    clients: list[BrokerUnderTest] = []
    try:
        if not all(target.node_is_alive(node) for node in target.nodes):
            return False
        info = probe(target)
        at = dict(zip(target.nodes, target.addresses, strict=True))

        def connect(node: int, number: int) -> BrokerUnderTest:
            del number
            clients.append(BrokerUnderTest([at[node]], info.api_versions, private=True))
            return clients[-1]

        Cluster(target.nodes, connect).heal()
    except (BrokerMisbehaved, TargetError):
        return False
    finally:
        for client in clients:
            client.hang_up()
    return True
