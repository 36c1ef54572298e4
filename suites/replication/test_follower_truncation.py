"""EPOCH: a real follower of a virtual leader, and what it throws away to have the same log."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.errors import ApiNotAdvertised, ConnectionClosed
from harness.codec.records.any_format import read_records
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.kraft import KraftMember
from harness.virtual_broker.leader_endpoint import FIRST_WITH_DIVERGENCE, LeaderEndpoint
from harness.virtual_broker.partition import WatchedPartition
from harness.virtual_broker.served_log import ServedLog
from suites.replication.support.elections import await_alive, elect_preferred
from suites.replication.support.expect import expect_log_end

LIMIT_BYTES = 1 << 20


class Rivals:
    """A virtual broker and the real one, which lead the same partition in turn."""

    def __init__(self, peers: JoinedCluster, endpoint: LeaderEndpoint) -> None:
        self.peers, self.endpoint = peers, endpoint
        self.member: KraftMember = peers.joined(endpoint.address)
        self.partition: WatchedPartition = peers.beside(self.member)
        if self.partition.fetch_version < FIRST_WITH_DIVERGENCE:
            raise ApiNotAdvertised("a follower with Fetch below v12 is told no diverging epoch")
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
        found = read_records(bytes(told.records or b""), limit_bytes=LIMIT_BYTES)
        return [
            (record.offset, batch.partition_leader_epoch, record.value)
            for batch in found.batches
            for record in batch.records
        ]


def as_served(log: ServedLog) -> list[tuple[int, int, bytes | None]]:
    """The same of what the virtual leader has."""
    return [(offset, one.epoch, one.value) for offset, one in enumerate(log.entries)]


@pytest.fixture
def rivals(peers: JoinedCluster) -> Iterator[Rivals]:
    """The virtual broker leads."""
    with LeaderEndpoint() as endpoint:
        yield Rivals(peers, endpoint)


def _ahead_of(rivals: Rivals, log: ServedLog) -> None:
    """Make the real broker follow six records, lead, and write three that no other broker has."""
    log.append(rivals.epoch, *(b"old%d" % number for number in range(6)))
    rivals.virtual_leads(log)
    rivals.follows(6)
    rivals.real_leads()
    rivals.virtual_is_elected(claims=6)
    rivals.partition.produce(3)
    rivals.follows(9)


@judges("EPOCH-007")
@needs_broker(Use.JOINABLE)
def test_follower_ahead_of_new_leader_truncates_at_divergence_point(rivals: Rivals) -> None:
    """The follower has three records after the common prefix, the new leader has two others."""
    log = ServedLog()
    _ahead_of(rivals, log)
    written_in = rivals.epoch
    rivals.virtual_leads_again()
    log.append(rivals.epoch, b"new6", b"new7")
    with requirement("EPOCH-007"):
        rivals.virtual_leads(log)
        rivals.follows(8)
        asked = [(one.offset, one.last_epoch) for one in rivals.endpoint.asked]
        told = f"the follower has asked from {asked}"
        assert (9, written_in) in asked, f"{told}, never from 9 after epoch {written_in}"
        after = next((offset for offset, epoch in asked if epoch != written_in), None)
        assert after == 6, f"{told}: it goes on at {after}, expected 6"
        rivals.peers.broker.eventually(lambda: len(rivals.stored()) == 8, "eight are committed")
        assert rivals.stored() == as_served(log), f"it has {rivals.stored()}"


@judges("EPOCH-008")
@needs_broker(Use.JOINABLE)
def test_follower_truncation_keeps_committed_records(
    rivals: Rivals, broker: BrokerUnderTest
) -> None:
    """The new leader has nothing but the six committed records; the three others go."""
    log = ServedLog()
    _ahead_of(rivals, log)
    rivals.virtual_leads_again()
    with requirement("EPOCH-008"):
        rivals.virtual_leads(log)
        broker.eventually(lambda: rivals.partition.log_end() < 9, "the follower cuts its log")
        rivals.endpoint.asked.clear()
        broker.eventually(lambda: bool(rivals.endpoint.asked), "the follower asks on")
        expect_log_end(rivals.partition, 6, "after the cut")
        assert rivals.stored() == as_served(log), f"it has {rivals.stored()}"


@judges("EPOCH-010")
@needs_broker(Use.JOINABLE)
def test_follower_truncation_follows_several_leader_epochs(rivals: Rivals) -> None:
    """Each has led twice since they had the same, and neither knows the other's epochs."""
    log = ServedLog()
    log.append(rivals.epoch, b"both0", b"both1", b"both2")
    rivals.virtual_leads(log)
    rivals.follows(3)
    rivals.real_leads()
    rivals.virtual_is_elected(claims=3)
    rivals.partition.produce(3)
    rivals.virtual_leads_again()  # and serves nothing, so that the follower keeps what it has
    log.append(rivals.epoch, b"mine3", b"mine4")
    rivals.real_leads()
    rivals.virtual_is_elected(claims=6)
    rivals.partition.produce()
    rivals.virtual_leads_again()
    log.append(rivals.epoch, b"mine5")
    with requirement("EPOCH-010"):
        rivals.virtual_leads(log)
        rivals.follows(6)
        rivals.peers.broker.eventually(
            lambda: rivals.stored() == as_served(log), f"its log is {as_served(log)}"
        )


@judges("EPOCH-010")
@needs_broker(Use.JOINABLE)
def test_follower_truncates_below_end_of_epoch_that_it_does_not_know(rivals: Rivals) -> None:
    """The leader's earlier epoch ends behind the common prefix, and within the follower's log."""
    log = ServedLog()
    log.append(rivals.epoch, b"both0", b"both1", b"both2")
    rivals.virtual_leads(log)
    rivals.follows(3)
    rivals.real_leads()
    rivals.virtual_is_elected(claims=3)
    rivals.virtual_leads_again()  # and serves nothing: the follower does not know this epoch
    log.append(rivals.epoch, b"mine3", b"mine4", b"mine5", b"mine6")
    rivals.real_leads()
    rivals.virtual_is_elected(claims=3)
    rivals.partition.produce(5)
    rivals.virtual_leads_again()
    log.append(rivals.epoch, b"mine7")
    with requirement("EPOCH-010"):
        rivals.virtual_leads(log)
        rivals.peers.broker.eventually(
            lambda: rivals.stored() == as_served(log), f"its log is {as_served(log)}"
        )
