"""The coordinator of a group, as each broker names it."""

from __future__ import annotations

from dataclasses import dataclass

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.coordinator import ask_for_coordinator
from harness.client.errors import PreparationFailed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from suites.protocol.support.classic_group import ClassicGroup
from suites.protocol.support.committed_offsets import SETTLING, fetch_offsets
from suites.protocol.support.internal_topics import OFFSETS_TOPIC

NO_NODE = -1
MOST_NAMES = 100  # of groups, until one has a certain coordinator
NO_TOPIC = Topic("none")


def named(client: BrokerUnderTest, group: str) -> int:
    """The coordinator's id; -1 while there is none."""
    found = ask_for_coordinator(client, group)
    return found.node if found.error_code == ErrorCode.NONE else NO_NODE


def await_coordinator(cluster: Cluster, group: str, *, other_than: int = NO_NODE) -> int:
    """The one that all brokers that are up name, once it answers for the group."""

    def is_right(nodes: set[int]) -> bool:
        if len(nodes) != 1 or not nodes <= set(cluster.up) - {other_than}:
            return False
        (node,) = nodes
        asked = {NO_TOPIC: [0]}
        offsets = fetch_offsets(cluster.at(node), group, asked, _readable(cluster))
        return offsets.error_of(NO_TOPIC) not in SETTLING

    return cluster.await_that(
        lambda: {named(cluster.at(node), group) for node in cluster.up},
        is_right,
        f"all brokers name one coordinator of {group}, and it answers",
    ).pop()


def _readable(cluster: Cluster) -> int:
    """A version of OffsetFetch that names topics, so that the topic need not be there."""
    return cluster.front.version("OffsetFetch", "1-9")


@dataclass(frozen=True, slots=True)
class CoordinatedGroup:
    """A group and the broker that coordinates it."""

    group: str
    node: int


def new_group(cluster: Cluster, suffix: str = "") -> CoordinatedGroup:
    """A name that no other test uses, and its coordinator; deleted with the test."""
    group = cluster.unique_group() + suffix
    node = await_coordinator(cluster, group)
    cluster.at(node).delete_group_later(group)
    return CoordinatedGroup(group, node)


def with_different_coordinators(cluster: Cluster) -> tuple[CoordinatedGroup, CoordinatedGroup]:
    """Return two new groups; each has another coordinator."""
    first = new_group(cluster)
    for _ in range(MOST_NAMES):
        other = new_group(cluster)
        if other.node != first.node:
            return first, other
    raise PreparationFailed(f"broker {first.node} coordinates all of {MOST_NAMES} groups")


class PlacedGroup(ClassicGroup):
    """A classic group with members that are connected to its coordinator."""

    def __init__(self, cluster: Cluster, place: CoordinatedGroup) -> None:
        super().__init__(cluster.at(place.node))
        self.group_id = place.group

    def _await_served(self) -> None:
        """Do nothing: the coordinator was seen to serve requests when the place was found."""


class PlacedGroups:
    """Groups that begin at one coordinator, and the coordinator of each of them now."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._first = new_group(cluster).node
        self._nodes: dict[str, int] = {}

    def new(self) -> PlacedGroup:
        """A group with the first coordinator."""
        for _ in range(MOST_NAMES):
            place = new_group(self._cluster)
            if place.node == self._first:
                self._nodes[place.group] = place.node
                return PlacedGroup(self._cluster, place)
        raise PreparationFailed(f"of {MOST_NAMES} groups broker {self._first} coordinates none")

    def node_of(self, group: str) -> int:
        """Return the group's coordinator."""
        return self._nodes[group]

    def client_of(self, group: str) -> BrokerUnderTest:
        """Return the client of the group's coordinator."""
        return self._cluster.at(self._nodes[group])

    def settle(self, other_than: int = NO_NODE) -> None:
        """Wait until each group has a coordinator that answers; note it."""
        for group in self._nodes:
            self._nodes[group] = await_coordinator(self._cluster, group, other_than=other_than)

    def settle_at(self, node: int) -> None:
        """Wait until this broker coordinates all groups."""
        for group in self._nodes:
            self._cluster.await_that(
                lambda group=group: await_coordinator(self._cluster, group),  # type: ignore[misc]
                node.__eq__,
                f"{node} coordinates {group}",
            )
            self._nodes[group] = node


def await_offsets_topic(cluster: Cluster) -> None:
    """Wait until all replicas of the topic of offsets are in sync."""
    offsets = Topic(OFFSETS_TOPIC)
    for partition in cluster.topic_by(cluster.up[0], OFFSETS_TOPIC):
        cluster.await_isr(offsets, cluster.replicas(offsets, partition), partition)
