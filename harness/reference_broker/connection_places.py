"""The places of connections at one listener: those of all addresses, and those of each address.

Source: class ConnectionQuotas; KIP-402. A connection beyond `max.connections` waits until another
one ends; one beyond `max.connections.per.ip` is closed. The limits of addresses may change while
the broker runs (KIP-226). One beyond the quota connection_creation_rate of its address is never
served, and closed after its throttle time (KIP-612).
"""

from collections import Counter
from collections.abc import Callable
from enum import Enum, auto
from ipaddress import ip_address
from typing import Protocol

_MOST = "max.connections"
_MOST_OF_ADDRESS = "max.connections.per.ip"
_OF_SOME_ADDRESSES = "max.connections.per.ip.overrides"
_LOCALHOST = {"localhost": "127.0.0.1"}


class Admission(Enum):
    """The result for a new connection."""

    SERVED = auto()
    WAITS = auto()
    REFUSED = auto()


class PlacedConnection(Protocol):
    """A connection that may wait for its place."""

    ip: str

    def begin(self) -> None:
        """Serve the client: the connection has a place."""

    def abort(self) -> None:
        """Close now."""

    def close_after(self, delay_ms: int) -> None:
        """Serve nothing, and close after the time."""


class ConnectionPlaces:
    """The connections with a place, and those that wait for one.

    `config` returns the value in effect of one of the broker's configs, `throttle_ms` the throttle
    time of a new connection of an address. `limits_all`: `max.connections` counts, as since 2.3.
    """

    def __init__(
        self,
        config: Callable[[str], str | None],
        throttle_ms: Callable[[str], int] = lambda _: 0,
        *,
        limits_all: bool = True,
    ) -> None:
        self._config, self._throttle_ms = config, throttle_ms
        self._limits_all = limits_all
        self._throttled: set[PlacedConnection] = set()
        self._served: set[PlacedConnection] = set()
        self._waiting: dict[PlacedConnection, None] = {}
        self._by_ip: Counter[str] = Counter()

    @property
    def connections(self) -> list[PlacedConnection]:
        """All connections, also those that wait."""
        return [*self._served, *self._waiting, *self._throttled]

    @property
    def are_free(self) -> bool:
        """True if there is no connection."""
        return not (self._served or self._waiting or self._throttled)

    def take(self, connection: PlacedConnection) -> Admission:
        """Give a new connection a place; the caller begins or closes it."""
        if self._waiting or self._are_full:
            self._waiting[connection] = None
            return Admission.WAITS
        return self._placed(connection)

    def leave(self, connection: PlacedConnection) -> None:
        """Free the place of a connection that has ended, for those that wait."""
        self._waiting.pop(connection, None)
        self._throttled.discard(connection)
        if connection in self._served:
            self._served.remove(connection)
            self._by_ip[connection.ip] -= 1
            if not self._by_ip[connection.ip]:
                del self._by_ip[connection.ip]
        while self._waiting and not self._are_full:
            longest = next(iter(self._waiting))
            del self._waiting[longest]
            admission = self._placed(longest)
            if admission is Admission.SERVED:
                longest.begin()
            elif admission is Admission.REFUSED:
                longest.abort()

    def _placed(self, connection: PlacedConnection) -> Admission:
        ip = connection.ip
        delay_ms = self._throttle_ms(ip)
        if delay_ms:
            self._throttled.add(connection)
            connection.close_after(delay_ms)
            return Admission.WAITS
        most = self._overrides().get(ip)
        if self._by_ip[ip] >= (self._limit(_MOST_OF_ADDRESS) if most is None else most):
            return Admission.REFUSED
        self._served.add(connection)
        self._by_ip[ip] += 1
        return Admission.SERVED

    @property
    def _are_full(self) -> bool:
        return self._limits_all and len(self._served) >= self._limit(_MOST)

    def _limit(self, name: str) -> int:
        return int(self._config(name) or 0)

    def _overrides(self) -> dict[str, int]:
        """Return the limits of single addresses; no host name but localhost is resolved."""
        text = self._config(_OF_SOME_ADDRESSES) or ""
        pairs = [one.strip().rpartition(":") for one in text.split(",")]
        return {_address(host): int(most) for host, _, most in pairs if host and most.isdigit()}


def _address(host: str) -> str:
    try:
        return str(ip_address(host))
    except ValueError:
        return _LOCALHOST.get(host, host)
