"""Fixtures of this folder's tests, beside ``broker`` and ``peers`` of the harness."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.leader_endpoint import LeaderEndpoint
from harness.virtual_broker.timeline import Timeline
from suites.replication.support.rivals import Rivals


@pytest.fixture
def timeline(peers: JoinedCluster) -> Timeline:
    """A new topic that the real broker leads, with two virtual followers in its ISR."""
    followers = [peers.join(), peers.join()]
    return Timeline(peers.partition(followers), followers)


@pytest.fixture
def rivals(peers: JoinedCluster) -> Iterator[Rivals]:
    """The virtual broker leads."""
    with LeaderEndpoint() as endpoint:
        yield Rivals(peers, endpoint)
