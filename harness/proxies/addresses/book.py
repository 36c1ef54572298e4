"""The addresses of the proxies, by view and node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from ipaddress import ip_address
from types import MappingProxyType

Address = tuple[str, int]
Make = Callable[[str, Address], Address | None]
"""Return the proxy's address by which a view reaches a node; None: the view uses the node's own."""

Full = Callable[[str, Address], object]
"""Is called with the view and the node that get no proxy, since the book is full."""

LIMIT = 1024
HIGHEST_PORT = 65_535
HOSTS_KEPT = 2048


class AddressBook:
    """Map (view, address of a node) to the address of a proxy.

    A view is the party that uses the address: ``client``, a broker id, ... The book makes a proxy
    when an address is first seen, so a broker that joins later gets one too. Hosts are compared
    by :func:`comparable`; ``host_aliases`` (``{"localhost": "127.0.0.1"}``) maps a host name to
    another name of the same host. There are at most ``limit`` proxies; further addresses stay
    unchanged and are counted, and ``full`` is called.

    The address of another view's proxy stands for the node behind it: A gets its own proxy for B
    also from a third party that knows B only by a proxy of that party.

    Not thread-safe: one loop uses it.
    """

    def __init__(
        self,
        make: Make | None = None,
        *,
        host_aliases: Mapping[str, str] = MappingProxyType({}),
        limit: int = LIMIT,
        full: Full | None = None,
    ) -> None:
        self._make = make
        self._aliases = {comparable(name): comparable(to) for name, to in host_aliases.items()}
        self._limit = limit
        self._full = full
        self._proxies: dict[tuple[str, Address], Address] = {}
        self._nodes: dict[Address, Address] = {}  # proxy -> the node behind it
        self._ids: dict[Address, int] = {}  # of nodes with a proxy, where known
        self._own: set[tuple[str, Address]] = set()  # (view, proxy)
        self.counters: Counter[str] = Counter()
        """``made``, ``left_direct``, ``full``, ``failed`` (``last_error`` says why)."""
        self.last_error: Exception | None = None

    @property
    def proxies(self) -> Mapping[tuple[str, Address], Address]:
        """(view, node) -> proxy, as far as known."""
        return MappingProxyType(self._proxies)

    def add(self, view: str, node: Address, proxy: Address) -> None:
        """Add a proxy that exists already; the first one for a node is the one that the view uses.

        Raises ValueError: it stands before another node.
        """
        node, proxy = self.plain(node), self.plain(proxy)
        if self._nodes.get(proxy, node) != node:
            other = self._nodes[proxy]
            raise ValueError(f"the proxy {_text(proxy)} stands before {_text(other)}")
        self._proxies.setdefault((view, node), proxy)
        self._nodes[proxy] = node
        self._own.add((view, proxy))

    def forget(self, proxy: Address) -> None:
        """Forget a proxy that is gone; its node gets a new one when its address is next seen."""
        proxy = self.plain(proxy)
        node = self._nodes.pop(proxy, None)
        if node is None:
            return
        if node not in self._nodes.values():
            self._ids.pop(node, None)
        self._own = {(view, own) for view, own in self._own if own != proxy}
        self._proxies = {key: own for key, own in self._proxies.items() if own != proxy}

    def node_behind(self, proxy: Address) -> Address | None:
        """Return the node that a proxy leads to; None for an address that is no proxy's."""
        return self._nodes.get(self.plain(proxy))

    def id_of(self, node: Address) -> int | None:
        """Return the node id that stood beside this address when its proxy was made.

        Also while the proxy is just being made.
        """
        return self._ids.get(self.plain(node))

    def address_for(
        self, view: str, host: str, port: int, node_id: int | None = None
    ) -> Address | None:
        """Return the address that ``view`` uses in place of this one; None: the address stays.

        It stays when it is no address (no host, no port) and when it is a proxy of this view
        already. When no proxy can or may be made, the view uses the node's own address.
        ``node_id``: the id of the node at this address, if it is known.
        """
        if not is_address(host, port):
            return None
        shown = self.plain((host, port))
        if (view, shown) in self._own:
            return None
        node = self._nodes.get(shown, shown)
        known = self._proxies.get((view, node)) or self._made(view, node, node_id)
        if known is not None:
            return known
        return None if node == shown else node

    def _made(self, view: str, node: Address, node_id: int | None) -> Address | None:
        if self._make is None:
            return None
        if len(self._proxies) >= self._limit:
            self.counters["full"] += 1
            if self._full is not None:
                self._full(view, node)
            return None
        if node_id is not None and node_id >= 0:
            self._ids[node] = node_id
        try:
            proxy = self._make(view, node)
            if proxy is not None:
                self.add(view, node, proxy)
        except Exception as error:  # noqa: BLE001  # no port left, say: traffic goes on without
            self.counters["failed"] += 1
            self.last_error = error
            return None
        finally:
            if node not in self._nodes.values():
                self._ids.pop(node, None)
        self.counters["left_direct" if proxy is None else "made"] += 1
        return None if proxy is None else self._proxies[view, node]

    def plain(self, address: Address) -> Address:
        """Return the address as it is compared with others, its host alias resolved."""
        host = comparable(address[0])
        return self._aliases.get(host, host), address[1]


def is_address(host: str, port: int) -> bool:
    """True if there is a host, and a port that a client can connect to."""
    return bool(host) and 0 < port <= HIGHEST_PORT


@lru_cache(HOSTS_KEPT)
def comparable(host: str) -> str:
    """Return a host name in lower case without a last dot; an IP address in its shortest form."""
    try:
        return str(ip_address(host))
    except ValueError:
        return host.rstrip(".").lower()


def _text(address: Address) -> str:
    return f"{address[0]}:{address[1]}"
