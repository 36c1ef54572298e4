"""The works to measure, their peers and their goals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from bench.broker import raw_load
from bench.broker.peers import CANNED, KAFKA, MOCK, OURS, BrokerPeer
from bench.broker.record_load import consume, new_topic, produce

SMALL, LARGE = 100, 1024
API_VERSIONS = f"ApiVersions, {raw_load.IN_FLIGHT} in flight"
METADATA = f"Metadata, {raw_load.IN_FLIGHT} in flight"
SYNCHRONOUS = f"produce of {SMALL} bytes, one after the other"


@dataclass(frozen=True, slots=True)
class Work:
    """``once(peer)`` does ``amount`` of ``unit``, and gives how many a second."""

    name: str
    unit: str
    amount: int
    once: Callable[[BrokerPeer], float]
    peers: tuple[str, ...]


@dataclass(slots=True)
class Written:
    """Topics that were written, to be read again."""

    size: int
    count: int
    topics: dict[str, str] = field(default_factory=dict)

    def produce(self, peer: BrokerPeer) -> float:
        """Produce to a new topic each time, and return the rate; the last topic is read later."""
        topic = self.topics[peer.name] = new_topic(peer.bootstrap, made=peer.name != MOCK)
        return produce(peer.bootstrap, topic, self.size, self.count)

    def consume(self, peer: BrokerPeer) -> float:
        """Consume the topic that was produced last, and return the rate."""
        return consume(peer.bootstrap, self.topics[peer.name], self.count)


def works() -> list[Work]:
    """In the order in which they are done: nothing is read before it is written."""
    found = [
        _raw(API_VERSIONS, raw_load.api_versions, raw_load.IN_FLIGHT, 5_000, (OURS, CANNED, KAFKA)),
        _raw(METADATA, raw_load.metadata, raw_load.IN_FLIGHT, 5_000, (OURS, KAFKA)),
        _raw(SYNCHRONOUS, raw_load.produce_of_100_bytes, 1, 2_000, (OURS, KAFKA)),
    ]
    for size, count in ((SMALL, 600_000), (LARGE, 120_000)):
        written = Written(size, count)
        found += [
            Work(produced(size), "records", count, written.produce, (OURS, KAFKA, MOCK)),
            # The mock keeps the last 5 MB only.
            Work(consumed(size), "records", count, written.consume, (OURS, KAFKA)),
        ]
    return found


def produced(size: int) -> str:
    """The name of that work."""
    return f"{size} bytes a record, produced"


def consumed(size: int) -> str:
    """The name of that work."""
    return f"{size} bytes a record, consumed"


def _raw(
    name: str, make: Callable[[], bytes], in_flight: int, count: int, peers: tuple[str, ...]
) -> Work:
    def once(peer: BrokerPeer) -> float:
        return raw_load.rate(make, in_flight, count, peer.address)

    return Work(name, "requests", count, once, peers)


@dataclass(frozen=True, slots=True)
class Goal:
    """The least median ratio of our broker to a peer.

    ``processor``: the greatest ratio of processor time per unit; None: any.
    """

    work: str
    peer: str
    least: float
    processor: float | None = None


_RECORDS = partial(Goal, peer=KAFKA, least=1.0, processor=1.0)
GOALS = (
    Goal(API_VERSIONS, CANNED, 0.45),
    Goal(API_VERSIONS, KAFKA, 1.2),
    Goal(METADATA, KAFKA, 1.2),
    Goal(SYNCHRONOUS, KAFKA, 1.2),
    *[_RECORDS(work(size)) for size in (SMALL, LARGE) for work in (produced, consumed)],
)
