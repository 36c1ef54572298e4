"""The faults of a test on the nodes and links of its cluster, remembered to be undone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class NodeControl(Protocol):
    """The control of a cluster's nodes; see :class:`harness.targets.target.Target`."""

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
        """Stop all traffic, in both directions; connections stay."""

    def heal(self) -> None:
        """Let all go on; nothing was lost."""


class ClusterLink(Cuttable, Protocol):
    """One directed link: what its source opens to its destination."""

    def call(self, work: Callable[[Any], T]) -> T:
        """Return the result of ``work``, called with the link's proxy."""


class ClusterLinks(Protocol):
    """The directed links; see :class:`harness.proxies.links.Links`.

    Ends are broker ids, ``client``, ``controller`` and ``zookeeper``.
    """

    def __getitem__(self, pair: tuple[int | str, int | str], /) -> ClusterLink: ...

    def from_(self, source: int | str) -> Cuttable:
        """The links that a node opens to others."""

    def to(self, destination: int | str) -> Cuttable:
        """The links that others open to a node, clients included."""

    def between(self, one: int | str, other: int | str) -> Cuttable:
        """The links of two nodes to each other."""

    def heal(self) -> None:
        """Heal everything that was cut."""


class ClusterDisk(Protocol):
    """The disk of a node; see :class:`harness.power_loss.power_loss_disk.PowerLossDisk`."""

    path: Path

    def cut(self) -> None:
        """Cut the power: writes that were not flushed are lost."""

    def remount(self) -> None:
        """Restore the power."""


class NodeNotes(Protocol):
    """The record of what was done; see :class:`harness.runner.cluster_notes.NodeNotes`."""

    def now_ms(self) -> float:
        """Return the milliseconds since the test got its cluster."""

    def did(self, what: str, node: int) -> None:
        """Note an action, such as ``killed``, and its node."""

    def saw(self, operation: Any) -> None:
        """Note an operation of a history."""


class _NoNotes:
    """Notes that are not kept."""

    def now_ms(self) -> float:
        return 0.0

    def did(self, what: str, node: int) -> None: ...

    def saw(self, operation: Any) -> None: ...


class ClusterNodes:
    """The nodes of a cluster, and what was done to them; ``nodes`` are the brokers, in order."""

    def __init__(self, nodes: Sequence[int]) -> None:
        self.nodes = sorted(nodes)
        self.control: NodeControl | None = None
        """None where nothing may be done to a node, because other tests use the same cluster."""
        self.notes: NodeNotes = _NoNotes()
        self.disks: Mapping[int, ClusterDisk] = {}
        """The disks that can lose power, by node."""
        self._links: ClusterLinks | None = None
        self._ended: set[int] = set()
        self._frozen: set[int] = set()
        self._cut: set[int] = set()

    @property
    def links(self) -> ClusterLinks:
        """Its directed links: ``cluster.links[2, 1].cut()``, broker 2 reaches broker 1 no more."""
        if self._links is None:
            raise RuntimeError(
                "it has no links: mark the test needs_broker(Use.CLUSTER, links=True)"
            )
        return self._links

    @links.setter
    def links(self, links: ClusterLinks) -> None:
        self._links = links

    @property
    def controller_nodes(self) -> tuple[int, ...]:
        """The nodes that are controllers and no brokers; none where a broker is the controller.

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
            raise RuntimeError(
                "other tests use this cluster too: mark the test needs_broker(Use.CLUSTER)"
            )
        return self.control

    def expect_alone(self) -> None:
        """Raise RuntimeError where other tests use this cluster too."""
        _ = self._controlled

    def stop(self, node: int) -> None:
        """Stop a node, and wait for its end."""
        with self._noted("stop", node):
            self._controlled.stop_node(node)
        self._ended.add(node)

    def kill(self, node: int) -> None:
        """Kill a node."""
        self.notes.did("killed", node)
        self._controlled.kill_node(node)
        self._ended.add(node)

    def lose_power(self, node: int) -> None:
        """Cut the power of the node's disk, and kill the node. For clusters with disks.

        The disk keeps what was flushed.
        """
        self.notes.did("power_lost", node)
        self.disks[node].cut()
        self._cut.add(node)
        self.kill(node)

    def restore_power(self, node: int) -> None:
        """Show again what the disk has kept; :meth:`restart` does this first by itself."""
        if node in self._cut:
            self.disks[node].remount()
            self._cut.discard(node)

    def restart(self, node: int) -> None:
        """Restart a node with its data and address; it answers, others may not know it yet."""
        self.restore_power(node)
        with self._noted("restart", node):
            self._controlled.restart_node(node)
        self._ended.discard(node)
        self._forget_client(node)

    def pause(self, node: int) -> None:
        """Pause a node: its connections stay, it answers nothing."""
        self.notes.did("paused", node)
        self._controlled.pause_node(node)
        self._frozen.add(node)

    def resume(self, node: int) -> None:
        """Resume a paused node."""
        self._controlled.resume_node(node)
        self._frozen.discard(node)
        self.notes.did("resumed", node)
        self._forget_client(node)

    def log_directories(self, node: int) -> list[Path]:
        """Return the folders of this broker's partitions, up or not; changes there are not healed.

        Raises MissingCapability where only the broker may look there.
        """
        return self._controlled.log_directories(node)

    def heal_faults(self) -> None:
        """Undo all faults of links and nodes; controllers first, without which none comes back."""
        if self._links is not None:
            self._links.heal()
        for node in sorted(self._frozen):
            self.resume(node)
        for node in sorted(self._ended, key=lambda node: (node in self.nodes, node)):
            self.restart(node)

    @contextmanager
    def _noted(self, what: str, node: int) -> Iterator[None]:
        """Note an action that takes time at its beginning and at its end."""
        self.notes.did(f"{what}_begun", node)
        yield
        self.notes.did(f"{what}_done", node)

    def _forget_client(self, node: int) -> None:
        """Forget the client of a node: its connections are of no use any more."""
