"""Partitions of a cluster by name: the pairs of nodes without traffic, and the links to cut.

The shapes are those that Jepsen made known (its namespace ``jepsen.nemesis`` calls the map from a
node to the nodes that it drops packets from a grudge). Everything here is data;
:class:`harness.proxies.links.Links` applies it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import NamedTuple

from harness.proxies.direction import Direction

CLIENT = "client"
"""All clients together: the source of the links by which they reach the brokers."""

Name = str | int
"""An end of a link: a broker id, ``client``, ``controller``, ``zookeeper``."""


class PartitionError(ValueError):
    """The wanted partition cannot be made of these nodes."""


class HalfLink(NamedTuple):
    """One direction of all connections that ``source`` opens to ``destination``."""

    source: str
    destination: str
    direction: Direction


@dataclass(frozen=True)
class NetworkPartition:
    """``unheard``: pairs (speaker, hearer); nothing that the speaker sends reaches the hearer.

    ``a | b`` is both of them together.
    """

    name: str
    unheard: frozenset[tuple[str, str]]

    @property
    def nodes(self) -> frozenset[str]:
        """All nodes that it names."""
        return frozenset(node for pair in self.unheard for node in pair)

    @property
    def grudge(self) -> dict[str, frozenset[str]]:
        """For each hearer the speakers that it does not hear."""
        hearers = sorted({hearer for _, hearer in self.unheard})
        return {
            hearer: frozenset(speaker for speaker, deaf in self.unheard if deaf == hearer)
            for hearer in hearers
        }

    @property
    def half_links(self) -> frozenset[HalfLink]:
        """The half links to cut: the speaker's requests to the hearer, and its answers to it."""
        said = {HalfLink(speaker, to, Direction.UPSTREAM) for speaker, to in self.unheard}
        answered = {HalfLink(to, speaker, Direction.DOWNSTREAM) for speaker, to in self.unheard}
        return frozenset(said | answered)

    def __or__(self, other: NetworkPartition) -> NetworkPartition:
        return NetworkPartition(f"{self.name} + {other.name}", self.unheard | other.unheard)


def split(*groups: Iterable[Name], name: str = "split") -> NetworkPartition:
    """Cut all groups off from each other. Raises PartitionError: a node in two groups."""
    sides = [_texts(group) for group in groups]
    if len(sides) < 2 or not all(sides):
        raise PartitionError(f"a {name} needs two groups with a node in each")
    _texts(node for side in sides for node in side)
    pairs = {
        pair
        for one, other in combinations(sides, 2)
        for each in product(one, other)
        for pair in (each, each[::-1])
    }
    return NetworkPartition(name, frozenset(pairs))


def symmetric(nodes: Iterable[Name], *, clients: bool = False) -> NetworkPartition:
    """Two halves in the order given, the second one the larger where they cannot be equal.

    ``clients``: they are cut off from the first half too.
    """
    names = _at_least(2, "symmetric", nodes)
    half = len(names) // 2
    return split(names[:half], [*names[half:], *_clients(clients)], name="symmetric")


def asymmetric(hearer: Name, speakers: Name | Iterable[Name]) -> NetworkPartition:
    """Cut the direction from the speakers to ``hearer``; the other direction stays."""
    several = [speakers] if isinstance(speakers, Name) else speakers
    names = [each for each in _texts(several) if each != str(hearer)]
    if not names:
        raise PartitionError(f"there is nobody whom {hearer} would not hear")
    return NetworkPartition("asymmetric", frozenset((each, str(hearer)) for each in names))


def ring(nodes: Iterable[Name]) -> NetworkPartition:
    """Each node hears a majority around it, itself included, and no two hear the same one.

    Hearing is mutual where the majority is an odd number of nodes. Three nodes have a majority of
    two: each hears its successor and not its predecessor.
    """
    names = _at_least(3, "ring", nodes)
    count = len(names)
    majority = count // 2 + 1
    first = -((majority - 1) // 2)
    heard = {
        (names[(place + offset) % count], names[place])
        for place in range(count)
        for offset in range(first, first + majority)
    }
    return NetworkPartition("ring", frozenset(product(names, names)) - heard)


def bridge(
    nodes: Iterable[Name], *, over: Name | None = None, clients: bool = False
) -> NetworkPartition:
    """Make two halves that hear each other only over one node, which hears all nodes.

    ``over``: that node; without it the one in the middle of the order given. ``clients``: they are
    cut off from the first half.
    """
    names = _at_least(3, "bridge", nodes)
    middle = names[len(names) // 2] if over is None else str(over)
    if middle not in names:
        raise PartitionError(f"the bridge {middle} is none of {', '.join(names)}")
    rest = [name for name in names if name != middle]
    half = len(rest) // 2
    return split(rest[:half], [*rest[half:], *_clients(clients)], name="bridge")


def isolate_one(node: Name, nodes: Iterable[Name], *, clients: bool = False) -> NetworkPartition:
    """Cut ``node`` off from the others, in both directions; ``clients``: from the clients too."""
    others = [each for each in _texts(nodes) if each != str(node)]
    return split([node], [*others, *_clients(clients, others)], name="isolate_one")


def isolate_leader(
    leader: Name | Callable[[], Name], nodes: Iterable[Name], *, clients: bool = False
) -> NetworkPartition:
    """Isolate the leader of a partition; ``leader``: its id, or a function that returns the id."""
    found = leader() if callable(leader) else leader
    apart = isolate_one(found, nodes, clients=clients)
    return NetworkPartition("isolate_leader", apart.unheard)


def _clients(wanted: bool, there: Sequence[str] = ()) -> list[str]:
    return [CLIENT] if wanted and CLIENT not in there else []


def _texts(nodes: Iterable[Name]) -> list[str]:
    """The names as text, each once. Raises PartitionError."""
    names = [str(node) for node in nodes]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise PartitionError(f"named more than once: {', '.join(twice)}")
    return names


def _at_least(count: int, shape: str, nodes: Iterable[Name]) -> list[str]:
    names = _texts(nodes)
    if len(names) < count:
        raise PartitionError(f"a {shape} partition needs {count} nodes, here are {len(names)}")
    return names
