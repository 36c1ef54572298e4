"""FETCH, REPL: the follower in a consumer's rack must have what the consumer wants (KIP-392)."""

from __future__ import annotations

from harness.client.requests import fetch_partition, fetch_topic
from harness.conformance.checks import NotApplicable, requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.membership import Membership
from harness.virtual_broker.partition import (
    ANYBODY,
    FetchedRecords,
    WatchedPartition,
    read_of,
    replica_fetch,
)
from suites.protocol.support.fetch_session import CREATE_EPOCH, FetchSessionClient
from suites.replication.support.elections import await_alive
from suites.replication.support.expect import expect_records, expect_sound

SELECTOR = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
RACK, ANOTHER, OF_LEADER = "near", "far", "here"
LEADER_ITSELF = -1


def _follow(
    partition: WatchedPartition, follower: Membership, end: int, log_start: int = 0
) -> None:
    """Fetch the records before this offset as a follower, and confirm them."""
    for offset in (0, end):
        partition.follow(follower, offset, log_start=log_start)


def _read(partition: WatchedPartition, offset: int, version: int) -> FetchedRecords:
    """Fetch as a consumer in the rack."""
    request = replica_fetch(partition.topic, version, offset, replica=ANYBODY)
    request.rack_id = RACK
    return read_of(partition.broker.ask(request, version))


@judges("FETCH-046")
@needs_broker(Use.JOINABLE, {"replica.selector.class": SELECTOR, "broker.rack": OF_LEADER})
@at_versions("Fetch", "11+")
def test_fetch_of_offset_that_follower_in_rack_lacks_is_answered_by_leader(
    peers: JoinedCluster, api_version: int
) -> None:
    """The follower there has the offsets 1 to 2, another has all six records, three committed."""
    near, far = peers.join(rack=RACK), peers.join(rack=ANOTHER)
    partition = peers.partition([near, far])
    partition.produce(6)
    _follow(partition, far, end=6)
    _follow(partition, near, end=3, log_start=1)
    with requirement("FETCH-046"):
        for offset, expected in (
            (0, LEADER_ITSELF),
            (1, near.broker_id),
            (3, near.broker_id),
            (4, LEADER_ITSELF),
        ):
            read = _read(partition, offset, api_version)
            what, sent = f"offset {offset}", read.told.preferred_read_replica
            assert sent == expected, f"{what}: sent to {sent}, expected {expected}"
            records = (0, 1, 2) if offset == 0 else ()
            expect_records(read, records, f"a consumer of {what}")
            found = read.high_watermark
            assert found == 3, f"{what}: the high watermark is {found}, expected 3"
        expect_sound(partition)


@judges("REPL-037")
@needs_broker(Use.JOINABLE, {"replica.selector.class": SELECTOR, "broker.rack": OF_LEADER})
@at_versions("Fetch", "11+")
def test_fetch_of_offset_that_only_follower_out_of_sync_in_rack_has_is_answered_by_leader(
    peers: JoinedCluster, api_version: int
) -> None:
    """The follower there is alive and has two of three committed records."""
    near, far = peers.join(rack=RACK), peers.join(rack=ANOTHER)
    near.leave()
    partition = peers.partition([near, far], away=[near])
    partition.produce(3)
    _follow(partition, far, end=3)
    near.come_back()
    await_alive(partition.broker, near.broker_id)
    _follow(partition, near, end=2)
    with requirement("REPL-037") as check:
        for offset in (0, 1, 2):
            with check.subtest(f"offset {offset}"):
                read = _read(partition, offset, api_version)
                sent = read.told.preferred_read_replica
                what = f"offset {offset}, in the rack is no replica in sync: sent to {sent}"
                assert sent == LEADER_ITSELF, f"{what}, expected {LEADER_ITSELF}"
                expect_records(read, range(offset, 3), f"a consumer of offset {offset}")
        expect_sound(partition)


@judges("FETCH-064")
@needs_broker(Use.JOINABLE, {"replica.selector.class": SELECTOR, "broker.rack": OF_LEADER})
@at_versions("Fetch", "11+")
def test_fetch_from_rack_of_two_followers_is_sent_to_one_with_higher_log_end(
    peers: JoinedCluster, api_version: int
) -> None:
    """Now the one, now the other has more records; one in another rack has all of them."""
    near, also_near, far = peers.join(rack=RACK), peers.join(rack=RACK), peers.join(rack=ANOTHER)
    partition = peers.partition([near, also_near, far])
    partition.produce(6)
    _follow(partition, far, end=6)
    _follow(partition, near, end=3)
    _follow(partition, also_near, end=4)
    with requirement("FETCH-064") as check:
        for follower, end in ((also_near, 4), (near, 5), (also_near, 6)):
            with check.subtest(f"one has {end} records"):
                partition.follow(follower, end)
                sent = _read(partition, 1, api_version).told.preferred_read_replica
                what = f"{follower.broker_id} has {end} records, the other less: sent to {sent}"
                assert sent == follower.broker_id, f"{what}, expected {follower.broker_id}"
        expect_sound(partition)


@judges("FETCH-018")
@needs_broker(Use.JOINABLE, {"replica.selector.class": SELECTOR, "broker.rack": OF_LEADER})
@at_versions("Fetch", "11+")
def test_incremental_fetch_from_rack_of_follower_returns_preferred_read_replica(
    peers: JoinedCluster, api_version: int
) -> None:
    """The session begins at offset 0, which the follower lacks, and goes on at offset 1.

    Nothing else changes: without the follower's id the partition would be left out.
    """
    near = peers.join(rack=RACK)
    partition, broker = peers.partition([near]), peers.broker
    partition.produce(3)
    _follow(partition, near, end=3, log_start=1)
    opening = replica_fetch(partition.topic, api_version, 0, replica=ANYBODY)
    opening.rack_id, opening.session_epoch = RACK, CREATE_EPOCH
    opened = broker.ask(opening, api_version)
    if not opened.session_id:
        raise NotApplicable("fetch_sessions", "the broker refused a fetch session (id 0)")
    session = FetchSessionClient(broker, api_version, opened.session_id, opened)
    with requirement("FETCH-018"):
        expect_records(read_of(opened), (0, 1, 2), "a consumer of offset 0")
        request = session.next_request(
            [fetch_topic(partition.topic, api_version, [fetch_partition(1)])]
        )
        request.rack_id = RACK
        answer = broker.ask(request, api_version)
        assert answer.responses, "the response to the incremental fetch leaves the partition out"
        read = read_of(answer)
        sent = read.told.preferred_read_replica
        assert sent == near.broker_id, f"sent to {sent}, in the rack is {near.broker_id}"
        expect_records(read, (), "a consumer of offset 1")
        expect_sound(partition)
    session.close()
