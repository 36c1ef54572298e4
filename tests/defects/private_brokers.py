"""Defects in the brokers that tests start for themselves: a pytest plugin.

The shared broker is one that runs already; whatever a test starts gets a relay in front of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.proxies import FrameRule, RunningRelay
from harness.proxies.event import Listener
from harness.proxies.frame_rule import FrameRuleInterceptor
from harness.proxies.links import Links
from harness.proxies.proxy import Proxy
from harness.proxies.running import RunningProxies
from harness.targets.address import parse_address
from harness.targets.external import ANSWER_TIMEOUT_MS, ExternalBroker
from harness.targets.external_nodes import find_nodes
from harness.targets.proxied import ProxiedTarget, proxied
from harness.targets.spec import parse_target
from harness.targets.target import (
    BROKER_CONFIG,
    JOIN_AS_BROKER,
    KEPT,
    LINKS,
    OWN_BROKER,
    POWER_LOSS,
    SAFETY_CLASSES,
    UPGRADE,
    Address,
    Target,
)
from harness.virtual_broker.door import KraftDoor, PeerDoor
from tests.defects.all_defects import ALL_DEFECTS
from tests.defects.between_nodes import BetweenNodes, stand_before
from tests.defects.table import DEFECT_VARIABLE, SPEC_VARIABLE


def rule_named(name: str) -> FrameRule:
    """A new rule of the defect, or one that changes nothing."""
    rules = {defect.name: defect.rule for defect in ALL_DEFECTS}
    return rules[name]() if name else FrameRule()


class PrivateBehindRelay(Target):
    """A broker of a test's own, reached only through a relay with a rule."""

    def __init__(
        self,
        like: Target,
        settings: Mapping[str, str],
        rule: FrameRule,
        *,
        kept: bool = False,
        older: bool = False,
    ) -> None:
        """``kept``, ``older``: as ``start_another`` takes them."""
        super().__init__(like.log_dir)
        self.spec, self.release = like.spec, like.release
        self.implementation = like.implementation
        self.capabilities = like.capabilities
        if kept:
            there = like._another_kept(dict(settings)).capabilities  # of the kind that is started
            self.capabilities = like.capabilities.union(KEPT, there & {POWER_LOSS})
        self._like, self._settings, self._rule = like, settings, rule
        self._kept, self._older = kept, older
        self._broker: Target | None = None
        self._open = ExitStack()

    @property
    def log_path(self) -> Path | None:
        return self._broker.log_path if self._broker else None

    def start(self) -> list[Address]:
        """The relay's address."""
        with ExitStack() as opening:
            self._broker = self._like.start_another(
                self._settings,
                kept=self._kept,
                older=self._older,
                node_folders=self.node_folders,
            )
            opening.callback(self._broker.stop)
            relay = opening.enter_context(RunningRelay(self._broker.addresses[0], self._rule))
            self.peer_door = self._door(self._broker.peer_door, opening)
            self._open = opening.pop_all()
        self.addresses, self.nodes = [Address(*relay.address)], self._broker.nodes[:1]
        return self.addresses

    def _door(self, own: PeerDoor | None, opening: ExitStack) -> PeerDoor | None:
        """A controller is reached through a relay with the same rule, a ZooKeeper is not."""
        if not isinstance(own, KraftDoor):
            return own
        relay = opening.enter_context(RunningRelay(own.controller, self._rule))
        return replace(own, controller=relay.address)

    def is_alive(self) -> bool:
        return self._broker is not None and self._broker.is_alive()

    def stop(self) -> None:
        self._open.close()
        self.addresses, self.nodes, self.peer_door = [], [], None

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
    """A cluster of a test's own, each broker reached only through a proxy with the one rule.

    Where a broker is gone nobody listens: its proxy is closed when it has ended.
    """

    def __init__(
        self,
        like: Target,
        settings: Mapping[str, str],
        nodes: int,
        rule: FrameRule,
        **links: Any,
    ) -> None:
        """``links``: as ``start_another`` takes it."""
        super().__init__(like.log_dir)
        self.spec, self.release = like.spec, like.release
        self.implementation, self.capabilities = like.implementation, like.capabilities
        self._like, self._settings, self._count, self._rule = like, settings, nodes, rule
        self._with_links = links
        self._cluster: Target | None = None
        self._behind: ProxiedTarget | None = None
        self._open = ExitStack()

    @property
    def log_path(self) -> Path | None:
        return self._cluster.log_path if self._cluster else None

    def start(self) -> list[Address]:
        """The proxies' addresses."""
        with ExitStack() as opening:
            # Before the cluster, which ends first: an end in good order needs the controller.
            between = opening.enter_context(RunningProxies())
            self._cluster = self._like.start_another(
                self._settings,
                nodes=self._count,
                node_folders=self.node_folders,
                **self._with_links,
            )
            opening.callback(self._cluster.stop)
            if isinstance(self._rule, BetweenNodes):
                stand_before(self._cluster.links, self._rule, between)
            interceptor = FrameRuleInterceptor(self._rule)
            behind = opening.enter_context(proxied(self._cluster, interceptor=interceptor))
            self._behind, self._open = behind, opening.pop_all()
        self.addresses, self.nodes = list(behind.addresses), list(self._cluster.nodes)
        self.zookeeper = self._cluster.zookeeper
        self.controller_nodes = self._cluster.controller_nodes
        return self.addresses

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
        """Those of the cluster; the proxies with the rule stand before them."""
        return self._running.links

    def log_directories(self, node: int) -> list[Path]:
        return self._running.log_directories(node)

    def _close_proxy(self, node: int) -> None:
        """A controller has none."""
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


class Shared(ExternalBroker):
    """The shared broker, or cluster, at its addresses: it was started for this, so all may be sent
    to it."""

    safety = frozenset(SAFETY_CLASSES)

    def start(self) -> list[Address]:
        """Which node is where too, if there are several."""
        super().start()
        if len(self.bootstrap) > 1:
            self.nodes = find_nodes(self.bootstrap, ANSWER_TIMEOUT_MS)
        return self.addresses


class SharedAndPrivate(Shared):
    """The shared broker at its address; private ones of another target, each behind a relay."""

    capabilities = ExternalBroker.capabilities | {OWN_BROKER, BROKER_CONFIG}

    def __init__(self, addresses: list[Address], private: Target, defect_name: str) -> None:
        super().__init__(addresses)
        self.capabilities |= private.capabilities & {JOIN_AS_BROKER, LINKS, POWER_LOSS, UPGRADE}
        self._private, self._defect_name = private, defect_name

    def _another(self, settings: dict[str, str]) -> Target:
        return PrivateBehindRelay(self._private, settings, rule_named(self._defect_name))

    def _another_kept(self, settings: dict[str, str]) -> Target:
        rule = rule_named(self._defect_name)
        return PrivateBehindRelay(self._private, settings, rule, kept=True)

    def _another_older(self, settings: dict[str, str]) -> Target:
        rule = rule_named(self._defect_name)
        return PrivateBehindRelay(self._private, settings, rule, kept=True, older=True)

    def _another_cluster(self, settings: dict[str, str], nodes: int) -> Target:
        rule = rule_named(self._defect_name)
        return PrivateClusterBehindProxies(self._private, settings, nodes, rule)

    def _another_linked(
        self, settings: dict[str, str], nodes: int, tell: Listener | None
    ) -> Target:
        rule = rule_named(self._defect_name)
        return PrivateClusterBehindProxies(
            self._private, settings, nodes, rule, links=True, tell=tell
        )


@pytest.hookimpl
def pytest_conformance_target(spec: str, log_dir: Path | None) -> Target:
    """In place of an external target; with private brokers when the environment says so."""
    addresses = [parse_address(word) for word in spec.removeprefix("external:").split(",")]
    behind = os.environ.get(SPEC_VARIABLE)
    if not behind:
        return Shared(addresses, log_dir=log_dir)
    private = parse_target(behind, log_dir=log_dir)
    return SharedAndPrivate(addresses, private, os.environ[DEFECT_VARIABLE])
