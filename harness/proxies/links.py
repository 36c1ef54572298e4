"""The links of a proxied cluster: cuts between its nodes, healed by one call.

A link is the proxy through which one node (or all clients) opens its connections to another. Cuts
by hand and partitions may overlap: a link is healed when none of them cuts it any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, Protocol, Self, TypeVar

from harness.base.suggestion import did_you_mean
from harness.proxies.direction import Direction
from harness.proxies.partitions import CLIENT, HalfLink, Name, NetworkPartition

NO_BROKERS = (CLIENT, "controller", "zookeeper")
BY_HAND = "by hand"
Directions = frozenset[Direction]
BOTH: Directions = frozenset(Direction)


class Wire(Protocol):
    """The part of a proxy that links use, see :class:`harness.proxies.proxy.Proxy`."""

    def cut(self, direction: Direction | None = None) -> object: ...

    def heal(self, direction: Direction | None = None) -> object: ...


P = TypeVar("P", bound=Wire)
T = TypeVar("T")


class LinkRun(Protocol):
    """Runs a function where the proxies run, and returns what it returns."""

    def __call__(self, work: Callable[[], T], /) -> T: ...


class UnknownLink(KeyError):
    """There is no such link; the text names what there is."""

    def __str__(self) -> str:
        return str(self.args[0])


def _here(work: Callable[[], T], /) -> T:
    return work()


class Link(Generic[P]):
    """One directed link."""

    def __init__(self, links: Links[P], source: str, destination: str, proxy: P) -> None:
        self._links = links
        self.source, self.destination, self.proxy = source, destination, proxy

    def __repr__(self) -> str:
        return f"<link {self}>"

    def __str__(self) -> str:
        return f"{self.source}->{self.destination}"

    def cut(self, direction: Direction | None = None) -> None:
        """Stop all traffic, in one direction of its connections or in both, from now on."""
        self._links.hold(BY_HAND, _halves(self, direction))

    def heal(self) -> None:
        """Undo the cut by hand; a partition that cuts the link too still does."""
        self._links.release(BY_HAND, _halves(self))

    def call(self, work: Callable[[P], T]) -> T:
        """Return the result of ``work``, called with the proxy on its loop.

        Only there the proxy may be changed.
        """
        return self._links.run(lambda: work(self.proxy))

    @property
    def cut_directions(self) -> Directions:
        """The directions in which nothing passes now."""
        return self._links.cut_directions(self)

    @property
    def is_cut(self) -> bool:
        """True if nothing passes in any direction."""
        return self.cut_directions == BOTH


class LinkGroup(Generic[P]):
    """Some links, cut and healed together at one moment."""

    def __init__(self, links: Links[P], members: Iterable[Link[P]]) -> None:
        self._links, self._members = links, tuple(members)

    def __iter__(self) -> Iterator[Link[P]]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def cut(self, direction: Direction | None = None) -> None:
        """As :meth:`Link.cut`."""
        self._links.hold(BY_HAND, self._halves(direction))

    def heal(self) -> None:
        """As :meth:`Link.heal`."""
        self._links.release(BY_HAND, self._halves())

    def _halves(self, direction: Direction | None = None) -> list[HalfLink]:
        return [half for link in self._members for half in _halves(link, direction)]


class ActivePartition(Generic[P]):
    """A partition that is in effect; as a context manager it is healed at the exit."""

    def __init__(
        self, links: Links[P], partition: NetworkPartition, cut: frozenset[HalfLink]
    ) -> None:
        self._links, self.partition, self._cut = links, partition, cut

    @property
    def links(self) -> list[Link[P]]:
        """The links that it cuts, in one direction at least."""
        there = {(half.source, half.destination) for half in self._cut}
        return [self._links[pair] for pair in sorted(there)]

    def heal(self) -> None:
        """Undo just this partition. Twice is fine."""
        self._links.release(self, self._cut)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.heal()


class Links(Mapping[tuple[str, str], Link[P]]):
    """All links of a cluster: ``links[2, 1].cut()``, ``links.to(1).cut()``, ``links.heal()``.

    Names are broker ids, as numbers or text, ``client``, ``controller`` and ``zookeeper``.
    """

    def __init__(self, proxies: Mapping[tuple[Name, Name], P], run: LinkRun = _here) -> None:
        """``run`` runs a function where the proxies run; each group of changes is one such call."""
        self.run = run
        self._links = {
            (str(source), str(destination)): Link(self, str(source), str(destination), proxy)
            for (source, destination), proxy in proxies.items()
        }
        self._holders: dict[HalfLink, set[object]] = {}

    # -- which there are -----------------------------------------------------------------------

    def __getitem__(self, pair: tuple[Name, Name]) -> Link[P]:
        source, destination = str(pair[0]), str(pair[1])
        found = self._links.get((source, destination))
        if found is not None:
            return found
        self._known(source)
        self._known(destination)
        ends = ", ".join(each for begin, each in self._links if begin == source) or "nobody"
        raise UnknownLink(f"there is no link {source}->{destination}; {source} has links to {ends}")

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._links)

    def __len__(self) -> int:
        return len(self._links)

    @property
    def nodes(self) -> list[str]:
        """All ends but the clients: brokers in their order, then controller or ZooKeeper."""
        return [name for name in self._names() if name != CLIENT]

    @property
    def brokers(self) -> list[str]:
        """The ids of the brokers, in their order."""
        return [name for name in self._names() if name not in NO_BROKERS]

    def from_(self, source: Name) -> LinkGroup[P]:
        """The links that a node opens to others. No group has the link of a broker to itself."""
        return self._group(source, lambda link: link.source == str(source))

    def to(self, destination: Name) -> LinkGroup[P]:
        """The links that others open to a node, clients included."""
        return self._group(destination, lambda link: link.destination == str(destination))

    def between(self, one: Name, other: Name) -> LinkGroup[P]:
        """The links of two nodes to each other."""
        self._known(str(other))
        ends = {str(one), str(other)}
        return self._group(one, lambda link: {link.source, link.destination} == ends)

    def _group(self, name: Name, wanted: Callable[[Link[P]], bool]) -> LinkGroup[P]:
        self._known(str(name))
        others = (link for link in self._links.values() if link.source != link.destination)
        found = [link for link in others if wanted(link)]
        if not found:
            raise UnknownLink(f"{name} has no such link; there are {_listed(self._links.values())}")
        return LinkGroup(self, found)

    def _names(self) -> list[str]:
        names = {name for pair in self._links for name in pair}
        return sorted(names, key=lambda name: (not name.isdecimal(), len(name), name))

    def _known(self, name: str) -> None:
        names = self._names()
        if name not in names:
            near = did_you_mean(name, names)
            raise UnknownLink(f"no link has an end {name!r}{near}; the ends: {', '.join(names)}")

    # -- partitions ----------------------------------------------------------------------------

    def partition(self, partition: NetworkPartition) -> ActivePartition[P]:
        """Cut at one moment all links of the partition; pairs of nodes without a link are skipped.

        Raises UnknownLink: it names an unknown node, or cuts nothing at all.
        """
        for name in sorted(partition.nodes):
            self._known(name)
        cut = frozenset(
            half for half in partition.half_links if (half.source, half.destination) in self._links
        )
        if not cut:
            raise UnknownLink(f"there is no link that the partition {partition.name} would cut")
        active = ActivePartition(self, partition, cut)
        self.hold(active, cut)
        return active

    def heal(self) -> None:
        """Heal everything: cuts by hand, and every partition."""
        self.run(lambda: self._change(list(self._holders), lambda holders: holders.clear()))

    # -- holders of cuts -----------------------------------------------------------------------

    def hold(self, holder: object, halves: Iterable[HalfLink]) -> None:
        """Cut these half links for ``holder``, until it releases them."""
        wanted = list(halves)
        self.run(lambda: self._change(wanted, lambda holders: holders.add(holder)))

    def release(self, holder: object, halves: Iterable[HalfLink]) -> None:
        """Release the cuts of ``holder``; other holders keep theirs."""
        wanted = list(halves)
        self.run(lambda: self._change(wanted, lambda holders: holders.discard(holder)))

    def cut_directions(self, link: Link[P]) -> Directions:
        """See :attr:`Link.cut_directions`."""
        return frozenset(half.direction for half in _halves(link) if self._holders.get(half))

    def _change(self, halves: list[HalfLink], how: Callable[[set[object]], object]) -> None:
        touched = {pair: self[pair] for pair in {(each[0], each[1]) for each in halves}}
        before = {pair: self.cut_directions(link) for pair, link in touched.items()}
        for half in halves:
            holders = self._holders.setdefault(half, set())
            how(holders)
            if not holders:
                del self._holders[half]
        for pair, link in touched.items():
            _switch(link.proxy, before[pair], self.cut_directions(link))


def _switch(proxy: Wire, before: Directions, after: Directions) -> None:
    """Apply to a proxy only what changes."""
    for change, directions in ((proxy.cut, after - before), (proxy.heal, before - after)):
        if directions == BOTH:
            change(None)
        elif directions:
            change(*directions)


def _halves(link: Link[P], direction: Direction | None = None) -> list[HalfLink]:
    wanted = Direction if direction is None else [direction]
    return [HalfLink(link.source, link.destination, each) for each in wanted]


def _listed(links: Iterable[Link[P]]) -> str:
    return ", ".join(map(str, links))
