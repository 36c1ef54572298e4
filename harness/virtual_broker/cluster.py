"""A cluster that the harness has joined: virtual brokers, and topics with replicas on them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Self

from harness.client.broker import BrokerUnderTest
from harness.client.errors import PreparationFailed
from harness.client.grants import NotGranted
from harness.client.requests import FETCH_BY_ID, Topic
from harness.codec.definition import ZERO_UUID
from harness.codec.error_code import ErrorCode
from harness.codec.messages import MetadataResponse
from harness.virtual_broker.assigned_topics import state_shown
from harness.virtual_broker.kraft import NOBODY_LISTENS, KraftMember, KraftWorld
from harness.virtual_broker.leader import LedPartition
from harness.virtual_broker.membership import Membership, VirtualWorld
from harness.virtual_broker.partition import WatchedPartition
from harness.virtual_broker.peer_endpoint import Address, KraftEndpoint, PeerEndpoint

KRAFT_CONTROLLER = "kraft_controller"
"""The capability that a target with a ZooKeeper lacks."""
_IDS = itertools.count(101)
"""Ids of virtual brokers. No process uses one twice: a cluster remembers a broker that has left."""
FIRST_METADATA_WITH_IDS = 10


class JoinedCluster:
    """A joined cluster; use it as a context manager: at its end the virtual brokers leave.

    ``leader`` is the broker behind ``broker``'s first address, the only real one that is used.
    """

    def __init__(self, client: PeerEndpoint, broker: BrokerUnderTest, leader: int) -> None:
        """Raises BrokerMisbehaved: the cluster cannot be reached at these addresses."""
        self.broker, self.leader = broker, leader
        self.world: VirtualWorld
        self.kraft: KraftWorld | None = None
        if isinstance(client, KraftEndpoint):
            self.world = self.kraft = KraftWorld(client, broker)
        else:
            from harness.virtual_broker.zookeeper import ZooKeeperWorld

            self.world = ZooKeeperWorld(client, broker)
        self.members: list[Membership] = []
        self.partitions: list[WatchedPartition] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the virtual brokers leave, and close all connections. Twice is fine."""
        members, self.members = self.members, []
        for member in members:
            member.close()
        self.world.close()

    # -- members -----------------------------------------------------------------------------------

    def join(self, listens_at: Address = NOBODY_LISTENS, rack: str | None = None) -> Membership:
        """Return a new virtual broker, alive. Raises BrokerMisbehaved."""
        made = self.world.join(next(_IDS), listens_at, rack)
        self.members.append(made)
        return made

    def newcomer(self, listens_at: Address = NOBODY_LISTENS) -> KraftMember:
        """Return a broker of a KRaft cluster that has not registered yet."""
        made = self.kraft_world.member(next(_IDS), listens_at)
        self.members.append(made)
        return made

    def joined(self, listens_at: Address = NOBODY_LISTENS) -> KraftMember:
        """Return a new virtual broker of a KRaft cluster, alive."""
        made = self.newcomer(listens_at)
        made.register()
        made.come_back()
        self.kraft_world.await_shown(made.broker_id)
        return made

    @property
    def kraft_world(self) -> KraftWorld:
        """The KRaft cluster. Raises NotGranted: it has a ZooKeeper."""
        if self.kraft is None:
            reason = "with a ZooKeeper no controller takes requests of brokers"
            raise NotGranted(KRAFT_CONTROLLER, reason)
        return self.kraft

    # -- topics ------------------------------------------------------------------------------------

    def partition(
        self,
        members: Sequence[Membership],
        *,
        configs: Mapping[str, str] | None = None,
        away: Sequence[Membership] = (),
    ) -> WatchedPartition:
        """Return a new topic's only partition: the real broker leads, these members will follow it.

        All of them are in its ISR, except those that are ``away``. Raises BrokerMisbehaved.
        """
        replicas = (self.leader, *(each.broker_id for each in members))
        missing = {each.broker_id for each in away}
        made = self._watched(self._create(replicas, configs or {}), replicas)
        made.await_isr(*(each for each in replicas if each not in missing))
        self.await_led(made)
        return made

    def _watched(self, topic: Topic, replicas: tuple[int, ...]) -> WatchedPartition:
        by_name = f"0-{FETCH_BY_ID - 1}"
        version = self.broker.version("Fetch", by_name if topic.id == ZERO_UUID else "0+")
        made = WatchedPartition(self.broker, self.world, topic, self.leader, replicas, version)
        self.partitions.append(made)
        return made

    def beside(self, member: Membership, *others: Membership) -> WatchedPartition:
        """Return a new partition that this virtual broker leads and the real one follows.

        All are in the ISR; ``others`` will follow too. The result watches the partition with the
        real broker as its leader, for the time when the virtual one is gone.
        """
        replicas = (member.broker_id, self.leader, *(each.broker_id for each in others))
        made = self._watched(self._create(replicas, {}), replicas)
        made.await_isr(*replicas)
        return made

    def led_by(
        self, *members: KraftMember, configs: Mapping[str, str] | None = None
    ) -> LedPartition:
        """Return a partition with replicas on these virtual brokers; the first of them leads.

        Raises NotGranted: the cluster has a ZooKeeper; other BrokerMisbehaved.
        """
        world = self.kraft_world
        ids = tuple(each.broker_id for each in members)
        topic = self._create(ids, configs or {})
        isr = tuple(sorted(ids))
        state = self.broker.eventually(
            lambda: found if (found := world.state(topic.name, 0)).isr == isr else None,
            f"{topic.name} is led by {ids[0]} with the ISR {isr}",
        )
        return LedPartition(world, world.controller, topic, members[0], members, state.leader_epoch)

    def await_led(self, partition: WatchedPartition) -> None:
        """Wait until the real broker serves the partition as its leader. Raises ResponseTimeout.

        With a ZooKeeper it leads before it knows from its metadata that the topic exists, and
        refuses records for it in between.
        """

        def served() -> bool:
            with suppress(PreparationFailed):
                shown = state_shown(self.broker, partition.topic.name, 0)
                return shown.leader == self.leader and partition.log_end() >= 0
            return False

        self.broker.eventually(served, f"{partition.topic.name} is led by {self.leader}")

    def _create(self, replicas: Sequence[int], configs: Mapping[str, str]) -> Topic:
        name = self.broker.unique_topic()
        self.world.create_topic(name, [replicas], configs)
        topic_id = ZERO_UUID
        if FIRST_METADATA_WITH_IDS in self.broker.advertised("Metadata"):
            topic_id = self.broker.eventually(
                lambda: self._shown(name), f"Metadata shows {name}"
            ).topic_id
        return Topic(name, topic_id)

    def _shown(self, name: str) -> MetadataResponse.MetadataResponseTopic | None:
        """Return Metadata's entry of an existing topic, with its id where there are ids."""
        for topic in self.broker.metadata([name]).topics:
            if topic.error_code == ErrorCode.NONE:
                return topic
        return None
