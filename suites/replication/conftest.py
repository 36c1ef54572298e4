"""Fixtures of this folder's tests, beside ``broker`` and ``peers`` of the harness."""

from __future__ import annotations

import pytest

from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.timeline import Timeline


@pytest.fixture
def timeline(peers: JoinedCluster) -> Timeline:
    """A new topic that the real broker leads, with two virtual followers in its ISR."""
    followers = [peers.join(), peers.join()]
    return Timeline(peers.partition(followers), followers)
