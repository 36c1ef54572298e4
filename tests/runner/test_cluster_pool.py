"""The cluster that tests may harm: healed after each, replaced where that fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from harness.base.address import Address
from harness.client.errors import ResponseTimeout
from harness.proxies.event import Event, Listener
from harness.runner.broker_request import BrokerRequest, Use
from harness.runner.brokers.cluster_pool import ClusterPool
from harness.targets.errors import MissingCapability
from harness.targets.external import ExternalBroker
from harness.targets.target import BROKER_CONFIG, LINKS, OWN_BROKER, Target
from tests.runner.conftest import SmallSuite


class Counted(Target):
    """A cluster without processes that counts those started like it."""

    spec = "counted"
    capabilities = frozenset({OWN_BROKER, BROKER_CONFIG, LINKS})

    def __init__(self, started: list[Counted]) -> None:
        super().__init__()
        self.started, self.alive = started, False
        self.tell: Listener | None = None

    def start(self) -> list[Address]:
        self.alive = True
        self.started.append(self)
        return self.addresses

    def stop(self) -> None:
        self.alive = False

    def is_alive(self) -> bool:
        return self.alive

    @property
    def log_path(self) -> None:
        return None

    def _another_linked(
        self, settings: dict[str, str], nodes: int, tell: Listener | None
    ) -> Target:
        made = self._another_cluster(settings, nodes)
        made.tell = tell
        return made

    def _another_cluster(self, settings: dict[str, str], nodes: int) -> Counted:
        made = Counted(self.started)
        made.nodes = list(range(nodes))
        return made


class Healing:
    """Stands for a cluster; ``error`` is what its healing meets."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    def heal(self) -> None:
        if self.error is not None:
            raise self.error


def acquired(pool: ClusterPool, like: Target, nodes: int = 3, **settings: str) -> Any:
    return pool.acquire(lambda: like, BrokerRequest(Use.CLUSTER, settings), nodes)


def test_pool_reuses_cluster_until_healing_fails() -> None:
    pool, like = ClusterPool(), Counted([])
    first = acquired(pool, like)
    pool.take_back(Healing())  # type: ignore[arg-type]
    assert acquired(pool, like) is first
    pool.take_back(Healing(ResponseTimeout("not whole")))  # type: ignore[arg-type]
    assert not first.alive
    assert acquired(pool, like) is not first
    pool.stop()
    pool.stop()
    assert not any(each.is_alive() for each in like.started)


def test_request_of_other_kind_replaces_pooled_cluster() -> None:
    pool, like = ClusterPool(), Counted([])
    first = acquired(pool, like)
    fourth = acquired(pool, like, 4)
    assert (first.alive, fourth.nodes) == (False, [0, 1, 2, 3])
    other = acquired(pool, like, 4, **{"num.partitions": "2"})
    assert (fourth.alive, other.alive) == (False, True)
    pool.stop()


def test_link_events_reach_listener_only_while_cluster_is_in_use() -> None:
    pool, like = ClusterPool(), Counted([])
    heard: list[Event] = []
    plain = acquired(pool, like)
    linked: Any = pool.acquire(lambda: like, BrokerRequest(Use.CLUSTER, links=True), 3)
    assert (plain.alive, plain.tell) == (False, None)
    cut = Event(1.0, "cut", "1->2")
    linked.tell(cut)
    pool.listener = heard.append
    linked.tell(cut)
    pool.take_back(Healing())  # type: ignore[arg-type]
    linked.tell(cut)
    assert heard == [cut]
    pool.stop()


@pytest.mark.parametrize("settings", [{}, {"num.partitions": "2"}])
def test_target_without_own_broker_raises_missing_capability(settings: Mapping[str, str]) -> None:
    request = BrokerRequest(Use.CLUSTER, settings)
    with pytest.raises(MissingCapability, match="own_broker"):
        ClusterPool().acquire(lambda: ExternalBroker([Address("127.0.0.1", 1)]), request, 3)


@pytest.mark.rotates(8)
def test_cluster_test_is_not_applicable_to_single_broker(suite: SmallSuite) -> None:
    ended = suite.write(
        """
        @judges("META-001")
        def test_whole(cluster): ...
        """
    ).run()
    (record,) = ended.journal.checks
    assert (record.verdict.value, record.capability_missing) == ("not_applicable", "nodes")
    assert "3 brokers are needed" in record.reason


@pytest.mark.rotates(8)
def test_private_cluster_test_outside_private_folder_is_refused(suite: SmallSuite) -> None:
    ended = suite.write(
        """
        @judges("META-011")
        @needs_broker(Use.CLUSTER)
        def test_harm(cluster): ...
        """
    ).run()
    assert "has a private cluster and is not below suites/replication/private/" in ended.output
