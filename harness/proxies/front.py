"""The proxies before one cluster: the requested ones, and one for each broker that is advertised.

All of it belongs to one loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from harness.base.address import Address
from harness.proxies.addresses import AddressRewriter, MappedBook
from harness.proxies.addresses.book import LIMIT, comparable
from harness.proxies.clock import new_clock
from harness.proxies.control.proxies import Controlled, Proxies
from harness.proxies.control.proxy_settings import ProxySettings
from harness.proxies.event import Event, Listener
from harness.proxies.node_bindings import NodeBindings
from harness.proxies.partitions import CLIENT
from harness.proxies.proxy import LOCAL, Proxy
from harness.proxies.rules import RuleSet
from harness.proxies.tap import Tap
from harness.proxies.tls_ends import TlsEnds
from harness.proxies.upstream import Upstream

LOCALHOST, LOOPBACK = "localhost", "127.0.0.1"
NONE: Mapping[Address, Address] = MappingProxyType({})


def _nobody(event: Event) -> None:
    """Ignore the event: the default listener of a front."""


class Front:
    """The control API manages ``proxies``; ``rules`` see the frames of all of them.

    With ``rewrites`` an advertised address is replaced by that of its proxy, which is made when the
    address is first seen, at the host where the first proxy listens. ``reachable``: advertised
    addresses that are reached at others. ``advertise``: the host by which clients reach the
    proxies, where it is another one. ``sees_frames`` False: rules and counts of frames are never
    wanted. ``tls``: TLS ends at all of the proxies.
    """

    def __init__(
        self,
        upstreams: Sequence[Upstream],
        *,
        seed: int = 0,
        rewrites: bool = True,
        sees_frames: bool = True,
        advertise: str = "",
        reachable: Mapping[Address, Address] = NONE,
        tap: Tap | None = None,
        tls: TlsEnds | None = None,
        tell: Listener = _nobody,
    ) -> None:
        """``upstreams``: for later calls of ``add``. Before these nothing is opened."""
        self.upstreams, self.seed, self.advertise = upstreams, seed, advertise
        self.now_ms = new_clock()
        self.rules = RuleSet(seed=seed, now_ms=self.now_ms, tell=tell)
        self.proxies = Proxies(self._asked_for, self._gone)
        self.learned: set[str] = set()
        """Names of proxies before addresses that the cluster advertises and no caller gave."""
        addresses = [*reachable, *reachable.values(), *(one.address for one in upstreams)]
        self.book = MappedBook(
            self._on_demand,
            view=CLIENT,
            of_node=self._of_node,
            mapped=self._say_mapped,
            reachable=reachable.items(),
            host_aliases=_aliases([host for host, _ in addresses]),
            full=self._say_full,
        )
        self._bindings = NodeBindings(upstreams, self.book.plain)
        self._given = {self.book.plain(address) for address in reachable.values()}
        self._said: set[object] = set()
        self.rewriter = AddressRewriter(self.book) if rewrites else None
        self._sees_frames, self._tap, self._tls, self._tell = sees_frames, tap, tls, tell
        self._listen_host = upstreams[0].listen.host if upstreams else LOCAL.host
        self._is_stopping = False

    async def add(self, upstream: Upstream) -> Proxy:
        """Start a proxy before an upstream. Raises OSError when it cannot listen, ProxyExists."""
        name = upstream.name or str(upstream.address)
        proxy = self._proxy(name, upstream.address, upstream.listen)
        await proxy.start()
        try:
            self.proxies.adopt(proxy)
        except Exception:
            await proxy.stop()
            raise
        if self.rewriter:
            self.book.add(CLIENT, proxy.upstream, self.told_address(proxy))
        return proxy

    def told_address(self, proxy: Controlled) -> Address:
        """Return the address that clients get for the upstream of this proxy."""
        return Address(self.advertise or proxy.listen[0], proxy.listen[1])

    async def stop(self) -> None:
        """Stop all proxies and close all connections."""
        self._is_stopping = True
        await self.proxies.close()

    def _proxy(self, name: str, upstream: Address, listen: Address, link: str = "") -> Proxy:
        return Proxy(
            name,
            upstream,
            listen=listen,
            source=CLIENT,
            destination=link or name,
            interceptor=self.rules if self._sees_frames else None,
            rewriter=self.rewriter,
            seed=self.seed,
            tell=self._tell,
            now_ms=self.now_ms,
            tap=self._tap,
            tls=self._tls,
        )

    def _asked_for(self, settings: ProxySettings, old: Controlled | None) -> Proxy:
        """Make a proxy that the control API requests."""
        upstream, listen = Address(*settings.upstream), Address(*settings.listen)
        return self._proxy(settings.name, upstream, listen, old.destination if old else "")

    def _gone(self, proxy: Controlled) -> None:
        self.book.forget(self.told_address(proxy))
        if proxy.name not in self.proxies:
            self.learned.discard(proxy.name)

    def _of_node(self, shown: tuple[str, int], node_id: int) -> Address | None:
        """Return the address of the proxy that is bound to a node; None: no proxy is."""
        bound = self._bindings.contradicted(shown, node_id)
        if bound is not None:
            detail = {"advertised": str(Address(*shown)), "node": node_id, "upstream_of": bound}
            self._say_once((shown, node_id), "other_node", detail)
        name = self._bindings.name_for(shown, node_id)
        if name is None or name not in self.proxies:
            return None
        return self.told_address(self.proxies[name])

    def _on_demand(self, view: str, node: tuple[str, int]) -> Address | None:
        """Return the address that clients use for an advertised node; None: that of the node.

        Called between two frames.
        """
        if view != CLIENT or self._is_stopping:
            return None
        for proxy in self.proxies.values():
            if self.told_address(proxy) == node:
                return None  # the cluster advertises this proxy by its own configuration
            if self.book.plain(proxy.upstream) == node and proxy.listen[1]:
                return self.told_address(proxy)
        made = self._proxy(self._name_of(node), Address(*node), Address(self._listen_host, 0))
        try:
            made.start_now()
        except OSError as error:
            self._say("not_proxied", made, why=str(error))
            raise
        self.proxies.adopt(made)
        if node not in self._given:
            self.learned.add(made.name)
        self._say("proxy_made", made, listen=str(made.listen))
        return self.told_address(made)

    def _name_of(self, node: tuple[str, int]) -> str:
        """Return the node's id, if it is known; the address for another listener of the node."""
        node_id = self.book.id_of(node)
        if (
            node_id is not None
            and node_id not in self._bindings
            and str(node_id) not in self.proxies
        ):
            return str(node_id)
        return self._free_name(str(Address(*node)))

    def _free_name(self, name: str) -> str:
        return name if name not in self.proxies else self._free_name(f"{name}'")

    def _say(self, what: str, proxy: Proxy, **detail: object) -> None:
        detail["upstream"] = str(proxy.upstream)
        self._tell(Event(self.now_ms(), what, proxy.link, detail=detail))

    def _say_mapped(
        self, shown: tuple[str, int], node_id: int | None, found: tuple[str, int]
    ) -> None:
        detail: dict[str, object] = {"advertised": str(Address(*shown))}
        if node_id is not None:
            detail["node"] = node_id
        detail["becomes"] = str(Address(*found))
        self._tell(Event(self.now_ms(), "mapped", detail=detail))

    def _say_full(self, view: str, node: tuple[str, int]) -> None:
        if view == CLIENT:
            why = f"there are {LIMIT} proxies, the most; clients get further addresses unchanged"
            self._say_once("full", "not_proxied", {"why": why, "upstream": str(Address(*node))})

    def _say_once(self, about: object, what: str, detail: Mapping[str, object]) -> None:
        """Report the first time only; nothing when too much was reported already."""
        if about not in self._said and len(self._said) < LIMIT:
            self._said.add(about)
            self._tell(Event(self.now_ms(), what, detail=detail))


def _aliases(all_hosts: Sequence[str]) -> Mapping[str, str]:
    """Map the other name of this machine to the one in use, where only one is in use."""
    hosts = {comparable(host) for host in all_hosts}
    if LOOPBACK in hosts and LOCALHOST not in hosts:
        return {LOCALHOST: LOOPBACK}
    if LOCALHOST in hosts and LOOPBACK not in hosts:
        return {LOOPBACK: LOCALHOST}
    return {}
