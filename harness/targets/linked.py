"""A real Kafka cluster in which every connection goes through a proxy that can be faulted alone."""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TypeVar

from harness.proxies.event import Listener
from harness.proxies.interceptor import Interceptor
from harness.proxies.links import Links
from harness.proxies.proxy import Proxy
from harness.proxies.running import RunningProxies
from harness.targets.errors import TargetError
from harness.targets.kafka.jvm import HEAP
from harness.targets.kafka.link_plan import LinkedPlan, PlannedLink
from harness.targets.kafka.target import KafkaTarget
from harness.targets.start_again import StartAgain
from harness.targets.target import Address

T = TypeVar("T")


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
        settings: Mapping[str, str] | None = None,
        log_dir: Path | None = None,
        interceptor: Interceptor | None = None,
        tell: Listener | None = None,
        seed: int = 0,
    ) -> None:
        """``interceptor``, ``tell``, ``seed``: for every proxy. Else as KafkaTarget."""
        super().__init__(
            release, nodes=nodes, mode=mode, heap=heap, settings=settings, log_dir=log_dir
        )
        self._interceptor, self._tell, self._seed = interceptor, tell, seed
        self._links: Links[Proxy] | None = None
        self._running = ExitStack()

    @property
    def links(self) -> Links[Proxy]:
        """All links of the running cluster. Raises TargetError: it does not run."""
        if self._links is None:
            raise TargetError(f"{self.spec} has links only while it runs")
        return self._links

    def _planned(self, brokers: int) -> LinkedPlan:
        return LinkedPlan(self.release, self.mode, brokers, self.settings)

    def _before_start(self, addresses: Sequence[Address]) -> None:
        """Listen at all links: what starts afterwards finds its way from the first moment on."""
        assert isinstance(self._plan, LinkedPlan)
        net = self._running.enter_context(RunningProxies())
        proxies: dict[tuple[str | int, str | int], Proxy] = {}
        for link in self._plan.links(addresses):
            proxy = self._proxy(link)
            _listening(partial(net.add, proxy), link)
            proxies[link.source, link.destination] = proxy
        self._links = Links(proxies, net.call)

    def _proxy(self, link: PlannedLink) -> Proxy:
        return Proxy(
            f"{link.source}-to-{link.destination}",
            link.upstream,
            listen=link.listen,
            source=link.source,
            destination=link.destination,
            interceptor=self._interceptor,
            seed=self._seed,
            tell=self._tell or _nobody,
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


def _nobody(event: object) -> None:
    """Nobody listens."""


def _listening(listen: Callable[[], T], link: PlannedLink) -> T:
    """Raises StartAgain: the port was taken meanwhile; TargetError: it can never be listened at."""
    try:
        return listen()
    except OSError as problem:
        called = f"the link {link.source}->{link.destination} at {link.listen}"
        if problem.errno == errno.EADDRINUSE:
            raise StartAgain(f"{called}: the port was taken by another process") from problem
        hint = ""
        if problem.errno == errno.EADDRNOTAVAIL:
            hint = "; this needs all of 127.0.0.0/8, which Linux has from the start"
        raise TargetError(f"{called}: {problem.strerror}{hint}") from problem
