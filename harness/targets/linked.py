"""A real Kafka cluster in which every connection goes through a proxy that can be faulted alone."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from harness.base.address import Address
from harness.proxies.clock import new_clock
from harness.proxies.event import Listener
from harness.proxies.interceptor import Interceptor
from harness.proxies.links import Links
from harness.proxies.partitions import Name
from harness.proxies.proxy import Proxy
from harness.proxies.rules.link_rules import LinkRules
from harness.proxies.running import RunningProxies
from harness.proxies.tap import Tap
from harness.targets.errors import TargetError
from harness.targets.kafka.jvm import HEAP, QUICK
from harness.targets.kafka.link_plan import ZOOKEEPER, LinkedPlan, PlannedLink
from harness.targets.kafka.target import KafkaTarget
from harness.targets.start_again import StartAgain


class LinkedKafka(KafkaTarget):
    """As its parent; ``addresses`` are those of the proxies, which is what Metadata shows too.

    ``links`` holds a link for every directed pair: ``client`` to broker, broker to broker, broker
    to ``controller`` or ``zookeeper``. ``links[2, 1].cut()``: broker 2 reaches broker 1 no more.
    In :class:`harness.targets.kafka.link_plan.LinkedPlan` is how each release is led through them.

    Until something is cut nothing differs from a cluster without proxies but the time it takes.
    """

    def __init__(
        self,
        release: str,
        *,
        nodes: int = 3,
        mode: str | None = None,
        heap: str = HEAP,
        jvm: str = QUICK,
        settings: Mapping[str, str] | None = None,
        log_dir: Path | None = None,
        interceptor: Interceptor | None = None,
        tell: Listener | None = None,
        seed: int = 0,
        tap: Tap | None = None,
    ) -> None:
        """``interceptor`` and all parameters after it: for every proxy. Else as KafkaTarget.

        Without ``interceptor`` each link has rules of its own, none at first: LinkRules.
        """
        super().__init__(
            release,
            nodes=nodes,
            mode=mode,
            heap=heap,
            jvm=jvm,
            settings=settings,
            log_dir=log_dir,
        )
        self._interceptor, self._tell, self._seed, self._tap = interceptor, tell, seed, tap
        self._links: Links[Proxy] | None = None
        self._running = ExitStack()

    @property
    def links(self) -> Links[Proxy]:
        """All links of the running cluster. Raises TargetError: it does not run."""
        if self._links is None:
            raise TargetError(f"{self.spec} has links only while it runs")
        return self._links

    def _planned(self, brokers: int, controllers: int) -> LinkedPlan:
        return LinkedPlan(self.release, self.mode, brokers, self.settings, controllers)

    def _before_start(self, addresses: Sequence[Address]) -> None:
        """Listen at all links: what starts afterwards finds its way from the first moment on."""
        assert isinstance(self._plan, LinkedPlan)
        net = self._running.enter_context(RunningProxies())
        planned = self._plan.links(addresses)
        self._links = open_links(
            net,
            planned,
            interceptor=self._interceptor,
            tell=self._tell,
            seed=self._seed,
            tap=self._tap,
        )

    def stop(self) -> None:
        if self._links is not None:
            self._links.heal()  # an end in good order needs everybody
        super().stop()

    def _end(self) -> None:
        try:
            super()._end()
        finally:
            self._links = None
            self._running.close()


def open_links(
    net: RunningProxies,
    planned: Iterable[PlannedLink],
    *,
    interceptor: Interceptor | None = None,
    tell: Listener | None = None,
    seed: int = 0,
    tap: Tap | None = None,
) -> Links[Proxy]:
    """Listen at all of them; they end with ``net``.

    Each that carries Kafka's frames has rules of its own, unless ``interceptor`` is for all.
    Raises StartAgain: a port was taken meanwhile; TargetError: it can never be listened at.
    """
    proxies: dict[tuple[Name, Name], Proxy] = {}
    heard, now_ms = tell or _nobody, new_clock()
    for link in planned:
        own = interceptor
        if own is None and link.destination != ZOOKEEPER:  # ZooKeeper has other frames
            own = LinkRules(seed=seed, now_ms=now_ms, tell=heard)
        proxy = Proxy(
            f"{link.source}-to-{link.destination}",
            link.upstream,
            listen=link.listen,
            source=link.source,
            destination=link.destination,
            interceptor=own,
            seed=seed,
            tell=heard,
            now_ms=now_ms,
            tap=tap,
        )
        _listen(net, proxy)
        proxies[link.source, link.destination] = proxy
    return Links(proxies, net.call)


def _nobody(event: object) -> None:
    """Ignore an event."""


def _listen(net: RunningProxies, proxy: Proxy) -> None:
    try:
        net.add(proxy)
    except OSError as problem:
        called = f"the link {proxy.link} at {proxy.listen}"
        if problem.errno == errno.EADDRINUSE:
            raise StartAgain(f"{called}: the port was taken by another process") from problem
        hint = ""
        if problem.errno == errno.EADDRNOTAVAIL:
            hint = "; all of 127.0.0.0/8 must be this machine, as it is on Linux"
        raise TargetError(f"{called}: {problem.strerror}{hint}") from problem
