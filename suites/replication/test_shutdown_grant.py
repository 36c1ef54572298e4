"""SHUT: a broker may stop when the others know that it does."""

from __future__ import annotations

from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.kraft import KraftMember
from harness.virtual_broker.partition import WatchedPartition
from suites.replication.support.expect import expect_sound

READ_MS = 2_000
"""Time in ms in which the real broker certainly reads the metadata and sends a heartbeat."""


@judges("SHUT-006")
@needs_broker(Use.JOINABLE, {"broker.heartbeat.interval.ms": "200"})
def test_shutdown_is_granted_when_all_active_brokers_have_read_its_changes(
    peers: JoinedCluster,
) -> None:
    """A third broker has read the metadata up to its own registration, and then all."""
    member, reader = peers.joined(), peers.joined()
    partition = peers.beside(member)
    behind = reader.broker_epoch

    def is_granted() -> bool:
        return member.heartbeat(want_shut_down=True).should_shut_down

    def is_granted_while_behind() -> bool:
        reader.heartbeat(metadata_offset=behind)
        return is_granted()

    reader.heartbeat(metadata_offset=behind)
    member.heartbeat(want_shut_down=True)  # the shutdown begins: it leads a partition
    with requirement("SHUT-006"):
        partition.await_isr(peers.leader)
        early = peers.broker.last_seen(is_granted_while_behind, bool, READ_MS)
        assert not early, "it may shut down, and an active broker has not read that it does"
        reader.heartbeat()
        granted = peers.broker.last_seen(is_granted, bool)
        assert granted, "all have read the metadata, and it may not shut down"
        expect_sound(partition)


@judges("SHUT-006")
@needs_broker(Use.JOINABLE, {"broker.heartbeat.interval.ms": "200"})
def test_shutdown_is_granted_while_brokers_that_shut_down_are_behind(peers: JoinedCluster) -> None:
    """Two brokers shut down; each has read the metadata up to its own registration."""
    members = peers.joined(), peers.joined()
    partitions = [peers.beside(member) for member in members]
    for member in members:  # each leads a partition
        member.heartbeat(want_shut_down=True, metadata_offset=member.broker_epoch)
    with requirement("SHUT-006"):
        _expect_grant(peers, members[0], partitions[0])
        _expect_grant(peers, members[1], partitions[1])


@judges("SHUT-006")
@needs_broker(Use.JOINABLE, {"broker.heartbeat.interval.ms": "200"})
def test_shutdown_is_granted_while_fenced_broker_is_behind(peers: JoinedCluster) -> None:
    """Another broker is fenced, and says to have read the metadata up to its registration."""
    member, fenced = peers.joined(), peers.joined()
    partition = peers.beside(member)
    fenced.heartbeat(want_fence=True, metadata_offset=fenced.broker_epoch)
    member.heartbeat(want_shut_down=True, metadata_offset=member.broker_epoch)
    with requirement("SHUT-006"):
        _expect_grant(peers, member, partition)


@judges("SHUT-002")
@needs_broker(Use.JOINABLE)
def test_broker_leaves_isr_that_it_follows_before_its_shutdown_is_granted(
    peers: JoinedCluster,
) -> None:
    """It leads one partition, and follows another, in which it stays caught up."""
    member, reader = peers.joined(), peers.joined()
    led, followed = peers.beside(member), peers.partition([member])
    followed.follow(member, 0)
    behind = reader.broker_epoch

    def isr() -> tuple[int, ...]:
        reader.heartbeat(metadata_offset=behind)
        told = member.heartbeat(want_shut_down=True)
        assert not told.should_shut_down, "an active broker is behind, and it may shut down"
        followed.follow(member, 0)
        return followed.state().isr

    with requirement("SHUT-002"):
        found = peers.broker.last_seen(isr, (peers.leader,).__eq__)
        assert found == (peers.leader,), f"it shuts down, and the ISR that it follows is {found}"
        led.await_isr(peers.leader)
        expect_sound(followed)


def _expect_grant(peers: JoinedCluster, member: KraftMember, partition: WatchedPartition) -> None:
    partition.await_isr(peers.leader)

    def is_granted() -> bool:
        answer = member.heartbeat(want_shut_down=True, metadata_offset=member.broker_epoch)
        return answer.should_shut_down

    granted = peers.broker.last_seen(is_granted, bool)
    assert granted, "the active broker has read the metadata, and it may not shut down"
