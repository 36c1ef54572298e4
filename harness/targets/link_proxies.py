"""The links of a cluster of ours: a proxy for each directed pair of nodes."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable
from contextlib import ExitStack

from harness.proxies.clock import new_clock
from harness.proxies.event import Listener
from harness.proxies.interceptor import Interceptor
from harness.proxies.links import Links
from harness.proxies.partitions import Name
from harness.proxies.proxy import Proxy
from harness.proxies.rules.link_rules import LinkRules
from harness.proxies.running import RunningProxies
from harness.proxies.tap import Tap
from harness.proxies.tls_ends import TlsEnds
from harness.targets.errors import TargetError
from harness.targets.kafka.link_plan import ZOOKEEPER, PlannedLink
from harness.targets.start_again import StartAgain

EndsOf = Callable[[PlannedLink], TlsEnds | None]


class LinkProxies:
    """The links of one cluster, which opens them before its first process and closes them last."""

    def __init__(
        self,
        spec: str,
        *,
        interceptor: Interceptor | None = None,
        tell: Listener | None = None,
        seed: int = 0,
        tap: Tap | None = None,
        ends: EndsOf | None = None,
    ) -> None:
        """``spec``: the name of the cluster in messages. The rest: as for :func:`open_links`."""
        self._spec = spec
        self._interceptor, self._tell, self._seed, self._tap = interceptor, tell, seed, tap
        self._ends = ends
        self._links: Links[Proxy] | None = None
        self._running = ExitStack()

    def open(self, planned: Iterable[PlannedLink]) -> None:
        """Listen at all of them. Raises StartAgain, TargetError, as :func:`open_links`."""
        net = self._running.enter_context(RunningProxies())
        self._links = open_links(
            net,
            planned,
            interceptor=self._interceptor,
            tell=self._tell,
            seed=self._seed,
            tap=self._tap,
            ends=self._ends,
        )

    @property
    def opened(self) -> Links[Proxy]:
        """All links of the running cluster. Raises TargetError: it does not run."""
        if self._links is None:
            raise TargetError(f"{self._spec} has links only while it runs")
        return self._links

    def heal(self) -> None:
        """Undo every cut, if the cluster runs."""
        if self._links is not None:
            self._links.heal()

    def close(self) -> None:
        """End all proxies. Twice is fine."""
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
    ends: EndsOf | None = None,
) -> Links[Proxy]:
    """Listen at all of them; they end with ``net``.

    Each that carries Kafka's frames has rules of its own, unless ``interceptor`` is for all.
    ``ends`` returns the ends of TLS of a link, None where TLS passes or there is none.
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
            tls=ends(link) if ends else None,
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
