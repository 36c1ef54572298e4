"""Defects in the brokers that tests start for themselves.

The shared broker runs already; a broker that a test starts gets a relay in front of it. The
relay, and the rule in it, are new each time; the broker behind may have served a row before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.base.address import Address
from harness.proxies import FrameRule, RunningRelay
from harness.proxies.event import Event, Listener
from harness.proxies.frame_rule import FrameRuleInterceptor
from harness.proxies.links import Links
from harness.proxies.proxy import Proxy
from harness.proxies.running import RunningProxies
from harness.targets.external import ANSWER_TIMEOUT_MS, ExternalBroker
from harness.targets.external_nodes import find_nodes
from harness.targets.proxied import ProxiedTarget, proxied
from harness.targets.reference import ReferenceBroker
from harness.targets.secured_cluster import SecuredCluster
from harness.targets.target import (
    BROKER_CONFIG,
    JOIN_AS_BROKER,
    KEPT,
    LINKS,
    OWN_BROKER,
    POWER_LOSS,
    SAFETY_CLASSES,
    UPGRADE,
    Target,
)
from harness.virtual_broker.peer_endpoint import KraftEndpoint, PeerEndpoint
from labs.defects.between_nodes import BetweenNodes, stand_before
from labs.defects.broker_pool import RowBroker, RowBrokers
from labs.defects.tls_relay import relay_before
from labs.defects.well_cluster import is_well

MakeRule = Callable[[], FrameRule]


class PrivateBehindRelay(Target):
    """A private broker, reached only through a relay with a rule."""

    def __init__(
        self,
        like: Target,
        settings: Mapping[str, str],
        rule: FrameRule,
        *,
        pool: RowBrokers | None = None,
        kept: bool = False,
        older: bool = False,
    ) -> None:
        """``pool``: gives the broker and takes it back; None: it is for this test alone.

        ``kept``, ``older``: as in ``start_another``.
        """
        super().__init__(like.log_dir)
        self.spec, self.release = like.spec, like.release
        self.implementation = like.implementation
        self.capabilities = like.capabilities
        if kept:
            there = like._another_kept(dict(settings)).capabilities  # of the kind that is started
            self.capabilities = like.capabilities.union(KEPT, there & {POWER_LOSS})
        self._like, self._settings, self._rule = like, settings, rule
        self._kept, self._older, self._pool = kept, older, pool
        self._broker: Target | None = None
        self._way: SecuredCluster | None = None
        self._open = ExitStack()

    @property
    def log_path(self) -> Path | None:
        return self._broker.log_path if self._broker else None

    def start(self) -> list[Address]:
        """Start the broker and return the relay's address."""
        if self.addresses:
            return self.addresses
        with ExitStack() as opening:
            self._broker = self._taken(opening)
            at, way = self._broker.addresses[0], self._broker.secured
            address, _ = opening.enter_context(relay_before(at, self._rule, way))
            self.peer_endpoint = self._client(self._broker.peer_endpoint, opening)
            self._open = opening.pop_all()
        self.addresses, self.nodes = [address], self._broker.nodes[:1]
        if self._broker.secured is not None:
            self._way = SecuredCluster(Path(self._broker.secured.file))
            self._way.open(self.addresses)
            self.secured = self._way.way
        return self.addresses

    def _taken(self, opening: ExitStack) -> Target:
        """A running broker; ``opening`` stops it or gives it back."""
        key = ("broker", *sorted(self._settings.items()))
        pooled = None if self._pool is None else self._pool.take(key)
        if pooled is None:
            broker = self._like.start_another(
                self._settings,
                kept=self._kept,
                older=self._older,
                node_folders=self.node_folders,
            )
            pooled = RowBroker(broker, key)
        _return_to(self._pool, pooled, opening)
        return pooled.target

    def _client(self, own: PeerEndpoint | None, opening: ExitStack) -> PeerEndpoint | None:
        """A relay with the same rule before a controller; a ZooKeeper has none."""
        if not isinstance(own, KraftEndpoint):
            return own
        relay = opening.enter_context(RunningRelay(own.controller, self._rule))
        return replace(own, controller=relay.address)

    def is_alive(self) -> bool:
        return self._broker is not None and self._broker.is_alive()

    def stop(self) -> None:
        self._open.close()
        self.addresses, self.nodes, self.peer_endpoint = [], [], None
        if self._way is not None:
            self._way.close()

    @property
    def _running(self) -> Target:
        assert self._broker is not None, "not started"
        return self._broker

    def stop_node(self, node: int) -> None:
        self._running.stop_node(node)

    def kill_node(self, node: int) -> None:
        self._running.kill_node(node)

    def restart_node(self, node: int) -> None:
        self._running.restart_node(node)

    def log_directories(self, node: int) -> list[Path]:
        return self._running.log_directories(node)

    def logs(self, node: int) -> str:
        return self._running.logs(node)


class PrivateClusterBehindProxies(Target):
    """A private cluster, each broker reached only through a proxy with the one rule.

    The proxy of a broker is closed when the broker has ended.
    """

    def __init__(
        self,
        like: Target,
        settings: Mapping[str, str],
        nodes: int,
        rule: FrameRule,
        *,
        pool: RowBrokers | None = None,
        links: bool = False,
        tell: Listener | None = None,
    ) -> None:
        """``pool``: as above. ``links``, ``tell``: as in ``start_another``."""
        super().__init__(like.log_dir)
        self.spec, self.release = like.spec, like.release
        self.implementation, self.capabilities = like.implementation, like.capabilities
        self._like, self._settings, self._count, self._rule = like, settings, nodes, rule
        self._with_links, self._listener, self._pool = links, tell, pool
        self._cluster: Target | None = None
        self._pooled: RowBroker | None = None
        self._behind: ProxiedTarget | None = None
        self._open = ExitStack()

    @property
    def log_path(self) -> Path | None:
        return self._cluster.log_path if self._cluster else None

    def start(self) -> list[Address]:
        """Start the cluster and return the proxies' addresses."""
        if self.addresses:
            return self.addresses
        with ExitStack() as opening:
            # Before the cluster, which ends first: an end in good order needs the controller.
            between = opening.enter_context(RunningProxies())
            self._cluster = self._taken(opening)
            if isinstance(self._rule, BetweenNodes):
                stand_before(self._cluster.links, self._rule, between)
            interceptor = FrameRuleInterceptor(self._rule)
            way = self._cluster.secured
            behind = opening.enter_context(
                proxied(self._cluster, interceptor=interceptor, enters=way is None)
            )
            if way is not None:
                self._enter(SecuredCluster(Path(way.file)), behind.addresses, opening)
            self._behind, self._open = behind, opening.pop_all()
        self.addresses, self.nodes = list(behind.addresses), list(self._cluster.nodes)
        self.zookeeper = self._cluster.zookeeper
        self.controller_nodes = self._cluster.controller_nodes
        return self.addresses

    def _enter(self, cluster: SecuredCluster, addresses: list[Address], opening: ExitStack) -> None:
        """Enter the cluster through the proxies, which read no TLS."""
        opening.callback(cluster.close)
        cluster.open(addresses)
        self.secured = cluster.way

    def _taken(self, opening: ExitStack) -> Target:
        """A running cluster; ``opening`` stops it or gives it back.

        A cluster with disks of the test is not pooled, nor one with a proxy before a moved link.
        """
        pool = None if self.node_folders or isinstance(self._rule, BetweenNodes) else self._pool
        key = (self._count, self._with_links, *sorted(self._settings.items()))
        pooled = None if pool is None else pool.take(key)
        if pooled is None:
            pooled = self._started(key)
        pooled.listener, self._pooled = self._listener, pooled
        _return_to(pool, pooled, opening)
        return pooled.target

    def _started(self, key: tuple[Any, ...]) -> RowBroker:
        made: list[RowBroker] = []

        def forward(event: Event) -> None:
            for one in made:
                one.forward(event)

        cluster = self._like.start_another(
            self._settings,
            nodes=self._count,
            node_folders=self.node_folders,
            links=self._with_links,
            tell=forward if self._with_links else None,
        )
        made.append(RowBroker(cluster, key))
        return made[0]

    def is_alive(self) -> bool:
        return self._cluster is not None and self._cluster.is_alive()

    def stop(self) -> None:
        self._open.close()
        self.addresses, self.nodes = [], []

    @property
    def _running(self) -> Target:
        assert self._cluster is not None, "not started"
        return self._cluster

    @property
    def links(self) -> Links[Proxy]:
        """The links of the cluster; the proxies with the rule stand before them."""
        return self._running.links

    def log_directories(self, node: int) -> list[Path]:
        """A test's changes there are not undone, so no other test gets the cluster."""
        if self._pooled is not None:
            self._pooled.is_spoiled = True
        return self._running.log_directories(node)

    def _close_proxy(self, node: int) -> None:
        """Close the proxy of a broker; a controller has none."""
        assert self._behind is not None, "not started"
        if node in self.nodes:
            self._behind.refuse(node)

    def stop_node(self, node: int) -> None:
        self._running.stop_node(node)
        self._close_proxy(node)

    def kill_node(self, node: int) -> None:
        self._running.kill_node(node)
        self._close_proxy(node)

    def pause_node(self, node: int) -> None:
        self._running.pause_node(node)

    def resume_node(self, node: int) -> None:
        self._running.resume_node(node)

    def restart_node(self, node: int) -> None:
        self._running.restart_node(node)
        assert self._behind is not None, "not started"
        if node in self.nodes:
            self._behind.net.wait_for(self._behind.proxy_of(node).enable())


class SharedRow(ExternalBroker):
    """The shared broker, or cluster, at its addresses, started for this: any request is safe.

    ``model``: the target that was started. The row says what product it is where that is the
    built-in broker; of another product it says nothing, so that no date excuses a defect.
    """

    safety = frozenset(SAFETY_CLASSES)
    round_trips = 5  # of more than a thousand rows, each of which measures anew

    def __init__(
        self,
        addresses: list[Address],
        model: Target | None = None,
        log_dir: Path | None = None,
        secured: SecuredCluster | None = None,
    ) -> None:
        super().__init__(addresses, log_dir=log_dir, secured=secured)
        if model is not None and model.implementation == ReferenceBroker.implementation:
            self.implementation, self.release = model.implementation, model.release
            self.like = model.like

    def start(self) -> list[Address]:
        """Find the addresses of the nodes too, if there are several."""
        super().start()
        if len(self.bootstrap) > 1:
            self.nodes = find_nodes(self.bootstrap, ANSWER_TIMEOUT_MS)
        return self.addresses


class SharedAndPrivate(SharedRow):
    """The shared broker at its address; private ones of another target, each behind a relay."""

    capabilities = ExternalBroker.capabilities | {OWN_BROKER, BROKER_CONFIG}

    def __init__(
        self,
        addresses: list[Address],
        private: Target,
        make_rule: MakeRule,
        pool: Callable[[], RowBrokers | None],
        secured: SecuredCluster | None = None,
    ) -> None:
        """``private``: model of the private brokers; ``make_rule``: makes a rule for each of them.

        ``pool``: returns the pool of used brokers for the test that runs now, if it may get one.
        """
        super().__init__(addresses, private, secured=secured)
        self.capabilities |= private.capabilities & {JOIN_AS_BROKER, LINKS, POWER_LOSS, UPGRADE}
        self._private, self._make_rule, self._pool = private, make_rule, pool

    def _another(self, settings: dict[str, str]) -> Target:
        return PrivateBehindRelay(self._private, settings, self._make_rule(), pool=self._pool())

    def _another_kept(self, settings: dict[str, str]) -> Target:
        return PrivateBehindRelay(self._private, settings, self._make_rule(), kept=True)

    def _another_older(self, settings: dict[str, str]) -> Target:
        rule = self._make_rule()
        return PrivateBehindRelay(self._private, settings, rule, kept=True, older=True)

    def _another_cluster(self, settings: dict[str, str], nodes: int) -> Target:
        rule = self._make_rule()
        return PrivateClusterBehindProxies(self._private, settings, nodes, rule, pool=self._pool())

    def _another_linked(
        self, settings: dict[str, str], nodes: int, tell: Listener | None
    ) -> Target:
        rule = self._make_rule()
        return PrivateClusterBehindProxies(
            self._private, settings, nodes, rule, pool=self._pool(), links=True, tell=tell
        )


def _return_to(pool: RowBrokers | None, pooled: RowBroker, opening: ExitStack) -> None:
    """At the end of ``opening`` give the broker back to the pool; without a pool, stop it."""
    if pool is None:
        opening.callback(pooled.target.stop)
    else:
        opening.callback(pool.give_back, pooled, is_well)
