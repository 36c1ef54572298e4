"""The fixture ``cluster``: the run's brokers, or those of a private cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest

from harness.client.broker import ApiNotAdvertised
from harness.client.cluster import REPLICAS, Cluster
from harness.client.errors import BrokerMisbehaved
from harness.conformance.outcome import NotApplicable
from harness.runner.brokers.cluster_pool import LentCluster

NODES = "nodes"
"""Names in a record what a target lacks that has too few brokers."""
_LENT = pytest.StashKey[LentCluster]()


def pytest_configure(config: pytest.Config) -> None:
    for line in (
        "needs_nodes(count): the cluster has to have so many brokers",
        "private_cluster(nodes, settings, links, disks): the test may harm its cluster's nodes",
    ):
        config.addinivalue_line("markers", line)


@pytest.fixture
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """The run's cluster, or a private one with the mark for it."""
    from harness.runner.pytest_plugin import CASE  # it loads this module

    case = request.node.stash[CASE]
    _expect_nodes(request.node, len(case.broker.nodes), case.context.info.spec)
    mark = request.node.get_closest_marker("private_cluster")
    lent = request.config.stash.setdefault(_LENT, LentCluster())
    made: Cluster | None = None
    try:
        if mark is None:
            made = case.shared_cluster()
        else:
            nodes, settings, links, disks = mark.args
            nodes = nodes or len(case.broker.nodes)
            running = lent.lend(case.broker.make_target, nodes, settings, links=links, disks=disks)
            made = case.lent_cluster(running, links=links)
            made.disks = lent.disks
            lent.listener = case.notes.hear
        yield made
    finally:
        if made is not None and mark is not None:
            lent.take_back(made)
        elif made is not None:
            with suppress(BrokerMisbehaved, ApiNotAdvertised):
                made.delete_made()
        case.close()


def _expect_nodes(item: pytest.Item, there: int, spec: str) -> None:
    """Raises NotApplicable when the target is no cluster, or too small a one."""
    mark = item.get_closest_marker("needs_nodes")
    needed = mark.args[0] if mark else REPLICAS
    if there < needed:
        raise NotApplicable(NODES, f"{needed} brokers are needed; {spec} is known to have {there}")


def pytest_unconfigure(config: pytest.Config) -> None:
    lent = config.stash.get(_LENT, None)
    if lent is not None:
        lent.stop()
