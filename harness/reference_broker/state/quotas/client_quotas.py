"""Client quotas: rates of bytes and request time, and the throttle time of clients above them.

Source: KIP-13, KIP-546, classes ClientQuotaControlManager and ClientQuotaManager.
"""

from collections.abc import Iterable, Iterator, Mapping
from math import isfinite, isnan
from typing import NamedTuple

from harness.base.ids import TimeMs
from harness.reference_broker.state.quotas.rate import ENDLESS_MS, SAMPLES, Rate
from harness.reference_broker.state.quotas.token_bucket import TokenBucket

USER, CLIENT_ID, IP = "user", "client-id", "ip"
PRODUCER_BYTE_RATE, CONSUMER_BYTE_RATE = "producer_byte_rate", "consumer_byte_rate"
REQUEST_PERCENTAGE = "request_percentage"
CONTROLLER_MUTATION_RATE = "controller_mutation_rate"
CONNECTION_CREATION_RATE = "connection_creation_rate"
Entity = frozenset[tuple[str, str | None]]
"""Pairs of type and name; the name None is the default for all without a quota of their own."""

ANYBODY = "ANONYMOUS"
"""The user of a client that is not authenticated (class KafkaPrincipal)."""
_LONGEST_WAIT_MS = 1_000
_LOCALHOST = {"127.0.0.1": "localhost"}
_CHECK_INTERVAL_MS = 5_000
_LONG_MAX, _INT_MAX = 2**63 - 1, 2**31 - 1
_ALMOST = 1e-6
# The largest whole number, None for a quota that may be a fraction.
_OF_CLIENTS: Mapping[str, int | None] = {
    PRODUCER_BYTE_RATE: _LONG_MAX,
    CONSUMER_BYTE_RATE: _LONG_MAX,
    REQUEST_PERCENTAGE: None,
    CONTROLLER_MUTATION_RATE: None,
}
_OF_ADDRESSES: Mapping[str, int | None] = {CONNECTION_CREATION_RATE: _INT_MAX}


class QuotaClient(NamedTuple):
    """A client as quotas know it: its id, empty without one, and its user."""

    client_id: str
    user: str = ANYBODY


class QuotaRefused(Exception):
    """A quota that cannot be set; the message contains the reason."""


class ClientQuotas:
    """All quotas, and the measured rates of the clients that have one."""

    __slots__ = ("_buckets", "_next_check", "_quotas", "_rates")

    def __init__(self) -> None:
        self._quotas: dict[Entity, dict[str, float]] = {}
        self._rates: dict[tuple[str, Entity], Rate] = {}
        self._buckets: dict[Entity, TokenBucket] = {}
        self._next_check = TimeMs(0)

    @property
    def rate_count(self) -> int:
        """Number of the measured rates."""
        return len(self._rates)

    @property
    def bucket_count(self) -> int:
        """Number of the buckets of changes that are not full."""
        return len(self._buckets)

    def alter(self, entity: Entity, changes: Mapping[str, float | None]) -> None:
        """Set the quotas that have a value, remove those with None. The caller has checked them."""
        quotas = self._quotas.setdefault(entity, {})
        for key, value in changes.items():
            if value is None:
                quotas.pop(key, None)
            else:
                quotas[key] = value
        if not quotas:
            del self._quotas[entity]

    def all(self) -> Iterable[tuple[Entity, Mapping[str, float]]]:
        """Return the entities that have quotas, each with its quotas."""
        return self._quotas.items()

    def used(self, key: str, client: QuotaClient, amount: float, now: TimeMs) -> int:
        """Add an amount to the rate of a client; return the throttle time in ms."""
        found = self._limit(key, client) if self._quotas else None
        if found is None:
            return 0
        self._forget_idle(now)
        entity, limit = found
        rate = self._rates.setdefault((key, entity), Rate())
        rate.record(amount, now)
        throttle_ms = rate.throttle_ms(limit, now)
        # Of bytes it becomes an int32 in releases that accept 0 (class ClientQuotaManager).
        is_none = throttle_ms == ENDLESS_MS and key != REQUEST_PERCENTAGE
        return 0 if is_none else throttle_ms

    def worked(self, client: QuotaClient, duration_ns: int, now: TimeMs) -> int:
        """Add the time that a request has taken; return the throttle time in ms.

        The quota is a percentage of a thread's time (KIP-124). The throttle time is a second at
        most.
        """
        percent = duration_ns * 100 / 1_000_000_000
        wait_ms = self.used(REQUEST_PERCENTAGE, client, percent, now)
        return min(wait_ms, _LONGEST_WAIT_MS)

    def connected(self, ip: str, now: TimeMs) -> int:
        """Count a new connection of an address; return its throttle time, 0 if it is served.

        A connection that is throttled does not count. Source: KIP-612, class ConnectionQuotas.
        """
        names = (ip, _LOCALHOST.get(ip), None) if self._quotas else ()
        for name in names:
            limit = self._quotas.get(frozenset({(IP, name)}), {}).get(CONNECTION_CREATION_RATE)
            if limit is not None:
                break
        else:
            return 0
        self._forget_idle(now)
        of_address = (CONNECTION_CREATION_RATE, frozenset({(IP, ip)}))
        rate = self._rates.setdefault(of_address, Rate())
        rate.record(1, now)
        throttle_ms = min(rate.throttle_ms(limit, now), _LONGEST_WAIT_MS)
        if throttle_ms:
            rate.record(-1, now)
        return throttle_ms

    def mutated(self, client: QuotaClient, partitions: int, now: TimeMs) -> None:
        """Count partitions that a client creates or deletes."""
        found = self._limit(CONTROLLER_MUTATION_RATE, client) if self._quotas else None
        if found is not None:
            self._forget_idle(now)
            entity, limit = found
            self._buckets.setdefault(entity, TokenBucket()).take(partitions, limit, now)

    def empty_ms(self, client: QuotaClient, now: TimeMs) -> int:
        """Return the time until a client is within its quota of changes again."""
        found = self._limit(CONTROLLER_MUTATION_RATE, client) if self._quotas else None
        if found is None or found[0] not in self._buckets:
            return 0
        return self._buckets[found[0]].empty_ms(found[1], now)

    def most_bytes(self, key: str, client: QuotaClient) -> int | None:
        """Return the largest transfer that can be within the quota; None without a quota."""
        found = self._limit(key, client) if self._quotas else None
        return None if found is None else int(found[1] * (SAMPLES - 1))

    def _forget_idle(self, now: TimeMs) -> None:
        """Drop idle rates: clients choose their client ids, and may change them at each request."""
        if now >= self._next_check:
            self._next_check = TimeMs(now + _CHECK_INTERVAL_MS)
            self._rates = {who: rate for who, rate in self._rates.items() if not rate.is_over(now)}
            buckets = self._buckets.items()
            self._buckets = {who: bucket for who, bucket in buckets if not bucket.is_full(now)}

    def _limit(self, key: str, client: QuotaClient) -> tuple[Entity, float] | None:
        """Return the entity that shares a client's quota, and the limit; None without a quota."""
        for quota_of, shared_by in _levels(client):
            limit = self._quotas.get(quota_of, {}).get(key)
            if limit is not None:
                return shared_by, limit
        return None


def _levels(client: QuotaClient) -> Iterator[tuple[Entity, Entity]]:
    """Yield the entities by precedence of quotas (KIP-55), each with the entity that shares it."""
    own_user, own_id = (USER, client.user), (CLIENT_ID, client.client_id)
    for user in (client.user, None):
        for client_id in (client.client_id, None):
            both = frozenset({(USER, user), (CLIENT_ID, client_id)})
            yield both, frozenset({own_user, own_id})
        yield frozenset({(USER, user)}), frozenset({own_user})
    for client_id in (client.client_id, None):
        yield frozenset({(CLIENT_ID, client_id)}), frozenset({own_id})


def check_entity(parts: list[tuple[str, str | None]]) -> Entity:
    """Return the entity of these types and names. Raises QuotaRefused."""
    if not parts:
        raise QuotaRefused("A quota needs a user, a client id or an ip.")
    for kind, name in parts:
        if kind not in (USER, CLIENT_ID, IP):
            raise QuotaRefused(f"There are no quotas for {kind}.")
        if name == "":
            raise QuotaRefused(f"The name of a {kind} must not be empty.")
    kinds = {kind for kind, _ in parts}
    if IP in kinds and len(kinds) > 1:
        raise QuotaRefused("A quota for an ip cannot name a user or a client id.")
    for name in (name for kind, name in parts if kind == IP):
        if name is not None and not _is_address(name):
            raise QuotaRefused(f"{name} is no address, and no host that is known.")
    return frozenset(dict(parts).items())


def _is_address(name: str) -> bool:
    """True for an IP address, and for "localhost": no other host name is resolved."""
    if name == "localhost":
        return True
    from ipaddress import ip_address

    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def check_quota(entity: Entity, key: str, value: float, *, finite: bool = True) -> None:
    """Raise QuotaRefused for a key that the entity does not have, or an impossible value.

    `finite`: NaN and infinity are refused too.
    """
    known = _OF_ADDRESSES if any(kind == IP for kind, _ in entity) else _OF_CLIENTS
    if key not in known:
        raise QuotaRefused(f"There is no quota {key}.")
    if finite and not isfinite(value):
        raise QuotaRefused(f"The quota {key} has to be a finite number.")
    if value <= 0:
        raise QuotaRefused(f"The quota {key} has to be above 0.")
    largest = known[key]
    if largest is None:
        return
    if value > largest:
        raise QuotaRefused(f"The quota {key} is too large.")
    if value % 1 > _ALMOST:
        raise QuotaRefused(f"The quota {key} has to be a whole number.")


def stored_quota(entity: Entity, key: str, value: float) -> float:
    """Return the value that a broker with a ZooKeeper stores: any number, whole where it has to be.

    Raises QuotaRefused for a key that the entity does not have, or a number that is not whole.
    Source: class ZkAdminManager (alterClientQuotas).
    """
    known = _OF_ADDRESSES if any(kind == IP for kind, _ in entity) else _OF_CLIENTS
    if key not in known:
        raise QuotaRefused(f"There is no quota {key}.")
    largest = known[key]
    if largest is None:
        return value
    whole = 0 if isnan(value) else int(max(-largest - 1, min(value + _ALMOST, largest)))
    if abs(whole - value) > _ALMOST:
        raise QuotaRefused(f"The quota {key} has to be a whole number.")
    return float(whole)
