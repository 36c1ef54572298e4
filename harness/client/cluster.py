"""The cluster under test, as a test sees it: a client for each broker, and each broker's view.

Every wait has a deadline that grows with the target's time scale; its error contains what was seen
last.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

from harness.client.broker import BrokerUnderTest
from harness.client.cluster_nodes import ClusterNodes
from harness.client.cluster_registry import ClusterRegistry
from harness.client.cluster_topics import ask_to_create
from harness.client.deletion import delete_topics
from harness.client.errors import BrokerMisbehaved, PreparationFailed, ResponseTimeout
from harness.client.growing_pause import GrowingPause
from harness.client.only import only
from harness.client.partition_view import NOBODY, PartitionView
from harness.client.preparing import preparing
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import MetadataResponse

T = TypeVar("T")
WITHIN_MS = 30_000
FIRST_METADATA_WITH_CONTROLLER = 1
FIRST_METADATA_WITH_IDS = 10
REPLICAS = 3

Connect = Callable[[int, int], BrokerUnderTest]
"""Return a client of a node; the number stands in the names that are made through it."""


class Cluster(ClusterNodes):
    """Brokers that hold one another's replicas; ``nodes`` are their ids, in order.

    :meth:`heal` undoes what a test does to a node (``kill`` and its neighbours) or a link.
    """

    def __init__(
        self,
        nodes: Sequence[int],
        connect: Connect,
        *,
        registry: ClusterRegistry | None = None,
    ) -> None:
        """``registry``: its ZooKeeper, if it has one."""
        super().__init__(nodes)
        self.registry = registry
        self._connect = connect
        self._clients: dict[int, BrokerUnderTest] = {}
        self._opened = 0
        self._made: list[str] = []

    # -- clients ---------------------------------------------------------------------------------

    def at(self, node: int) -> BrokerUnderTest:
        """Return the client of exactly this broker."""
        if node not in self._clients:
            self._opened += 1
            self._clients[node] = self._connect(node, self._opened)
        return self._clients[node]

    def own_clients(self) -> dict[int, BrokerUnderTest]:
        """Return a client for each node, for another thread; those of :meth:`at` are the test's."""
        clients = {}
        for node in self.nodes:
            self._opened += 1
            clients[node] = self._connect(node, self._opened)
        return clients

    @property
    def front(self) -> BrokerUnderTest:
        """A client of a node that is up, where it does not matter which."""
        return self.at(self.up[0])

    def leader_client(self, topic: Topic, partition: int = 0) -> BrokerUnderTest:
        """Return a client of the broker that leads the partition, see :meth:`leader`."""
        return self.at(self.leader(topic, partition))

    def controller(self) -> int:
        """The node that takes admin requests, as a broker names it (with KRaft any will do)."""
        if self.front.version("Metadata") < FIRST_METADATA_WITH_CONTROLLER:
            return self.up[0]
        return self.await_that(
            lambda: self.front.metadata([]).controller_id,
            lambda node: node in self.up,
            "a broker that is up is the controller",
        )

    # -- the view of a broker --------------------------------------------------------------------

    def brokers_by(self, node: int) -> set[int]:
        """Return the ids of the brokers that this one lists."""
        client = self.at(node)
        can_ask_for_none = client.version("Metadata") >= FIRST_METADATA_WITH_CONTROLLER
        wanted: list[str] | None = [] if can_ask_for_none else None
        return {each.node_id for each in client.metadata(wanted).brokers}

    def topic_by(self, node: int, name: str) -> dict[int, PartitionView]:
        """Return all partitions of a topic as this broker shows them; none for an unknown topic.

        A partition with an error is included; its fields show the error.
        """
        told = only(self.at(node).metadata([name]).topics, "topic")
        return _views(told)

    def view(self, topic: Topic, partition: int = 0, *, by: int | None = None) -> PartitionView:
        """Return one partition as a broker (``by``, or any that is up) shows it."""
        node = self.up[0] if by is None else by
        found = self.topic_by(node, topic.name)
        if partition not in found:
            raise PreparationFailed(f"broker {node} does not show {topic.name}-{partition}")
        return found[partition]

    def replicas(self, topic: Topic, partition: int = 0) -> list[int]:
        """The assignment, the preferred leader first; see ClusterRegistry."""
        if self.registry is not None:
            return list(self.registry.replicas(topic.name, partition))
        return list(self.view(topic, partition).replicas)

    def isr(self, topic: Topic, partition: int = 0) -> set[int]:
        """The replicas in sync, by ZooKeeper where there is one: Metadata follows that late."""
        if self.registry is not None:
            return set(self.registry.isr(topic.name, partition))
        return set(self.view(topic, partition).isr)

    def leader(self, topic: Topic, partition: int = 0) -> int:
        """Return the leader that all brokers that are up name, and that answers as a leader."""
        return self.await_leader(topic, partition)

    # -- waiting ---------------------------------------------------------------------------------

    def await_that(
        self,
        ask: Callable[[], T],
        is_right: Callable[[T], bool] = bool,
        what: str = "",
        within_ms: float = WITHIN_MS,
    ) -> T:
        """The first answer that is right; a broker that fails meanwhile is asked again.

        Raises ResponseTimeout, naming ``what``, and what was seen or failed last.
        """
        found, last = self._asked_until(ask, is_right, within_ms)
        if last:
            within_ms = self.at_any.scaled_ms(within_ms)
            raise ResponseTimeout(f"not within {within_ms:.0f} ms: {what}; last seen: {last}")
        return found[0]

    def last_seen(
        self, ask: Callable[[], T], is_right: Callable[[T], bool], within_ms: float = WITHIN_MS
    ) -> T:
        """The first answer that is right; when none was within the time, the last there was.

        Raises ResponseTimeout when no broker answered at all.
        """
        found, last = self._asked_until(ask, is_right, within_ms)
        if not found:
            raise ResponseTimeout(f"no answer in all the time: {last}")
        return found[0]

    def _asked_until(
        self, ask: Callable[[], T], is_right: Callable[[T], bool], within_ms: float
    ) -> tuple[list[T], str]:
        """The last answer, if any came, and what was seen or failed last unless it was right."""
        deadline = time.monotonic() + self.at_any.scaled_ms(within_ms) / 1000
        pause, found = GrowingPause(), list[T]()
        while True:
            try:
                found = [ask()]
                if is_right(found[0]):
                    return found, ""
                last = f"{found[0]!r}"
            except BrokerMisbehaved as failed:
                last = f"{type(failed).__name__}: {failed}"
            if time.monotonic() > deadline:
                return found, last
            pause.sleep()

    @property
    def at_any(self) -> BrokerUnderTest:
        """A client of any node, up or not: for uses that send no request."""
        return self.at(self.up[0] if self.up else self.nodes[0])

    def await_leader(self, topic: Topic, partition: int = 0, *, among: Collection[int] = ()) -> int:
        """The leader that all brokers that are up name, when it serves; one of ``among``, if any.

        A broker leads before it says so to clients, and is named before it serves.
        """

        def named() -> set[int]:
            return {self.view(topic, partition, by=node).leader for node in self.up}

        def is_right(leaders: set[int]) -> bool:
            if len(leaders) != 1 or not leaders <= set(among or self.up):
                return False
            return self._is_served(topic, partition, next(iter(leaders)))

        what = f"one leader of {topic.name}-{partition}"
        what += f" among {sorted(among)}" if among else ""
        return self.await_that(named, is_right, what).pop()

    def _is_served(self, topic: Topic, partition: int, node: int) -> bool:
        return (
            self.at(node).list_offset(topic, -1, partition=partition).error_code == ErrorCode.NONE
        )

    def await_isr(self, topic: Topic, isr: Collection[int], partition: int = 0) -> None:
        """Wait until exactly these replicas are in sync."""
        self.await_that(
            lambda: self.isr(topic, partition),
            lambda seen: seen == set(isr),
            f"the ISR of {topic.name}-{partition} is {sorted(isr)}",
        )

    def await_brokers(self, nodes: Collection[int]) -> None:
        """Wait until every broker that is up lists exactly these."""
        self.await_that(
            lambda: {node: self.brokers_by(node) for node in self.up},
            lambda seen: all(each == set(nodes) for each in seen.values()),
            f"all brokers list {sorted(nodes)}",
        )

    # -- topics ----------------------------------------------------------------------------------

    def unique_topic(self) -> str:
        """A name that no other test uses; it is deleted with the test."""
        name = self.at_any.unique_topic()
        self._made.append(name)
        return name

    def unique_group(self) -> str:
        """A name for a group that no other test uses."""
        return self.at_any.unique_topic()

    def create_topic(
        self,
        assignment: Sequence[Sequence[int]] | None = None,
        configs: Mapping[str, str] | None = None,
        name: str | None = None,
    ) -> Topic:
        """Create a topic with these replicas of its partitions, the first of each the leader.

        By default one partition on the first three nodes. It is served, shown by all brokers, and
        all its replicas are in sync. Deleted with the test.
        """
        if assignment is None:
            assignment = [self.nodes[:REPLICAS]]
        name = name or self.unique_topic()
        with preparing(f"a new topic, {name}"):
            self.order_topic(name, assignment, configs)
            return self.await_created(name, len(assignment))

    def order_topic(
        self, name: str, assignment: Sequence[Sequence[int]], configs: Mapping[str, str] | None
    ) -> None:
        """Create a topic, but wait only for the controller's answer.

        Raises ApiNotAdvertised where there is no way to such a topic, PreparationFailed when it is
        refused.
        """
        if self.front.advertised("CreateTopics") or self.registry is None:
            ask_to_create(self, name, assignment, configs or {})
        else:
            self.registry.make_assigned(name, assignment, configs or {})

    def await_created(self, name: str, partitions: int) -> Topic:
        """Wait until all brokers that are up show it, leaders serve, replicas are in sync."""
        self.await_that(
            lambda: {node: self.topic_by(node, name) for node in self.up},
            lambda seen: all(
                len(views) == partitions and all(view.is_led for view in views.values())
                for views in seen.values()
            ),
            f"all brokers show {name} with {partitions} partitions",
        )
        topic = self.named(name)
        for partition in range(partitions):
            self.await_leader(topic, partition)
            replicas = self.view(topic, partition).replicas
            self.await_isr(topic, [each for each in replicas if each in self.up], partition)
        return topic

    def named(self, name: str) -> Topic:
        """Return a topic that exists, with its id where the brokers have topic ids."""
        if FIRST_METADATA_WITH_IDS not in self.front.advertised("Metadata"):
            return Topic(name)
        told = only(self.front.metadata([name]).topics, "topic")
        return Topic(name, told.topic_id)

    def delete_later(self, *names: str) -> None:
        """Delete these topics when the test ends, if they exist."""
        self._made += names

    def _forget_client(self, node: int) -> None:
        self._clients.pop(node, None)

    # -- the end ---------------------------------------------------------------------------------

    def delete_made(self) -> None:
        """Delete the topics that were made here."""
        made, self._made = list(dict.fromkeys(self._made)), []
        if made:
            delete_topics(self.at(self.controller()), made)

    def heal(self) -> None:
        """Heal all links and nodes, delete what was made here, await that all replicas are in sync.

        Raises BrokerMisbehaved, or an error of the control: the cluster is of no more use.
        """
        self.heal_faults()
        self.await_brokers(self.nodes)
        self.delete_made()
        self.await_that(
            self._not_whole, lambda lacking: not lacking, "all partitions are led and in sync"
        )

    def _not_whole(self) -> list[str]:
        """Return the partitions that lack a leader or a replica in sync, by any broker's view."""
        lacking = set()
        for node in self.nodes:
            for topic in self.at(node).metadata(None).topics:
                for partition, view in _views(topic).items():
                    if not view.is_led or not self._in_sync(topic.name, partition, view):
                        lacking.add(f"{topic.name}-{partition}")
        return sorted(lacking)

    def _in_sync(self, name: str | None, partition: int, view: PartitionView) -> bool:
        if self.registry is None:
            return view.is_whole
        return set(self.registry.isr(name or "", partition)) == set(view.replicas)


def _views(told: MetadataResponse.MetadataResponseTopic) -> dict[int, PartitionView]:
    views = {each.partition_index: PartitionView.of(each) for each in told.partitions}
    return {index: views[index] for index in sorted(views)}


__all__ = ["NOBODY", "Cluster", "PartitionView"]
