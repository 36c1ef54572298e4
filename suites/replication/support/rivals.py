"""A virtual leader with a log of its own, and the real broker, which follows it or leads."""

from __future__ import annotations

from harness.client.errors import ApiNotAdvertised, ConnectionClosed
from harness.client.record_bytes import record_bytes
from harness.codec.records.any_format import read_records
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.kraft import KraftMember
from harness.virtual_broker.leader_endpoint import FIRST_WITH_DIVERGENCE, LeaderEndpoint
from harness.virtual_broker.partition import WatchedPartition
from harness.virtual_broker.served_log import ServedLog
from suites.replication.support.elections import await_alive, elect_preferred

LIMIT_BYTES = 1 << 20


class Rivals:
    """A virtual broker and the real one, which lead the same partition in turn."""

    def __init__(self, peers: JoinedCluster, endpoint: LeaderEndpoint) -> None:
        self.peers, self.endpoint = peers, endpoint
        self.member: KraftMember = peers.joined(endpoint.address)
        self.partition: WatchedPartition = peers.beside(self.member)
        if self.partition.fetch_version < FIRST_WITH_DIVERGENCE:
            raise ApiNotAdvertised("a follower with Fetch below v12 receives no diverging epoch")
        self.epoch = self.partition.state().leader_epoch

    def virtual_leads(self, log: ServedLog) -> None:
        """Serve this log at the virtual broker from now on."""
        self.endpoint.serve(self.partition.topic, log)

    def follows(self, end: int) -> None:
        """Wait until the real broker's log ends there. Raises ResponseTimeout."""
        self.peers.broker.eventually(
            lambda: self.partition.log_end() == end, f"the follower's log ends at {end}"
        )

    def real_leads(self) -> None:
        """The virtual leader is fenced."""
        self.endpoint.serve(self.partition.topic, None)
        self.member.leave()
        self.epoch = self.partition.await_isr(self.peers.leader).leader_epoch
        self.peers.await_led(self.partition)

    def virtual_is_elected(self, claims: int) -> None:
        """The virtual broker comes back, reports all offsets below ``claims``, and is in sync."""
        self.member.come_back()
        await_alive(self.peers.broker, self.member.broker_id)
        self.partition.follow(self.member, claims)
        self.partition.await_isr(*self.partition.replicas)

    def virtual_leads_again(self) -> None:
        """Elect the virtual broker, which is in the ISR, as leader, with a new leader epoch."""
        self.endpoint.asked.clear()
        elect_preferred(self.peers.broker, self.partition, self.member.broker_id)
        self.epoch = self.partition.state().leader_epoch

    def stored(self) -> list[tuple[int, int, bytes | None]]:
        """Offset, leader epoch and value of what a consumer reads at the real broker.

        Nothing where a cut takes away what was about to be sent: Kafka ends the connection then.
        """
        try:
            told = self.partition.consume(0).told
        except ConnectionClosed:
            return []
        found = read_records(record_bytes(told), limit_bytes=LIMIT_BYTES)
        return [
            (record.offset, batch.partition_leader_epoch, record.value)
            for batch in found.batches
            for record in batch.records
        ]


def as_served(log: ServedLog) -> list[tuple[int, int, bytes | None]]:
    """The same of what the virtual leader has."""
    return [(offset, one.epoch, one.value) for offset, one in enumerate(log.entries)]
