"""The coordinator of a group, as each broker names it."""

from __future__ import annotations

from dataclasses import dataclass

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.coordinator import ask_for_coordinator
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from suites.protocol.support.classic_group import ClassicGroup
from suites.protocol.support.committed_offsets import SETTLING, fetch_offsets

NO_NODE = -1
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


def new_group(cluster: Cluster) -> CoordinatedGroup:
    """A name that no other test uses, and its coordinator; deleted with the test."""
    group = cluster.unique_group()
    node = await_coordinator(cluster, group)
    cluster.at(node).delete_group_later(group)
    return CoordinatedGroup(group, node)


class PlacedGroup(ClassicGroup):
    """A classic group with members that are connected to its coordinator."""

    def __init__(self, cluster: Cluster, place: CoordinatedGroup) -> None:
        super().__init__(cluster.at(place.node))
        self.group_id = place.group

    def _await_served(self) -> None:
        """Do nothing: the coordinator was seen to serve requests when the place was found."""
