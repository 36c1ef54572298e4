"""Private brokers that serve one row after another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.address import Address
from harness.proxies import FrameRule
from harness.targets.spec import parse_target
from harness.targets.target import Target
from labs.defects.broker_pool import IDLE_NODES, RowBroker, RowBrokers
from labs.defects.private_brokers import PrivateBehindRelay, PrivateClusterBehindProxies
from labs.defects.well_cluster import is_well


class StandIn(Target):
    """Runs until it is stopped, or until a test ends it."""

    spec, implementation, release, capabilities = "stand-in", "stand-in", "1", frozenset[str]()

    def __init__(self, nodes: int) -> None:
        super().__init__()
        self.running = True
        self.stopped = 0
        self.nodes = list(range(1, nodes + 1))

    def start(self) -> list[Address]:
        return []

    def stop(self) -> None:
        self.running, self.stopped = False, self.stopped + 1

    def is_alive(self) -> bool:
        return self.running

    @property
    def log_path(self) -> None:
        return None


def given(pool: RowBrokers, key: str, *, well: bool = True, nodes: int = 1) -> StandIn:
    target = StandIn(nodes)
    pool.give_back(RowBroker(target, key), lambda _: well)
    return target


@pytest.fixture(name="pool")
def _pool() -> Iterator[RowBrokers]:
    pool = RowBrokers()
    yield pool
    pool.stop()


def test_pool_reuses_broker_for_same_settings(pool: RowBrokers) -> None:
    one = given(pool, "a")
    assert pool.take("b") is None
    taken = pool.take("a")
    assert taken is not None
    assert taken.target is one
    assert pool.take("a") is None, "it is in use"


def test_pool_skips_ended_broker(pool: RowBrokers) -> None:
    ended, alive = given(pool, "a"), given(pool, "a")
    ended.running = False
    taken = pool.take("a")
    assert taken is not None
    assert taken.target is alive
    assert ended.stopped == 1


def test_pool_stops_unhealthy_broker_at_once(pool: RowBrokers) -> None:
    harmed = given(pool, "a", well=False)
    assert harmed.stopped == 1
    assert pool.take("a") is None


def test_full_pool_stops_longest_idle_broker(pool: RowBrokers) -> None:
    waiting = [given(pool, f"{number}") for number in range(IDLE_NODES + 1)]
    assert [one.running for one in waiting] == [False, *[True] * IDLE_NODES]


def test_idle_cluster_leaves_no_place_for_others(pool: RowBrokers) -> None:
    broker, large = given(pool, "a"), given(pool, "b", nodes=IDLE_NODES + 1)
    assert [broker.running, large.running] == [False, True]
    last = given(pool, "c")
    assert [large.running, last.running] == [False, True]


def test_pool_stop_stops_each_idle_broker_once() -> None:
    pool = RowBrokers()
    waiting = [given(pool, "a"), given(pool, "b")]
    pool.stop()
    pool.stop()
    assert [one.stopped for one in waiting] == [1, 1]


def test_private_broker_serves_two_rows_and_is_replaced_after_kill(
    pool: RowBrokers, tmp_path: Path
) -> None:
    like = parse_target("reference", log_dir=tmp_path)
    pids = []
    for kills in (False, True, False):
        private = PrivateBehindRelay(like, {"num.partitions": "2"}, FrameRule(), pool=pool)
        with private:
            broker = private._broker
            assert broker is not None
            pids.append(broker.pid)  # type: ignore[attr-defined]
            if kills:
                broker._child.kill()  # type: ignore[attr-defined]
    assert pids[0] == pids[1]
    assert pids[2] != pids[1]


def test_private_broker_without_pool_stops_after_test(tmp_path: Path) -> None:
    like = parse_target("reference", log_dir=tmp_path)
    with PrivateBehindRelay(like, {}, FrameRule()) as private:
        broker = private._broker
        assert broker is not None
        assert broker.is_alive()
    assert not broker.is_alive()


@pytest.mark.rotates(8)
def test_cluster_with_killed_node_is_not_reused(pool: RowBrokers, tmp_path: Path) -> None:
    like = parse_target("reference,nodes=3", log_dir=tmp_path)

    def cluster() -> PrivateClusterBehindProxies:
        return PrivateClusterBehindProxies(like, {}, 3, FrameRule(), pool=pool)

    with cluster() as first:
        running = first._running
    with cluster() as second:
        assert second._running is running
        second.kill_node(2)
        assert not is_well(running)
        second.restart_node(2)
        assert is_well(running)
        second.kill_node(3)
    with cluster() as third:
        assert third._running is not running
    assert not running.is_alive()


def test_cluster_with_accessed_log_directories_is_not_reused(
    pool: RowBrokers, tmp_path: Path
) -> None:
    like = parse_target("reference,nodes=3", log_dir=tmp_path)
    with PrivateClusterBehindProxies(like, {}, 3, FrameRule(), pool=pool) as cluster:
        running = cluster._running
        assert cluster.log_directories(1)
        assert is_well(running)
    assert not running.is_alive()
