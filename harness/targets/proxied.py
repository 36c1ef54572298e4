"""Any started target behind proxies of its own: clients of a proxy receive no other address."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from harness.base.address import Address
from harness.client.clear_relay import ClearWays
from harness.proxies.addresses import AddressBook, AddressRewriter
from harness.proxies.clock import new_clock
from harness.proxies.event import Event, Listener
from harness.proxies.interceptor import Interceptor
from harness.proxies.proxy import Proxy
from harness.proxies.rules import RuleSet
from harness.proxies.running import RunningProxies
from harness.proxies.tap import Tap
from harness.targets.errors import TargetError
from harness.targets.fault_sentences import FaultSentences
from harness.targets.target import Target
from harness.targets.tls_at_proxies import ends_of

CLIENT = "client"
EVENTS_KEPT = 10_000


class ProxiedTarget(FaultSentences):
    """A target as its clients see it; made by :func:`proxied`.

    ``addresses`` are those of the proxies, in the order of the target's. A broker with an address
    that appears later (one that joined, another listener) gets its proxy when a client first
    receives the address. ``events`` are the last faults, with their times. ``authority``: the
    file that clients trust where TLS ends at the proxies. The methods of
    :class:`FaultSentences` apply the common faults; other calls of a proxy run on its loop:
    ``behind.net.call(proxy.cut)``.
    """

    def __init__(
        self,
        target: Target,
        net: RunningProxies,
        *,
        interceptor: Interceptor | None,
        host_aliases: Mapping[str, str],
        seed: int,
        tell: Listener,
        tap: Tap | None,
        ways: ClearWays | None,
        ends_tls: Path | None,
    ) -> None:
        self.target, self._ways, self.authority = target, ways, ends_tls
        self._tls = None if ends_tls is None else ends_of(target, ends_tls)
        self.events: deque[Event] = deque(maxlen=EVENTS_KEPT)
        self._now_ms, self._hear = new_clock(), tell
        if interceptor is None:
            interceptor = RuleSet(seed=seed, now_ms=self._now_ms, tell=self._tell)
        super().__init__(net, interceptor if isinstance(interceptor, RuleSet) else None)
        self.rewriter = AddressRewriter(AddressBook(self._make, host_aliases=host_aliases))
        self._interceptor, self._seed, self._tap = interceptor, seed, tap
        self._names = dict(zip(target.addresses, map(str, target.nodes), strict=False))
        self._proxies: dict[Address, Proxy] = {}
        self.addresses = [net.call(self._first, each) for each in target.addresses]

    def _tell(self, event: Event) -> None:
        self.events.append(event)
        self._hear(event)

    @property
    def bootstrap(self) -> str:
        """``HOST:PORT[,HOST:PORT]``, as clients take it in ``bootstrap.servers``."""
        return ",".join(map(str, self.addresses))

    @property
    def nodes(self) -> list[int]:
        """Broker ids, as the target has them."""
        return self.target.nodes

    def address_of(self, node: int) -> Address:
        """The address of this broker for clients. Raises TargetError: there is no such node."""
        return self._address_behind(self.target.address_of(node))

    def proxy_of(self, node: int) -> Proxy:
        """The proxy before this broker. Raises TargetError: there is no such node."""
        return self._proxies[self.address_of(node)]

    @property
    def proxies(self) -> list[Proxy]:
        """All proxies, in the order in which they were made."""
        return list(self._proxies.values())

    def _address_behind(self, address: Address) -> Address:
        return self.addresses[self.target.addresses.index(address)]

    def _first(self, node: Address) -> Address:
        """The proxy of a node that is known from the start."""
        made = self.rewriter.book.address_for(CLIENT, *node)
        if made is None:
            why = self.rewriter.book.last_error
            raise TargetError(f"no proxy can be put before {node}: {why}") from why
        return Address(*made)

    def _make(self, view: str, node: tuple[str, int]) -> Address | None:
        """On the loop, between the frames of a connection. Raises OSError: no port."""
        if view != CLIENT:
            return None
        upstream = Address(*node)
        destination = self._names.get(upstream) or self._told_name(upstream)
        proxy = Proxy(
            f"{CLIENT}->{destination}",
            upstream if self._ways is None else self._ways.to(upstream),
            source=CLIENT,
            destination=destination,
            interceptor=self._interceptor,
            rewriter=self.rewriter,
            tap=self._tap,
            tls=self._tls,
            seed=self._seed,
            tell=self._tell,
            now_ms=self._now_ms,
        )
        address = Address(*self.net.add_now(proxy))
        self._proxies[address] = proxy
        for do in self._for_new:
            do(proxy)
        return address

    def _told_name(self, node: Address) -> str:
        """The id of a broker that a client received; its address if another proxy has that id."""
        name = str(self.rewriter.book.id_of(node))
        taken = {proxy.destination for proxy in self._proxies.values()}
        return name if name.isdecimal() and name not in taken else str(node)


def _nobody(event: object) -> None:
    """Ignore an event."""


@contextmanager
def proxied(
    target: Target,
    *,
    interceptor: Interceptor | None = None,
    host_aliases: Mapping[str, str] = MappingProxyType({}),
    seed: int = 0,
    tell: Listener = _nobody,
    tap: Tap | None = None,
    enters: bool = True,
    ends_tls: Path | None = None,
) -> Iterator[ProxiedTarget]:
    """Put proxies before a started target; they are gone when the block ends.

    ``with proxied(target) as behind: behind.drop_answers("Produce")``. ``interceptor`` sees the
    frames of all of them; one that is no RuleSet takes the place of such rules. ``host_aliases``:
    other names of the same hosts, see :class:`harness.proxies.addresses.AddressBook`; ``tell`` is
    called with every fault, ``tap`` with the bytes of every socket (a capture, say).
    ``enters``: the clients of a secured target need no security, because the proxies enter it;
    False: they authenticate themselves through the proxies, and TLS passes as bytes that no rule
    sees. ``ends_tls``: clients keep the security of a target with TLS, which ends at the proxies;
    the file gets the certificate of the authority that clients have to trust instead, and SASL
    passes. Raises TargetError: the target has no address, or no TLS that could end, or no proxy
    can be put before it.
    """
    if not target.addresses:
        raise TargetError(f"{target.spec} has no address: start it before the proxies")
    with ClearWays() as ways, RunningProxies() as net:
        yield ProxiedTarget(
            target,
            net,
            interceptor=interceptor,
            host_aliases=host_aliases,
            seed=seed,
            tell=tell,
            tap=tap,
            ways=ways if enters and ends_tls is None else None,
            ends_tls=ends_tls,
        )
