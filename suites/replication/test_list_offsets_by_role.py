"""LISTO: the replicas that return offsets, and the clients that receive them."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.older_forms import with_one_offset
from harness.client.only import only
from harness.client.requests import LATEST, Topic, list_offsets_request
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ListOffsetsResponse
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.expect import expect_error

DEBUGGING = -2  # the replica id of a consumer that reads any replica, leader or follower
RECORDS = 3
NO_REPLICA = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.REPLICA_NOT_AVAILABLE)


def _latest(
    client: BrokerUnderTest, topic: Topic, version: int, replica_id: int = -1
) -> ListOffsetsResponse.ListOffsetsPartitionResponse:
    request = list_offsets_request(topic, LATEST)
    request.replica_id = replica_id
    answer = client.ask(request, version)
    return with_one_offset(only(only(answer.topics, "topic").partitions, "partition"), version)


@judges("LISTO-011")
@at_versions("ListOffsets")
def test_list_offsets_at_non_leader_returns_not_leader_or_follower(
    cluster: Cluster, api_version: int
) -> None:
    """A follower refuses, and a broker without a replica does."""
    leader, follower, stranger = cluster.nodes[:3]
    topic = cluster.create_topic([[leader, follower]])
    append(cluster.at(leader), topic, batch_of(*[b"r"] * RECORDS))
    with requirement("LISTO-011") as check:
        told = _latest(cluster.at(leader), topic, api_version)
        expect_error(told.error_code, ErrorCode.NONE, "the leader")
        assert told.offset == RECORDS, f"the leader tells {told.offset}"
        for node, role in ((follower, "a follower"), (stranger, "without a replica")):
            with check.subtest(role):
                code = _latest(cluster.at(node), topic, api_version).error_code
                expect_error(code, ErrorCode.NOT_LEADER_OR_FOLLOWER, role)


@judges("LISTO-011")
@at_versions("ListOffsets")
def test_list_offsets_at_follower_with_replica_id_minus_2_returns_log_end(
    cluster: Cluster, api_version: int
) -> None:
    """With replica id -2 it answers, with the end of its own log; no stranger does.

    Up to 2.5 the stranger says that there is no replica (class ReplicaManager).
    """
    leader, follower, stranger = cluster.nodes[:3]
    topic = cluster.create_topic([[leader, follower]])
    append(cluster.at(leader), topic, batch_of(*[b"r"] * RECORDS))
    with requirement("LISTO-011"):
        told = _latest(cluster.at(follower), topic, api_version, DEBUGGING)
        expect_error(told.error_code, ErrorCode.NONE)
        assert told.offset == RECORDS, f"the follower tells {told.offset}, it has {RECORDS}"
        code = _latest(cluster.at(stranger), topic, api_version, DEBUGGING).error_code
        told_by_stranger = f"without a replica, replica id -2: error is {ErrorCode.describe(code)}"
        assert code in NO_REPLICA, told_by_stranger
