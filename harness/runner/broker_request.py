"""The broker that a test needs, as one value: a mark carries it, the provider reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import pytest

MARK = "needs_broker"


class Use(StrEnum):
    """The use that a test makes of its broker; those that wait longest first."""

    CLUSTER = "cluster"
    """A private cluster with nodes that the test may stop, cut off or damage."""
    JOINABLE = "joinable"
    """A private broker that virtual brokers join. Without settings, such tests share one."""
    DISPOSABLE = "disposable"
    """A private broker that the test may damage; such tests share one, which is then discarded."""
    TUNED = "tuned"
    """A private broker that tests with the same settings share, as none of them harms it."""
    PERSISTENT = "persistent"
    """A private broker with data that outlives its process: the test ends and restarts it."""
    OWN = "own"
    """A private broker for this test alone."""
    RUN = "run"
    """The run's own broker, which other tests use at the same time."""


_SHARED = frozenset({Use.JOINABLE, Use.DISPOSABLE, Use.TUNED})


@dataclass(frozen=True, slots=True)
class BrokerRequest:
    """The broker, or the cluster, that a test needs.

    Attributes:
        use: see `Use`.
        settings: by Kafka's names, such as ``{"group.max.size": "2"}``.
        nodes: the number of brokers of a private cluster; 0: as many as the target has.
        links: every directed link of a private cluster can be cut (``cluster.links``).
        disks: the disks of a private cluster can lose power (``cluster.lose_power``).
    """

    use: Use = Use.RUN
    settings: Mapping[str, str] = field(default_factory=dict)
    nodes: int = 0
    links: bool = False
    disks: bool = False

    @property
    def is_private(self) -> bool:
        """True if the test gets another broker than the run's."""
        return self.use is not Use.RUN

    @property
    def is_pooled(self) -> bool:
        """True if the test gets a private broker that other tests of its process get as well."""
        own_settings = self.use is Use.JOINABLE and bool(self.settings)
        return self.use in _SHARED and not own_settings

    @property
    def key(self) -> str:
        """A text that is equal for equal requests."""
        values = [dict(self.settings), self.nodes, self.links, self.disks]
        return f"{self.use} {json.dumps(values, sort_keys=True)}"


def request_of(item: pytest.Item) -> BrokerRequest:
    """Return the request of a test; the run's own broker without a mark."""
    mark = item.get_closest_marker(MARK)
    if mark is None:
        return BrokerRequest()
    request: BrokerRequest = mark.args[0]
    return request
