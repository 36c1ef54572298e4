"""What a test does to the nodes and links of its cluster, remembered, so that it can be undone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class NodeControl(Protocol):
    """What can be done to the nodes of a cluster; see :class:`harness.targets.target.Target`."""

    controller_nodes: tuple[int, ...]

    def stop_node(self, node: int) -> None:
        """End it in good order."""

    def kill_node(self, node: int) -> None:
        """End it at once."""

    def pause_node(self, node: int) -> None:
        """Freeze it."""

    def resume_node(self, node: int) -> None:
        """Thaw it."""

    def restart_node(self, node: int) -> None:
        """Start it again, with its data and address."""

    def log_directories(self, node: int) -> list[Path]:
        """The folders in which it keeps its partitions."""


class Cuttable(Protocol):
    """A link or some of them; see :class:`harness.proxies.links.Link`."""

    def cut(self) -> None:
        """Nothing passes, in no direction; connections stay."""

    def heal(self) -> None:
        """All goes on, and nothing was lost."""


class ClusterLink(Cuttable, Protocol):
    """One directed link: what its source opens to its destination."""

    def call(self, work: Callable[[Any], T]) -> T:
        """What ``work`` returns, given the link's proxy."""


class ClusterLinks(Protocol):
    """The directed links; see :class:`harness.proxies.links.Links`.

    Ends are broker ids, ``client``, ``controller`` and ``zookeeper``.
    """

    def __getitem__(self, pair: tuple[int | str, int | str], /) -> ClusterLink: ...

    def from_(self, source: int | str) -> Cuttable:
        """What a node opens to others."""

    def to(self, destination: int | str) -> Cuttable:
        """What others open to a node, clients included."""

    def between(self, one: int | str, other: int | str) -> Cuttable:
        """The links of two nodes to each other."""

    def heal(self) -> None:
        """Everything that was cut."""


class ClusterDisk(Protocol):
    """The disk of a node; see :class:`harness.power_loss.lossy_disk.LossyDisk`."""

    path: Path

    def cut(self) -> None:
        """The power goes, and with it what was not flushed."""

    def remount(self) -> None:
        """The power comes back."""


class ClusterNotes(Protocol):
    """Who writes down what was done; see :class:`harness.cluster_notes.ClusterNotes`."""

    def now_ms(self) -> float:
        """Milliseconds since the test got its cluster."""

    def did(self, what: str, node: int) -> None:
        """``killed`` or the like, and to whom."""

    def saw(self, operation: Any) -> None:
        """An operation of a history."""


class _NoNotes:
    """Nobody wants to know."""

    def now_ms(self) -> float:
        return 0.0

    def did(self, what: str, node: int) -> None: ...

    def saw(self, operation: Any) -> None: ...


class ClusterNodes:
    """The nodes of a cluster, and what was done to them; ``nodes`` are the brokers, in order."""

    def __init__(self, nodes: Sequence[int]) -> None:
        self.nodes = sorted(nodes)
        self.control: NodeControl | None = None
        """None where nothing may be done to a node, because others ask the same cluster."""
        self.notes: ClusterNotes = _NoNotes()
        self.disks: Mapping[int, ClusterDisk] = {}
        """Of the nodes whose disks can lose power."""
        self._links: ClusterLinks | None = None
        self._ended: set[int] = set()
        self._frozen: set[int] = set()
        self._cut: set[int] = set()

    @property
    def links(self) -> ClusterLinks:
        """Its directed links: ``cluster.links[2, 1].cut()``, broker 2 reaches broker 1 no more."""
        if self._links is None:
            raise RuntimeError("it has no links: the mark private_cluster(links=True) lacks")
        return self._links

    @links.setter
    def links(self, links: ClusterLinks) -> None:
        self._links = links

    @property
    def controller_nodes(self) -> tuple[int, ...]:
        """The nodes that are controllers and no brokers; none where a broker is it.

        All that is done to a broker may be done to them too.
        """
        return self._controlled.controller_nodes

    @property
    def up(self) -> list[int]:
        """The brokers that were not ended or frozen by the test."""
        return [node for node in self.nodes if node not in self._ended | self._frozen]

    def others(self, *nodes: int) -> list[int]:
        """The brokers that are up, without these."""
        return [node for node in self.up if node not in nodes]

    @property
    def _controlled(self) -> NodeControl:
        if self.control is None:
            raise RuntimeError("other tests ask this cluster too: the mark private_cluster lacks")
        return self.control

    def expect_alone(self) -> None:
        """Raises RuntimeError where other tests ask this cluster too."""
        _ = self._controlled

    def stop(self, node: int) -> None:
        """End it in good order; await its end."""
        with self._noted("stop", node):
            self._controlled.stop_node(node)
        self._ended.add(node)

    def kill(self, node: int) -> None:
        """End it at once."""
        self.notes.did("killed", node)
        self._controlled.kill_node(node)
        self._ended.add(node)

    def lose_power(self, node: int) -> None:
        """Its disk stops and keeps what was flushed, and it is gone. For clusters with disks."""
        self.notes.did("power_lost", node)
        self.disks[node].cut()
        self._cut.add(node)
        self.kill(node)

    def restore_power(self, node: int) -> None:
        """What its disk has kept can be seen; by itself :meth:`restart` does it first."""
        if node in self._cut:
            self.disks[node].remount()
            self._cut.discard(node)

    def restart(self, node: int) -> None:
        """Start it again with its data and address; it answers, others may not know it yet."""
        self.restore_power(node)
        with self._noted("restart", node):
            self._controlled.restart_node(node)
        self._ended.discard(node)
        self._forget_door(node)

    def pause(self, node: int) -> None:
        """Freeze it: its connections stay, nothing is answered."""
        self.notes.did("paused", node)
        self._controlled.pause_node(node)
        self._frozen.add(node)

    def resume(self, node: int) -> None:
        """Thaw it."""
        self._controlled.resume_node(node)
        self._frozen.discard(node)
        self.notes.did("resumed", node)
        self._forget_door(node)

    def log_directories(self, node: int) -> list[Path]:
        """Where this broker keeps its partitions, up or not; what is changed there is not healed.

        Raises MissingCapability where nobody but the broker may look there.
        """
        return self._controlled.log_directories(node)

    def heal_faults(self) -> None:
        """All links and nodes as they were; controllers first, without which none comes back."""
        if self._links is not None:
            self._links.heal()
        for node in sorted(self._frozen):
            self.resume(node)
        for node in sorted(self._ended, key=lambda node: (node in self.nodes, node)):
            self.restart(node)

    @contextmanager
    def _noted(self, what: str, node: int) -> Iterator[None]:
        """What takes its time is noted at its beginning and at its end."""
        self.notes.did(f"{what}_begun", node)
        yield
        self.notes.did(f"{what}_done", node)

    def _forget_door(self, node: int) -> None:
        """Its connections are of no use any more."""
