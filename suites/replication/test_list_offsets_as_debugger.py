"""LISTO: the log's end, which replica id -2 reads, where it is not the high watermark."""

from __future__ import annotations

from harness.client.only import only
from harness.client.requests import LATEST, list_offsets_request
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ListOffsetsResponse
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.leader_endpoint import LeaderEndpoint
from harness.virtual_broker.partition import WatchedPartition
from harness.virtual_broker.served_log import ServedLog
from suites.replication.support.expect import expect_error

CONSUMER, DEBUGGING = -1, -2
RECORDS, COMMITTED = 3, 1


def _latest(
    partition: WatchedPartition, version: int, replica_id: int
) -> ListOffsetsResponse.ListOffsetsPartitionResponse:
    request = list_offsets_request(partition.topic, LATEST)
    request.replica_id = replica_id
    answer = partition.broker.ask(request, version)
    return only(only(answer.topics, "topic").partitions, "partition")


@judges("LISTO-011")
@needs_broker(Use.JOINABLE)
@at_versions("ListOffsets", "1+")
def test_list_offsets_at_follower_beyond_high_watermark_returns_log_end(
    peers: JoinedCluster, api_version: int
) -> None:
    """The follower has three records, of which its leader has committed one."""
    with LeaderEndpoint() as endpoint:
        partition = peers.beside(peers.joined(endpoint.address), peers.joined())
        log = ServedLog()
        log.append(partition.state().leader_epoch, *[b"r"] * RECORDS)
        log.high_watermark = COMMITTED
        endpoint.serve(partition.topic, log)
        with requirement("LISTO-011"):
            told = partition.broker.last_seen(
                lambda: _latest(partition, api_version, DEBUGGING),
                lambda told: told.offset == RECORDS,
            )
            expect_error(told.error_code, ErrorCode.NONE, "replica id -2")
            assert told.offset == RECORDS, f"the follower answers {told.offset}, it has {RECORDS}"
            refused = _latest(partition, api_version, CONSUMER)
            expect_error(refused.error_code, ErrorCode.NOT_LEADER_OR_FOLLOWER, "a consumer")
            assert refused.offset == -1, f"refused, yet the offset is {refused.offset}"


@judges("LISTO-011")
@needs_broker(Use.JOINABLE)
@at_versions("ListOffsets", "1+")
def test_list_offsets_at_leader_with_replica_id_minus_2_returns_uncommitted_end(
    peers: JoinedCluster, api_version: int
) -> None:
    """The leader has three records; its follower, in the ISR, has fetched one of them."""
    member = peers.join()
    partition = peers.partition([member])
    partition.produce(RECORDS)
    partition.follow(member, COMMITTED)
    with requirement("LISTO-011") as check:
        for replica_id, expected in ((CONSUMER, COMMITTED), (DEBUGGING, RECORDS)):
            with check.subtest(f"replica id {replica_id}"):
                told = _latest(partition, api_version, replica_id)
                expect_error(told.error_code, ErrorCode.NONE, f"replica id {replica_id}")
                where = f"replica id {replica_id}: the latest offset is"
                assert told.offset == expected, f"{where} {told.offset}, not {expected}"
